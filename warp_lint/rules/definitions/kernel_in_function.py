from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.kernels import isolate
from warp_lint.findings import Applicability, Finding, Fix, Level, Related
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
                fix=self._fix(kernel, project),
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
        pending, seen = [(kernel.file.index, function)], {(kernel.file.index, function)}
        while pending:
            file, scope = pending.pop()
            sites = project.callers.sites(file, scope)
            if not sites or any(project.callers.mentions(file, scope)):
                return False
            for site in sites:
                if self._is_after_load(site, kernel, project):
                    return False
                called_from = project.files[site.file]
                is_direct = (file, scope) == (kernel.file.index, function)
                if not is_direct and called_from.is_main_guarded(project.call(site).block):
                    # What the program does is no import, and not all of its loads are seen.
                    return False
                outer = called_from.outermost_function_of(project.call(site).scope)
                if outer is not None and (site.file, outer) not in seen:
                    seen.add((site.file, outer))
                    pending.append((site.file, outer))
        return True

    def _is_after_load(self, site: CallSite, kernel: KernelDefinition, project: Project) -> bool:
        """Whether the module may be loaded before the call, or by an earlier turn of a loop around it."""
        file = project.files[site.file]
        call = project.call(site)
        scope = file.function_of(call.scope) or 0
        loop = file.loop_of(call.block)
        for load in project.timeline.events(file.index, scope):
            if not load.loads(kernel.module):
                continue
            if project.timeline.precedes(file, load, call.block, call.order):
                return True
            if loop is not None and loop in file.block_ancestors(load.block):
                return True
        return False

    def _fix(self, kernel: KernelDefinition, project: Project) -> Fix | None:
        fix = isolate(kernel, project)
        if fix is not None and kernel.module.kind is ModuleKind.NAMED:
            # Somebody gave the module its name for a reason.
            return Fix(fix.title, Applicability.UNSAFE, fix.edits)
        return fix

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
