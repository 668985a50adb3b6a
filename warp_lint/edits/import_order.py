"""Putting a statement above an import, in the midst of the imports of a file."""

from __future__ import annotations

import ast
import re

from warp_lint.edits.statements import Statement, Statements
from warp_lint.findings import Edit

_NOQA = re.compile(r"#\s*noqa(?P<codes>:\s?(?:[A-Z]+[0-9]+[,\s]*)+)?", re.IGNORECASE)
_PREPARATIONS = ("sys.path", "os.environ", "os.putenv", "matplotlib.use")


class ImportPlace:
    """The place above a statement of the module that imports something."""

    def __init__(self, below: Statement, statements: Statements) -> None:
        self._below = below
        self._statements = statements
        self._brought: ast.stmt | None = None
        source = statements.source
        self._at = statements.first_line_of(below)
        if self._at == 0:
            # The comments at the top are about the file, not about the import.
            self._at = source.line_starts[source.position(below.start).line - 1]

    @classmethod
    def above(cls, offset: int, statements: Statements) -> ImportPlace | None:
        """The place above the import at an offset; None where another statement shares its line."""
        below = statements.top_level_at(offset)
        if below is None or _line_start(below, statements) != below.start:
            return None
        return cls(below, statements)

    def bring(self, offset: int, until: int) -> tuple[str, tuple[Edit, ...]] | None:
        """Bring the import at an offset along if it stands below: its line, and the edit that takes it out
        there, from what is left before ``until``. None where it is not an import alone on one line."""
        statement = self._statements.top_level_at(offset)
        if statement is None:
            return None
        body = statement.siblings
        if body.index(statement.node) < body.index(self._below.node):
            return "", ()
        source = self._statements.source
        line = source.position(statement.start).line
        line_end = source.line_end(line)
        text = source.text[statement.start : line_end]
        is_plain = isinstance(statement.node, ast.Import) and len(statement.node.names) == 1
        behind = source.text[statement.end : line_end].strip()
        if not is_plain or line != source.position(statement.end).line or (behind and behind[0] != "#"):
            return None
        if _line_start(statement, self._statements) != statement.start:
            return None
        self._brought = statement.node
        removal = Edit(source.path, statement.start, self._statements.next_line(line_end), "")
        if removal.end > until:
            # The line end behind it goes with what stood on the last line.
            removal = Edit(source.path, source.line_end(line - 1), line_end, "")
        return text, (removal,)

    def insertion(self, brought: str, text: str) -> Edit:
        """The edit that puts the brought import and a line here: next to assignments that are here already,
        else between blank lines."""
        source = self._statements.source
        newline = source.newline
        line = source.position(self._at).line
        body = self._below.siblings
        place = body.index(self._below.node)
        before = body[place - 1] if place else None
        if isinstance(before, ast.Assign) and not brought:
            at = self._statements.next_line(source.line_end(before.end_lineno or before.lineno))
            return Edit(source.path, at, at, text + newline)
        is_apart = line == 1 or not source.line_text(line - 1).strip()
        above = "" if is_apart or brought else newline
        imported = f"{brought}{newline}{newline}" if brought else ""
        return Edit(source.path, self._at, self._at, f"{above}{imported}{text}{newline}{newline}")

    def excuses(self) -> tuple[Edit, ...] | None:
        """The edits that add ``# noqa: E402`` to the imports that have been at the top of the file so far and
        are below code now; None where there is no place for one."""
        body = self._below.siblings
        edits = []
        for node in body[body.index(self._below.node) :]:
            if _is_code(node):
                break
            if isinstance(node, ast.Import | ast.ImportFrom) and node is not self._brought:
                text = self._statements.source.line_text(node.lineno)
                if text.rstrip().endswith("\\"):
                    return None
                edit = self._excuse(node.lineno, text)
                edits += [edit] if edit is not None else []
        if any(_is_code(node) for node in body[: body.index(self._below.node)]):
            return ()
        return tuple(edits)

    def _excuse(self, line: int, text: str) -> Edit | None:
        source = self._statements.source
        start = source.line_starts[line - 1]
        noqa = _NOQA.search(text)
        if noqa is None:
            end = start + len(text.rstrip())
            return Edit(source.path, end, end, "  # noqa: E402")
        codes = noqa["codes"]
        if codes is None or "E402" in codes.upper():
            return None
        kept = noqa[0].rstrip(" \t,")
        separator = ", " if ", " in codes.strip(" \t:") or "," not in codes.rstrip(" \t,") else ","
        first = start + noqa.start()
        return Edit(source.path, first, first + len(kept), f"{kept}{separator}E402")


def _is_code(node: ast.stmt) -> bool:
    """Whether imports below a statement count as late: those below strings, conditions and dunder names do
    not, and to ruff neither those below what prepares them."""
    if ast.unparse(node).startswith(_PREPARATIONS):
        return False
    match node:
        case ast.Import() | ast.ImportFrom() | ast.If() | ast.Try() | ast.With():
            return False
        case ast.Expr(value=ast.Constant(value=str())):
            return False
        case ast.Assign(targets=[ast.Name(id=name)]):
            return not (name.startswith("__") and name.endswith("__"))
        case _:
            return True


def _line_start(statement: Statement, statements: Statements) -> int:
    return statements.source.line_starts[statements.source.position(statement.start).line - 1]
