from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.kernels import isolate
from warp_lint.findings import Applicability, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.creation import is_created_at_import_only
from warp_lint.project.kernels import KernelDefinition, ModuleKind
from warp_lint.project.values import only_constant
from warp_lint.rules.base import Rule
from warp_lint.rules.definitions.capture_free_kernel import CaptureFreeKernel


class KernelInFunction(Rule):
    """A kernel is created in a function and joins a module that others share.

    ## What it does
    Reports kernels that a function creates, by decorator or by a call of `wp.kernel`, when they join the
    own module of their file or a named module that every call of the function adds to.

    ## Why is this bad
    Warp builds modules, not kernels. A kernel that is created after the first launch marks the whole module
    as modified, and the next launch builds every live kernel of it again. A factory that captures a value
    adds one kernel for each value, and each build holds all the earlier ones. A cache around the factory
    avoids the new definition, not the growth of the module.

    Kernels that only the import of the file creates are not reported: nothing is loaded yet.

    ## Example
    ```python
    def make_scale(factor):
        @wp.kernel
        def scale(values: wp.array(dtype=float)):
            i = wp.tid()
            values[i] = values[i] * factor

        return scale
    ```

    ## Use instead
    ```python
    def make_scale(factor):
        @wp.kernel(module="unique")
        def scale(values: wp.array(dtype=float)):
            i = wp.tid()
            values[i] = values[i] * factor

        return scale
    ```

    ## Fix safety
    The fix adds `module="unique"` and carries over the options that the file sets for its own module. It is
    safe when there are none or all of them can be carried, otherwise unsafe.
    """

    code = "WRP101"
    name = "kernel-in-function"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for kernel in project.kernels.values():
            function = kernel.outermost_function
            if function is None or not self._shares_its_module(kernel):
                continue
            if kernel.file.expects_error(kernel.place.block):
                continue  # a test of what cannot be made
            if is_created_at_import_only(kernel, function, project):
                continue
            yield self.finding(
                kernel.location,
                self._message(kernel, project),
                suppression_range=kernel.suppression_range,
                related=self._related(kernel, project),
                fix=self._fix(kernel, project),
            )

    def _shares_its_module(self, kernel: KernelDefinition) -> bool:
        """Whether the kernel joins the own module, or a constant module that its function fills further."""
        match kernel.module.kind:
            case ModuleKind.OWN:
                return True
            case ModuleKind.NAMED:
                given = only_constant(kernel.creation.arguments.keyword("module"))
                return given is not None and bool(kernel.captured_parameters)
            case _:
                return False

    def _fix(self, kernel: KernelDefinition, project: Project) -> Fix | None:
        moving = CaptureFreeKernel()
        if project.settings.enables(moving) and moving.applies_to(kernel, project):
            return moving.fix(kernel, project)
        fix = isolate(kernel, project)
        is_named = kernel.module.kind is ModuleKind.NAMED
        if fix is not None and (is_named or kernel.module in project.preloaded_modules):
            # Somebody gave the module its name, or builds it ahead, for a reason.
            return Fix(fix.title, Applicability.UNSAFE, fix.edits)
        return fix

    def _message(self, kernel: KernelDefinition, project: Project) -> str:
        module = project.modules[kernel.module]
        where = kernel.file.facts.scopes[kernel.file.function_of(kernel.place.scope) or 0].qualified_name
        captured = self._captured(kernel)
        if captured:
            return (
                f'kernel "{kernel.name}" created in {where}() grows module "{module.name}": '
                f"all its kernels are built again for each new value of {captured}"
            )
        return (
            f'kernel "{kernel.name}" created in {where}() joins module "{module.name}": '
            "once that is loaded, all its kernels are built again"
        )

    def _captured(self, kernel: KernelDefinition) -> str:
        """The names whose values make a new kernel, as a reader would list them: functions defined in the
        factory only where nothing else is left, and the object by its attributes."""
        names = set(kernel.captured_parameters)
        own = {scope.name for scope in kernel.body_file.facts.scopes if scope.parent > 0}
        names = (names - own) or names
        if "self" in names:
            names = names - {"self"} or {"the attributes of self"}
        return ", ".join(sorted(names))

    def _related(self, kernel: KernelDefinition, project: Project) -> Iterator[Related]:
        file = kernel.file
        for load in project.timeline.at_import(file):
            if load.loads(kernel.module):
                yield Related(f"first loaded by {load.description}", load.location)
                return
        scope = file.function_of(kernel.place.scope)
        if scope is None:
            return
        for load in project.timeline.events(file.index, scope):
            if load.loads(kernel.module):
                yield Related(f"loaded by {load.description}", load.location)
                return
