"""Arithmetic and comparisons on constants."""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from typing import Any

from warp_lint.project.values import UNKNOWN, Collection, Constant, Dictionary, Value, constant

_LARGEST = 1 << 62
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operators.add,
    "-": operators.sub,
    "*": operators.mul,
    "/": operators.truediv,
    "//": operators.floordiv,
    "%": operators.mod,
    "<<": operators.lshift,
    ">>": operators.rshift,
    "|": operators.or_,
    "&": operators.and_,
    "==": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
    "is": operators.eq,
    "is not": operators.ne,
    "and": lambda left, right: left and right,
}


def fold(operator: str, operands: tuple[Value, ...]) -> Value:
    """The value of an operation on constants; `UNKNOWN` where it has none or is not worth following."""
    match operator, operands:
        case "not", (Constant(value=value),):
            return constant(not value)
        case "-", (Constant(value=int() | float() as number),):
            return constant(-number)
        case "+", (Collection() as left, Collection() as right):
            return Collection(left.kind, left.items + right.items)
        case "|", (Dictionary() as left, Dictionary() as right):
            return Dictionary(left.items + right.items, left.open or right.open)
        case "**", (Constant(value=int(base)), Constant(value=int(exponent))) if 0 <= exponent <= 62:
            return _bounded(base**exponent)
        case _, (Constant(value=left), Constant(value=right)) if operator in _BINARY:
            return _binary(operator, left, right)
        case _:
            return UNKNOWN


def _binary(operator: str, left: object, right: object) -> Value:
    if operator == "<<" and not (isinstance(right, int) and 0 <= right <= 62):
        return UNKNOWN
    if operator == "*" and (isinstance(left, str) or isinstance(right, str)):
        return UNKNOWN
    try:
        return _bounded(_BINARY[operator](left, right))
    except (TypeError, ValueError, ArithmeticError):
        return UNKNOWN


def _bounded(value: object) -> Value:
    if isinstance(value, int) and abs(value) > _LARGEST:
        return UNKNOWN
    return constant(value) if isinstance(value, (str, int, float, bool)) or value is None else UNKNOWN
