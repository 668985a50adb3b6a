"""One line for each finding: ``path:line:column: CODE message``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from warp_lint.reports.wording import closing_lines, headline, shown_place

if TYPE_CHECKING:
    from warp_lint.result import Result


def render(result: Result, *, closing: bool) -> Iterator[str]:
    """The lines of the report."""
    for finding in result.findings:
        yield f"{shown_place(finding.location, result.sources)}: {headline(finding, result)}"
    if closing:
        yield from closing_lines(result)
