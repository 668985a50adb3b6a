"""Declaring overloads behind the definition of their kernel."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from warp_lint.edits.statements import Statement, Statements, statements_of
from warp_lint.findings import Edit
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.overloads import Signature
from warp_lint.source import SourceError

_OPEN = re.compile(r"\b(typing\.)?Any\b")
_SIMPLE_TYPE = re.compile(r"[a-z][a-z0-9_]*")


def declare(kernel: KernelDefinition, signatures: Iterable[Signature], project: Project) -> Edit | None:
    """Declare overloads right behind the definition of a kernel at module level.

    None where the kernel is made otherwise, or a type has no name of Warp's that could be written.
    """
    found = _definition(kernel, project)
    if found is None:
        return None
    statements, statement = found
    lines = []
    for signature in signatures:
        types = _types(kernel, signature, statements, statement, project)
        if types is None:
            return None
        lines.append(f"{_warp_name(kernel)}.overload({kernel.scope.name}, [{', '.join(types)}])")
    return _insert_behind(statement, lines, statements)


def move_behind_kernel(kernel: KernelDefinition, site: CallSite, project: Project) -> tuple[Edit, ...] | None:
    """Move a ``wp.overload`` statement from a function behind the definition of its kernel in the same file.

    None where the kernel is elsewhere, or the statement reads anything but the kernel and Warp.
    """
    found = _definition(kernel, project)
    if found is None or site.file != kernel.file.index:
        return None
    statements, definition = found
    statement = statements.at(project.call(site).span.start)
    if statement is None or not isinstance(statement.node, ast.Expr) or statements.has_comment(statement):
        return None
    names = {node.id for node in ast.walk(statement.node) if isinstance(node, ast.Name)}
    if not names <= {kernel.scope.name, _warp_name(kernel), "int", "float", "bool"}:
        return None
    source = statements.source
    line = source.position(statement.start).line
    text = source.text[statement.start : source.line_end(line)].rstrip()
    if line != source.position(statement.end).line or len(statement.siblings) == 1:
        return None
    start, end = source.line_starts[line - 1], statements.next_line(source.line_end(line))
    if source.text[start : statement.start].strip():
        return None
    insertion = _insert_behind(definition, [text], statements)
    return (insertion, Edit(source.path, start, end, ""))


def _definition(kernel: KernelDefinition, project: Project) -> tuple[Statements, Statement] | None:
    """The statement that defines a decorated kernel at module level."""
    if kernel.call is not None or kernel.outermost_function is not None or not _warp_name(kernel):
        return None
    try:
        statements = statements_of(project.source(kernel.file))
    except SourceError:
        return None
    statement = statements.at(kernel.scope.name_span.start)
    if statement is None or not isinstance(statement.owner, ast.Module):
        return None
    return statements, statement


def _types(
    kernel: KernelDefinition,
    signature: Signature,
    statements: Statements,
    statement: Statement,
    project: Project,
) -> list[str] | None:
    """The types of all parameters: as annotated, with the open ones filled in."""
    if not isinstance(statement.node, ast.FunctionDef):
        return None
    given = dict(
        zip(
            (parameter.position for parameter in project.overloads.open_parameters(kernel.kernel)),
            signature,
            strict=True,
        )
    )
    types = []
    for position, argument in enumerate(statement.node.args.args):
        annotation = argument.annotation
        if annotation is None:
            return None
        text = ast.get_source_segment(statements.source.text, annotation) or ""
        if position in given:
            if not _SIMPLE_TYPE.fullmatch(given[position]):
                return None
            text = _OPEN.sub(f"{_warp_name(kernel)}.{given[position]}", text)
        types.append(text)
    return types


def _insert_behind(statement: Statement, lines: list[str], statements: Statements) -> Edit:
    source = statements.source
    offset = statements.next_line(source.line_end(source.position(statement.end).line))
    newline = source.newline
    text = newline.join(lines)
    return Edit(source.path, offset, offset, f"{newline}{newline}{text}{newline}")


def _warp_name(kernel: KernelDefinition) -> str:
    """What the kernel's file calls Warp at module level; empty when it does not."""
    for imported in kernel.file.facts.imports:
        if imported.scope == 0 and imported.module == "warp" and imported.name is None:
            return imported.bound_name
    return ""
