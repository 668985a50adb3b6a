"""Values that are others in another process, and the kernels that hold them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warp_lint.facts import values as fact
from warp_lint.facts.records import BindingFact, DeviceCode, ImportFact, Parameter, Span
from warp_lint.findings import Location
from warp_lint.project.binders import Binder
from warp_lint.project.callers import Callers
from warp_lint.project.evaluation import Evaluator, Place
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.values import DeviceFunction, External, Function

_RANDOM = ("random.", "numpy.random.", "secrets.")
_SEEDED = ("seed", "Random", "default_rng", "RandomState", "Generator", "SeedSequence", "SystemRandom")
_OTHERS = frozenset(
    {
        "builtins.id",
        "datetime.date.today",
        "datetime.datetime.now",
        "datetime.datetime.today",
        "datetime.datetime.utcnow",
        "os.getpid",
        "os.getppid",
        "os.urandom",
        "time.monotonic",
        "time.monotonic_ns",
        "time.perf_counter",
        "time.perf_counter_ns",
        "time.process_time",
        "time.time",
        "time.time_ns",
        "uuid.getnode",
        "uuid.uuid1",
        "uuid.uuid4",
    }
)
_TEMPORARY = ("tempfile.",)
_ENVIRONMENT = frozenset({"os.environ.get", "os.getenv"})
_SEEDING = ("random.seed", "numpy.random.seed")
_KEEPING = frozenset(
    {"abs", "bool", "float", "hash", "int", "len", "max", "min", "ord", "pow", "round", "str", "sum"}
)
"""Built-in functions whose results vary with their arguments."""
_FORM = frozenset({"device", "dtype", "ndim", "shape", "size"})
"""Attributes of an array that say nothing of what is in it."""
_DEEPEST = 8


class Origin(NamedTuple):
    """A call or lookup whose value is not the same in every process."""

    location: Location
    suppression_span: Span
    file: int
    name: str
    of_environment: bool


class Nondeterminism:
    """Follows what kernels hold back to where it comes from."""

    def __init__(self, evaluator: Evaluator, callers: Callers) -> None:
        self._evaluator = evaluator
        self._callers = callers
        self._of_names: dict[tuple[int, int, str, int], tuple[Origin, ...]] = {}
        self._seeded_files = {file.index for file in evaluator.files if self._is_seeded(file)}

    def origins(self, kernel: KernelDefinition) -> Iterator[Origin]:
        """Where constants of a kernel, and of the device functions that it calls, come from, each once."""
        seen: set[Origin] = set()
        for file, code in self._device_codes(kernel):
            scope = file.facts.scopes[code.scope]
            place = Place(file.index, scope.parent, max(scope.block, 0), scope.order)
            found = [
                *self._in_device_code(file, code, place),
                *(origin for name in code.names for origin in self._of_name(name, place, _DEEPEST)),
            ]
            for origin in found:
                if origin not in seen:
                    seen.add(origin)
                    yield origin

    def _device_codes(self, kernel: KernelDefinition) -> Iterator[tuple[ProjectFile, DeviceCode]]:
        pending = [(kernel.body_file, kernel.kernel.scope)]
        seen = set()
        while pending:
            file, scope = pending.pop()
            code = next((code for code in file.facts.device_code if code.scope == scope), None)
            if code is None or (file.index, scope) in seen:
                continue
            seen.add((file.index, scope))
            yield file, code
            fact_ = file.facts.scopes[scope]
            place = Place(file.index, fact_.parent, max(fact_.block, 0), fact_.order)
            for name in code.names:
                for value in self._evaluator.lookup(name, place, {}):
                    if isinstance(value, DeviceFunction):
                        pending.append((self._evaluator.files[value.file], value.scope))

    def _in_device_code(self, file: ProjectFile, code: DeviceCode, place: Place) -> Iterator[Origin]:
        """The calls in ``wp.static``: nothing else in device code can call such functions."""
        for call in code.calls:
            for value in self._evaluator.evaluate(call.function, place, {}):
                if isinstance(value, External) and _varies(value.name):
                    yield self._origin(file, call.span, file.facts.scopes[code.scope].header_span, value.name)

    # Back through names and expressions

    def _of_name(self, name: str, place: Place, depth: int) -> tuple[Origin, ...]:
        file = self._evaluator.files[place.file]
        for scope in file.scope_chain(place.scope):
            binders = file.binders[scope].get(name) if scope in file.binders else None
            if binders:
                key = (file.index, scope, name, depth)
                if key not in self._of_names:
                    is_followed = len(binders) == 1 and depth > 0
                    found = self._of_binder(binders[0], name, file, scope, depth - 1) if is_followed else ()
                    self._of_names[key] = tuple(found)
                return self._of_names[key]
        return ()

    def _of_binder(
        self, binder: Binder, name: str, file: ProjectFile, scope: int, depth: int
    ) -> Iterator[Origin]:
        match binder.fact:
            case BindingFact() as binding:
                place = Place(file.index, binding.scope, binding.block, binding.order)
                yield from self._of(binding.value, place, depth)
            case ImportFact(name=str(imported)) as fact_:
                module = self._evaluator.modules.imported_module(fact_, file)
                target = self._evaluator.modules.find(module, file)
                if target is not None and target != file.index:
                    yield from self._of_name(imported, Place(target, 0, 0, 0), depth)
            case Parameter():
                for site in self._callers.sites(file.index, scope):
                    call = self._callers.call(site)
                    names = [item.name for item in file.facts.scopes[scope].parameters]
                    for position, argument in enumerate(call.arguments):
                        given = argument.keyword or "".join(names[position : position + 1])
                        if given == name:
                            yield from self._of(argument.value, self._callers.place(site), depth)

    def _of(self, expression: fact.Expression, place: Place, depth: int) -> Iterator[Origin]:
        """The origins of what an expression gives."""
        match expression:
            case fact.Name(id=name):
                yield from self._of_name(name, place, depth)
            case fact.Attribute(base=base, attribute=attribute) if attribute not in _FORM:
                yield from self._of(base, place, depth)
            case fact.CallReference(index=index):
                yield from self._of_call(index, place, depth)
            case fact.Subscript(base=base):
                yield from self._of(base, place, depth)
            case fact.Operation(operands=parts) | fact.FormattedString(parts=parts):
                for part in parts:
                    yield from self._of(part, place, depth)
            case fact.Conditional(body=body, orelse=orelse):
                yield from self._of(body, place, depth)
                yield from self._of(orelse, place, depth)
            case fact.Sequence(items=items):
                for item in items:
                    yield from self._of(item, place, depth)

    def _of_call(self, index: int, place: Place, depth: int) -> Iterator[Origin]:
        file = self._evaluator.files[place.file]
        call = file.facts.calls[index]
        for value in self._evaluator.callee(file.index, index):
            match value:
                case External(name=name) if _varies(name):
                    if not (name.startswith(_RANDOM) and file.index in self._seeded_files):
                        yield self._origin(file, call.span, call.statement_span, name)
                case External(name=name) if _keeps(name):
                    for argument in call.arguments:
                        yield from self._of(argument.value, place, depth)
                case Function() as function if depth > 0:
                    returning = self._evaluator.files[function.file]
                    for returned in returning.returns.get(function.scope, ()):
                        at = self._evaluator.place_of_return(function.file, returned)
                        yield from self._of(returned.value, at, depth - 1)

    def _origin(self, file: ProjectFile, span: Span, statement: Span, name: str) -> Origin:
        shown = name.removeprefix("builtins.")
        return Origin(file.facts.location(span), statement, file.index, shown, name in _ENVIRONMENT)

    def _is_seeded(self, file: ProjectFile) -> bool:
        """Whether a file sets the state that random numbers come from."""
        return any(
            isinstance(value, External) and value.name in _SEEDING
            for index in range(len(file.facts.calls))
            for value in self._evaluator.callee(file.index, index)
        )


def _varies(name: str) -> bool:
    """Whether a function of the standard library or NumPy gives something else in each process."""
    if "(" in name:
        return False  # a method of an object, which may have been given a seed
    last = name.rpartition(".")[2]
    if name.startswith(_RANDOM):
        return last not in _SEEDED
    return name in _OTHERS or name in _ENVIRONMENT or name.startswith(_TEMPORARY)


def _keeps(name: str) -> bool:
    """Whether the result of a function varies with its arguments, and with nothing else."""
    prefix, _, last = name.rpartition(".")
    return (prefix == "builtins" and last in _KEEPING) or name == "warp.constant" or prefix == "math"
