"""Workflow commands of GitHub Actions: each finding becomes an annotation of the changed lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from warp_lint.findings import Finding, Level
from warp_lint.reports.wording import shown_place

if TYPE_CHECKING:
    from warp_lint.result import Result

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "notice"}


def render(result: Result, *, closing: bool) -> Iterator[str]:  # noqa: ARG001 - an annotation has no place for it
    """The lines of the report."""
    for finding in result.findings:
        properties = ",".join(f"{key}={_property(value)}" for key, value in _properties(finding).items())
        yield f"::{_COMMANDS[finding.level]} {properties}::{_data(_text(finding, result))}"


def _properties(finding: Finding) -> dict[str, str | int]:
    start, end = finding.location.range
    properties: dict[str, str | int] = {
        "title": f"warp-lint ({finding.code})",
        "file": finding.location.path,
        "line": start.line,
    }
    if start.line == end.line:  # GitHub takes columns for nothing else
        properties["col"] = start.column
    properties["endLine"] = end.line
    if start.line == end.line:
        properties["endColumn"] = end.column
    return properties


def _text(finding: Finding, result: Result) -> str:
    lines = [f"{shown_place(finding.location, result.sources)}: {finding.code} {finding.message}"]
    lines += [
        f"  note: {shown_place(related.location, result.sources)}: {related.message}"
        for related in finding.related
    ]
    if finding.fix is not None:
        lines.append(f"  help: {finding.fix.title}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str | int) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")
