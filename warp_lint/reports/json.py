"""The findings as one JSON array, in the shape of ``ruff check --output-format json``.

What ruff does not have comes on top: ``level``, ``certainty``, ``related`` and ``redundant_builds``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from warp_lint.findings import Finding, Fix, Location, Position, Range, Related
from warp_lint.reports.pages import page_url
from warp_lint.reports.wording import in_cell
from warp_lint.splicing import in_style_of

if TYPE_CHECKING:
    from warp_lint.result import Result


def render(result: Result, *, closing: bool) -> Iterator[str]:  # noqa: ARG001 - JSON has no closing line
    """The lines of the report."""
    yield json.dumps([as_json(finding, result) for finding in result.findings], indent=2)


def as_json(finding: Finding, result: Result) -> dict[str, Any]:
    """One finding as a JSON object. In a notebook, places are those in their cells."""
    cell, place = in_cell(finding.location, result.sources)
    return {
        "cell": cell,
        "code": finding.code,
        "name": finding.name,
        "level": finding.level.value,
        "severity": finding.level.value,
        "certainty": finding.certainty.value,
        "message": finding.message,
        "filename": finding.location.path,
        **_range(place),
        "fix": _fix(finding.fix, result) if finding.fix is not None else None,
        "noqa_row": place.start.line,
        "redundant_builds": finding.redundant_builds,
        "related": [_related(related, result) for related in finding.related],
        "url": page_url(finding.name),
    }


def _related(related: Related, result: Result) -> dict[str, Any]:
    _, place = in_cell(related.location, result.sources)
    return {
        "message": related.message,
        "filename": related.location.path,
        **_range(place),
    }


def _fix(fix: Fix, result: Result) -> dict[str, Any]:
    edits = []
    for edit in fix.edits:
        source = result.sources[edit.path]
        whole = Range(source.position(edit.start), source.position(edit.end))
        _, place = in_cell(Location(edit.path, whole), result.sources)
        edits.append({"content": in_style_of(source, edit), "filename": edit.path, **_range(place)})
    return {"applicability": fix.applicability.value, "message": fix.title, "edits": edits}


def _range(place: Range) -> dict[str, Any]:
    return {"location": _position(place.start), "end_location": _position(place.end)}


def _position(position: Position) -> dict[str, int]:
    return {"row": position.line, "column": position.column}
