"""Each finding with its source lines, its related places and its fix, in the manner of ruff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from warp_lint.findings import Applicability, Finding, Location
from warp_lint.reports.snippet import Paint, draw, gutter_width, visible
from warp_lint.reports.wording import LEVEL_COLOURS, closing_line, headline, shown_place

if TYPE_CHECKING:
    from warp_lint.run import Result


def render(result: Result, *, closing: bool) -> Iterator[str]:
    """The lines of the report."""
    for finding in result.findings:
        yield from _drawn(finding, result)
        yield ""
    if closing:
        yield closing_line(result)


def _drawn(finding: Finding, result: Result) -> Iterator[str]:
    places = (finding.location, *(related.location for related in finding.related))
    gutter = gutter_width(max(place.range.end.line for place in places))

    def drawn_place(location: Location, mark: str, paint_mark: Paint) -> Iterator[str]:
        yield f"{' ' * gutter}{_frame('-->')} {shown_place(location)}"
        source = result.sources.get(location.path)
        if source is not None:
            yield from draw(source, location.range, mark, gutter=gutter, paint=_frame, paint_mark=paint_mark)

    yield headline(finding)
    colour = LEVEL_COLOURS[finding.level]
    yield from drawn_place(finding.location, "^", lambda text: click.style(text, fg=colour, bold=True))
    for related in finding.related:
        yield f"{_label('note:')} {visible(related.message)}"
        yield from drawn_place(related.location, "-", _frame)
    if finding.fix is not None:
        yield f"{click.style('help:', fg='cyan', bold=True)} {visible(finding.fix.title)}"
        if finding.fix.applicability is Applicability.UNSAFE:
            yield f"{_label('note:')} this fix is unsafe: it may change what the program does"


def _frame(text: str) -> str:
    return click.style(text, fg="blue", bold=True)


def _label(text: str) -> str:
    return click.style(text, bold=True)
