"""All expressions that the facts of a file keep, and the expressions in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warp_lint.facts import values as fact
from warp_lint.facts.records import Span
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile


class KeptExpression(NamedTuple):
    """An expression, where it is evaluated, and what holds it."""

    expression: fact.Expression
    place: Place
    span: Span
    """The call, assignment, decorator, header or statement that holds it."""
    statement_span: Span


def expressions_of(file: ProjectFile) -> Iterator[KeptExpression]:
    """The outermost expressions of a file: what is called, passed, bound, returned, tested or annotated."""
    facts, index = file.facts, file.index
    for call in facts.calls:
        place = Place(index, call.scope, call.block, call.order)
        for expression in (call.function, *(argument.value for argument in call.arguments)):
            yield KeptExpression(expression, place, call.span, call.statement_span)
    for binding in facts.bindings:
        place = Place(index, binding.scope, binding.block, binding.order)
        for expression in (binding.target, binding.value):
            yield KeptExpression(expression, place, binding.span, binding.span)
    for returned in facts.returns:
        place = Place(index, returned.scope, returned.block, returned.order)
        yield KeptExpression(returned.value, place, returned.span, returned.span)
    for scope in facts.scopes[1:]:
        place = Place(index, scope.parent, max(scope.block, 0), scope.order)
        header = [*scope.bases, *(decorator.expression for decorator in scope.decorators)]
        for parameter in scope.parameters:
            header += [item for item in (parameter.default, parameter.annotation) if item is not None]
        for expression in header:
            yield KeptExpression(expression, place, scope.name_span, scope.header_span)


def parts_of(expression: fact.Expression, file: ProjectFile) -> Iterator[fact.Expression]:
    """The expression and all in it; calls are left out, which are kept for themselves."""
    yield expression
    match expression:
        case fact.Attribute(base=base) | fact.Starred(value=base) | fact.Comprehension(element=base):
            yield from parts_of(base, file)
        case fact.Subscript(base=base, index=index):
            yield from parts_of(base, file)
            yield from parts_of(index, file)
        case fact.Sequence(items=items) | fact.Operation(operands=items) | fact.FormattedString(parts=items):
            for item in items:
                yield from parts_of(item, file)
        case fact.Conditional(test=test, body=body, orelse=orelse):
            for part in (test, body, orelse):
                yield from parts_of(part, file)
        case fact.Mapping(items=entries):
            for entry in entries:
                if entry.key is not None:
                    yield from parts_of(entry.key, file)
                yield from parts_of(entry.value, file)
