"""Who calls whom: a function's calls in the project, and what they bind its parameters to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from warp_lint.facts import values as fact
from warp_lint.facts.records import BindingFact, CallFact, ReturnFact, ScopeKind
from warp_lint.project.evaluation import Evaluator, Place, names_in
from warp_lint.project.files import ProjectFile
from warp_lint.project.values import (
    UNKNOWN,
    Class,
    Environment,
    Function,
    Instance,
    Method,
    ParameterValue,
    Partial,
    Value,
    Values,
    distinct,
)

_DEEPEST = 4
"""Callers of callers that are followed to find what a parameter is."""
_MOST_CALLERS = 200


class CallSite(NamedTuple):
    """A call, by file and index."""

    file: int
    call: int


class Binding(NamedTuple):
    """One way to come to a function: the environment of its body and the calls on the way, outermost last."""

    environment: Environment
    path: tuple[CallSite, ...]


class Given(NamedTuple):
    """A value of a parameter and the calls that hand it on, innermost first; none where it is the default."""

    value: Value
    path: tuple[CallSite, ...] = ()


class Callers:
    """The calls of the project by the function that they call."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._sites: dict[tuple[int, int], list[CallSite]] = defaultdict(list)
        self._at_import: dict[tuple[int, int], bool] = {}
        self._given: dict[ParameterValue, list[Given]] = {}
        for file in evaluator.files:
            for index in range(len(file.facts.calls)):
                for function in self.called(evaluator.callee(file.index, index)):
                    self._sites[function.file, function.scope].append(CallSite(file.index, index))

    def sites(self, file: int, scope: int) -> Sequence[CallSite]:
        """The calls of a function, in the order of files and text."""
        return self._sites.get((file, scope), ())

    def functions(self, site: CallSite) -> list[Function]:
        """The functions of the project that a call may run."""
        return list(self.called(self._evaluator.callee(site.file, site.call)))

    def call(self, site: CallSite) -> CallFact:
        return self._evaluator.files[site.file].facts.calls[site.call]

    def file(self, site: CallSite) -> ProjectFile:
        return self._evaluator.files[site.file]

    def place(self, site: CallSite) -> Place:
        return self._evaluator.place_of(site.file, self.call(site))

    def runs_at_import(self, file: int, scope: int) -> bool:
        """Whether the import of some file calls a function, directly or through others."""
        key = (file, scope)
        if key not in self._at_import:
            self._at_import[key] = False  # what a recursive call sees
            self._at_import[key] = any(self._is_at_import(site) for site in self.sites(file, scope))
        return self._at_import[key]

    def _is_at_import(self, site: CallSite) -> bool:
        file, call = self.file(site), self.call(site)
        outer = file.function_of(call.scope)
        if outer is None:
            return not file.is_main_guarded(call.block)
        return self.runs_at_import(site.file, outer)

    def called(self, values: Values) -> Iterator[Function]:
        """The functions of the project that calling some values runs."""
        for value in values:
            match value:
                case Function():
                    yield value
                case Method(function=function):
                    yield function
                case Partial(function=function):
                    yield from self.called((function,))
                case Class():
                    for constructor in self._evaluator.attribute_of_class(value, "__init__") or ():
                        if isinstance(constructor, Function):
                            yield constructor
                case Instance(of=of):
                    for called in self._evaluator.attribute_of_class(of, "__call__") or ():
                        if isinstance(called, Function):
                            yield called

    def bindings(
        self, file: int, scope: int, depth: int = _DEEPEST, asked: frozenset[str] | None = None
    ) -> Iterator[Binding]:
        """What the calls of a function bind its parameters to, one `Binding` for each call and each turn of
        the loops around it.

        ``asked`` are the parameters whose values are wanted; None for all. The calls are followed outwards as
        long as those depend on it.
        """
        for site in self.sites(file, scope)[:_MOST_CALLERS]:
            for outer in self._outer(site, self._arguments_for(site, file, scope, asked), depth):
                place = self.place(site)
                call = self.call(site)
                expressions = [argument.value for argument in call.arguments]
                for environment in self._evaluator.iterations(place, expressions, outer.environment):
                    for bound in self.bound(file, scope, site, environment):
                        yield Binding(bound, (site, *outer.path))

    def _arguments_for(
        self, site: CallSite, file: int, scope: int, asked: frozenset[str] | None
    ) -> list[fact.Expression]:
        """The arguments of a call that may become some parameters of a function."""
        parameters = [item.name for item in self._evaluator.files[file].facts.scopes[scope].parameters]
        first = 1 if parameters[:1] in (["self"], ["cls"]) else 0
        for value in self._evaluator.callee(site.file, site.call):
            if isinstance(value, Partial):
                first += len(value.arguments.positional)
        found: list[fact.Expression] = []
        is_open = asked is None
        for position, argument in enumerate(self.call(site).arguments):
            is_open = is_open or argument.keyword == "*"
            name = argument.keyword or "".join(parameters[position + first : position + first + 1])
            is_one_of_many = name not in parameters
            if is_open or asked is None or is_one_of_many or name in asked:
                found.append(argument.value)
        return found

    def _outer(self, site: CallSite, arguments: list[fact.Expression], depth: int) -> Iterator[Binding]:
        """The ways to come to a call, where some of its arguments depend on the parameters around it."""
        function = self.file(site).function_of(self.call(site).scope)
        read = self.parameters_in(site, arguments, function) if function is not None else frozenset()
        if function is not None and depth > 1 and read:
            found = False
            for binding in self.bindings(site.file, function, depth - 1, read):
                found = True
                yield binding
            if found:
                return
        yield Binding({}, ())

    def parameters_in(
        self, site: CallSite, arguments: list[fact.Expression], function: int
    ) -> frozenset[str]:
        """The parameters of the function around a call that some arguments of it depend on."""
        file = self.file(site)
        return frozenset(
            value.name
            for argument in arguments
            for name in names_in(argument, file)
            for value in self._evaluator.lookup(name, self.place(site), {})
            if isinstance(value, ParameterValue) and value.scope == function
        )

    def bound(self, file: int, scope: int, site: CallSite, environment: Environment) -> Iterator[Environment]:
        """What a call in an environment binds the parameters of a function to, when it may be that function
        that it calls."""
        call = self.call(site)
        place = self.place(site)
        arguments = self._evaluator.arguments(call, place, environment)
        for value in self._evaluator.evaluate(call.function, place, environment):
            at, given = value, arguments
            if isinstance(at, Partial):
                given = at.arguments.merged(given)
                at = at.function
            function, owner = self._bound_function(at)
            if function is None or (function.file, function.scope) != (file, scope):
                continue
            if owner is not None:
                given = type(given)(((owner,), *given.positional), given.keywords, given.open)
            bound = self._evaluator.bind(function, given)
            if bound is not None:
                yield bound

    def _bound_function(self, value: Value) -> tuple[Function | None, Value | None]:
        match value:
            case Function():
                return value, None
            case Method(function=function, owner=owner):
                return function, owner
            case Class():
                for constructor in self._evaluator.attribute_of_class(value, "__init__") or ():
                    if isinstance(constructor, Function):
                        return constructor, Instance(value)
        return None, None

    def resolve(self, values: Values) -> Values:
        """The values with each parameter replaced by what the calls of its function give it, and by its
        default where some call leaves it out or nobody calls."""
        return distinct([given.value for given in self.given(values)])

    def given(self, values: Values) -> list[Given]:
        """What `resolve` gives, with the calls that each value comes from: the same value once for each
        combination of files that these calls stand in."""
        found: list[Given] = []
        for value in values:
            found += self._given_to(value) if isinstance(value, ParameterValue) else (Given(value),)
        return found

    def _given_to(self, parameter: ParameterValue) -> list[Given]:
        known = self._given.get(parameter)
        if known is not None:
            return known
        self._given[parameter] = [Given(UNKNOWN)]  # what a recursive call sees
        found: dict[tuple[Value, frozenset[int]], Given] = {}
        for binding in self.bindings(parameter.file, parameter.scope, 2, frozenset({parameter.name})):
            names = binding.environment.get((parameter.file, parameter.scope), {})
            for value, path in self.given(names.get(parameter.name, (UNKNOWN,))):
                path = (*path, *binding.path)
                found.setdefault((value, frozenset(site.file for site in path)), Given(value, path))
        result = list(found.values()) or [Given(value) for value in self._uncalled(parameter)]
        if distinct([given.value for given in result]) == (UNKNOWN,):
            result = [Given(UNKNOWN)]
        self._given[parameter] = result
        return result

    def _uncalled(self, parameter: ParameterValue) -> Values:
        """What a parameter of a function is that nobody is seen to call: its default, and anything where the
        function is passed on, since whoever gets it may call it with another value."""
        default = self.default(parameter)
        if default != (UNKNOWN,) and any(self.mentions(parameter.file, parameter.scope)):
            return distinct([*default, UNKNOWN])
        return default

    def default(self, parameter: ParameterValue) -> Values:
        """The default of a parameter, or `UNKNOWN`."""
        scope = self._evaluator.files[parameter.file].facts.scopes[parameter.scope]
        for item in scope.parameters:
            if item.name == parameter.name and item.default is not None:
                place = Place(parameter.file, scope.parent, max(scope.block, 0), scope.order)
                return self._evaluator.evaluate(item.default, place, {})
        return (UNKNOWN,)

    def mentions(self, file: int, scope: int) -> Iterator[tuple[ProjectFile, fact.Expression]]:
        """Where a function is named without being called: it may be called from anywhere then."""
        target = self._evaluator.files[file].facts.scopes[scope]
        for place, reference in self._references.get(target.name, ()):
            if Function(file, scope) in self._evaluator.evaluate(reference, place, {}):
                yield self._evaluator.files[place.file], reference

    def passed_at(self, name: str, value: Value) -> Iterator[Place]:
        """Where a value is passed somewhere under a name: as an argument, in a collection, by a return."""
        for place, reference in self._references.get(name, ()):
            if value in self._evaluator.evaluate(reference, place, {}):
                yield place

    @cached_property
    def _references(self) -> dict[str, list[tuple[Place, fact.Expression]]]:
        """The names and attributes that are passed somewhere and may be functions, by the name."""
        names = {
            scope.name
            for file in self._evaluator.files
            for scope in file.facts.scopes
            if scope.kind is ScopeKind.FUNCTION
        }
        found: dict[str, list[tuple[Place, fact.Expression]]] = defaultdict(list)
        for file in self._evaluator.files:
            for at, expression in _passed_expressions(file):
                for name, reference in _references(expression):
                    if name in names:
                        place = Place(file.index, at.scope, at.block, at.order)
                        found[name].append((place, reference))
        return found


def _passed_expressions(
    file: ProjectFile,
) -> Iterator[tuple[CallFact | BindingFact | ReturnFact, fact.Expression]]:
    """The expressions of a file through which a value can go elsewhere, and where they stand."""
    for call in file.facts.calls:
        for argument in call.arguments:
            yield call, argument.value
    for binding in file.facts.bindings:
        yield binding, binding.value
    for returned in file.facts.returns:
        yield returned, returned.value


def _references(expression: fact.Expression) -> Iterator[tuple[str, fact.Expression]]:
    """The names and attributes in an expression, what calls in it call left out."""
    match expression:
        case fact.Name(id=name) | fact.Attribute(attribute=name):
            yield name, expression
        case fact.Sequence(items=items) | fact.Operation(operands=items):
            for item in items:
                yield from _references(item)
        case fact.Mapping(items=items):
            for entry in items:
                yield from _references(entry.value)
        case fact.Conditional(body=body, orelse=orelse):
            yield from _references(body)
            yield from _references(orelse)
        case fact.Starred(value=value):
            yield from _references(value)
        case fact.Comprehension(element=element):
            yield from _references(element)
