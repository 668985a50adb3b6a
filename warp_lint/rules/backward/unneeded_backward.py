from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.kernels import edit_kernel
from warp_lint.edits.options import set_at_top
from warp_lint.findings import Applicability, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.differentiation import is_integer_only
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.project.modules import WarpModule
from warp_lint.project.values import constant
from warp_lint.rules.base import Rule


class UnneededBackward(Rule):
    """A module generates backward code that nothing uses.

    ## What it does
    Reports, once for each module, kernels that are built with their adjoints although nothing in the project
    that can reach them differentiates: no `wp.Tape`, `adjoint=True`, `requires_grad=True`, gradient helper,
    torch or JAX bridge, or custom gradient. Modules whose kernels take only integers always qualify. Generic
    kernels that the project does not launch, overload or hand on are not built and do not count; nor do
    modules that are loaded only where a test expects an error.

    ## Why is this bad
    The adjoint of a kernel is more than half of its code: without it the generated source falls to 35 to
    40 % and the build to 15 to 60 % of its time.

    ## Example
    ```python
    import warp as wp


    @wp.kernel
    def count(cells: wp.array(dtype=int), counts: wp.array(dtype=int)):
        wp.atomic_add(counts, cells[wp.tid()], 1)
    ```

    ## Use instead
    ```python
    import warp as wp

    wp.set_module_options({"enable_backward": False})


    @wp.kernel
    def count(cells: wp.array(dtype=int), counts: wp.array(dtype=int)):
        wp.atomic_add(counts, cells[wp.tid()], 1)
    ```

    ## Fix safety
    The fix sets the module's option. It is unsafe: whoever uses the module from outside the project may
    differentiate it. In a library the finding is only information, for the same reason.
    """

    code = "WRP401"
    name = "unneeded-backward"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for module in project.modules.values():
            if module.key.kind not in (ModuleKind.OWN, ModuleKind.NAMED, ModuleKind.UNIQUE):
                continue
            if module.key in project.options.open_modules or self._sets_backward(module, project):
                continue
            with_backward = [
                kernel
                for kernel in module.kernels
                if self._generates_backward(kernel) and not self._is_off_in_config(kernel, project)
            ]
            if not with_backward or self._is_differentiated(with_backward, project):
                continue
            built = [kernel for kernel in with_backward if self._has_instance(kernel, module, project)]
            if built and not self._is_only_to_fail(module, project):
                yield self._finding(built, module, project)

    def _is_off_in_config(self, kernel: KernelDefinition, project: Project) -> bool:
        """Whether backward code may be off for all modules that are made where the kernel is."""
        writes = project.config_writes_for("enable_backward", kernel.file)
        return any(write.values != (constant(True),) for write in writes)

    def _sets_backward(self, module: WarpModule, project: Project) -> bool:
        """Whether the option of the module is set; for a unique one, also that of its file's own module:
        that it is not inherited is another finding."""
        keys = [module.key]
        if module.key.kind is ModuleKind.UNIQUE and module.kernels:
            keys.append(ModuleKey(ModuleKind.OWN, file=module.kernels[0].body_file.index))
        return any(
            write.name == "enable_backward"
            for key in keys
            if key in project.modules
            for write in project.modules[key].writes
        )

    def _generates_backward(self, kernel: KernelDefinition) -> bool:
        if kernel.file.expects_error(kernel.place.block):
            return False  # a test of what cannot be made
        return "enable_backward" not in kernel.options and not kernel.creation.arguments.open

    def _has_instance(self, kernel: KernelDefinition, module: WarpModule, project: Project) -> bool:
        """Whether anything may be built for the kernel: for a generic one, what is launched or declared, or
        launched by whom the kernel is handed on to."""
        return (
            not kernel.is_generic
            or any(launch.kernel == kernel.kernel for launch in module.launches)
            or bool(project.overloads.declared.get(kernel.kernel))
            or any(project.callers.passed_at(kernel.scope.name, kernel.kernel))
        )

    def _is_only_to_fail(self, module: WarpModule, project: Project) -> bool:
        """Whether the module is loaded, or without that its kernels are handed on, only where a test expects
        an error: it is never built."""
        fails = [
            any(self._expects_error(site, project) for site in (launch.site, *launch.path))
            for launch in module.launches
        ]
        fails += [preload.expects_error for preload in project.preloads if module.key in preload.named]
        if fails:
            return all(fails)
        places = [
            place
            for kernel in module.kernels
            for place in project.callers.passed_at(kernel.scope.name, kernel.kernel)
        ]
        return bool(places) and all(project.files[place.file].expects_error(place.block) for place in places)

    def _expects_error(self, site: CallSite, project: Project) -> bool:
        return project.files[site.file].expects_error(project.call(site).block)

    def _is_differentiated(self, kernels: list[KernelDefinition], project: Project) -> bool:
        return any(
            project.differentiation.may_reach(kernel) and not is_integer_only(kernel) for kernel in kernels
        )

    def _finding(self, kernels: list[KernelDefinition], module: WarpModule, project: Project) -> Finding:
        first = min(kernels, key=lambda kernel: (kernel.file.facts.path, kernel.span))
        count = len(kernels)
        what = "1 kernel is" if count == 1 else f"{count} kernels are"
        which = f'module "{module.name}"'
        if module.key.kind is ModuleKind.UNIQUE:
            which = f'unique kernel "{first.name}"'
        return self.finding(
            first.location,
            f"{which} builds backward code that nothing uses: {what} built with an adjoint",
            suppression_range=first.suppression_range,
            level=Level.INFO if project.is_library(first.file) else self.level,
            fix=self._fix(first, module, project),
        )

    def _may_all_leave(self, module: WarpModule) -> bool:
        """Whether all kernels are made in functions: there they should get modules of their own, and an
        option of the file's module would not reach them."""
        return all(kernel.outermost_function is not None for kernel in module.kernels)

    def _fix(self, first: KernelDefinition, module: WarpModule, project: Project) -> Fix | None:
        edit = None
        match module.key.kind:
            case ModuleKind.OWN if module.file is not None and not self._may_all_leave(module):
                edit = set_at_top(module.file, "enable_backward", "False", project)
            case ModuleKind.UNIQUE:
                edit = edit_kernel(first, {"enable_backward": "False"}, {}, project)
        if edit is None:
            return None
        return Fix("Turn backward code off for the module", Applicability.UNSAFE, (edit,))
