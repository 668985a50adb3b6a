"""Moving late definitions at module level above the statement that loads their module."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence

from warp_lint.edits.statements import Statement, Statements, statements_of
from warp_lint.findings import Edit, Location
from warp_lint.notebook import Notebook
from warp_lint.project import Project
from warp_lint.project.events import Event, EventKind
from warp_lint.project.files import ProjectFile
from warp_lint.source import SourceError

_BUILTINS = frozenset(dir(builtins))
_SUPPRESSION = re.compile(r"#.*(warp-lint:|noqa(?!:)|noqa:.*WRP)")
_FORMATTER = re.compile(r"# *fmt: *(on|off|skip)")
_LINE_ENDS = re.compile(r"(?:[ \t]*(?:\r\n?|\n))+\Z")
_SETTING = (EventKind.SET_OPTION, EventKind.SET_CONFIG)


class Hoist:
    """The way up for what comes after one load at the top level of a file.

    All that can go is moved at once: one after the other they would wait for each other at the one place that
    they go to.
    """

    def __init__(
        self,
        load: Event,
        events: Sequence[Event],
        file: ProjectFile,
        statements: Statements,
        around: Statement,
    ) -> None:
        self._load = load
        self._events = events
        self._file = file
        self._statements = statements
        self._around = around
        self._moved: list[Statement] = []

    @classmethod
    def above(cls, load: Event, events: Sequence[Event], file: ProjectFile, project: Project) -> Hoist | None:
        """The way above a load among the events of a file's top level; None where the load is an import, or
        stands under a condition, in a loop, or on a line with other statements, and in a notebook, whose
        cells are read in their order."""
        if load.came_through_import or load.block != file.facts.scopes[0].body_block:
            return None
        try:
            statements = statements_of(project.source(file))
        except SourceError:
            return None
        if isinstance(statements.source, Notebook):
            return None
        place = load.steps[0].location if load.steps else load.location
        around = statements.top_level_at(_offset(place, file))
        if around is None or not _is_alone(around, statements) or _is_left_alone(around.start, statements):
            return None
        return cls(load, events, file, statements, around)

    def add(self, event: Event, project: Project) -> bool:
        """Let a late definition or overload come along; returns whether it can.

        It stays where a condition decides about it, where a name that it uses gets a value below the load,
        where its own name is used on the way, and where its suppression says that it is meant.
        """
        if event.steps or event.location.path != self._file.facts.path:
            return False
        statement = self._statements.top_level_at(_offset(event.location, self._file))
        if statement is None or not self._is_definition(statement, event, project):
            return False
        text = self._statements.source.text[slice(*self._lines(statement))]
        if not _is_alone(statement, self._statements) or _SUPPRESSION.search(text):
            return False
        if _FORMATTER.search(text) or _is_left_alone(statement.start, self._statements):
            return False
        if self._is_configured_between(event) or not self._may_pass(statement, event, project):
            return False
        self._moved.append(statement)
        return True

    def edit(self) -> Edit:
        """The edit that moves all that was added, in the order in which it stands.

        It is one edit, of everything from the load on, so that lines that stay keep their line ends.
        """
        source = self._statements.source
        moved = sorted(self._moved, key=lambda statement: statement.start)
        at = self._statements.first_line_of(self._around)
        rest, end = "", at
        for statement in moved:
            start, next_end = self._lines(statement)
            rest += source.text[end : self._statements.with_blank_lines_above(start, next_end)]
            end = next_end
        if end == len(source.text) and not source.text.endswith(("\n", "\r")):
            rest = _LINE_ENDS.sub("", rest)  # the file ends as it did
        return Edit(source.path, at, end, self._insertion(moved, at) + rest)

    def _is_definition(self, statement: Statement, event: Event, project: Project) -> bool:
        """Whether a statement of the module is the definition or overload, and nothing else."""
        match statement.node, event.kind:
            case ast.FunctionDef(), EventKind.DEFINE if event.kernel is not None:
                kernel = project.kernels[event.kernel]
                return kernel.call is None and kernel.file is kernel.body_file is self._file
            case ast.Expr(value=ast.Call()), EventKind.OVERLOAD:
                return True
            case ast.Assign(targets=[ast.Name()], value=ast.Call()), EventKind.OVERLOAD:
                return True
            case _:
                return False

    def _is_configured_between(self, event: Event) -> bool:
        """Whether options or configuration are set on the way, which the definition may be made to meet."""
        return any(
            other.kind in _SETTING and self._load.order < other.order < event.order for other in self._events
        )

    def _may_pass(self, statement: Statement, event: Event, project: Project) -> bool:
        used = set(_names_read(statement.node))
        if event.kind is EventKind.DEFINE and event.kernel is not None:
            code = project.kernels[event.kernel].device_code
            if code is None:
                return False
            used |= set(code.names)
        if not all(self._is_bound_above(name) for name in used):
            return False
        own = _own_name(statement.node)
        if own and len(self._file.binders[0].get(own, ())) != 1:
            return False
        changed, read = _touched(self._between(statement))
        return not changed & (used | {own}) and own not in read and "*" not in changed

    def _is_bound_above(self, name: str) -> bool:
        """Whether a name has the value that it keeps when the load comes."""
        binders = self._file.binders[0].get(name)
        if not binders:
            return name in _BUILTINS
        is_rebound = any(name in scope.global_names for scope in self._file.facts.scopes)
        return binders[-1].order < self._load.order and not is_rebound

    def _between(self, statement: Statement) -> list[ast.stmt]:
        """The statements that the definition passes, from the load on."""
        moved = [other.node for other in self._moved]
        body = statement.siblings
        passed = body[body.index(self._around.node) : body.index(statement.node)]
        return [node for node in passed if node not in moved]

    def _lines(self, statement: Statement) -> tuple[int, int]:
        """Where the lines of a statement start and end, with comments above it and at the end of its body."""
        source = self._statements.source
        line = source.position(statement.end).line
        while line < source.line_count and re.match(r"[ \t]+#", source.line_text(line + 1)):
            line += 1
        return self._statements.first_line_of(statement), self._statements.next_line(source.line_end(line))

    def _insertion(self, moved: Iterable[Statement], at: int) -> str:
        source = self._statements.source
        newline = source.newline
        blank_lines = self._blank_lines_above(at)
        pieces = []
        for statement in moved:
            text = source.text[slice(*self._lines(statement))]
            is_definition = isinstance(statement.node, ast.FunctionDef)
            if not text.endswith(("\n", "\r")):
                text += newline
            pieces.append(newline * max(0, (2 if is_definition else 0) - blank_lines) + text)
            blank_lines = 0
            if is_definition:
                pieces.append(newline * 2)
                blank_lines = 2
        return "".join(pieces)

    def _blank_lines_above(self, at: int) -> int:
        source = self._statements.source
        line = source.position(at).line
        first = line
        while line > 1 and not source.line_text(line - 1).strip():
            line -= 1
        return first - line if line > 1 else 2


def _offset(location: Location, file: ProjectFile) -> int:
    start = location.range.start
    return file.facts.line_starts[start.line - 1] + start.column - 1


def _is_alone(statement: Statement, statements: Statements) -> bool:
    """Whether no other statement stands on the lines of a statement."""
    source = statements.source
    line_start = source.line_starts[source.position(statement.start).line - 1]
    behind = source.text[statement.end : source.line_end(source.position(statement.end).line)].strip()
    return line_start == statement.start and (not behind or behind.startswith("#"))


def _is_left_alone(offset: int, statements: Statements) -> bool:
    """Whether formatters are told to leave a place alone."""
    switches = [match[1] for match in _FORMATTER.finditer(statements.source.text, 0, offset)]
    return next((switch for switch in reversed(switches) if switch != "skip"), "on") == "off"


def _names_read(node: ast.stmt) -> Iterator[str]:
    """The names that a definition reads when it runs: those of its decorators, annotations and defaults."""
    parts: list[ast.AST | None] = [node]
    if isinstance(node, ast.FunctionDef):
        parts = [*node.decorator_list, node.args, node.returns]
    for part in filter(None, parts):
        for inner in ast.walk(part):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
                yield inner.id


def _own_name(node: ast.stmt) -> str:
    match node:
        case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case _:
            return ""


def _touched(nodes: Iterable[ast.stmt]) -> tuple[set[str], set[str]]:
    """The names that statements bind, or change something of, and those that they read."""
    changed: set[str] = set()
    read: set[str] = set()
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                changed.add(name)
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                changed.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                changed.add(name)
            case ast.MatchMapping(rest=str(name)):
                changed.add(name)
            case ast.alias(name=name, asname=bound):
                changed.add(bound or name.partition(".")[0])
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                changed.add(_root(node))
    return changed, read


def _root(node: ast.expr) -> str:
    """The name at the start of ``name.attribute[item]``."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
