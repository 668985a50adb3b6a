"""Which functions a call runs, and when: passed functions, functions in a loop, generators and coroutines."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property
from typing import NamedTuple

from warp_lint.facts import values as fact
from warp_lint.facts.records import BindingFact, BindingKind, CallFact
from warp_lint.project.binders import BinderKind
from warp_lint.project.callers import Callers, CallSite
from warp_lint.project.evaluation import Evaluator
from warp_lint.project.files import ProjectFile
from warp_lint.project.flows import Mention, Mentions, Other, Passed
from warp_lint.project.values import (
    Class,
    Environment,
    External,
    Function,
    Kernel,
    Method,
    ParameterValue,
    Partial,
    Value,
)


class Callables(NamedTuple):
    """The functions that callers pass to a function, or left to one that it defines, to be called there."""

    environment: Environment
    key: Hashable
    """Equal where the same functions are passed."""


NO_CALLABLES = Callables({}, ())


class Run(NamedTuple):
    """A function that a call runs, and where: ``block`` and ``order`` are places of the scope of the call."""

    function: Function
    block: int
    order: int
    callables: Callables


class Calling:
    """Says what runs where a call stands."""

    def __init__(self, evaluator: Evaluator, callers: Callers) -> None:
        self._evaluator = evaluator
        self._callers = callers
        self._mentions: dict[int, Mentions] = {}
        self._sites: dict[tuple[int, int], list[CallSite]] = {}

    def sites_in(self, file: ProjectFile, scope: int) -> list[CallSite]:
        """The calls of a scope that may run a function of the project, in order: few of them do."""
        key = (file.index, scope)
        if key not in self._sites:
            self._sites[key] = [
                CallSite(file.index, index)
                for index in file.calls_by_scope.get(scope, ())
                if not all(isinstance(value, External) for value in self._evaluator.callee(file.index, index))
            ]
        return self._sites[key]

    def runs(self, site: CallSite, callables: Callables) -> Iterator[Run]:
        """What a call runs, in order, where ``callables`` were passed to the function around it; nothing
        where it may run one of several functions."""
        call = self._callers.call(site)
        functions = self._functions(site, call, callables)
        if len(functions) > 1 and not self._is_each_in_turn(call, self._callers.file(site)):
            return
        for function in functions:
            place = self._start(site, call, function)
            if place is not None:
                yield Run(function, *place, self._passed(site, function, callables))

    def _functions(self, site: CallSite, call: CallFact, callables: Callables) -> list[Function]:
        if callables is NO_CALLABLES or all(map(_is_settled, self._evaluator.callee(*site))):
            return self._callers.functions(site)
        values = self._evaluator.evaluate(call.function, self._callers.place(site), callables.environment)
        return list(self._callers.called(values))

    def _is_each_in_turn(self, call: CallFact, file: ProjectFile) -> bool:
        """Whether what is called is the variable of a loop: then each of its values is."""
        if not isinstance(call.function, fact.Name):
            return False
        binders = file.binders[call.scope].get(call.function.id, [])
        return bool(binders) and all(
            binder.kind is BinderKind.BINDING
            and isinstance(binder.fact, BindingFact)
            and binder.fact.kind is BindingKind.LOOP
            for binder in binders
        )

    # Generators and coroutines

    def _start(self, site: CallSite, call: CallFact, function: Function) -> tuple[int, int] | None:
        """Where the body of a called function runs: a generator where it is iterated, a coroutine where it is
        awaited or handed to a loop; None where it never does."""
        scope = self._evaluator.files[function.file].facts.scopes[function.scope]
        if not (scope.is_generator or scope.is_async):
            return call.block, call.order
        if call.context == "statement":
            return None
        file = self._callers.file(site)
        name = self._bound_name(site, file)
        if name is None:
            return call.block, call.order
        uses = [
            mention
            for mention in self._mentions_in(file).names.get(name, ())
            if mention.place.scope == call.scope and mention.place.order > call.order and _consumes(mention)
        ]
        first = min(uses, key=lambda mention: mention.place.order, default=None)
        return (first.place.block, first.place.order) if first is not None else None

    def _bound_name(self, site: CallSite, file: ProjectFile) -> str | None:
        """The name that the value of a call is assigned to."""
        for binding in file.facts.bindings:
            if binding.value == fact.CallReference(site.call) and binding.kind is BindingKind.ASSIGN:
                return binding.target.id if isinstance(binding.target, fact.Name) else None
        return None

    def _mentions_in(self, file: ProjectFile) -> Mentions:
        if file.index not in self._mentions:
            self._mentions[file.index] = Mentions(file)
        return self._mentions[file.index]

    # Functions that are passed to be called

    def _passed(self, site: CallSite, function: Function, callables: Callables) -> Callables:
        environment = function.environment
        if (function.file, function.scope) in self.takers:
            bound = self._callers.bound(function.file, function.scope, site, callables.environment)
            environment = next(bound, environment)
        return _callables_in(environment)

    @cached_property
    def takers(self) -> frozenset[tuple[int, int]]:
        """The functions that call what they are passed, themselves or through others."""
        found = {
            (value.file, value.scope)
            for file in self._evaluator.files
            for index in range(len(file.facts.calls))
            for value in self._evaluator.callee(file.index, index)
            if isinstance(value, ParameterValue)
        }
        pending = list(found)
        while pending:
            for site in self._callers.sites(*pending.pop()):
                for key in self._handing_on(site):
                    if key not in found:
                        found.add(key)
                        pending.append(key)
        return frozenset(found)

    def _handing_on(self, site: CallSite) -> Iterator[tuple[int, int]]:
        """The functions whose parameters are arguments of a call."""
        place = self._callers.place(site)
        for argument in self._callers.call(site).arguments:
            if isinstance(argument.value, fact.Name):
                for value in self._evaluator.evaluate(argument.value, place, {}):
                    if isinstance(value, ParameterValue):
                        yield value.file, value.scope


def _consumes(mention: Mention) -> bool:
    """Whether the place that reads a name may iterate or await what it stands for."""
    return isinstance(mention.role, Passed | Other)


def _callables_in(environment: Environment) -> Callables:
    """What can be called in an environment; the rest makes no difference to what runs."""
    kept: Environment = {}
    for scope, names in environment.items():
        functions = {
            name: values for name, values in names.items() if values and all(map(_is_called, values))
        }
        if functions:
            kept[scope] = functions
    return Callables(kept, _key(kept)) if kept else NO_CALLABLES


def _is_called(value: Value) -> bool:
    return isinstance(value, Function | Method | Partial)


def _is_settled(value: Value) -> bool:
    """Whether something called is the same whatever the function around the call was passed."""
    match value:
        case Method(function=Function(environment=environment)) | Function(environment=environment):
            return not environment
        case External() | Class() | Kernel():
            return True
        case _:
            return False


def _key(environment: Environment) -> Hashable:
    return tuple(
        (scope, name, tuple(_key_of(value) for value in values))
        for scope, names in sorted(environment.items())
        for name, values in sorted(names.items())
    )


def _key_of(value: Value) -> Hashable:
    return (
        (value, _key(_callables_in(value.environment).environment)) if isinstance(value, Function) else value
    )
