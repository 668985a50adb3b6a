"""How often each rule fired, and how many kernel builds could be saved."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from warp_lint.findings import Finding
from warp_lint.reports.wording import LEVEL_COLOURS, closing_lines, counted

if TYPE_CHECKING:
    from warp_lint.result import Result


def render(result: Result, *, closing: bool) -> Iterator[str]:
    """A line for each rule: count, code, whether all of its findings can be fixed unread, name, builds."""
    rows = _by_rule(result)
    width = max((len(str(len(findings))) for findings in rows), default=0)
    for findings in rows:
        first = findings[0]
        code = click.style(first.code, fg=LEVEL_COLOURS[first.level], bold=True)
        star = click.style("*", fg="cyan") if all(map(result.can_fix, findings)) else " "
        builds = _redundant_builds(findings)
        saved = f"\t{counted(builds, 'redundant build')}" if builds else ""
        yield f"{len(findings):>{width}}\t{code}\t[{star}] {first.name}{saved}"
    if closing:
        yield from closing_lines(result)
        builds = sum(map(_redundant_builds, rows))
        if builds:
            yield f"{counted(builds, 'kernel build')} beyond the needed."


def render_json(result: Result) -> str:
    """The same as a JSON array, in the shape of ruff's."""
    return json.dumps(
        [
            {
                "code": findings[0].code,
                "name": findings[0].name,
                "count": len(findings),
                "fixable": all(map(result.can_fix, findings)),
                "fixable_count": sum(map(result.can_fix, findings)),
                "redundant_builds": _redundant_builds(findings),
            }
            for findings in _by_rule(result)
        ],
        indent=2,
    )


def _by_rule(result: Result) -> list[list[Finding]]:
    """The findings of each rule, the most frequent rule first."""
    rules: dict[str, list[Finding]] = defaultdict(list)
    for finding in result.findings:
        rules[finding.code].append(finding)
    return sorted(rules.values(), key=lambda findings: (-len(findings), findings[0].code))


def _redundant_builds(findings: list[Finding]) -> int:
    return sum(finding.redundant_builds or 0 for finding in findings)
