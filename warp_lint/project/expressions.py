"""All expressions that the facts of a file keep, and the expressions in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from warp_lint.facts import values as fact
from warp_lint.facts.records import Span
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile

_LEAVES = frozenset({fact.Name, fact.Constant, fact.CallReference, fact.Lambda, fact.Opaque})


class KeptExpressions(NamedTuple):
    """Expressions that one call, assignment, return or definition holds, and where they are evaluated."""

    expressions: Sequence[fact.Expression]
    place: Place
    span: Span
    statement_span: Span


def expressions_of(file: ProjectFile) -> Iterator[KeptExpressions]:
    """The outermost expressions of a file: what is called, passed, bound, returned or annotated."""
    facts, index = file.facts, file.index
    for call in facts.calls:
        expressions = [call.function, *[argument.value for argument in call.arguments]]
        place = Place(index, call.scope, call.block, call.order)
        yield KeptExpressions(expressions, place, call.span, call.statement_span)
    for binding in facts.bindings:
        place = Place(index, binding.scope, binding.block, binding.order)
        yield KeptExpressions((binding.target, binding.value), place, binding.span, binding.span)
    for returned in facts.returns:
        place = Place(index, returned.scope, returned.block, returned.order)
        yield KeptExpressions((returned.value,), place, returned.span, returned.span)
    for scope in facts.scopes[1:]:
        header = [*scope.bases, *(decorator.expression for decorator in scope.decorators)]
        for parameter in scope.parameters:
            header += [item for item in (parameter.default, parameter.annotation) if item is not None]
        if header:
            place = Place(index, scope.parent, max(scope.block, 0), scope.order)
            yield KeptExpressions(header, place, scope.name_span, scope.header_span)


def attributes_in(expressions: Sequence[fact.Expression]) -> Iterator[fact.Attribute]:
    """The attributes in expressions, however deep; those in calls are left out, which are kept themselves."""
    for part in parts_beside_calls([item for item in expressions if type(item) not in _LEAVES]):
        if isinstance(part, fact.Attribute):
            yield part


def parts_beside_calls(expressions: Iterable[fact.Expression]) -> Iterator[fact.Expression]:
    """Expressions and what they are made of; what is in calls is left out, which are kept themselves."""
    pending = list(expressions)
    while pending:
        part = pending.pop()
        yield part
        match part:
            case fact.Attribute(base=base):
                pending.append(base)
            case fact.Subscript(base=base, index=index):
                pending += (base, index)
            case (
                fact.Sequence(items=items)
                | fact.Operation(operands=items)
                | fact.FormattedString(parts=items)
            ):
                pending += items
            case fact.Starred(value=value) | fact.Comprehension(element=value):
                pending.append(value)
            case fact.Conditional(test=test, body=body, orelse=orelse):
                pending += (test, body, orelse)
            case fact.Mapping(items=entries):
                pending += [entry.value for entry in entries]
                pending += [entry.key for entry in entries if entry.key is not None]
