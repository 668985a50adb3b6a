"""Statements of a file: where they begin and end, and how one is taken out.

Statements are found with `ast`: a fix of a file with newer syntax than the running Python is not offered.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

from warp_lint.findings import Edit
from warp_lint.source import Source


class Statement(NamedTuple):
    """A statement, decorators included, and the list of statements that it stands in."""

    node: ast.stmt
    start: int
    end: int
    siblings: list[ast.stmt]
    owner: ast.AST


@lru_cache(maxsize=32)
def statements_of(source: Source) -> Statements:
    """The statements of a source, parsed once for all fixes in it."""
    return Statements(source)


class Statements:
    """The statements of one file."""

    def __init__(self, source: Source) -> None:
        self.source = source

    @cached_property
    def tree(self) -> ast.Module | None:
        try:
            return ast.parse(self.source.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @cached_property
    def _all(self) -> list[Statement]:
        if self.tree is None or "\f" in self.source.text:
            return []
        return sorted(self._in(self.tree), key=lambda statement: statement.start)

    def _in(self, owner: ast.AST) -> Iterator[Statement]:
        for _, value in ast.iter_fields(owner):
            items = value if isinstance(value, list) else [value]
            for item in items:
                if isinstance(item, ast.stmt):
                    decorators = getattr(item, "decorator_list", [])
                    start = self.offset(item.lineno, item.col_offset)
                    if decorators:
                        start = self.source.text.rfind("@", 0, self._start_of(decorators[0]))
                    end = self.offset(item.end_lineno or item.lineno, item.end_col_offset or 0)
                    yield Statement(item, start, end, value, owner)
                if isinstance(item, (ast.stmt, ast.excepthandler, ast.match_case)):
                    yield from self._in(item)

    def _start_of(self, node: ast.expr) -> int:
        return self.offset(node.lineno, node.col_offset)

    def offset(self, line: int, byte_column: int) -> int:
        """The code-point offset of a place as `ast` gives it."""
        start = self.source.line_starts[line - 1]
        text = self.source.text
        if text.isascii():
            return start + byte_column
        end = self.source.line_starts[line] if line < len(self.source.line_starts) else len(text)
        return start + len(text[start:end].encode()[:byte_column].decode(errors="ignore"))

    def at(self, offset: int) -> Statement | None:
        """The innermost statement around an offset."""
        around = [item for item in self._all if item.start <= offset < item.end]
        return around[-1] if around else None

    def top_level_at(self, offset: int) -> Statement | None:
        """The statement of the module around an offset."""
        for item in self._all:
            if item.start <= offset < item.end and isinstance(item.owner, ast.Module):
                return item
        return None

    def deletion(self, statement: Statement) -> Edit:
        """The edit that takes a statement out.

        Whole lines go where nothing else stands on them; a comment behind the statement becomes a line of
        its own. ``pass`` stays where a body would be empty.
        """
        text = self.source.text
        path = self.source.path
        if len(statement.siblings) == 1 and not isinstance(statement.owner, ast.Module):
            return Edit(path, statement.start, statement.end, "pass")
        line = self.source.position(statement.start).line
        line_start = self.source.line_starts[line - 1]
        line_end = self.source.line_end(self.source.position(statement.end).line)
        before = text[line_start : statement.start]
        behind = text[statement.end : line_end]
        if before.strip() == "" and behind.strip() == "":
            return Edit(path, line_start, self.next_line(line_end), "")
        if before.strip() == "" and behind.lstrip().startswith("#"):
            return Edit(path, statement.start, line_end - len(behind.lstrip()), "")
        if behind.lstrip().startswith(";"):
            # ``first(); second()``: what follows takes the place.
            following = statement.end + behind.index(";") + 1
            rest = text[following:line_end]
            return Edit(path, statement.start, line_end - len(rest.lstrip()), "")
        # The last of several on one line goes with the semicolon before it.
        semicolon = text.rindex(";", line_start, statement.start)
        return Edit(path, semicolon, statement.end, "")

    def next_line(self, line_end: int) -> int:
        """The start of the line after a line end, or the end of the text."""
        text = self.source.text
        if text.startswith("\r\n", line_end):
            return line_end + 2
        return min(line_end + 1, len(text))

    def with_blank_lines_above(self, start: int, end: int) -> int:
        """Where to cut whole lines so that blank lines above and below do not add up."""
        source = self.source
        following = source.position(end).line
        if following <= source.line_count and source.line_text(following).strip():
            return start
        line = source.position(start).line
        while line > 1 and not source.line_text(line - 1).strip():
            line -= 1
        return source.line_starts[line - 1]

    def after_blank_lines(self, offset: int) -> int:
        """The start of the first line at or below an offset that is not blank."""
        source = self.source
        line = source.position(offset).line
        while line < source.line_count and not source.line_text(line).strip():
            line += 1
        return source.line_starts[line - 1]

    def has_comment(self, statement: Statement) -> bool:
        """Whether a comment stands inside a statement."""
        text = self.source.text[statement.start : statement.end]
        if "#" not in text:
            return False
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        except (tokenize.TokenError, SyntaxError):
            return True
        return any(token.type == tokenize.COMMENT for token in tokens)

    def first_line_of(self, statement: Statement) -> int:
        """The offset of the first line that belongs to a statement: comment lines right above it do."""
        line = self.source.position(statement.start).line
        while line > 1 and self.source.line_text(line - 1).strip().startswith("#"):
            line -= 1
        return self.source.line_starts[line - 1]

    def after_imports(self) -> int | None:
        """The offset of the line behind the last import before anything else at the top of the file; None
        when the file cannot be read or imports nothing there."""
        if self.tree is None:
            return None
        last: ast.stmt | None = None
        for node in self.tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                last = node
            elif not _is_docstring(node) and not isinstance(node, ast.If | ast.Try):
                break
        if last is None:
            return None
        line = last.end_lineno or last.lineno
        end = self.source.line_end(line)
        behind = self.source.text[self.offset(line, last.end_col_offset or 0) : end].strip()
        return self.next_line(end) if not behind or behind.startswith("#") else None

    @cached_property
    def names_used(self) -> dict[str, int]:
        """How often each name is read or written in the file, import statements left out."""
        used: dict[str, int] = {}
        for node in ast.walk(self.tree) if self.tree is not None else ():
            if isinstance(node, ast.Name):
                used[node.id] = used.get(node.id, 0) + 1
        return used


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
