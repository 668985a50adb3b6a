"""Expressions as facts: the part of an expression that a rule may want to know, without the tree.

What is not one of these shapes is `Opaque`, which still tells which names it reads. Nothing here is
resolved: a `Name` is just a name; `warp_lint.project` says what it stands for.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class _Expression(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Base of every expression fact."""


class Constant(_Expression, frozen=True):
    """A number, a string, a truth value or None."""

    value: str | int | float | bool | None


class Name(_Expression, frozen=True):
    id: str


class Attribute(_Expression, frozen=True):
    base: Expression
    attribute: str


class Subscript(_Expression, frozen=True):
    base: Expression
    index: Expression


class CallReference(_Expression, frozen=True):
    """A call: the index of its `CallFact` in `FileFacts.calls`."""

    index: int


class Sequence(_Expression, frozen=True):
    """A tuple, list or set display; its items may be `Starred`."""

    kind: str
    items: tuple[Expression, ...]


class Starred(_Expression, frozen=True):
    value: Expression


class MappingItem(msgspec.Struct, frozen=True, array_like=True):
    """``key: value`` in a dict display; a key of None stands for ``**value``. ``start`` and ``end`` are the
    offsets of the item."""

    key: Expression | None
    value: Expression
    start: int
    end: int


class Mapping(_Expression, frozen=True):
    """A dict display."""

    items: tuple[MappingItem, ...]


class Conditional(_Expression, frozen=True):
    """``body if test else orelse``."""

    test: Expression
    body: Expression
    orelse: Expression


class Operation(_Expression, frozen=True):
    """A unary, binary, boolean or comparison operation; ``operator`` as written, words with one blank."""

    operator: str
    operands: tuple[Expression, ...]


class Lambda(_Expression, frozen=True):
    """A lambda: the index of its `ScopeFact` in `FileFacts.scopes`."""

    scope: int


class Comprehension(_Expression, frozen=True):
    """A list, set, dict or generator comprehension; ``scope`` is the scope its variables live in."""

    kind: str
    element: Expression
    scope: int


class FormattedString(_Expression, frozen=True):
    """An f-string: its literal parts and the expressions between them."""

    parts: tuple[Expression, ...]


class Opaque(_Expression, frozen=True):
    """Anything else: only the names it reads are known."""

    names: tuple[str, ...] = ()


Expression: TypeAlias = (
    Constant
    | Name
    | Attribute
    | Subscript
    | CallReference
    | Sequence
    | Starred
    | Mapping
    | Conditional
    | Operation
    | Lambda
    | Comprehension
    | FormattedString
    | Opaque
)
