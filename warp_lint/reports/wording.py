"""What the text formats share: how a path, a finding's first line and the last line are worded."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warp_lint.findings import Applicability, Finding, Level, Location
from warp_lint.reports.snippet import visible

if TYPE_CHECKING:
    from warp_lint.run import Result

LEVEL_COLOURS = {Level.ERROR: "red", Level.WARNING: "yellow", Level.INFO: "blue"}


def shown_path(path: str) -> str:
    """The path relative to the working directory, or as it is when it lies elsewhere."""
    return visible(path.removeprefix(f"{Path.cwd()}{os.sep}"))


def shown_place(location: Location) -> str:
    """``path:line:column``, which terminals and editors turn into a link."""
    line, column = location.range.start
    return f"{shown_path(location.path)}:{line}:{column}"


def headline(finding: Finding) -> str:
    """``CODE [*] message``; the star stands where ``--fix`` would act."""
    code = click.style(finding.code, fg=LEVEL_COLOURS[finding.level], bold=True)
    star = f" [{click.style('*', fg='cyan')}]" if is_fixable(finding) else ""
    return f"{code}{star} {visible(finding.message)}"


def is_fixable(finding: Finding) -> bool:
    """Whether the finding has a fix that can be applied unread."""
    return finding.fix is not None and finding.fix.applicability is Applicability.SAFE


def closing_line(result: Result) -> str:
    """How many findings of which level there are, or that there is none."""
    findings = result.findings
    if not findings:
        return "Nothing found in what could be checked." if result.problems else "All checks passed!"
    levels = Counter(finding.level for finding in findings)
    parts = ", ".join(
        counted(levels[level], *nouns) for level, nouns in _LEVEL_NOUNS.items() if levels[level]
    )
    files = len({finding.location.path for finding in findings})
    return f"Found {counted(len(findings), 'finding')} ({parts}) in {counted(files, 'file')}."


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 file``, ``2 files``; ``many`` where the plural is not just an ``s`` more."""
    return f"{number} {one if number == 1 else many or one + 's'}"


_LEVEL_NOUNS = {
    Level.ERROR: ("error",),
    Level.WARNING: ("warning",),
    Level.INFO: ("info", "info"),
}
