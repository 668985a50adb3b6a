"""From LibCST expression nodes to expression facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any

import libcst as cst

from warp_lint.facts.context import Context
from warp_lint.facts.values import (
    Attribute,
    CallReference,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    FormattedString,
    Lambda,
    Mapping,
    MappingItem,
    Name,
    Opaque,
    Operation,
    Sequence,
    Starred,
    Subscript,
)
from warp_lint.facts.walk import CHILD_FIELDS

_LONGEST_STRING = 1000
"""Longer strings are never a name, an option or a path; their text is not kept."""


def expression(node: cst.BaseExpression, context: Context) -> Expression:
    """The fact for an expression whose calls the walk has already left."""
    builder = _BUILDERS.get(type(node))
    return builder(node, context) if builder is not None else Opaque(names_read(node))


def names_read(node: cst.CSTNode, without: Container[int] = ()) -> tuple[str, ...]:
    """The names that an expression or function reads, each once, in the order of the text; not those in the
    nodes whose ids are ``without``."""
    return tuple(count_names(node, without))


def count_names(node: cst.CSTNode, without: Container[int] = ()) -> dict[str, int]:
    """How often an expression or function reads each name, in the order of the text; nodes whose ids are
    ``without`` do not count."""
    found: dict[str, int] = {}
    pending: list[Any] = [node]
    pop, push, extend = pending.pop, pending.append, pending.extend
    while pending:
        part = pop()
        kind = part.__class__
        if kind is cst.Name:
            found[part.value] = found.get(part.value, 0) + 1
        elif kind is tuple:
            extend(part[::-1])
        elif kind in _ONLY_CHILD:
            push(_ONLY_CHILD[kind](part))
        elif kind in _CHILDREN and id(part) not in without:
            extend(_CHILDREN[kind](part))
    return found


_NOT_READ = {
    "Arg": "keyword",
    "Attribute": "attr",
    "ClassDef": "name",
    "FunctionDef": "name",
    "Param": "name",
}
_FIELDS_THAT_READ = {
    kind: [field for field in reversed(fields) if field != _NOT_READ.get(name)]
    for name, fields in CHILD_FIELDS.items()
    if (kind := getattr(cst, name, None)) is not None
}
_ONLY_CHILD = {kind: attrgetter(*fields) for kind, fields in _FIELDS_THAT_READ.items() if len(fields) == 1}
_CHILDREN = {kind: attrgetter(*fields) for kind, fields in _FIELDS_THAT_READ.items() if len(fields) > 1}


def dotted_name(node: cst.CSTNode) -> str:
    """``a.b.c`` for a chain of attributes that begins with a name; empty for anything else."""
    if type(node) is cst.Name:
        return node.value
    parts: list[str] = []
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name:
        return ""
    parts.append(node.value)
    return ".".join(reversed(parts))


def _name(node: cst.Name, context: Context) -> Expression:
    name = node.value
    made = context.names.get(name)
    if made is None:
        made = context.names[name] = _NAMED_CONSTANTS.get(name) or Name(name)
    return made


def _attribute(node: cst.Attribute, context: Context) -> Expression:
    name = node.attr.value
    base = expression(node.value, context)
    made = context.attributes.get((id(base), name))
    if made is None:
        context.attribute_names.add(name)
        made = Attribute(base, name)
        if isinstance(base, Name | Attribute):
            context.attributes[id(base), name] = made
    return made


def _integer(node: cst.Integer, _context: Context) -> Expression:
    return _integer_of(node.value)


def _float(node: cst.Float, _context: Context) -> Expression:
    return _float_of(node.value)


@lru_cache
def _integer_of(text: str) -> Expression:
    try:
        value = int(text, base=0)
    except ValueError:  # thousands of digits
        return Opaque()
    # Records are stored as JSON, whose readers agree only on 64 bits.
    return Constant(value) if value.bit_length() <= 63 else Opaque()


@lru_cache
def _float_of(text: str) -> Expression:
    return Constant(float(text))


def _string(
    node: cst.SimpleString | cst.ConcatenatedString | cst.FormattedString, context: Context
) -> Expression:
    """It makes no difference how many literals in a row a string is cut into."""
    if type(node) is cst.SimpleString:
        text = _text(node)
        return _constant_text(text) if isinstance(text, str) else text
    parts: list[Expression] = []
    for is_text, run in groupby(_string_parts(node, context), key=lambda part: isinstance(part, str)):
        if is_text:
            parts.append(_constant_text("".join(map(str, run))))
        else:
            parts.extend(part for part in run if not isinstance(part, str))
    match parts:
        case []:
            return Constant("")
        case [Constant() as only] if not _has_fields(node):
            return only
        case _:
            return FormattedString(tuple(parts)) if _has_fields(node) else Opaque()


def _has_fields(node: cst.CSTNode) -> bool:
    """Whether a string has expressions in it."""
    if type(node) is cst.ConcatenatedString:
        return _has_fields(node.left) or _has_fields(node.right)
    return type(node) is cst.FormattedString and any(
        type(part) is cst.FormattedStringExpression for part in node.parts
    )


def _string_parts(node: cst.CSTNode, context: Context) -> Iterator[str | Expression]:
    """The texts and expressions that string literals in a row are made of; an `Opaque` for bytes and other
    strings of which nothing is known."""
    if type(node) is cst.ConcatenatedString:
        yield from _string_parts(node.left, context)
        yield from _string_parts(node.right, context)
    elif type(node) is cst.SimpleString:
        yield _text(node)
    elif type(node) is cst.FormattedString:
        for part in node.parts:
            if type(part) is cst.FormattedStringText:
                yield _unescaped(part.value, is_raw="r" in node.start.lower())
            elif type(part) is cst.FormattedStringExpression:
                yield expression(part.expression, context)
    else:
        yield Opaque(names_read(node))


def _constant_text(text: str) -> Expression:
    if len(text) > _LONGEST_STRING:
        return Opaque()
    try:
        text.encode()
    except UnicodeEncodeError:  # an escaped lone surrogate, which cannot be stored
        return Opaque()
    return Constant(text)


def _text(node: cst.SimpleString) -> str | Opaque:
    """The text of a literal."""
    if not _NOT_PLAIN.search(node.value):
        return node.value[1:-1]
    try:
        value = node.evaluated_value  # a compilation: most literals can do without
    except (SyntaxError, ValueError):
        return Opaque()
    return value if isinstance(value, str) else Opaque()


def _unescaped(text: str, *, is_raw: bool) -> str | Opaque:
    """What a part of the text of a formatted string stands for."""
    text = text.replace("{{", "{").replace("}}", "}")
    if is_raw or "\\" not in text:
        return text
    quoted = _QUOTE.sub(lambda match: match[0] if len(match[0]) > 1 else '\\"', text)
    return _text(cst.SimpleString(f'"""{quoted}"""'))


_NOT_PLAIN = re.compile(r"^[^'\"]|^(?:\"\"|'')|[\\\r]")
"""A prefix, three quotes, or something that does not mean itself."""
_QUOTE = re.compile(r"\\.|\"", re.DOTALL)


def _call(node: cst.Call, context: Context) -> Expression:
    index = context.call_indices.get(id(node))
    return CallReference(index) if index is not None else Opaque(names_read(node))


def _subscript(node: cst.Subscript, context: Context) -> Expression:
    items = [_slice_item(element.slice, context) for element in node.slice]
    index = items[0] if len(items) == 1 and not _has_comma(node) else Sequence("tuple", tuple(items))
    return Subscript(expression(node.value, context), index)


def _has_comma(node: cst.Subscript) -> bool:
    return type(node.slice[-1].comma) is cst.Comma


def _slice_item(node: cst.BaseSlice, context: Context) -> Expression:
    if type(node) is cst.Index:
        item = expression(node.value, context)
        return Starred(item) if node.star else item
    return Opaque(names_read(node))


def _sequence(node: cst.Tuple | cst.List | cst.Set, context: Context) -> Expression:
    kind = type(node).__name__.lower()
    return Sequence(kind, tuple(_element(item, context) for item in node.elements))


def _element(node: cst.BaseElement, context: Context) -> Expression:
    value = expression(node.value, context)
    return Starred(value) if type(node) is cst.StarredElement else value


def _mapping(node: cst.Dict, context: Context) -> Expression:
    return Mapping(tuple(_mapping_item(item, context) for item in node.elements))


def _mapping_item(node: cst.BaseDictElement, context: Context) -> MappingItem:
    key = node.key if type(node) is cst.DictElement else None
    return MappingItem(
        expression(key, context) if key is not None else None,
        expression(node.value, context),
        context.span(node.value if key is None else key).start,
        context.span(node.value).end,
    )


def _conditional(node: cst.IfExp, context: Context) -> Expression:
    return Conditional(
        expression(node.test, context), expression(node.body, context), expression(node.orelse, context)
    )


def _operation(node: cst.BinaryOperation | cst.BooleanOperation, context: Context) -> Expression:
    operator = _OPERATORS[type(node.operator)]
    return Operation(operator, (expression(node.left, context), expression(node.right, context)))


def _unary(node: cst.UnaryOperation, context: Context) -> Expression:
    operand = expression(node.expression, context)
    match _OPERATORS[type(node.operator)], operand:
        case "-", Constant(value=int() | float() as number) if not isinstance(number, bool):
            return Constant(-number)
        case operator, _:
            return Operation(operator, (operand,))


def _comparison(node: cst.Comparison, context: Context) -> Expression:
    if len(node.comparisons) != 1:
        return Opaque(names_read(node))
    target = node.comparisons[0]
    operator = _OPERATORS[type(target.operator)]
    return Operation(operator, (expression(node.left, context), expression(target.comparator, context)))


def _lambda(node: cst.Lambda, context: Context) -> Expression:
    scope = context.scope_indices.get(id(node))
    return Lambda(scope) if scope is not None else Opaque(names_read(node))


def _comprehension(node: cst.BaseComp, context: Context) -> Expression:
    scope = context.scope_indices.get(id(node))
    if scope is None:
        return Opaque(names_read(node))
    element: Expression
    if isinstance(node, cst.DictComp):
        element = Sequence("tuple", (expression(node.key, context), expression(node.value, context)))
    else:
        assert isinstance(node, cst.BaseSimpleComp)
        element = expression(node.elt, context)
    return Comprehension(_COMPREHENSIONS[type(node)], element, scope)


def _named(node: cst.NamedExpr, context: Context) -> Expression:
    return expression(node.value, context)


def _awaited(node: cst.Await, context: Context) -> Expression:
    return expression(node.expression, context)


_NAMED_CONSTANTS = {"True": Constant(True), "False": Constant(False), "None": Constant(None)}

_OPERATORS: dict[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.And: "and",
    cst.Or: "or",
    cst.Not: "not",
    cst.Minus: "-",
    cst.Plus: "+",
    cst.BitInvert: "~",
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.In: "in",
    cst.NotIn: "not in",
}

_COMPREHENSIONS: dict[type[cst.CSTNode], str] = {
    cst.ListComp: "list",
    cst.SetComp: "set",
    cst.DictComp: "dict",
    cst.GeneratorExp: "generator",
}

_BUILDERS: dict[type[cst.CSTNode], Callable[[Any, Context], Expression]] = {
    cst.Name: _name,
    cst.Attribute: _attribute,
    cst.Integer: _integer,
    cst.Float: _float,
    cst.SimpleString: _string,
    cst.ConcatenatedString: _string,
    cst.FormattedString: _string,
    cst.Call: _call,
    cst.Subscript: _subscript,
    cst.Tuple: _sequence,
    cst.List: _sequence,
    cst.Set: _sequence,
    cst.Dict: _mapping,
    cst.IfExp: _conditional,
    cst.BinaryOperation: _operation,
    cst.BooleanOperation: _operation,
    cst.UnaryOperation: _unary,
    cst.Comparison: _comparison,
    cst.Lambda: _lambda,
    cst.ListComp: _comprehension,
    cst.SetComp: _comprehension,
    cst.DictComp: _comprehension,
    cst.GeneratorExp: _comprehension,
    cst.NamedExpr: _named,
    cst.Await: _awaited,
}
