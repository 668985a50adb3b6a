"""Tile operations in kernels, and what Warp links from MathDx for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from warp_lint.facts import values as fact
from warp_lint.facts.records import DeviceCall, DeviceCode
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.values import Arguments, DeviceFunction, External, Function, constant
from warp_lint.warp_api import TILE_LINKS_FOLLOW_MODULE_SINCE, TILE_OPERATIONS, TileOperation

if TYPE_CHECKING:
    from warp_lint.project import Project

_DEEPEST = 6
"""Functions called inside functions that are looked at."""
_END = 1 << 60
_BROADCAST = External("warp.tile_broadcast")


def links_backward_tiles(kernel: KernelDefinition, project: Project) -> TileOperation | None:
    """The first tile operation of a kernel, or of a function that it calls, for which Warp links backward
    code when the module's ``enable_backward`` is on; None when there is none."""
    version = project.settings.target_version
    if version < TILE_LINKS_FOLLOW_MODULE_SINCE:
        return None
    operations = {item.name: item for item in TILE_OPERATIONS if item.exists_in(version)}
    for name in tile_operations(kernel, project):
        operation = operations.get(name)
        if operation is None or operation.backward_since is None or version < operation.backward_since:
            continue
        if not _is_switched_off(operation.switch, kernel, project):
            return operation
    return None


def tile_operations(kernel: KernelDefinition, project: Project) -> Iterator[str]:
    """The tile operations in a kernel and the functions that it calls; no product with a broadcast tile,
    which Warp computes itself."""
    seen: set[tuple[int, int]] = set()
    pending = [(kernel.body_file, kernel.kernel.scope, 0)]
    while pending:
        file, scope, depth = pending.pop()
        code = _device_code(file, scope)
        if (file.index, scope) in seen or depth > _DEEPEST or code is None:
            continue
        seen.add((file.index, scope))
        place = Place(file.index, scope, file.facts.scopes[scope].body_block, _END)
        for call in code.calls:
            for value in project.evaluator.evaluate(call.function, place, {}):
                match value:
                    case External(name="warp.tile_matmul") if _has_broadcast(call, code, place, project):
                        pass
                    case External(name=name) if name.startswith("warp.tile_"):
                        yield name.removeprefix("warp.")
                    case DeviceFunction(file=target, scope=inner):
                        pending.append((project.files[target], inner, depth + 1))
                    case Function():
                        # wp.static(make_function(n))(…)
                        pending += [
                            (project.files[made.file], made.scope, depth + 1)
                            for made in project.evaluator.apply(value, Arguments(open=True), place, -1)
                            if isinstance(made, DeviceFunction)
                        ]


def _has_broadcast(product: DeviceCall, code: DeviceCode, place: Place, project: Project) -> bool:
    """Whether an operand may be the result of ``wp.tile_broadcast``: its strides of zero are none that
    MathDx can take."""
    operands = [argument for argument in product.arguments if argument.keyword in (None, "a", "b", "out")]
    spans = {operand.value_span for operand in operands}
    names = {operand.value.id for operand in operands if isinstance(operand.value, fact.Name)}
    return any(
        _BROADCAST in project.evaluator.evaluate(call.function, place, {})
        for call in code.calls
        if call.span in spans or call.target in names
    )


def gives_module_option(kernel: KernelDefinition, name: str) -> bool:
    """Whether ``module_options=`` of a kernel gives an option, or may give it."""
    given = kernel.creation.arguments.keyword("module_options")
    if given is None or given == (constant(None),):
        return False
    return any(name in dict(getattr(value, "items", ())) or getattr(value, "open", True) for value in given)


def _is_switched_off(switch: str, kernel: KernelDefinition, project: Project) -> bool:
    """Whether MathDx may be off for the kernel, so that nothing is linked."""
    if gives_module_option(kernel, switch) or project.config_writes_for(switch, kernel.file):
        return True
    module = project.modules.get(kernel.module)
    return module is not None and any(write.name == switch for write in module.writes)


def _device_code(file: ProjectFile, scope: int) -> DeviceCode | None:
    for code in file.facts.device_code:
        if code.scope == scope:
            return code
    return None
