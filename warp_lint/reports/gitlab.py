"""A code quality report of GitLab."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from warp_lint.findings import Finding, Level, Position
from warp_lint.fingerprints import fingerprint
from warp_lint.reports.wording import shown_path

if TYPE_CHECKING:
    from warp_lint.result import Result

_SEVERITIES = {Level.ERROR: "major", Level.WARNING: "minor", Level.INFO: "info"}


def render(result: Result, *, closing: bool) -> Iterator[str]:  # noqa: ARG001 - JSON has no closing line
    """The lines of the report."""
    seen: Counter[str] = Counter()
    issues = []
    for finding in result.findings:
        path = PurePath(shown_path(finding.location.path)).as_posix()
        content = f"{path} {fingerprint(finding, result.sources)}"
        seen[content] += 1
        issues.append(_issue(finding, path, f"{content} {seen[content]}"))
    yield json.dumps(issues, indent=2)


def _issue(finding: Finding, path: str, identity: str) -> dict[str, Any]:
    start, end = finding.location.range
    return {
        "check_name": finding.code,
        "description": f"{finding.code}: {finding.message}",
        "severity": _SEVERITIES[finding.level],
        "fingerprint": hashlib.sha256(identity.encode()).hexdigest()[:16],
        "location": {"path": path, "positions": {"begin": _position(start), "end": _position(end)}},
    }


def _position(position: Position) -> dict[str, int]:
    return {"line": position.line, "column": position.column}
