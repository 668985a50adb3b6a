from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.kernels import carry_options, edit_kernel
from warp_lint.findings import Applicability, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.project.options import OptionWrite
from warp_lint.project.values import constant
from warp_lint.rules.base import Rule
from warp_lint.warp_api import MODULE_OPTIONS, OptionEffect, find


class OptionsNotInherited(Rule):
    """A kernel in a module of its own does not get the options that its file sets.

    ## What it does
    Reports unique and named-module kernels in a file that sets options for its own module, when the kernel
    does not repeat or override them.

    ## Why is this bad
    A unique or named module starts from `wp.config`, not from the file's `wp.set_module_options`. With
    `enable_backward` off in the file, such a kernel is still built with its adjoint; with `fast_math` on,
    it computes differently from its neighbours.

    ## Example
    ```python
    wp.set_module_options({"enable_backward": False})


    @wp.kernel(module="unique")
    def step(x: wp.array(dtype=float)): ...
    ```

    ## Use instead
    ```python
    wp.set_module_options({"enable_backward": False})


    @wp.kernel(module="unique", enable_backward=False)
    def step(x: wp.array(dtype=float)): ...
    ```

    ## Fix safety
    The fix repeats the options on the kernel. It is safe for `enable_backward=False` where no tape records,
    otherwise unsafe, since the kernel was built without them so far.
    """

    code = "WRP305"
    name = "options-not-inherited"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for kernel in project.kernels.values():
            if kernel.module.kind not in (ModuleKind.UNIQUE, ModuleKind.NAMED, ModuleKind.COMPUTED):
                continue
            if self._may_have_options(kernel, project):
                continue
            missing = self._missing(kernel, project)
            if missing:
                yield self._finding(kernel, missing, project)

    def _may_have_options(self, kernel: KernelDefinition, project: Project) -> bool:
        """Whether the kernel may be given options that are not seen."""
        arguments = kernel.creation.arguments
        if arguments.open or kernel.module in project.options.open_modules:
            return True
        if kernel.module.kind is not ModuleKind.UNIQUE and kernel.file.index in project.options.open_files:
            return True
        given = arguments.keyword("module_options")
        return given is not None and any(getattr(value, "open", True) for value in given)

    def _missing(self, kernel: KernelDefinition, project: Project) -> list[OptionWrite]:
        own = project.modules.get(ModuleKey(ModuleKind.OWN, file=kernel.body_file.index))
        if own is None:
            return []
        repeated = set(kernel.options)
        if "grid_stride" in repeated:
            repeated.add("default_grid_stride")
        if project.differentiation.may_be_recorded(kernel):
            # Its adjoint may be there on purpose.
            repeated.add("enable_backward")
        if kernel.module in project.modules:
            repeated |= {write.name for write in project.modules[kernel.module].writes}
        missing = {
            write.name: write
            for write in own.writes
            if write.file is kernel.body_file
            and write.place.scope == 0
            and write.name not in repeated
            # The block dimension of a module changes only what is built ahead of launches.
            and write.name != "block_dim"
            and _is_real(write, project)
            and not project.is_default(write, kernel.file)
        }
        return list(missing.values())

    def _fix(self, kernel: KernelDefinition, missing: list[OptionWrite], project: Project) -> Fix | None:
        is_unique = kernel.module.kind is ModuleKind.UNIQUE
        carried = carry_options(kernel, missing, project, is_unique=is_unique)
        if not carried.arguments and not carried.module_options:
            return None
        edit = edit_kernel(kernel, carried.arguments, carried.module_options, project)
        if edit is None:
            return None
        names = ", ".join([*carried.arguments, *carried.module_options])
        title = f"Repeat {names} on the kernel"
        if carried.lost:
            title += f", without {', '.join(carried.lost)}"
        only_backward = [write.name for write in missing] == ["enable_backward"]
        is_safe = only_backward and missing[0].values == (constant(False),)
        return Fix(title, Applicability.SAFE if is_safe else Applicability.UNSAFE, (edit,))

    def _finding(self, kernel: KernelDefinition, missing: list[OptionWrite], project: Project) -> Finding:
        names = ", ".join(write.name for write in missing)
        return self.finding(
            kernel.location,
            f'kernel "{kernel.name}" is built without the options of its file ({names}): '
            "its module starts from wp.config",
            suppression_range=kernel.suppression_range,
            related=[Related("set here for the file's own module", missing[0].location)],
            fix=self._fix(kernel, missing, project),
        )


def _is_real(write: OptionWrite, project: Project) -> bool:
    """Whether the option does anything where it is set."""
    option = find(MODULE_OPTIONS, write.name, project.settings.target_version)
    return option is not None and option.effect is OptionEffect.REAL
