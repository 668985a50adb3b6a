"""Launches: which kernel runs with which block dimension, seen through helpers that forward both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from warp_lint.facts.records import BlockKind, CallFact
from warp_lint.facts.values import Opaque
from warp_lint.project.callers import Binding, Callers, CallSite
from warp_lint.project.evaluation import Evaluator
from warp_lint.project.values import (
    UNKNOWN,
    Arguments,
    Constant,
    Environment,
    External,
    Kernel,
    ParameterValue,
    Partial,
    Symbol,
    Value,
    Values,
    constant,
)

BlockDim: TypeAlias = Constant | Symbol
DEFAULT_BLOCK_DIM = 256
"""What ``wp.launch`` uses on CUDA when no block dimension is given."""
_DEVICE_POSITION = 6
_BLOCK_DIM_POSITION = 12
_ASKED_POSITIONS = (0, _DEVICE_POSITION, _BLOCK_DIM_POSITION)
_ASKED_KEYWORDS = ("kernel", "device", "block_dim", "**")
_NOT_ASKED = Opaque()


class Launch(NamedTuple):
    """One kernel with one block dimension, launched at one place."""

    kernel: Kernel
    block_dim: BlockDim | None
    """None: not known."""
    site: CallSite
    path: tuple[CallSite, ...]
    """The calls that lead to a launch inside a helper, innermost first."""
    cpu_only: bool
    is_default: bool
    """The launch gives no block dimension."""
    alternatives: int
    """How many kernels this launch may run on this way."""
    sources: tuple[CallSite, ...] = ()
    """The calls that give the block dimension where none on the path does: those of a constructor, say, that
    keeps it in an attribute."""

    @property
    def is_sure(self) -> bool:
        """Whether no other kernel can be meant."""
        return self.alternatives == 1


class LaunchFinder:
    """Finds what each ``wp.launch`` and ``wp.launch_tiled`` of the project launches."""

    def __init__(self, evaluator: Evaluator, callers: Callers) -> None:
        self._evaluator = evaluator
        self._callers = callers

    def launches_at(self, site: CallSite) -> Iterator[Launch]:
        """The launches that a call stands for, each once for the files that it is led to from."""
        seen = set()
        for launch in self._found(site):
            files = frozenset(caller.file for caller in (*launch.path, *launch.sources))
            key = (launch._replace(path=launch.path[:1], sources=()), files)
            if key not in seen:
                seen.add(key)
                yield launch

    def _found(self, site: CallSite) -> Iterator[Launch]:
        call = self._callers.call(site)
        place = self._callers.place(site)
        expressions = [
            argument.value
            for position, argument in enumerate(call.arguments)
            if argument.keyword in ("kernel", "block_dim", "device", "*", "**")
            or (argument.keyword is None and position == 0)
        ]
        for environment in self._evaluator.iterations(place, expressions, {}):
            arguments = self._arguments(site, environment)
            asked = self._parameters(arguments, site)
            ways = list(self._ways(site, sorted(asked), asked)) if asked else []
            if not ways:
                yield from self._launches(site, arguments, ())
            for way in ways:
                for inner in self._evaluator.iterations(place, expressions, way.environment):
                    arguments = self._arguments(site, inner)
                    yield from self._launches(site, arguments, way.path)

    def _arguments(self, site: CallSite, environment: Environment) -> Arguments:
        """The arguments of a launch, those of a ``functools.partial`` included."""
        call = self._callers.call(site)
        place = self._callers.place(site)
        match self._evaluator.evaluate(call.function, place, environment):
            case (Partial(arguments=given),):
                return given.merged(self._evaluator.arguments(call, place, environment))
            case (External(name=name),) if name.endswith("jax_kernel"):
                # Only the kernel and keywords mean the same as for a launch.
                arguments = self._evaluator.arguments(_as_asked(call), place, environment)
                return replace(arguments, positional=arguments.positional[:1])
            case _:
                return self._evaluator.arguments(_as_asked(call), place, environment)

    def _parameters(self, arguments: Arguments, site: CallSite) -> dict[int, frozenset[str] | None]:
        """The parameters that say what is launched and how, by the functions around the launch that they are
        of; None for all of them."""
        file = self._callers.file(site)
        around = set(file.scope_chain(self._callers.call(site).scope))
        given: list[Values] = [arguments.get(0, "kernel") or (), self._block_dim(arguments)]
        given.append(arguments.get(_DEVICE_POSITION, "device") or ())
        values = [value for values in given for value in values]
        if UNKNOWN in values:
            values += self._looped_over(site)
        found: dict[int, frozenset[str] | None] = {}
        for value in values:
            if isinstance(value, ParameterValue) and value.file == site.file and value.scope in around:
                found[value.scope] = (found.get(value.scope) or frozenset()) | {value.name}
        if arguments.open:
            function = file.function_of(self._callers.call(site).scope)
            if function is not None:
                found[function] = None
        return found

    def _looped_over(self, site: CallSite) -> Iterator[Value]:
        """What the loops around a launch go over."""
        file, call = self._callers.file(site), self._callers.call(site)
        for block in map(file.facts.blocks.__getitem__, file.block_ancestors(call.block)):
            if block.kind is BlockKind.LOOP and block.test is not None:
                yield from self._evaluator.evaluate(block.test, self._callers.place(site), {})

    def _ways(
        self, site: CallSite, scopes: list[int], asked: dict[int, frozenset[str] | None]
    ) -> Iterator[Binding]:
        """The ways to the launch: every combination of the calls of the functions around it."""
        first, *rest = scopes
        for way in self._callers.bindings(site.file, first, asked=asked[first]):
            if not rest:
                yield way
                continue
            for other in self._ways(site, rest, asked):
                yield Binding({**way.environment, **other.environment}, (*way.path, *other.path))

    def _launches(self, site: CallSite, arguments: Arguments, path: tuple[CallSite, ...]) -> Iterator[Launch]:
        given = arguments.get(0, "kernel")
        kernels = self._callers.resolve(given) if given is not None else ()
        cpu_only = self._is_cpu_only(arguments, site)
        block_dim = self._block_dim(arguments)
        is_default = block_dim == (constant(DEFAULT_BLOCK_DIM),) and not self._gives_block_dim(arguments)
        for kernel in kernels:
            if isinstance(kernel, Kernel):
                for value, sources in self._block_dims(block_dim):
                    yield Launch(kernel, value, site, path, cpu_only, is_default, len(kernels), sources)

    def _gives_block_dim(self, arguments: Arguments) -> bool:
        return arguments.get(_BLOCK_DIM_POSITION, "block_dim") is not None

    def _block_dim(self, arguments: Arguments) -> Values:
        given = arguments.get(_BLOCK_DIM_POSITION, "block_dim")
        if given is not None:
            return given
        return (UNKNOWN,) if arguments.open else (constant(DEFAULT_BLOCK_DIM),)

    def _block_dims(self, values: Values) -> Iterator[tuple[BlockDim | None, tuple[CallSite, ...]]]:
        """The block dimensions that values stand for, each with the calls that give it."""
        for value, sources in self._callers.given(values):
            match value:
                case Constant(value=bool() | float()):
                    yield None, sources
                # Warp takes None and 0 for the default.
                case Constant(value=None | 0):
                    yield constant(DEFAULT_BLOCK_DIM), sources
                case Constant(value=int(number)) if number > 0:
                    yield constant(number), sources
                case Symbol():
                    yield value, sources
                case _:
                    yield None, sources

    def _is_cpu_only(self, arguments: Arguments, site: CallSite) -> bool:
        call = self._callers.call(site)
        if self._callers.file(site).is_cpu_only(call.block):
            return True
        device = arguments.get(_DEVICE_POSITION, "device")
        return device is not None and all(_is_cpu(value) for value in self._callers.resolve(device))


def _as_asked(call: CallFact) -> CallFact:
    """A launch whose arguments are left out, by something unknown, where nothing asks for them: most of the
    work would be to find out what its inputs and outputs are."""
    if any(argument.keyword == "*" for argument in call.arguments):
        return call
    return replace(
        call,
        arguments=tuple(
            argument
            if argument.keyword in _ASKED_KEYWORDS
            or (argument.keyword is None and position in _ASKED_POSITIONS)
            else replace(argument, value=_NOT_ASKED)
            for position, argument in enumerate(call.arguments)
        ),
    )


def _is_cpu(value: Value) -> bool:
    return isinstance(value, Constant) and value.value == "cpu"
