from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.kernels import KernelDefinition, ModuleKind
from warp_lint.rules.base import Rule


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
            if self._is_created_at_import_only(kernel, function, project):
                continue
            yield self.finding(
                kernel.location,
                self._message(kernel, project),
                suppression_range=kernel.suppression_range,
                related=self._related(kernel, project),
            )

    def _shares_its_module(self, kernel: KernelDefinition) -> bool:
        """Whether the kernel joins the own module, or a constant module that its function fills further."""
        match kernel.module.kind:
            case ModuleKind.OWN:
                return True
            case ModuleKind.NAMED:
                return bool(kernel.captured_parameters)
            case _:
                return False

    def _is_created_at_import_only(self, kernel: KernelDefinition, function: int, project: Project) -> bool:
        """Whether the function runs only while files are imported, before anything is loaded."""
        sites = self._sites_at_import(kernel.file.index, function, project, set())
        return bool(sites) and not any(self._is_after_load(site, kernel, project) for site in sites)

    def _sites_at_import(
        self, file: int, function: int, project: Project, seen: set[tuple[int, int]]
    ) -> list[CallSite]:
        """The calls at module level that lead to the function; empty when it may be called otherwise."""
        if (file, function) in seen or any(project.callers.mentions(file, function)):
            return []
        seen.add((file, function))
        found: list[CallSite] = []
        for site in project.callers.sites(file, function):
            caller_file = project.callers.file(site)
            outer = caller_file.outermost_function_of(project.call(site).scope)
            if outer is None:
                found.append(site)
                continue
            through = self._sites_at_import(site.file, outer, project, seen)
            if not through:
                return []
            found += through
        return found

    def _is_after_load(self, site: CallSite, kernel: KernelDefinition, project: Project) -> bool:
        """Whether the module may be loaded before the call, or by an earlier turn of a loop around it."""
        file = project.callers.file(site)
        call = project.call(site)
        loop = file.loop_of(call.block) if call.scope == 0 else None
        for load in project.timeline.events(file.index, 0).loads:
            if load.module != kernel.module:
                continue
            if project.timeline.precedes(file, load, call.block, call.order):
                return True
            if loop is not None and loop in file.block_ancestors(load.block):
                return True
        return False

    def _message(self, kernel: KernelDefinition, project: Project) -> str:
        module = project.modules[kernel.module]
        where = kernel.file.facts.scopes[kernel.file.function_of(kernel.place.scope) or 0].qualified_name
        if kernel.captured_parameters:
            names = ", ".join(sorted(kernel.captured_parameters))
            return (
                f'kernel "{kernel.name}" created in {where}() grows module "{module.name}": '
                f"all its kernels are built again for each new value of {names}"
            )
        return (
            f'kernel "{kernel.name}" created in {where}() joins module "{module.name}": '
            "once that is loaded, all its kernels are built again"
        )

    def _related(self, kernel: KernelDefinition, project: Project) -> Iterator[Related]:
        file = kernel.file
        for load in project.timeline.before_call(file):
            if load.module == kernel.module:
                yield Related(f"first loaded by {load.description}", load.location)
                return
        scope = file.function_of(kernel.place.scope)
        if scope is None:
            return
        for load in project.timeline.events(file.index, scope).loads:
            if load.module == kernel.module:
                yield Related(f"loaded by {load.description}", load.location)
                return
