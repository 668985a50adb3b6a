from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.kernels import MODULE_OPTIONS_SINCE, edit_kernel
from warp_lint.findings import Applicability, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.differentiation import is_integer_only
from warp_lint.project.kernels import KernelDefinition, ModuleKind
from warp_lint.project.tiles import gives_module_option, links_backward_tiles
from warp_lint.project.values import constant
from warp_lint.rules.base import Rule
from warp_lint.warp_api import TileOperation


class TileBackwardFlag(Rule):
    """Backward code of a tile operation is linked although the kernel has none.

    ## What it does
    Reports kernels with `enable_backward=False` on the decorator that use a tile operation of MathDx
    (`tile_matmul`, `tile_cholesky`, `tile_fft`, …), themselves or through a function, in a module whose own
    `enable_backward` is on. A module that has other kernels which may be differentiated needs its option.
    Products with a broadcast tile are no matter of MathDx.

    ## Why is this bad
    What is linked for a tile operation follows the module's option, not the kernel's. A kernel with one
    matrix product links three products instead of one; each link takes seconds, and again for each block
    dimension.

    ## Example
    ```python
    @wp.kernel(module="unique", enable_backward=False)
    def product(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
        ...
        wp.tile_matmul(tile_a, tile_b, tile_c)
    ```

    ## Use instead
    ```python
    @wp.kernel(module="unique", module_options={"enable_backward": False})
    def product(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
        ...
        wp.tile_matmul(tile_a, tile_b, tile_c)
    ```

    ## Fix safety
    The fix turns the decorator's argument into the module option. It is safe: the module holds this kernel
    alone. It is offered where the kernel is unique and Warp has `module_options` (1.13).
    """

    code = "WRP403"
    name = "tile-backward-flag"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for kernel in project.kernels.values():
            if kernel.options.get("enable_backward") != (constant(False),):
                continue
            if self._is_off_for_module(kernel, project) or self._is_differentiated(kernel, project):
                continue
            operation = links_backward_tiles(kernel, project)
            if operation is not None:
                yield self._finding(kernel, operation, project)

    def _is_off_for_module(self, kernel: KernelDefinition, project: Project) -> bool:
        """Whether the module's own option is, or may be, off as well."""
        if gives_module_option(kernel, "enable_backward"):
            return True
        if project.config_writes_for("enable_backward", kernel.file):
            return True
        return any(write.name == "enable_backward" for write in project.modules[kernel.module].writes)

    def _is_differentiated(self, kernel: KernelDefinition, project: Project) -> bool:
        """Whether another kernel of the module may be differentiated: the option must stay on then."""
        return any(
            other.options.get("enable_backward") != (constant(False),)
            and not is_integer_only(other)
            and project.differentiation.may_reach(other)
            for other in project.modules[kernel.module].kernels
        )

    def _finding(self, kernel: KernelDefinition, operation: TileOperation, project: Project) -> Finding:
        module = project.modules[kernel.module]
        is_unique = module.key.kind is ModuleKind.UNIQUE
        of_kernel = "" if is_unique else f' of "{kernel.name}"'
        which = f'unique kernel "{kernel.name}"' if is_unique else f'module "{module.name}"'
        return self.finding(
            kernel.location,
            f"{which} links backward code of {operation.name}: only the decorator{of_kernel} turns backward "
            "off, and tile operations follow the module's option",
            suppression_range=kernel.suppression_range,
            fix=self._fix(kernel, project),
        )

    def _fix(self, kernel: KernelDefinition, project: Project) -> Fix | None:
        if kernel.module.kind is not ModuleKind.UNIQUE:
            return None
        if project.settings.target_version < MODULE_OPTIONS_SINCE:
            return None
        edit = edit_kernel(kernel, {"enable_backward": None}, {"enable_backward": "False"}, project)
        if edit is None:
            return None
        return Fix("Turn backward off for the module", Applicability.SAFE, (edit,))
