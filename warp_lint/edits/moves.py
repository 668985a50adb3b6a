"""Moving a function definition to module scope, comments and all."""

from __future__ import annotations

import ast
import builtins

from warp_lint.edits.statements import Statement, Statements, statements_of
from warp_lint.findings import Edit
from warp_lint.project import Project
from warp_lint.project.events import EventKind
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition
from warp_lint.source import SourceError

_BUILTINS = frozenset(dir(builtins))


def move_to_module_scope(kernel: KernelDefinition, project: Project) -> tuple[Edit, ...] | None:
    """The edits that move a decorated kernel from a function above the top-level statement around it.

    None where something stands in the way: a condition or loop around it, a name of the module that is the
    same, a name that it reads and that is bound only further down, a string over several lines, which the
    new indentation would change, or a region that no formatter may touch.
    """
    file = kernel.body_file
    if kernel.call is not None or kernel.file is not file:
        return None
    try:
        statements = statements_of(project.source(file))
    except SourceError:
        return None
    statement = statements.at(kernel.scope.name_span.start)
    if statement is None:
        return None
    around = statements.top_level_at(statement.start)
    if around is None or not _may_move(statement, around, kernel, statements):
        return None
    if _is_configured_before(kernel, project):
        return None
    source = statements.source
    start = statements.first_line_of(statement)
    end = statements.next_line(source.line_end(source.position(statement.end).line))
    moved = _dedented(
        source.text[start:end], source.text[_line_start(statement, statements) : statement.start]
    )
    if moved is None or "fmt:" in moved:
        return None
    newline = source.newline
    if not moved.endswith(("\n", "\r")):
        moved += newline
    at = statements.first_line_of(around)
    cut = (statements.with_blank_lines_above(start, end), end)
    if statement.node is statement.siblings[0]:
        # Nothing stands between the head of the function and the blank lines behind the kernel.
        cut = (start, statements.after_blank_lines(end))
    return (
        Edit(file.facts.path, at, at, f"{moved}{newline}{newline}"),
        Edit(file.facts.path, *cut, ""),
    )


def _is_configured_before(kernel: KernelDefinition, project: Project) -> bool:
    """Whether the function sets options or configuration first, which the kernel may be made to meet."""
    events = project.timeline.events(kernel.file.index, kernel.place.scope)
    return any(
        event.kind in (EventKind.SET_CONFIG, EventKind.SET_OPTION) and event.order < kernel.place.order
        for event in events
    )


def _may_move(
    statement: Statement, around: Statement, kernel: KernelDefinition, statements: Statements
) -> bool:
    file = kernel.body_file
    is_direct = isinstance(statement.owner, (ast.FunctionDef, ast.AsyncFunctionDef))
    if not is_direct or len(statement.siblings) == 1:
        return False
    for node in ast.walk(statement.node):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno != node.lineno:
            return False
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return False
    if kernel.scope.name in file.binders.get(0, {}) or _is_used_elsewhere(statement, around, statements):
        return False
    code = kernel.device_code
    if code is None:
        return False
    order = _order_of(around, file)
    return all(_is_bound_above(name, order, file) for name in code.names)


def _is_used_elsewhere(statement: Statement, around: Statement, statements: Statements) -> bool:
    """Whether other functions of the module use the same name for something of their own."""
    name = getattr(statement.node, "name", "")
    inside = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(around.node))
    return statements.names_used.get(name, 0) != inside


def _order_of(around: Statement, file: ProjectFile) -> int:
    """When the top-level statement runs, as orders of facts tell it."""
    orders = [scope.order for scope in file.facts.scopes[1:] if scope.span.start >= around.start]
    return min(orders, default=0)


def _is_bound_above(name: str, order: int, file: ProjectFile) -> bool:
    binders = file.binders.get(0, {}).get(name)
    if not binders:
        return name in _BUILTINS
    return binders[0].order < order


def _line_start(statement: Statement, statements: Statements) -> int:
    return statements.source.line_starts[statements.source.position(statement.start).line - 1]


def _dedented(text: str, indentation: str) -> str | None:
    """The lines without the indentation; None when one of them has another."""
    lines = text.splitlines(keepends=True)
    if any(line.strip() and not line.startswith(indentation) for line in lines):
        return None
    return "".join(line[len(indentation) :] if line.strip() else line.lstrip(" \t") for line in lines)
