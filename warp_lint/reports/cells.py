"""Notebooks in the formats that know of no cells: the place in the cell becomes part of the message."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from warp_lint.findings import Finding, Location, Position, Range, Related
from warp_lint.notebook import Notebook
from warp_lint.reports.wording import shown_start

if TYPE_CHECKING:
    from warp_lint.result import Result

_TOP = Range(Position(1, 1), Position(1, 1))


def without_cells(result: Result) -> Result:
    """The result with findings in notebooks at the top of the file, and without their fixes."""
    notebooks = {path for path, source in result.sources.items() if isinstance(source, Notebook)}
    if not notebooks:
        return result
    return replace(
        result,
        findings=tuple(_without_cells(finding, result) for finding in result.findings),
        sources={path: source for path, source in result.sources.items() if path not in notebooks},
    )


def _without_cells(finding: Finding, result: Result) -> Finding:
    message, location = _told(finding.message, finding.location, result)
    related = (_told(one.message, one.location, result) for one in finding.related)
    edits = finding.fix.edits if finding.fix is not None else ()
    changes_notebook = any(isinstance(result.sources.get(edit.path), Notebook) for edit in edits)
    return msgspec.structs.replace(
        finding,
        message=message,
        location=location,
        related=tuple(Related(text, place) for text, place in related),
        fix=None if changes_notebook else finding.fix,
    )


def _told(message: str, location: Location, result: Result) -> tuple[str, Location]:
    if not isinstance(result.sources.get(location.path), Notebook):
        return message, location
    return f"{shown_start(location, result.sources)}: {message}", Location(location.path, _TOP)
