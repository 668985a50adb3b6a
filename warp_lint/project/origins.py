"""What a value is made from, as far as the code shows it.

An evaluation says what a value is; this says which calls and attributes went into one that cannot be known,
such as a path that is joined from a temporary directory.
"""

from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts import values as fact
from warp_lint.facts.records import BindingFact, BindingKind
from warp_lint.project.binders import reaching
from warp_lint.project.evaluation import Evaluator, Place
from warp_lint.project.values import External, Function

_DEEPEST = 12

Origins = frozenset[str]
"""Dotted names of external functions that were called, and of external attributes that were read."""

NOTHING: Origins = frozenset()


class OriginFinder:
    """Follows names, operations and functions of the project to what is outside of it."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def of(self, expression: fact.Expression, place: Place) -> Origins:
        """What goes into an expression in every case: what only one of several ways to the value uses is
        left out."""
        return self._of(expression, place, 0)

    def _of(self, expression: fact.Expression, place: Place, depth: int) -> Origins:
        if depth > _DEEPEST:
            return NOTHING
        match expression:
            case fact.Name(id=name):
                return self._of_name(name, place, depth + 1)
            case fact.CallReference(index=index):
                return self._of_call(index, place, depth + 1)
            case fact.Attribute(base=base):
                return self._external(expression, place) | self._of(base, place, depth + 1)
            case fact.Subscript(base=base, index=index_):
                return self._of(base, place, depth + 1) | self._of(index_, place, depth + 1)
            case (
                fact.Operation(operands=items)
                | fact.FormattedString(parts=items)
                | fact.Sequence(items=items)
            ):
                return NOTHING.union(*(self._of(item, place, depth + 1) for item in items))
            case fact.Conditional(body=body, orelse=orelse):
                return self._of(body, place, depth + 1) & self._of(orelse, place, depth + 1)
            case fact.Starred(value=value):
                return self._of(value, place, depth + 1)
            case _:
                return NOTHING

    def _external(self, expression: fact.Expression, place: Place) -> Origins:
        match self._evaluator.evaluate(expression, place, {}):
            case (External(name=name),):
                return frozenset((name,))
            case _:
                return NOTHING

    def _of_name(self, name: str, place: Place, depth: int) -> Origins:
        """What all bindings of a name that reach the place have in common."""
        file = self._evaluator.files[place.file]
        for scope in file.scope_chain(place.scope):
            binders = file.binders.get(scope, {}).get(name)
            if not binders:
                continue
            if scope == place.scope:
                binders = reaching(binders, file, place.block, place.order) or binders
            found = [self._of_binder(binder.fact, place.file, depth) for binder in binders]
            return frozenset.intersection(*found)
        return NOTHING

    def _of_binder(self, binder: object, file: int, depth: int) -> Origins:
        match binder:
            case BindingFact(kind=BindingKind.ASSIGN | BindingKind.WITH | BindingKind.WALRUS, value=value):
                place = Place(file, binder.scope, binder.block, binder.order)
                return self._of(value, place, depth)
            case _:
                return NOTHING

    def _of_call(self, index: int, place: Place, depth: int) -> Origins:
        """What is called, the object that a method is of, and the arguments; for a function of the project,
        what it returns."""
        call = self._evaluator.files[place.file].facts.calls[index]
        found = self._external(call.function, place)
        if isinstance(call.function, fact.Attribute):
            found |= self._of(call.function.base, place, depth)
        for argument in call.arguments:
            found |= self._of(argument.value, place, depth)
        for function in self._evaluator.callee(place.file, index):
            if isinstance(function, Function):
                found |= self._of_function(function, depth)
        return found

    def _of_function(self, function: Function, depth: int) -> Origins:
        file = self._evaluator.files[function.file]
        returned = list(self._returned(function))
        if not returned:
            return NOTHING
        return frozenset.intersection(
            *(
                self._of(value, Place(file.index, function.scope, block, order), depth)
                for value, block, order in returned
            )
        )

    def _returned(self, function: Function) -> Iterator[tuple[fact.Expression, int, int]]:
        for fact_ in self._evaluator.files[function.file].returns.get(function.scope, ()):
            if fact_.kind == "return":
                yield fact_.value, fact_.block, fact_.order
