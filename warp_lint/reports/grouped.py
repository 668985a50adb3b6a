"""The findings of each file below its name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import click

from warp_lint.reports.wording import closing_lines, headline, shown_path

if TYPE_CHECKING:
    from warp_lint.run import Result


def render(result: Result, *, closing: bool) -> Iterator[str]:
    """The lines of the report."""
    for path, of_file in groupby(result.findings, key=lambda finding: finding.location.path):
        rows = [(*finding.location.range.start, finding) for finding in of_file]
        line_width = max(len(str(line)) for line, _, _ in rows)
        column_width = max(len(str(column)) for _, column, _ in rows)
        yield f"{click.style(shown_path(path), bold=True)}:"
        for line, column, finding in rows:
            yield f"  {line:>{line_width}}:{column:<{column_width}} {headline(finding, result)}"
        yield ""
    if closing:
        yield from closing_lines(result)
