"""Where the nodes of a built tree stand in the text.

`ast` tells places in lines and bytes, without the parentheses around an expression, and of some names not at
all. Here they become what `warp_lint.facts.positions` says of the same node in a parsed tree.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple

import libcst as cst

from warp_lint.facts.positions import Positions
from warp_lint.facts.records import Span
from warp_lint.source import Source

_new_tuple = tuple.__new__

SpanOf = Callable[[cst.CSTNode], Span]
"""Gives the code points of the text that a node takes."""


class Statements(NamedTuple):
    """From one statement to another."""

    first: ast.stmt
    last: ast.stmt


class DefinedName(NamedTuple):
    """The name of a function or class."""

    definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Decoration(NamedTuple):
    """A decorator, by its expression."""

    expression: ast.expr


class BoundName(NamedTuple):
    """The name after ``as`` in an ``except`` or pattern, by what stands before."""

    before: ast.expr | ast.pattern


class StarredName(NamedTuple):
    """The name after the star in a pattern."""

    pattern: ast.MatchStar


class Parsed(NamedTuple):
    """A node that LibCST's parser made of a part of the text."""

    node: cst.CSTNode
    positions: Positions
    shift: int


_BLANK = r"(?:[\s\\]|\#[^\r\n]*)*"
_BLANKS = re.compile(_BLANK)
_CLOSING = re.compile(_BLANK + r"\)")
_ALL_CLOSING = re.compile(rf"(?:{_BLANK}\))*")
_COMMA_NEXT = re.compile(_BLANK + ",")
_COMMENT = re.compile(r"\#[^\r\n]*")
_SEMICOLON = re.compile(r"[ \t]*;(?:[ \t]|\\\r?\n|\\\r)*")
_DEFINED_NAME = re.compile(r"(?:async[\s\\]+)?(?:def|class)[\s\\]+(\w+)")
_STARRED_NAME = re.compile(rf"\*{_BLANK}(\w+)")
_BOUND_NAME = re.compile(rf"(?:{_BLANK}\))*{_BLANK}as[\s\\]+(\w+)")


class Places:
    """Keeps for each built node the node of `ast` that tells its place, and works it out when asked."""

    def __init__(self, source: Source) -> None:
        self._text = source.text
        self._line_starts = source.line_starts
        self._wide_lines = {} if source.text.isascii() else _wide_lines(source)
        self._has_semicolons = ";" in source.text
        self.origins: dict[int, Any] = {}

    def span(self, node: cst.CSTNode) -> Span:
        """The code points of the text that a built node takes."""
        origin = self.origins[id(node)]
        measure = _MEASURES.get(origin.__class__)
        return measure(self, origin) if measure is not None else self._node(origin)

    def start(self, node: Any) -> int:
        line = node.lineno
        if line in self._wide_lines:
            return self._offset_in_wide(line, node.col_offset)
        offset: int = self._line_starts[line - 1] + node.col_offset
        return offset

    def end(self, node: Any) -> int:
        line = node.end_lineno
        if line in self._wide_lines:
            return self._offset_in_wide(line, node.end_col_offset)
        offset: int = self._line_starts[line - 1] + node.end_col_offset
        return offset

    def _offset_in_wide(self, line: int, byte_column: int) -> int:
        return self._line_starts[line - 1] + len(self._wide_lines[line][:byte_column].decode())

    def text_of(self, node: ast.expr) -> str:
        return self._text[self.start(node) : self.end(node)]

    def begins_line(self, statement: ast.stmt) -> bool:
        """Whether nothing stands before a statement on its line."""
        return not self._text[self._line_starts[statement.lineno - 1] : self.start(statement)].strip()

    def is_behind_semicolon(self, statement: ast.stmt, before: ast.stmt) -> bool:
        """Whether a statement is on the logical line of the one before."""
        if not self._has_semicolons:
            return False
        between = self._text[self.end(before) : self.start(statement)]
        return ";" in between and _SEMICOLON.fullmatch(between) is not None

    def is_elif(self, statement: ast.If) -> bool:
        return self._text.startswith("elif", self.start(statement))

    def _node(self, node: Any) -> Span:
        first, last = node.lineno, node.end_lineno
        if first in self._wide_lines or last in self._wide_lines:
            return Span(self.start(node), self.end(node))
        starts = self._line_starts
        start = starts[first - 1] + node.col_offset
        return _new_tuple(Span, (start, starts[last - 1] + node.end_col_offset))

    def _statements(self, statements: Statements) -> Span:
        return _new_tuple(Span, (self.start(statements.first), self.end(statements.last)))

    def _defined_name(self, name: DefinedName) -> Span:
        return self._found(_DEFINED_NAME, self.start(name.definition))

    def _bound_name(self, name: BoundName) -> Span:
        return self._found(_BOUND_NAME, self.end(name.before))

    def _starred_name(self, name: StarredName) -> Span:
        return self._found(_STARRED_NAME, self.start(name.pattern))

    def _found(self, pattern: re.Pattern[str], position: int) -> Span:
        match = pattern.match(self._text, position)
        assert match is not None
        return Span(*match.span(1))

    def _decoration(self, decoration: Decoration) -> Span:
        expression = decoration.expression
        start = self._text.rindex("@", 0, self.start(expression))
        return Span(start, self._end_with_parentheses(expression, start))

    def _parsed(self, parsed: Parsed) -> Span:
        start, end = parsed.positions.span(parsed.node)
        return Span(start + parsed.shift, end + parsed.shift)

    def _tuple(self, node: ast.Tuple) -> Span:
        """Without its parentheses, which `ast` counts in."""
        whole = self._node(node)
        if not node.elts:
            inside = self._behind_blanks(whole.start + 1)
            return Span(inside, inside)
        first_end, last_end = self.end(node.elts[0]), self.end(node.elts[-1])
        opening = self._parentheses("(", whole.start, self.start(node.elts[0]))
        match = _ALL_CLOSING.match(self._text, first_end)
        assert match is not None
        if opening <= self._parentheses(")", first_end, match.end()):
            return whole  # they are those of the first item
        closing = self._parentheses(")", last_end, whole.end)
        end = self._behind_parentheses(last_end, closing - 1)
        comma = _COMMA_NEXT.match(self._text, end)
        return Span(self._behind_blanks(whole.start + 1), comma.end() if comma else end)

    def _generator(self, node: ast.GeneratorExp) -> Span:
        """Without its parentheses, which `ast` counts in."""
        whole = self._node(node)
        last = node.generators[-1]
        last_part = last.ifs[-1] if last.ifs else last.iter
        closing = self._parentheses(")", self.end(last_part), whole.end)
        return Span(
            self._behind_blanks(whole.start + 1), self._behind_parentheses(self.end(last_part), closing - 1)
        )

    def _end_with_parentheses(self, expression: ast.expr, start: int) -> int:
        """Where the parentheses close that open between a place and an expression."""
        opening = self._parentheses("(", start, self.start(expression))
        return self._behind_parentheses(self.end(expression), opening)

    def _parentheses(self, which: str, start: int, end: int) -> int:
        """How many there are between two places, comments left out."""
        found = self._text.count(which, start, end)
        return _COMMENT.sub("", self._text[start:end]).count(which) if found else 0

    def _behind_parentheses(self, position: int, count: int) -> int:
        """Where ``count`` closing parentheses end, of which the first comes next."""
        for _ in range(count):
            match = _CLOSING.match(self._text, position)
            assert match is not None
            position = match.end()
        return position

    def _behind_blanks(self, position: int) -> int:
        match = _BLANKS.match(self._text, position)
        assert match is not None
        return match.end()


_MEASURES: dict[type, Callable[[Places, Any], Span]] = {
    Statements: Places._statements,
    DefinedName: Places._defined_name,
    Decoration: Places._decoration,
    BoundName: Places._bound_name,
    StarredName: Places._starred_name,
    Parsed: Places._parsed,
    ast.Tuple: Places._tuple,
    ast.GeneratorExp: Places._generator,
}


def _wide_lines(source: Source) -> dict[int, bytes]:
    """The lines in which bytes and code points differ, by number, encoded as `ast` counts."""
    text, starts = source.text, source.line_starts
    found = {}
    for match in _WIDE_LINE.finditer(text):
        line = bisect_right(starts, match.start())
        end = starts[line] if line < len(starts) else len(text)
        found[line] = text[starts[line - 1] : end].encode()
    return found


_WIDE_LINE = re.compile(r"[^\x00-\x7f][^\r\n]*")
