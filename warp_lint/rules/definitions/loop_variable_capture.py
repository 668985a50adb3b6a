from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts import values as fact
from warp_lint.facts.records import BindingFact, BindingKind, CallFact
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.captures import free_names, is_variable_of
from warp_lint.project.evaluation import names_in
from warp_lint.project.files import ProjectFile, last_name, target_names
from warp_lint.project.kernels import KernelDefinition, ModuleKind
from warp_lint.rules.base import Rule

_KEEPING = frozenset({"append", "appendleft", "add", "insert", "setdefault"})
"""Methods that keep what they are given."""


class LoopVariableCapture(Rule):
    """Kernels made in a loop all see the last value of its variable.

    ## What it does
    Reports a kernel that is defined in a loop, reads the loop variable (or a name that follows it) and is
    kept in a list or table for a launch after the loop. A kernel that is launched in the same turn is not
    reported, nor one that reads the value through `wp.static`.

    ## Why is this bad
    Warp reads captured names when it builds the module, and that is at the first launch. By then the loop is
    over, so every kernel computes with the last value, and no error says so. With `module="unique"` it is
    the same, at the price of as many modules with the same code.

    ## Example
    ```python
    kernels = []
    for factor in (2.0, 3.0):

        @wp.kernel
        def scale(x: wp.array(dtype=float)):
            x[wp.tid()] *= factor

        kernels.append(scale)
    ```

    ## Use instead
    ```python
    def make_scale(factor):
        @wp.kernel(module="unique")
        def scale(x: wp.array(dtype=float)):
            x[wp.tid()] *= factor

        return scale


    kernels = [make_scale(factor) for factor in (2.0, 3.0)]
    ```

    Where only numbers differ, one kernel that takes them as arguments is built once for all of them.

    ## Fix safety
    There is no fix: an argument, a factory or `wp.static` would all do, and which is best the author knows.
    """

    code = "WRP109"
    name = "loop-variable-capture"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        for kernel in project.kernels.values():
            loop = kernel.file.loop_of(kernel.place.block)
            if loop is None or kernel.call is not None or kernel.body_file is not kernel.file:
                continue
            if kernel.module.kind not in (ModuleKind.OWN, ModuleKind.NAMED, ModuleKind.UNIQUE):
                continue
            captured = self._captured(kernel, loop)
            keeper = self._keeper(kernel, loop) if captured else None
            if keeper is not None and not self._is_used_in(kernel, loop, project):
                yield self._finding(kernel, captured, keeper)

    def _captured(self, kernel: KernelDefinition, loop: int) -> list[str]:
        """The names that the kernel reads when it is built and that each turn of the loop sets anew."""
        code = kernel.device_code
        if code is None:
            return []
        file = kernel.file
        changing = self._changing(file, kernel.place.scope, loop)
        # Read when the kernel is defined, at least there: where else, is not known.
        bound = {
            name
            for call in code.calls
            if last_name(call.function) == "static"
            for argument in call.arguments
            for name in names_in(argument.value, file)
        }
        for parameter in kernel.scope.parameters:
            if parameter.annotation is not None:
                bound |= set(names_in(parameter.annotation, file))
        return [name for name in code.names if name in changing and name not in bound]

    def _changing(self, file: ProjectFile, scope: int, loop: int) -> set[str]:
        """The names that each turn sets anew: loop variables, what is computed from them, and functions that
        read them."""
        inside = [
            binding
            for binding in file.facts.bindings
            if binding.scope == scope and loop in file.block_ancestors(binding.block)
        ]
        found = {
            name
            for binding in file.facts.bindings
            if binding.scope == scope and is_variable_of(binding, file, loop)
            for _, name in target_names(binding.target)
        }
        found |= {
            name
            for binding in inside
            if binding.kind is BindingKind.AUGMENTED
            for _, name in target_names(binding.target)
        }
        size = -1
        while len(found) > size:
            size = len(found)
            for binding in inside:
                if binding.kind is BindingKind.ASSIGN and found & set(names_in(binding.value, file)):
                    found |= {name for _, name in target_names(binding.target)}
            for index, inner in enumerate(file.facts.scopes):
                is_inside = inner.parent == scope and loop in file.block_ancestors(max(inner.block, 0))
                if is_inside and inner.decorators and found & set(free_names(file, index)):
                    found.add(inner.name)
        return found

    def _keeper(self, kernel: KernelDefinition, loop: int) -> CallFact | BindingFact | None:
        """What keeps the kernel of each turn: a call of ``append`` or the like, or an item of a table."""
        file, scope = kernel.file, kernel.place.scope
        for call in file.facts.calls:
            if call.scope != scope or loop not in file.block_ancestors(call.block):
                continue
            is_keeping = isinstance(call.function, fact.Attribute) and call.function.attribute in _KEEPING
            if is_keeping and any(_names(argument.value, kernel) for argument in call.arguments):
                return call
        for binding in file.facts.bindings:
            is_inside = binding.scope == scope and loop in file.block_ancestors(binding.block)
            is_item = binding.kind is BindingKind.ASSIGN and isinstance(binding.target, fact.Subscript)
            if is_inside and is_item and _names(binding.value, kernel):
                return binding
        return None

    def _is_used_in(self, kernel: KernelDefinition, loop: int, project: Project) -> bool:
        """Whether the loop may load the kernel's module, or hands the kernel to something that may."""
        file, scope = kernel.file, kernel.place.scope
        events = project.timeline.events(file.index, scope)
        if any(event.loads(kernel.module) and loop in file.block_ancestors(event.block) for event in events):
            return True
        for call in file.facts.calls:
            if call.scope != scope or loop not in file.block_ancestors(call.block):
                continue
            is_keeping = isinstance(call.function, fact.Attribute) and call.function.attribute in _KEEPING
            if not is_keeping and any(_names(argument.value, kernel) for argument in call.arguments):
                return True
        return False

    def _finding(
        self, kernel: KernelDefinition, captured: list[str], keeper: CallFact | BindingFact
    ) -> Finding:
        names = ", ".join(f'"{name}"' for name in captured)
        value = "value" if len(captured) == 1 else "values"
        return self.finding(
            kernel.location,
            f'every "{kernel.name}" of this loop computes with the last {value} of {names}: '
            f"make the kernel in a function that takes the {value}, or pass the {value} at launch",
            suppression_range=kernel.suppression_range,
            related=[Related("kept for a launch after the loop", kernel.file.facts.location(keeper.span))],
        )


def _names(expression: fact.Expression, kernel: KernelDefinition) -> bool:
    """Whether a value is the kernel, or a display that holds it."""
    match expression:
        case fact.Name(id=name):
            return name == kernel.scope.name
        case fact.Sequence(items=items):
            return any(_names(item, kernel) for item in items)
        case _:
            return False
