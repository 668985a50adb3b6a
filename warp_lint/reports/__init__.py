"""The output formats. Each is a module of this package named after the format, with a `render`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warp_lint.result import Result

FORMATS = (
    "full",
    "concise",
    "grouped",
    "json",
    "json-lines",
    "github",
    "gitlab",
    "junit",
    "sarif",
    "rdjson",
    "pylint",
)
FOR_PEOPLE = frozenset({"full", "concise", "grouped"})
"""The formats to which lines for people can be added."""
_KNOW_CELLS = FOR_PEOPLE | {"json", "json-lines"}


def render(output_format: str, result: Result, *, closing: bool) -> Iterator[str]:
    """The lines of a report, with ANSI colours, for whoever prints them to keep or strip.

    ``closing`` asks for the line that sums up, in the formats that people read.
    """
    if output_format not in _KNOW_CELLS:
        from warp_lint.reports.cells import without_cells

        result = without_cells(result)
    module = importlib.import_module(f"{__name__}.{output_format.replace('-', '_')}")
    lines: Iterator[str] = module.render(result, closing=closing)
    return lines
