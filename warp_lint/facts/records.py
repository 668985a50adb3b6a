"""The records that `FileFacts` is made of.

Every record has a ``span``: start and end in code points of the decoded file. Records that happen when
the program runs also have ``scope`` (where), ``block`` (under which branches and loops) and ``order``
(their place in the evaluation order of the file). All indices point into the lists of the same
`FileFacts`.
"""

from __future__ import annotations

import enum
from bisect import bisect_right
from typing import NamedTuple

import msgspec

from warp_lint.facts.values import Expression
from warp_lint.findings import Location, Position, Range


class Span(NamedTuple):
    """Start and end in code points of the decoded file."""

    start: int
    end: int


class ScopeKind(str, enum.Enum):
    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    LAMBDA = "lambda"
    COMPREHENSION = "comprehension"


class ParameterKind(str, enum.Enum):
    POSITIONAL_ONLY = "positional-only"
    NORMAL = "normal"
    KEYWORD_ONLY = "keyword-only"
    VAR_POSITIONAL = "*"
    VAR_KEYWORD = "**"


class Parameter(msgspec.Struct, frozen=True):
    name: str
    kind: ParameterKind
    default: Expression | None
    annotation: Expression | None


class Decorator(msgspec.Struct, frozen=True):
    """A decorator, its span from the ``@`` to the end of the expression."""

    expression: Expression
    span: Span


class ScopeFact(msgspec.Struct):
    """A module, class, function, lambda or comprehension; the module is always scope 0."""

    kind: ScopeKind
    name: str
    qualified_name: str
    """As Python's ``__qualname__``, with ``<locals>``."""
    parent: int
    """The enclosing scope; -1 for the module."""
    span: Span
    """The whole statement, decorators included."""
    header_span: Span
    """From the first decorator to the colon before the body."""
    name_span: Span
    block: int
    order: int
    """When the definition itself runs, in the enclosing scope."""
    body_block: int
    decorators: tuple[Decorator, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    bases: tuple[Expression, ...] = ()
    is_async: bool = False
    is_generator: bool = False
    docstring: bool = False
    global_names: tuple[str, ...] = ()
    """Names declared ``global``."""
    nonlocal_names: tuple[str, ...] = ()


class BlockKind(str, enum.Enum):
    BODY = "body"
    """The body of a scope."""
    BRANCH = "branch"
    """One branch of an ``if``/``elif``/``else`` or ``match``."""
    LOOP = "loop"
    LOOP_ELSE = "loop-else"
    TRY = "try"
    EXCEPT = "except"
    TRY_ELSE = "try-else"
    FINALLY = "finally"
    WITH = "with"


class BlockFact(msgspec.Struct):
    """A stretch of statements that runs, or does not run, as one.

    Blocks of one statement share ``group`` and have the position of their branch as ``branch``: two
    blocks of one ``if`` exclude each other.
    """

    kind: BlockKind
    scope: int
    parent: int
    """The enclosing block; -1 for a scope's body."""
    group: int
    branch: int
    span: Span
    test: Expression | None = None
    """The condition of an ``if`` or ``while`` branch; what a ``for`` iterates over; what a ``with`` enters;
    the exception types of an ``except``; the subject of a ``match``."""
    target: Expression | None = None
    """The loop variable of a ``for``, the name after ``as``, the pattern's captured names."""
    leaves: str = ""
    """``return``, ``raise``, ``continue``, ``break`` or ``exit`` when its end is never reached."""


class ImportFact(msgspec.Struct, frozen=True):
    """One imported name. ``import a.b`` binds ``a``; ``import a.b as c`` binds ``c`` to ``a.b``."""

    module: str
    name: str | None
    """The name taken ``from`` the module; ``*`` for all of them; None for a plain import."""
    level: int
    """Leading dots of a relative import."""
    bound_name: str
    span: Span
    """The whole statement."""
    scope: int
    block: int
    order: int
    type_checking: bool = False
    """Under ``if TYPE_CHECKING``: it never runs."""


class BindingKind(str, enum.Enum):
    ASSIGN = "assign"
    AUGMENTED = "augmented"
    LOOP = "loop"
    """A loop variable: ``value`` is what is iterated over."""
    WITH = "with"
    """``with value as target``."""
    EXCEPT = "except"
    PATTERN = "pattern"
    DELETE = "delete"
    WALRUS = "walrus"


class BindingFact(msgspec.Struct, frozen=True):
    """A name, attribute or item that gets a value. ``a = b = v`` is two bindings; ``a, b = v`` is one whose
    target is a `Sequence`. An annotation without a value binds nothing."""

    kind: BindingKind
    target: Expression
    value: Expression
    span: Span
    """The whole statement."""
    scope: int
    block: int
    order: int
    operator: str = ""
    """Of an augmented assignment, without the ``=``."""


class Argument(msgspec.Struct, frozen=True):
    value: Expression
    keyword: str | None
    """Its name; ``*`` and ``**`` for unpacked ones; None for a positional one."""
    value_span: Span


class CallFact(msgspec.Struct, frozen=True):
    """A call, after its arguments in ``order``."""

    function: Expression
    arguments: tuple[Argument, ...]
    span: Span
    statement_span: Span
    """The simple statement, or the header of the compound statement, that holds the call. For a call in a
    decorator: the decorator, from its ``@``."""
    scope: int
    block: int
    order: int
    context: str = ""
    """What is done with the value: ``statement`` (nothing), ``decorator``, ``with``, ``return``, ``await``
    or empty."""


class ReturnFact(msgspec.Struct, frozen=True):
    """``return``, ``yield`` or ``yield from`` with what they give."""

    kind: str
    value: Expression
    span: Span
    scope: int
    block: int
    order: int


class DeviceLoop(msgspec.Struct, frozen=True):
    """A ``for … in range(…)`` in device code."""

    arguments: tuple[Expression, ...]
    target: str
    span: Span
    parent: int
    """The loop around it, an index into `DeviceCode.loops`; -1 for none."""
    statements: int
    """Statements in its body, nested ones included."""
    header_span: Span
    """From the ``for`` to the end of the ``range``."""
    breaks: bool = False
    """Whether a ``break`` of its own may end it early."""


class DeviceCall(msgspec.Struct, frozen=True):
    """A call in device code by a name or dotted name."""

    function: Expression
    arguments: tuple[Argument, ...]
    span: Span
    loop: int
    target: str = ""
    """The name that its value is assigned to; empty where that is not just one name."""


class DeviceCode(msgspec.Struct, frozen=True):
    """What is kept of the body of a function that looks like Warp device code.

    A function may be device code when the last part of one of its decorators contains ``kernel`` or
    ``func`` (``wp.kernel``, ``@warp_kernel("name")``, ``@wp.func``), or when a parameter is annotated
    with an array. When that last part *is* ``kernel`` or ``func…`` the body holds no host facts.
    """

    scope: int
    names: tuple[str, ...]
    """Names read in the body that the body does not bind, in order of first use; annotations included."""
    calls: tuple[DeviceCall, ...]
    """Every call by a name or dotted name, in order; arguments only of ``tile_*`` and ``static``."""
    loops: tuple[DeviceLoop, ...]
    statements: int
    parameters_read: tuple[str, ...] = ()
    """The parameters whose value or elements the body reads: to store into an element, or to ask for
    ``shape``, is not to read."""


class FileFacts(msgspec.Struct):
    """Everything the rules may know about one file."""

    path: str
    line_starts: list[int]
    """Offset of the first code point of every line; lines end as Python ends them."""
    length: int
    scopes: list[ScopeFact] = []
    blocks: list[BlockFact] = []
    imports: list[ImportFact] = []
    bindings: list[BindingFact] = []
    calls: list[CallFact] = []
    returns: list[ReturnFact] = []
    device_code: list[DeviceCode] = []
    attributes: tuple[str, ...] = ()
    """The names of all attributes in expressions, each once, sorted."""

    def position(self, offset: int) -> Position:
        """The line and column of a code-point offset."""
        line = bisect_right(self.line_starts, offset)
        return Position(line, offset - self.line_starts[line - 1] + 1)

    def location(self, span: Span) -> Location:
        """Where a span stands, for a finding."""
        return Location(self.path, Range(self.position(span.start), self.position(span.end)))
