"""Imports that a deleted statement alone has used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from warp_lint.edits.statements import Statement, Statements, statements_of
from warp_lint.findings import Edit
from warp_lint.project import Project
from warp_lint.project.files import ProjectFile
from warp_lint.source import SourceError


def delete_statement(file: ProjectFile, offset: int, project: Project) -> tuple[Edit, ...] | None:
    """The edits that delete the statement at an offset, and the imports that nothing else uses then.

    None when there is no such statement, when it does more than one thing, or when a comment in it would go
    with it.
    """
    try:
        statements = statements_of(project.source(file))
    except SourceError:
        return None
    statement = statements.at(offset)
    if statement is None or not _is_simple(statement.node) or statements.has_comment(statement):
        return None
    return (statements.deletion(statement), *_unused_imports(statement, statements, file))


def _is_simple(node: ast.stmt) -> bool:
    """Whether a statement is one call, or sets one target."""
    match node:
        case ast.Expr(value=ast.Call()):
            return True
        case ast.Assign(targets=targets):
            return len(targets) == 1
        case _:
            return isinstance(node, ast.AnnAssign)


def _unused_imports(statement: Statement, statements: Statements, file: ProjectFile) -> Iterator[Edit]:
    if file.is_package or statements.tree is None:
        return  # what a package imports, others may take from it
    used = statements.names_used
    here: dict[str, int] = {}
    for node in ast.walk(statement.node):
        if isinstance(node, ast.Name):
            here[node.id] = here.get(node.id, 0) + 1
    text = statements.source.text
    for imported in file.facts.imports:
        name = imported.bound_name
        if imported.scope != 0 or name not in here or used.get(name) != here[name]:
            continue
        is_single = sum(other.span == imported.span for other in file.facts.imports) == 1
        found = statements.at(imported.span.start)
        if (
            is_single
            and found is not None
            and f'"{name}"' not in text
            and "noqa" not in text[found.start : found.end]
        ):
            yield statements.deletion(found)
