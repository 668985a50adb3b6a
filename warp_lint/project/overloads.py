"""Overloads of generic kernels: the declared ones, and the argument types of the launches.

Warp keeps one overload of a kernel for each signature, whether it is declared or made by a launch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from math import prod
from typing import NamedTuple, TypeAlias

from warp_lint.facts import values as fact
from warp_lint.facts.records import Argument, Decorator, Span
from warp_lint.findings import Location, Range
from warp_lint.project.argument_types import Source, TypeReader, WarpType
from warp_lint.project.callers import Binding, Callers, CallSite
from warp_lint.project.evaluation import Evaluator, Place, names_in
from warp_lint.project.files import ProjectFile
from warp_lint.project.flows import LOST, Arrival, Flows
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.values import (
    Environment,
    External,
    Kernel,
    KernelDecorator,
    ParameterValue,
)

Signature: TypeAlias = tuple[str, ...]
"""The types of those parameters that a kernel leaves open; of an array that leaves only the type of its items
open, that type."""

_MOST_SIGNATURES = 64
"""A launch that leaves more alternatives open counts as unreadable."""


class OpenParameter(NamedTuple):
    """A parameter of a generic kernel whose type each overload chooses."""

    position: int
    name: str
    is_array: bool
    """Only the type of the items is open."""


class Declaration(NamedTuple):
    """One overload of one kernel that some code declares; code in a loop declares several."""

    kernel: Kernel
    signature: Signature | None
    """None where it cannot be read."""
    file: ProjectFile
    span: Span
    """The decorator, or the call: of `wp.overload`, or the outermost one that leads to it."""
    statement_span: Span
    place: Place
    site: CallSite | None
    """The call of `wp.overload`; None for a decorator."""
    path: tuple[CallSite, ...]
    """The calls that lead to it when it stands in a helper, innermost first."""
    environment: Environment

    @property
    def location(self) -> Location:
        return self.file.facts.location(self.span)

    @property
    def suppression_range(self) -> Range:
        return self.file.facts.location(self.statement_span).range


class TypedLaunch(NamedTuple):
    """A launch of a generic kernel with the signatures that its arguments can have."""

    site: CallSite
    signatures: frozenset[Signature]
    """Empty where they cannot be read."""


class Overloads:
    """The overloads of the project."""

    def __init__(
        self,
        evaluator: Evaluator,
        callers: Callers,
        kernels: dict[Kernel, KernelDefinition],
        sites: Iterable[CallSite],
    ) -> None:
        """``sites`` are the calls of `wp.overload`."""
        self._evaluator = evaluator
        self._callers = callers
        self._kernels = kernels
        self._reader = TypeReader(evaluator)
        self._flows = Flows(evaluator, self._reader)
        self._open_parameters: dict[Kernel, list[OpenParameter]] = {}
        self.declared: dict[Kernel, list[Declaration]] = defaultdict(list)
        """The declared overloads of each kernel, in the order of files and text."""
        self.of_unknown_kernels: set[CallSite] = set()
        """The calls that declare an overload of a kernel that is not known."""
        found = [*self._of_stubs(), *(item for site in sites for item in self._of_call(site))]
        for declaration in sorted(found, key=lambda item: (item.file.index, item.span)):
            self.declared[declaration.kernel].append(declaration)

    # What is declared

    def _of_stubs(self) -> Iterator[Declaration]:
        """The overloads declared by functions under ``@wp.overload``."""
        for file in self._evaluator.files:
            for index, scope in enumerate(file.facts.scopes):
                place = Place(file.index, max(scope.parent, 0), scope.block, scope.order)
                for decorator in scope.decorators:
                    if self._evaluator.evaluate(decorator.expression, place, {}) == (_OVERLOAD,):
                        yield from self._of_stub(file, index, decorator, place)

    def _of_stub(
        self, file: ProjectFile, index: int, decorator: Decorator, place: Place
    ) -> Iterator[Declaration]:
        scope = file.facts.scopes[index]
        types = {
            position: Source(parameter.annotation, place, {})
            for position, parameter in enumerate(scope.parameters)
            if parameter.annotation is not None
        }
        for kernel in self._evaluator.definition(file.index, index, {}):
            if isinstance(kernel, Kernel):
                signature = self._declared_signature(kernel, types, is_complete=True)
                yield Declaration(
                    kernel, signature, file, decorator.span, scope.header_span, place, None, (), {}
                )

    def _of_call(self, site: CallSite) -> Iterator[Declaration]:
        arguments, place = self._callers.call(site).arguments, self._callers.place(site)
        given = [argument.value for argument in arguments]
        types = _argument(arguments, 1, "arg_types") or fact.Opaque()
        for way in self._ways(site, given):
            outermost = way.path[-1] if way.path else site
            for environment in self._evaluator.iterations(place, given, way.environment):
                kernel = self._overloaded(arguments, place, environment)
                if kernel is None:
                    self.of_unknown_kernels.add(site)
                else:
                    yield Declaration(
                        kernel,
                        self._signature_of(kernel, Source(types, place, environment)),
                        self._callers.file(outermost),
                        self._callers.call(outermost).span,
                        self._callers.call(outermost).statement_span,
                        self._callers.place(outermost),
                        site,
                        way.path,
                        environment,
                    )

    def _ways(self, site: CallSite, given: list[fact.Expression]) -> list[Binding]:
        """The ways to a call whose arguments depend on the parameters of the function around it; one of which
        nothing is known where there may be others."""
        file, place = self._callers.file(site), self._callers.place(site)
        function = file.function_of(place.scope)
        directly = Binding({}, ())
        if function is None or not any(
            isinstance(value, ParameterValue)
            for expression in given
            for name in names_in(expression, file)
            for value in self._evaluator.lookup(name, place, {})
        ):
            return [directly]
        ways = list(self._callers.bindings(site.file, function))
        scope = file.facts.scopes[function]
        is_seen = not any(self._flows.of_name(site.file, scope.parent, scope.name))
        is_offered = scope.parent == 0 and self._flows.is_offered(file, scope.name)
        return ways if ways and is_seen and not is_offered else [*ways, directly]

    def _overloaded(
        self, arguments: tuple[Argument, ...], place: Place, environment: Environment
    ) -> Kernel | None:
        expression = _argument(arguments, 0, "kernel")
        if expression is None:
            return None
        # The first is remembered from turn to turn, and nearly always enough.
        for known in ({}, environment):
            match self._evaluator.evaluate(expression, place, known):
                case (Kernel() as kernel,):
                    return kernel
        return None

    def _signature_of(self, kernel: Kernel, types: Source) -> Signature | None:
        """The signature in a list of types, or of values that have them, or in a dict that names the open
        parameters."""
        match self._reader.origins(types):
            case [Source(expression=fact.Sequence(items=items)) as origin]:
                given = {position: origin._replace(expression=item) for position, item in enumerate(items)}
                return self._declared_signature(kernel, given, is_complete=True)
            case [Source(expression=fact.Mapping(items=entries)) as origin]:
                positions = {item.name: item.position for item in self.open_parameters(kernel)}
                named = {
                    positions[entry.key.value]: origin._replace(expression=entry.value)
                    for entry in entries
                    if isinstance(entry.key, fact.Constant) and entry.key.value in positions
                }
                return self._declared_signature(kernel, named, is_complete=False)
            case _:
                return None

    def _declared_signature(
        self, kernel: Kernel, given: dict[int, Source], *, is_complete: bool
    ) -> Signature | None:
        if is_complete and len(given) != len(self._kernels[kernel].scope.parameters):
            return None
        found: list[str] = []
        for parameter in self.open_parameters(kernel):
            source = given.get(parameter.position)
            types = (self._reader.named(source) or self._reader.held(source)) if source is not None else ()
            names = [_open_part(parameter, type_) for type_ in types]
            if len(names) != 1 or not names[0]:
                return None
            found += names
        return tuple(found)

    def open_parameters(self, kernel: Kernel) -> list[OpenParameter]:
        """The parameters whose types the overloads of a kernel choose."""
        if kernel not in self._open_parameters:
            self._open_parameters[kernel] = list(self._find_open_parameters(self._kernels[kernel]))
        return self._open_parameters[kernel]

    def _find_open_parameters(self, kernel: KernelDefinition) -> Iterator[OpenParameter]:
        scope = kernel.scope
        place = Place(kernel.body_file.index, scope.parent, max(scope.block, 0), scope.order)
        for position, parameter in enumerate(scope.parameters):
            annotation = Source(parameter.annotation or fact.Opaque(), place, {})
            if self._reader.is_open(annotation):
                yield OpenParameter(position, parameter.name, self._reader.is_array(annotation))

    def number(self, kernel: Kernel) -> int | None:
        """How many overloads of a kernel are declared; None where that cannot be read."""
        signatures = {declaration.signature for declaration in self.declared.get(kernel, ())}
        return None if None in signatures else len(signatures)

    # What is launched

    def launches(self, kernel: Kernel) -> list[TypedLaunch] | None:
        """The launches of a kernel itself, those of its overloads left out; None when others may be made in
        ways that are not seen."""
        definition = self._kernels[kernel]
        if kernel.call == (-1, -1):
            if not self._is_plainly_decorated(definition):
                return None
            scope = definition.scope
            arrivals = self._flows.of_name(kernel.file, scope.parent, scope.name)
        else:
            arrivals = self._flows.of_call(CallSite(*kernel.call), {})
        found: list[TypedLaunch] = []
        for arrival in arrivals:
            if self._is_kernel_of(arrival, *_LAUNCHES):
                if self._is_of_other_kernel(kernel, arrival.site):
                    continue
                found.append(TypedLaunch(arrival.site, self._launched(kernel, arrival.site)))
            elif not self._is_kernel_of(arrival, _OVERLOAD):
                return None
        return found

    def is_launched(self, declaration: Declaration) -> bool:
        """Whether the value of a declaration may be launched: it comes to a launch, or gets out of sight."""
        if declaration.site is None:
            return False
        arrivals = self._flows.of_call(declaration.site, declaration.environment, declaration.path)
        return next(arrivals, None) is not None

    def is_exported(self, declaration: Declaration) -> bool:
        """Whether others are meant to launch the kernel, or the overload by a name that it is given."""
        definition = self._kernels[declaration.kernel]
        names = [(definition.body_file, definition.scope.name)]
        if declaration.site is not None:
            names += self._flows.bound_names(declaration.site)
        return any(self._flows.is_offered(file, name) for file, name in names)

    def _is_plainly_decorated(self, definition: KernelDefinition) -> bool:
        """Whether nothing but Warp's own decorator has had the kernel."""
        scope = definition.scope
        place = Place(definition.body_file.index, scope.parent, scope.block, scope.order)
        if len(scope.decorators) != 1:
            return False
        match self._evaluator.evaluate(scope.decorators[0].expression, place, {}):
            case (External(name="warp.kernel") | KernelDecorator(),):
                return True
            case _:
                return False

    def _is_kernel_of(self, arrival: Arrival, *functions: External) -> bool:
        """Whether a value arrives as the kernel of a call of one of Warp's functions."""
        if arrival == LOST or not (arrival.position == 0 or arrival.keyword == "kernel"):
            return False
        return all(value in functions for value in self._evaluator.callee(*arrival.site))

    def _is_of_other_kernel(self, kernel: Kernel, site: CallSite) -> bool:
        """Whether a launch is surely of another kernel, one that bears the same name after it or before."""
        expression = _argument(self._callers.call(site).arguments, 0, "kernel")
        if expression is None:
            return False
        values = self._evaluator.evaluate(expression, self._callers.place(site), {})
        return kernel not in values and all(isinstance(value, Kernel) for value in values)

    def _launched(self, kernel: Kernel, site: CallSite) -> frozenset[Signature]:
        call, place = self._callers.call(site), self._callers.place(site)
        given = [_argument(call.arguments, 2, "inputs"), _argument(call.arguments, 3, "outputs")]
        lists = [expression for expression in given if expression is not None]
        found: set[Signature] = set()
        for environment in self._evaluator.iterations(place, lists, {}):
            signatures = self._signatures_of_turn(
                kernel, [Source(expression, place, environment) for expression in lists]
            )
            if not signatures:
                return frozenset()
            found |= signatures
        return frozenset(found)

    def _signatures_of_turn(self, kernel: Kernel, lists: list[Source]) -> set[Signature]:
        arguments: list[Source] = []
        for source in lists:
            match self._reader.origins(source):
                case [Source(expression=fact.Sequence(items=items)) as origin]:
                    arguments += [origin._replace(expression=item) for item in items]
                case _:
                    return set()
        if len(arguments) != len(self._kernels[kernel].scope.parameters):
            return set()
        alternatives = [
            {_open_part(parameter, type_) for type_ in self._reader.held(arguments[parameter.position])}
            for parameter in self.open_parameters(kernel)
        ]
        if any("" in types for types in alternatives) or prod(map(len, alternatives)) > _MOST_SIGNATURES:
            return set()
        return set(product(*alternatives))


_OVERLOAD = External("warp.overload")
_LAUNCHES = (External("warp.launch"), External("warp.launch_tiled"))


def _open_part(parameter: OpenParameter, given: WarpType) -> str:
    """What a type chooses of an open parameter; empty where that is not known."""
    if parameter.is_array:
        return given.item
    return str(given) if not given.item or given.dimensions is not None else ""


def _argument(arguments: tuple[Argument, ...], position: int, keyword: str) -> fact.Expression | None:
    """An argument of a call; None where it is not given, or not surely."""
    for index, argument in enumerate(arguments):
        if argument.keyword == "*":
            return None
        if argument.keyword == keyword or (argument.keyword is None and index == position):
            return argument.value
    return None
