"""What fixes change, line by line: beside a finding, and as a patch that other tools can read."""

from __future__ import annotations

import difflib
import io
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence

import click

from warp_lint.reports.snippet import Paint, visible
from warp_lint.reports.wording import shown_path
from warp_lint.source import Source
from warp_lint.splicing import Change

_CONTEXT_LINES = 1
_BETWEEN_HUNKS = "-" * 80
_NO_LINE_END = "\\ No newline at end of file"
_COLOURS = {"-": "red", "+": "green", "@": "cyan"}
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def draw(before: Source, after: Source, *, paint: Paint) -> Iterator[str]:
    """The lines that differ between two versions of a file, numbered as they are afterwards, in the manner of
    ruff. ``paint`` colours the frame."""
    old, new = _LINE.findall(before.text), _LINE.findall(after.text)
    hunks = list(_hunks(old, new))
    gutter = len(str(max((numbers.stop for hunk in hunks for _, _, numbers in hunk), default=1)))
    empty = paint(f"{'':>{gutter}} |")
    yield empty
    for index, hunk in enumerate(hunks):
        if index:
            yield paint(_BETWEEN_HUNKS)
        for is_same, removed, numbers in hunk:
            if is_same:
                for number in numbers:
                    yield f"{paint(f'{number + 1:>{gutter}} |')} {_shown(new[number])}".rstrip()
                continue
            for number in removed:
                yield from _changed(f"{'':>{gutter}}", "-", old[number])
            for number in numbers:
                yield from _changed(paint(f"{number + 1:>{gutter}}"), "+", new[number])
    yield empty


def patch(changes: Iterable[Change]) -> Iterator[bytes]:
    """The lines of a unified diff with their line ends, byte for byte what the files hold."""
    for path, before, after in changes:
        name = os.fsencode(shown_path(path))
        lines = difflib.diff_bytes(
            difflib.unified_diff, io.BytesIO(before).readlines(), io.BytesIO(after).readlines(), name, name
        )
        for line in lines:
            yield line if line.endswith(b"\n") else b"%b\n%b\n" % (line, _NO_LINE_END.encode())


def drawn_patch(changes: Iterable[Change]) -> Iterator[str]:
    """The same for people: in colours, and without characters that would move the cursor."""
    for line in patch(changes):
        text = visible(line.decode("utf-8", "replace").rstrip("\r\n"))
        is_header = text.startswith(("--- ", "+++ "))
        yield click.style(text, fg=None if is_header else _COLOURS.get(text[:1]), bold=is_header)


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[list[tuple[bool, range, range]]]:
    """Where two texts differ: whether lines are the same, their 0-based numbers in the old and in the new."""
    # Most of a file is the same; what is not is soon found when the rest is left out.
    start = max(_same_at_start(old, new) - _CONTEXT_LINES, 0)
    old_rest, new_rest = old[start:], new[start:]
    left_out = max(_same_at_start(old_rest[::-1], new_rest[::-1]) - _CONTEXT_LINES, 0)
    matcher = difflib.SequenceMatcher(
        None, old_rest[: len(old_rest) - left_out], new_rest[: len(new_rest) - left_out], autojunk=False
    )
    for group in matcher.get_grouped_opcodes(_CONTEXT_LINES):
        yield [
            (tag == "equal", range(start + i1, start + i2), range(start + j1, start + j2))
            for tag, i1, i2, j1, j2 in group
        ]


def _same_at_start(first: Sequence[str], second: Sequence[str]) -> int:
    pairs = zip(first, second)  # noqa: B905 - up to the end of the shorter one
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _changed(margin: str, sign: str, line: str) -> Iterator[str]:
    yield f"{margin} {click.style(f'{sign} {_shown(line)}'.rstrip(), fg=_COLOURS[sign])}"
    if not line.endswith(("\n", "\r")):
        yield f"{' ' * len(click.unstyle(margin))} {_NO_LINE_END}"


def _shown(line: str) -> str:
    return visible(line.rstrip("\r\n"))
