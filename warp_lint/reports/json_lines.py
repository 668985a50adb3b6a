"""The objects of the JSON format, one a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from warp_lint.reports.json import as_json

if TYPE_CHECKING:
    from warp_lint.result import Result


def render(result: Result, *, closing: bool) -> Iterator[str]:  # noqa: ARG001 - JSON has no closing line
    """The lines of the report."""
    for finding in result.findings:
        yield json.dumps(as_json(finding, result))
