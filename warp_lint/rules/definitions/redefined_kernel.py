from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from textwrap import dedent

from warp_lint.facts.records import BlockKind, Parameter, Span
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.binders import reaching
from warp_lint.project.evaluation import names_in
from warp_lint.project.files import ProjectFile, last_name
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.rules.base import Rule
from warp_lint.source import SourceError

_HANDLERS = (BlockKind.TRY, BlockKind.EXCEPT, BlockKind.TRY_ELSE)


class RedefinedKernel(Rule):
    """Two kernels of one module have the same name.

    ## What it does
    Reports a kernel whose name another kernel of the same module and scope already has. Branches that
    exclude each other may define the same name, `wp.overload` is no new definition, and for Warp the same
    text with the same types is the same kernel.

    ## Why is this bad
    For Python the name stands for the second kernel only; for Warp both are kernels of the module for as long
    as something refers to the first, such as a list, a recorded launch or another name. Then both are
    generated and compiled, under names that nobody can tell apart in a profile. If the first has been
    launched by then, the whole module is built a second time.

    ## Example
    ```python
    @wp.kernel
    def advance(x: wp.array(dtype=float)): ...


    solvers = [advance]


    @wp.kernel
    def advance(x: wp.array(dtype=float)): ...
    ```

    ## Use instead
    ```python
    @wp.kernel
    def advance_explicit(x: wp.array(dtype=float)): ...


    @wp.kernel
    def advance_implicit(x: wp.array(dtype=float)): ...
    ```

    ## Fix safety
    There is no fix: which of the two is meant where, only the author knows.
    """

    code = "WRP108"
    name = "redefined-kernel"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        found: dict[tuple[ModuleKey, int, str], list[KernelDefinition]] = defaultdict(list)
        for kernel in project.kernels.values():
            is_shared = kernel.module.kind in (ModuleKind.OWN, ModuleKind.NAMED)
            if is_shared and kernel.call is None and not kernel.file.expects_error(kernel.place.block):
                found[kernel.module, kernel.place.scope, kernel.name].append(kernel)
        for kernels in found.values():
            ordered = sorted(kernels, key=lambda kernel: kernel.place.order)
            for position, kernel in enumerate(ordered):
                earlier = [
                    first
                    for first in ordered[:position]
                    if self._meet(first, kernel) and not _are_one(first, kernel, project)
                ]
                if earlier:
                    yield self._finding(earlier[-1], kernel, project)

    def _meet(self, first: KernelDefinition, second: KernelDefinition) -> bool:
        """Whether both definitions run in one flow: one stands in the other's block or in one inside it."""
        if first.file is not second.file:
            return False
        file, blocks = first.file, (first.place.block, second.place.block)
        if any(self._is_handled(file, block) for block in blocks) or not file.may_reach(*blocks):
            return False
        return blocks[0] in file.block_ancestors(blocks[1]) or blocks[1] in file.block_ancestors(blocks[0])

    def _is_handled(self, file: ProjectFile, block: int) -> bool:
        """Whether a block is part of a `try`, which picks one of its definitions."""
        return any(file.facts.blocks[outer].kind in _HANDLERS for outer in file.block_ancestors(block))

    def _finding(self, first: KernelDefinition, second: KernelDefinition, project: Project) -> Finding:
        module = project.modules[second.module]
        return self.finding(
            second.location,
            f'kernel "{second.name}" is defined again in module "{module.name}": '
            "as long as the first is in use, both are built under one name",
            suppression_range=second.suppression_range,
            related=[Related("first defined here", first.location)],
        )


def _are_one(first: KernelDefinition, second: KernelDefinition, project: Project) -> bool:
    """Whether Warp takes two definitions in one scope for the same kernel: they have the same text, and what
    they read when they are made, their types above all, was bound by the same text. What their bodies read is
    looked up later, for both."""
    if _text(first.file, first.scope.span, project) != _text(second.file, second.scope.span, project):
        return False
    return all(
        _bound_by(name, first, project) == _bound_by(name, second, project)
        for name in _names_when_made(first)
    )


def _names_when_made(kernel: KernelDefinition) -> set[str]:
    """The names in the decorators and types of a kernel, and those that ``wp.static`` in it computes with."""
    expressions = [decorator.expression for decorator in kernel.scope.decorators]
    expressions += [item.annotation for item in kernel.scope.parameters if item.annotation is not None]
    if kernel.device_code is not None:
        static = [call for call in kernel.device_code.calls if last_name(call.function) == "static"]
        expressions += [argument.value for call in static for argument in call.arguments]
    return {name for expression in expressions for name in names_in(expression, kernel.body_file)}


def _bound_by(name: str, kernel: KernelDefinition, project: Project) -> list[str]:
    """The texts that can have bound a name of the kernel's own scope by the time that the kernel is made."""
    file, place = kernel.file, kernel.place
    binders = file.binders.get(place.scope, {}).get(name, [])
    texts = []
    for binder in reaching(binders, file, place.block, place.order):
        match binder.fact:
            case int(scope):
                texts.append(_text(file, file.facts.scopes[scope].span, project))
            case Parameter(name=parameter):
                texts.append(parameter)
            case fact:
                texts.append(_text(file, fact.span, project))
    return texts


def _text(file: ProjectFile, span: Span, project: Project) -> str:
    """The text of a statement without the indentation around it; where it cannot be read, where it stands."""
    try:
        text = project.source(file).text[slice(*span)]
    except SourceError:
        return str(span)
    return dedent(" " * (file.facts.position(span.start).column - 1) + text)
