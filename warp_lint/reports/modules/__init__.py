"""The Warp modules of a project as Warp will see them, one file for each format."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence

from warp_lint.reports.modules.rows import ModuleRow

FORMATS = ("table", "json", "dot", "html")


def render(output_format: str, rows: Sequence[ModuleRow]) -> Iterable[str]:
    """The lines of a report in one of the `FORMATS`."""
    lines: Iterable[str] = importlib.import_module(f"{__name__}.{output_format}").render(rows)
    return lines
