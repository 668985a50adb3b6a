"""Which loops of device code Warp unrolls, and into how many copies of their body."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from warp_lint.facts import values as fact
from warp_lint.facts.records import DeviceCode, DeviceLoop
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile, last_name
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.project.values import External, only_constant

if TYPE_CHECKING:
    from warp_lint.project import Project

DEFAULT_MAX_UNROLL = 16
_END = 1 << 60


class Unrolled(NamedTuple):
    """A loop that Warp writes out, turn by turn."""

    loop: DeviceLoop
    turns: int
    is_forced: bool
    """A ``wp.static`` inside makes Warp unroll it whatever ``max_unroll`` says."""


class Nest(NamedTuple):
    """Loops inside each other that are all unrolled, outermost first."""

    loops: tuple[Unrolled, ...]
    body: int
    """The innermost loop, an index into the loops of the device code."""

    @property
    def copies(self) -> int:
        """How often the innermost body is generated."""
        return prod(unrolled.turns for unrolled in self.loops)


def nests(code: DeviceCode, file: ProjectFile, max_unroll: int, project: Project) -> Iterator[Nest]:
    """For each innermost loop of a function's device code, the unrolled loops around it, itself included."""
    unrolled = {
        index: turns
        for index in range(len(code.loops))
        if (turns := _unrolled(index, code, file, max_unroll, project)) is not None
    }
    parents = {loop.parent for loop in code.loops}
    for index in range(len(code.loops)):
        if index in parents:
            continue
        chain = [unrolled[outer] for outer in around(code, index) if outer in unrolled]
        if chain:
            yield Nest(tuple(reversed(chain)), index)


def around(code: DeviceCode, loop: int) -> Iterator[int]:
    """A loop and those around it, innermost first."""
    while loop >= 0:
        yield loop
        loop = code.loops[loop].parent


def _unrolled(
    index: int, code: DeviceCode, file: ProjectFile, max_unroll: int, project: Project
) -> Unrolled | None:
    """How Warp unrolls a loop; None when it generates a loop, or when that is not known."""
    loop = code.loops[index]
    bounds = [_integer(argument, code, file, project) for argument in loop.arguments]
    numbers = [bound for bound in bounds if bound is not None]
    if not numbers or len(numbers) != len(bounds) or len(numbers) > 3 or 0 in numbers[2:]:
        return None
    turns = len(range(*numbers))
    is_forced = any(
        index in around(code, call.loop) and _is_static(call.function, code, file, project)
        for call in code.calls
    )
    if is_forced or (turns <= max_unroll and not loop.breaks):
        return Unrolled(loop, turns, is_forced and turns > max_unroll)
    return None


def _integer(argument: fact.Expression, code: DeviceCode, file: ProjectFile, project: Project) -> int | None:
    """A bound that Warp takes for constant: a number, or a name from outside that stands for one. It unrolls
    nothing over ``2 * N``."""
    match argument:
        case fact.Constant(value=int(number)):
            return number
        case fact.Name(id=name) if name not in code.names:
            return None
        case fact.Name() | fact.Attribute():
            value = only_constant(project.evaluator.evaluate(argument, _inside(code, file), {}))
            is_integer = value is not None and type(value.value) is int
            return value.value if value is not None and is_integer else None  # type: ignore[return-value]
        case _:
            return None


def _is_static(function: fact.Expression, code: DeviceCode, file: ProjectFile, project: Project) -> bool:
    return last_name(function) == "static" and project.evaluator.evaluate(
        function, _inside(code, file), {}
    ) == (External("warp.static"),)


def _inside(code: DeviceCode, file: ProjectFile) -> Place:
    return Place(file.index, code.scope, file.facts.scopes[code.scope].body_block, _END)


def max_unroll_of_kernel(kernel: KernelDefinition, project: Project) -> int | None:
    """The ``max_unroll`` that a kernel is built with; None where it is not known."""
    if "max_unroll" in kernel.options:
        own = kernel.option("max_unroll")
        return own if isinstance(own, int) else None
    return _max_unroll(kernel.module, kernel.file, project)


def max_unroll_of_function(file: ProjectFile, project: Project) -> int | None:
    """The ``max_unroll`` of a device function as the kernels of its own file see it."""
    return _max_unroll(ModuleKey(ModuleKind.OWN, file=file.index), file, project)


def _max_unroll(key: ModuleKey, file: ProjectFile, project: Project) -> int | None:
    if key in project.options.open_modules:
        return None
    module = project.modules.get(key)
    written = [write.values for write in module.writes if write.name == "max_unroll"] if module else []
    written = written or [write.values for write in project.config_writes_for("max_unroll", file)]
    if not written:
        return DEFAULT_MAX_UNROLL
    constants = {value.value if (value := only_constant(values)) else None for values in written}
    only = constants.pop() if len(constants) == 1 else None
    return only if isinstance(only, int) else None
