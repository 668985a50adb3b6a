"""The findings of each file below its name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import click

from warp_lint.findings import Finding
from warp_lint.reports.wording import closing_lines, headline, shown_path, shown_start

if TYPE_CHECKING:
    from warp_lint.result import Result


def render(result: Result, *, closing: bool) -> Iterator[str]:
    """The lines of the report."""
    for path, of_file in groupby(result.findings, key=lambda finding: finding.location.path):
        rows = [(*_start(finding, result), finding) for finding in of_file]
        line_width = max(len(line) for line, _, _ in rows)
        column_width = max(len(column) for _, column, _ in rows)
        yield f"{click.style(shown_path(path), bold=True)}:"
        for line, column, finding in rows:
            yield f"  {line:>{line_width}}:{column:<{column_width}} {headline(finding, result)}"
        yield ""
    if closing:
        yield from closing_lines(result)


def _start(finding: Finding, result: Result) -> tuple[str, str]:
    """The line, with a notebook's cell, and the column."""
    line, _, column = shown_start(finding.location, result.sources).rpartition(":")
    return line, column
