"""The diagnostic format of reviewdog, which puts findings into reviews. Its columns count bytes of UTF-8."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from warp_lint.findings import Finding, Fix, Level, Location, Position, Range
from warp_lint.source import Source
from warp_lint.splicing import Harm, spliced

if TYPE_CHECKING:
    from warp_lint.result import Result

_SEVERITIES = {Level.ERROR: "ERROR", Level.WARNING: "WARNING", Level.INFO: "INFO"}


def render(result: Result, *, closing: bool) -> Iterator[str]:  # noqa: ARG001 - JSON has no closing line
    """The lines of the report."""
    report = {
        "source": {"name": "warp-lint"},
        "severity": "WARNING",
        "diagnostics": [_diagnostic(finding, result) for finding in result.findings],
    }
    yield json.dumps(report, indent=2)


def _diagnostic(finding: Finding, result: Result) -> dict[str, Any]:
    diagnostic: dict[str, Any] = {
        "message": finding.message,
        "location": _location(finding.location, result),
        "severity": _SEVERITIES[finding.level],
        "code": {"value": finding.code},
    }
    if finding.related:
        diagnostic["related_locations"] = [
            {"message": related.message, "location": _location(related.location, result)}
            for related in finding.related
        ]
    source = result.sources.get(finding.location.path)
    if finding.fix is not None and source is not None:
        with suppress(Harm):
            diagnostic["suggestions"] = list(_suggestions(finding.fix, source))
    return diagnostic


def _suggestions(fix: Fix, source: Source) -> Iterator[dict[str, Any]]:
    """The fix as one replacement, since several suggestions are as many ways out; raises `Harm`."""
    if not fix.edits or any(edit.path != source.path for edit in fix.edits):
        return
    start = min(edit.start for edit in fix.edits)
    end = max(edit.end for edit in fix.edits)
    after = spliced(source, fix.edits).text
    yield {
        "range": _range(Range(source.position(start), source.position(end)), source),
        "text": after[start : len(after) - (len(source.text) - end)],
    }


def _location(location: Location, result: Result) -> dict[str, Any]:
    return {"path": location.path, "range": _range(location.range, result.sources.get(location.path))}


def _range(place: Range, source: Source | None) -> dict[str, Any]:
    return {"start": _position(place.start, source), "end": _position(place.end, source)}


def _position(position: Position, source: Source | None) -> dict[str, int]:
    line, column = position
    if source is not None:
        column = len(source.line_text(line)[: column - 1].encode()) + 1
    return {"line": line, "column": column}
