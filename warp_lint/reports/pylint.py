"""``path:line: [CODE] message``, which what reads pylint's output reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from warp_lint.reports.snippet import visible
from warp_lint.reports.wording import shown_path

if TYPE_CHECKING:
    from warp_lint.result import Result


def render(result: Result, *, closing: bool) -> Iterator[str]:  # noqa: ARG001 - for programs, which count
    """The lines of the report."""
    for finding in result.findings:
        path, line = shown_path(finding.location.path), finding.location.range.start.line
        yield f"{path}:{line}: [{finding.code}] {visible(finding.message)}"
