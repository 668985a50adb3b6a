"""Source lines with a place underlined, as rustc and ruff draw them.

What is drawn keeps its columns whatever the lines hold: tabs become four blanks, control characters become
visible ones (a file under lint must not speak to the terminal), and the underline counts the cells that
wide and combining characters take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from warp_lint.findings import Range
from warp_lint.source import Source

_CONTEXT_LINES = 2
_WIDEST_LINE = 160
_BEFORE_A_FAR_COLUMN = 60
_FIRST_LINES_OF_A_LONG_RANGE = 4
_LAST_LINES_OF_A_LONG_RANGE = 2

_VISIBLE = (
    {code: chr(0x2400 + code) for code in range(0x20)}  # the pictures of the control characters
    | {ord("\t"): "    ", 0x7F: "\u2421"}
    # C1 controls, line separators and what turns the writing direction
    | dict.fromkeys((*range(0x80, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A)), "\ufffd")
)

Paint = Callable[[str], str]


def visible(text: str) -> str:
    """The text with every character that would move the cursor replaced by a visible one."""
    return text.translate(_VISIBLE)


def gutter_width(last_line: int) -> int:
    """How many digits the line numbers need in a drawing whose lowest place is on that line."""
    return len(str(last_line + _CONTEXT_LINES))


def draw(
    source: Source, place: Range, mark: str, *, gutter: int, paint: Paint, paint_mark: Paint
) -> Iterator[str]:
    """The lines of ``place`` and two around them, underlined with ``mark``.

    ``gutter`` is the width of the line numbers; ``paint`` colours the frame, ``paint_mark`` the underline.
    """
    first, last = place.start.line, place.end.line
    if last > first and place.end.column == 1:
        last -= 1  # the range ends with its last line's line end
    end_column = place.end.column if last == place.end.line else len(source.line_text(last)) + 1
    cut = _Cut(source, place.start.column - 1)

    def numbered(line: int, rail: str) -> str:
        return f"{paint(f'{line:>{gutter}} |')} {rail}{cut(line)}".rstrip()

    empty = paint(f"{'':>{gutter}} |")
    yield empty
    rail = "  " if last > first else ""
    for line in _context_before(source, first):
        yield numbered(line, rail)
    start = cut.cells_before(first, place.start.column)
    end = cut.cells_before(last, end_column)
    if first == last:
        yield numbered(first, "")
        yield f"{empty} {' ' * start}{paint_mark(mark * max(end - start, 1))}"
    else:
        bar = paint_mark("|") + " "
        if source.line_text(first)[: place.start.column - 1].strip():
            yield numbered(first, rail)
            yield f"{empty}  {paint_mark('_' * (start + 1) + mark)}"
        else:
            yield numbered(first, paint_mark("/") + " ")
        left_out = range(first + _FIRST_LINES_OF_A_LONG_RANGE, last - _LAST_LINES_OF_A_LONG_RANGE + 1)
        for line in range(first + 1, last + 1):
            if len(left_out) < 2 or line not in left_out:
                yield numbered(line, bar)
            elif line == left_out.start:
                yield f"{paint('...'.ljust(gutter + 2))} {bar}".rstrip()
        yield f"{empty} {paint_mark('|' + '_' * max(end, 1) + mark)}"
    for line in _context_after(source, last):
        yield numbered(line, rail)
    yield empty


class _Cut:
    """The visible part of each line: a long line is cut, with the place that matters in view."""

    def __init__(self, source: Source, column: int) -> None:
        self._source = source
        self._left = column - _BEFORE_A_FAR_COLUMN if column > _WIDEST_LINE - _BEFORE_A_FAR_COLUMN else 0

    def __call__(self, line: int) -> str:
        text = self._source.line_text(line)
        right = self._left + _WIDEST_LINE
        shown = visible(text[self._left : right])
        return f"{'…' if self._left and shown else ''}{shown}{'…' if len(text) > right else ''}"

    def cells_before(self, line: int, column: int) -> int:
        """How many cells of the drawn line stand left of a 1-based column."""
        right = min(column - 1, self._left + _WIDEST_LINE)
        before = self._source.line_text(line)[self._left : max(right, self._left)]
        return _cells(visible(before)) + (1 if self._left else 0)


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _context_before(source: Source, first: int) -> range:
    start = max(first - _CONTEXT_LINES, 1)
    while start < first and not source.line_text(start).strip():
        start += 1
    return range(start, first)


def _context_after(source: Source, last: int) -> range:
    end = min(last + _CONTEXT_LINES, source.line_count)
    while end > last and not source.line_text(end).strip():
        end -= 1
    return range(last + 1, end + 1)
