"""Writes to the environment of the process, in whatever form they are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warp_lint.facts import values as fact
from warp_lint.facts.records import BindingFact, BindingKind, CallFact, Span
from warp_lint.findings import Location, Range
from warp_lint.project.evaluation import Evaluator, Place
from warp_lint.project.files import ProjectFile
from warp_lint.project.values import External, Values, only_constant


class EnvironmentWrite(NamedTuple):
    """One variable of the environment that gets a value."""

    name: str
    value: fact.Expression
    values: Values
    place: Place
    file: ProjectFile
    span: Span
    """The call or assignment."""
    statement_span: Span

    @property
    def location(self) -> Location:
        return self.file.facts.location(self.span)

    @property
    def suppression_range(self) -> Range:
        return self.file.facts.location(self.statement_span).range


def find_environment_writes(evaluator: Evaluator) -> list[EnvironmentWrite]:
    """Every write of a variable whose name is known, in the order of files and text."""
    found: list[EnvironmentWrite] = []
    for file in evaluator.files:
        for binding in file.facts.bindings:
            if binding.kind is BindingKind.ASSIGN:
                found += _of_binding(binding, file, evaluator)
        for index, call in enumerate(file.facts.calls):
            found += _of_call(index, call, file, evaluator)
    return sorted(found, key=lambda write: (write.file.facts.path, write.span))


def _of_binding(binding: BindingFact, file: ProjectFile, evaluator: Evaluator) -> Iterator[EnvironmentWrite]:
    """``os.environ[name] = value``."""
    match binding.target:
        case fact.Subscript(base=fact.Name() | fact.Attribute() as base, index=index):
            place = Place(file.index, binding.scope, binding.block, binding.order)
            if evaluator.evaluate(base, place, {}) == (External("os.environ"),):
                yield from _written(index, binding.value, place, binding.span, binding.span, evaluator)


def _of_call(
    index: int, call: CallFact, file: ProjectFile, evaluator: Evaluator
) -> Iterator[EnvironmentWrite]:
    """``os.environ.setdefault(name, value)``, ``os.putenv(name, value)`` and ``os.environ.update(…)``."""
    callee = evaluator.callee(file.index, index)
    place = evaluator.place_of(file.index, call)
    spans = (call.span, call.statement_span)
    match callee, call.arguments:
        case (External(name="os.environ.setdefault" | "os.putenv"),), (name, value):
            yield from _written(name.value, value.value, place, *spans, evaluator)
        case (External(name="os.environ.update"),), arguments:
            for argument in arguments:
                if isinstance(argument.value, fact.Mapping):
                    for item in argument.value.items:
                        if item.key is not None:
                            yield from _written(item.key, item.value, place, *spans, evaluator)
                elif argument.keyword not in (None, "*", "**"):
                    name_ = fact.Constant(argument.keyword)
                    yield from _written(name_, argument.value, place, *spans, evaluator)


def _written(
    name: fact.Expression,
    value: fact.Expression,
    place: Place,
    span: Span,
    statement_span: Span,
    evaluator: Evaluator,
) -> Iterator[EnvironmentWrite]:
    known = only_constant(evaluator.evaluate(name, place, {}))
    if known is not None and isinstance(known.value, str):
        values = evaluator.evaluate(value, place, {})
        file = evaluator.files[place.file]
        yield EnvironmentWrite(known.value, value, values, place, file, span, statement_span)
