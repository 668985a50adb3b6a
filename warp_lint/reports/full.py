"""Each finding with its source lines, its related places and its fix, in the manner of ruff."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from warp_lint.findings import Applicability, Edit, Finding, Fix, Location
from warp_lint.notebook import Notebook
from warp_lint.reports.patch import draw as draw_changes
from warp_lint.reports.snippet import Paint, draw, gutter_width, visible
from warp_lint.reports.wording import LEVEL_COLOURS, closing_lines, headline, in_cell, shown_path, shown_place
from warp_lint.source import Source
from warp_lint.splicing import Harm, spliced

if TYPE_CHECKING:
    from warp_lint.result import Result

_CAUTIONS = {
    Applicability.UNSAFE: "this fix is unsafe: it may change what the program does",
    Applicability.DISPLAY: "this fix is only shown, not made",
}


def render(result: Result, *, closing: bool) -> Iterator[str]:
    """The lines of the report."""
    for finding in result.findings:
        yield from _drawn(finding, result)
        yield ""
    if closing:
        yield from closing_lines(result)


def _drawn(finding: Finding, result: Result) -> Iterator[str]:
    places = (finding.location, *(related.location for related in finding.related))
    gutter = gutter_width(max(in_cell(place, result.sources)[1].end.line for place in places))

    def drawn_place(location: Location, mark: str, paint_mark: Paint) -> Iterator[str]:
        yield f"{' ' * gutter}{_frame('-->')} {shown_place(location, result.sources)}"
        source = result.sources.get(location.path)
        if source is not None:
            cell, place = in_cell(location, result.sources)
            shown = source if cell is None else source.cell_source(cell)
            yield from draw(shown, place, mark, gutter=gutter, paint=_frame, paint_mark=paint_mark)

    yield headline(finding, result)
    colour = LEVEL_COLOURS[finding.level]
    yield from drawn_place(finding.location, "^", lambda text: click.style(text, fg=colour, bold=True))
    for related in finding.related:
        yield f"{_label('note:')} {visible(related.message)}"
        yield from drawn_place(related.location, "-", _frame)
    if finding.fix is not None:
        yield f"{click.style('help:', fg='cyan', bold=True)} {visible(finding.fix.title)}"
        yield from _drawn_edits(finding.fix, finding.location.path, result)
        if finding.fix.applicability in _CAUTIONS:
            yield f"{_label('note:')} {_CAUTIONS[finding.fix.applicability]}"


def _drawn_edits(fix: Fix, path: str, result: Result) -> Iterator[str]:
    """What a fix changes, in the file that is spoken of and then in others."""
    edits: dict[str, list[Edit]] = defaultdict(list)
    for edit in sorted(fix.edits, key=lambda edit: edit.path != path):
        edits[edit.path].append(edit)
    for changed, its_edits in edits.items():
        before = result.sources.get(changed)
        if before is not None:
            with suppress(Harm):  # then it is not made either, and that is said elsewhere
                after = spliced(before, its_edits)
                if changed != path:
                    yield f"{_frame(':::')} {shown_path(changed)}"
                yield from _drawn_changes(before, after)


def _drawn_changes(before: Source, after: Source) -> Iterator[str]:
    if not (isinstance(before, Notebook) and isinstance(after, Notebook)):
        yield from draw_changes(before, after, paint=_frame)
        return
    for cell in before.changed_cells(after):
        yield f"{_frame(':::')} cell {cell}"
        yield from draw_changes(before.cell_source(cell), after.cell_source(cell), paint=_frame)


def _frame(text: str) -> str:
    return click.style(text, fg="blue", bold=True)


def _label(text: str) -> str:
    return click.style(text, bold=True)
