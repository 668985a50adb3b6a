"""What the text formats share: how a path, a finding's first line and the last line are worded."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warp_lint.findings import Applicability, Finding, Level, Location, Position, Range
from warp_lint.reports.snippet import visible

if TYPE_CHECKING:
    from warp_lint.result import Result
    from warp_lint.source import Source

LEVEL_COLOURS = {Level.ERROR: "red", Level.WARNING: "yellow", Level.INFO: "blue"}

_STAR = f"[{click.style('*', fg='cyan')}]"


def shown_path(path: str) -> str:
    """The path relative to the working directory, or as it is when it lies elsewhere."""
    return visible(path.removeprefix(f"{Path.cwd()}{os.sep}"))


def shown_place(location: Location, sources: Mapping[str, Source]) -> str:
    """``path:line:column``, which terminals and editors turn into a link; in a notebook with the cell."""
    return f"{shown_path(location.path)}:{shown_start(location, sources)}"


def shown_start(location: Location, sources: Mapping[str, Source]) -> str:
    """``line:column``, or ``cell 3:line:column`` in a notebook."""
    cell, place = in_cell(location, sources)
    return f"{f'cell {cell}:' if cell is not None else ''}{place.start.line}:{place.start.column}"


def in_cell(location: Location, sources: Mapping[str, Source]) -> tuple[int | None, Range]:
    """The number of the cell of a notebook, None elsewhere, and the range as it is in there."""
    source = sources.get(location.path)
    if source is None:
        return None, location.range
    cell, start = source.cell_place(location.range.start)
    end = location.range.end
    return cell, Range(start, Position(end.line - location.range.start.line + start.line, end.column))


def headline(finding: Finding, result: Result) -> str:
    """``CODE [*] message``; the star stands where ``--fix`` would act."""
    code = click.style(finding.code, fg=LEVEL_COLOURS[finding.level], bold=True)
    star = f" {_STAR}" if result.can_fix(finding) else ""
    return f"{code}{star} {visible(finding.message)}"


def closing_lines(result: Result) -> Iterator[str]:
    """How many findings there are, how many were fixed, and how many more could be."""
    found, fixed = len(result.findings), len(result.fixed)
    if fixed:
        yield f"Found {counted(found + fixed, 'finding')} ({fixed} fixed, {found} remaining)."
    elif found:
        levels = Counter(finding.level for finding in result.findings)
        parts = ", ".join(
            counted(levels[level], *nouns) for level, nouns in _LEVEL_NOUNS.items() if levels[level]
        )
        files = len({finding.location.path for finding in result.findings})
        yield f"Found {counted(found, 'finding')} ({parts}) in {counted(files, 'file')}."
    else:
        yield "Nothing found in what could be checked." if result.problems else "All checks passed!"
    fixable = sum(map(result.can_fix, result.findings))
    more = counted(hidden_fixes(result), "unsafe fix", "unsafe fixes")
    if fixable:
        rest = f" ({more} available with `--fix --unsafe-fixes`)" if hidden_fixes(result) else ""
        yield f"{_STAR} {fixable} fixable with `--fix`{rest}."
    elif hidden_fixes(result):
        yield f"{more} available with `--fix --unsafe-fixes`."


def fixes_listed(result: Result) -> Iterator[str]:
    """What was fixed, counted by file and rule."""
    yield f"Fixed {counted(len(result.fixed), 'finding')}:"
    by_file: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for finding in result.fixed:
        by_file[finding.location.path][finding.code, finding.name] += 1
    for path, rules in sorted(by_file.items()):
        yield f"- {click.style(shown_path(path), bold=True)}:"
        width = len(str(max(rules.values())))
        for (code, name), count in sorted(rules.items(), key=lambda rule: (-rule[1], rule[0])):
            yield f"    {count:>{width}} × {click.style(code, fg='red', bold=True)} ({name})"  # noqa: RUF001 - as ruff does
    yield ""


def fixes_summed(result: Result, *, are_made: bool) -> Iterator[str]:
    """How many findings were fixed, or would be, and how many more could be; nothing when none could."""
    fixed, hidden = len(result.fixed), hidden_fixes(result)
    if not fixed and not hidden:
        return
    more = counted(hidden, "additional fix" if fixed else "fix", "additional fixes" if fixed else "fixes")
    rest = f" ({more} available with `--unsafe-fixes`)" if hidden else ""
    if fixed:
        yield f"{'Fixed' if are_made else 'Would fix'} {counted(fixed, 'finding')}{rest}."
    else:
        yield f"No findings {'fixed' if are_made else 'would be fixed'}{rest}."


def hidden_fixes(result: Result) -> int:
    """How many unsafe fixes there are that were not asked for."""
    return sum(
        finding.fix is not None
        and finding.fix.applicability is Applicability.UNSAFE
        and not result.can_fix(finding)
        for finding in result.findings
    )


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 file``, ``2 files``; ``many`` where the plural is not just an ``s`` more."""
    return f"{number} {one if number == 1 else many or one + 's'}"


_LEVEL_NOUNS = {
    Level.ERROR: ("error",),
    Level.WARNING: ("warning",),
    Level.INFO: ("info", "info"),
}
