from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts.records import DeviceCode
from warp_lint.findings import Finding, Level
from warp_lint.project import Project
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.values import DeviceFunction, External, constant
from warp_lint.rules.base import Rule
from warp_lint.warp_api import TILE_LINKS_FOLLOW_MODULE_SINCE, TILE_OPERATIONS, TileOperation

_DEEPEST = 6


class TileBackwardFlag(Rule):
    """Backward code of a tile operation is linked although the kernel has none.

    ## What it does
    Reports kernels with `enable_backward=False` on the decorator that use a tile operation of MathDx
    (`tile_matmul`, `tile_cholesky`, `tile_fft`, …), themselves or through a function, in a module whose own
    `enable_backward` is on.

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
        version = project.settings.target_version
        if version < TILE_LINKS_FOLLOW_MODULE_SINCE:
            return
        operations = {item.name: item for item in TILE_OPERATIONS if item.exists_in(version)}
        for kernel in project.kernels.values():
            if kernel.options.get("enable_backward") != (constant(False),):
                continue
            if self._is_off_for_module(kernel, project):
                continue
            linked = [
                operations[name]
                for name in self._tile_operations(kernel, project)
                if name in operations and self._links_backward(operations[name], kernel, project)
            ]
            if linked:
                yield self._finding(kernel, linked[0], project)

    def _links_backward(self, operation: TileOperation, kernel: KernelDefinition, project: Project) -> bool:
        since = operation.backward_since
        if since is None or project.settings.target_version < since:
            return False
        return not self._is_switched_off(operation.switch, kernel, project)

    def _is_switched_off(self, switch: str, kernel: KernelDefinition, project: Project) -> bool:
        if self._given_by_module_options(kernel, switch):
            return True
        if project.config_writes_for(switch, kernel.file):
            return True
        return any(write.name == switch for write in project.modules[kernel.module].writes)

    def _is_off_for_module(self, kernel: KernelDefinition, project: Project) -> bool:
        """Whether the module's own option is, or may be, off as well."""
        if self._given_by_module_options(kernel, "enable_backward"):
            return True
        if project.config_writes_for("enable_backward", kernel.file):
            return True
        return any(write.name == "enable_backward" for write in project.modules[kernel.module].writes)

    def _given_by_module_options(self, kernel: KernelDefinition, name: str) -> bool:
        given = kernel.creation.arguments.keyword("module_options")
        if given is None or given == (constant(None),):
            return False
        return any(name in dict(getattr(value, "items", ())) or getattr(value, "open", True) for value in given)

    def _tile_operations(self, kernel: KernelDefinition, project: Project) -> Iterator[str]:
        """The tile operations in a kernel and the functions that it calls."""
        seen: set[tuple[int, int]] = set()
        pending = [(kernel.body_file, kernel.kernel.scope, 0)]
        while pending:
            file, scope, depth = pending.pop()
            if (file.index, scope) in seen or depth > _DEEPEST:
                continue
            seen.add((file.index, scope))
            code = _device_code(file, scope)
            if code is None:
                continue
            body = file.facts.scopes[scope]
            place = Place(file.index, scope, body.body_block, 1 << 60)
            for call in code.calls:
                for value in project.evaluator.evaluate(call.function, place, {}):
                    match value:
                        case External(name=name) if name.startswith("warp.tile_"):
                            yield name.removeprefix("warp.")
                        case DeviceFunction(file=target, scope=inner):
                            pending.append((project.files[target], inner, depth + 1))

    def _finding(self, kernel: KernelDefinition, operation: TileOperation, project: Project) -> Finding:
        module = project.modules[kernel.module]
        return self.finding(
            kernel.location,
            f'module "{module.name}" links backward code of {operation.name}: kernel "{kernel.name}" turns '
            "backward off on its decorator only, and tile operations follow the module's option",
            suppression_range=kernel.suppression_range,
        )


def _device_code(file: ProjectFile, scope: int) -> DeviceCode | None:
    for code in file.facts.device_code:
        if code.scope == scope:
            return code
    return None
