from __future__ import annotations

import re
from collections.abc import Iterator

from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.evaluation import Place
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.tiles import tile_operations
from warp_lint.project.values import External, Values, constant
from warp_lint.rules.base import Rule
from warp_lint.warp_api import TILE_OPERATIONS

_HALF_PRECISION = re.compile(r"warp\.(b?float16|half|(vec|mat|quat|transform|spatial_)\w*h)")
_END = 1 << 60


class MathdxOff(Rule):
    """MathDx is switched off where a kernel works on tiles of half precision.

    ## What it does
    Reports `wp.config.enable_mathdx_gemm`, `enable_mathdx_solver` and `enable_mathdx_fft` set to `False`
    where no condition decides about it and a kernel of the project uses such a tile operation on
    half-precision values.

    ## Why is this bad
    Switching MathDx off makes builds much faster, and with single precision that is often the better choice.
    For half precision MathDx is what makes a tile product run on tensor cores: without it the product is
    computed by ordinary code, one number at a time.

    ## Example
    ```python
    wp.config.enable_mathdx_gemm = False


    @wp.kernel
    def squared(a: wp.array2d(dtype=wp.float16), b: wp.array2d(dtype=wp.float16)):
        tile = wp.tile_load(a, shape=(16, 16))
        wp.tile_store(b, wp.tile_matmul(tile, tile))
    ```

    ## Use instead
    ```python
    @wp.kernel
    def squared(a: wp.array2d(dtype=wp.float16), b: wp.array2d(dtype=wp.float16)):
        tile = wp.tile_load(a, shape=(16, 16))
        wp.tile_store(b, wp.tile_matmul(tile, tile))
    ```

    ## Fix safety
    There is no fix: whether builds or launches shall be fast, only the author knows.
    """

    code = "WRP803"
    name = "mathdx-off"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        for setting in project.lasting_settings:
            is_off = setting.is_config and setting.values == (constant(False),)
            if not setting.name.startswith("enable_mathdx_") or not is_off:
                continue
            kernel = self._first_half_precision(setting.name, project)
            if kernel is not None:
                yield self.finding(
                    setting.location,
                    f'{setting.shown} is off: the half-precision tiles of "{kernel.name}" are computed '
                    "without tensor cores",
                    suppression_range=setting.suppression_range,
                    related=[Related(f'"{kernel.name}" is defined here', kernel.location)],
                )

    def _first_half_precision(self, switch: str, project: Project) -> KernelDefinition | None:
        """The first kernel that uses an operation of the switch on half-precision values."""
        version = project.settings.target_version
        switched = {
            item.name for item in TILE_OPERATIONS if item.switch == switch and item.exists_in(version)
        }
        for kernel in project.kernels.values():
            uses_them = not switched.isdisjoint(tile_operations(kernel, project))
            if uses_them and any(_is_half(types) for types in _types_of(kernel, project)):
                return kernel
        return None


def _types_of(kernel: KernelDefinition, project: Project) -> Iterator[Values]:
    """The types of a kernel's parameters, and of the tiles that it makes."""
    yield from kernel.parameter_types
    code = kernel.device_code
    place = Place(kernel.body_file.index, kernel.kernel.scope, kernel.scope.body_block, _END)
    for call in code.calls if code is not None else ():
        for argument in call.arguments:
            if argument.keyword == "dtype":
                yield project.evaluator.evaluate(argument.value, place, {})


def _is_half(types: Values) -> bool:
    return any(isinstance(value, External) and _HALF_PRECISION.fullmatch(value.name) for value in types)
