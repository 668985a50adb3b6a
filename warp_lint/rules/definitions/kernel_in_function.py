from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.kernels import isolate
from warp_lint.findings import Applicability, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.creation import constructor_around, is_created_at_import_only, is_launched_by
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

    A kernel that uses nothing of its function is the same each time, and is not built again for itself. The
    finding is advice (level `info`) where nothing else is built again as things stand: the kernel is the only
    one of its module, or only the constructor of a class creates it whose methods launch all of the module.
    The next kernel in the file, or a launch from elsewhere, changes that.

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
            advice = self._advice(kernel, function, project)
            yield self.finding(
                kernel.location,
                advice or self._message(kernel, project),
                suppression_range=kernel.suppression_range,
                related=self._related(kernel, project),
                fix=self._fix(kernel, project),
                level=Level.INFO if advice else None,
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

    def _advice(self, kernel: KernelDefinition, function: int, project: Project) -> str:
        """What to say of a kernel that has nothing built again as the code is now; empty for others."""
        if kernel.module.kind is not ModuleKind.OWN or not kernel.is_always_the_same:
            return ""
        module = project.modules[kernel.module]
        created = f'kernel "{kernel.name}" created in {self._where(kernel)}()'
        if self._is_alone(kernel, project):
            return (
                f"{created} is parsed and hashed again at each call; it is the only one of module "
                f'"{module.name}": another kernel in the file would be built again with it'
            )
        owner = constructor_around(kernel, function, project)
        if owner is None or kernel.module in project.preloaded_modules:
            return ""
        if not is_launched_by(owner, module, project):
            return ""
        name = project.files[owner.file].facts.scopes[owner.scope].name
        return (
            f'{created} joins module "{module.name}" before {name} launches any of its kernels: '
            "where others have loaded it by then, all of them are built again"
        )

    def _is_alone(self, kernel: KernelDefinition, project: Project) -> bool:
        """Whether the module has no other kernel, and none whose module is not known may join it."""
        return project.modules[kernel.module].kernels == [kernel] and not any(
            other.module.kind in (ModuleKind.UNKNOWN, ModuleKind.COMPUTED)
            for other in project.kernels.values()
            if other.body_file is kernel.body_file
        )

    def _where(self, kernel: KernelDefinition) -> str:
        return kernel.file.facts.scopes[kernel.file.function_of(kernel.place.scope) or 0].qualified_name

    def _message(self, kernel: KernelDefinition, project: Project) -> str:
        module = project.modules[kernel.module]
        where = self._where(kernel)
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
