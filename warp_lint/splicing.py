"""Edits made on a source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from warp_lint.findings import Edit
from warp_lint.notebook import Notebook
from warp_lint.source import Source, SourceError

_LINE_END = re.compile(r"\r\n?|\n")
_TEXT_AND_END = re.compile(r"([^\r\n]*)(\r\n?|\n|$)")


class Change(NamedTuple):
    """What edits make of a file: all its bytes."""

    path: str
    before: bytes
    after: bytes


class Harm(Exception):  # noqa: N818 - what an edit would do, not an error of ours
    """Why edits are not made, in words that go on from "the fix"."""


def spliced(source: Source, edits: Iterable[Edit]) -> Source:
    """The source with the edits made, and every byte outside of them as it was.

    Raises `Harm` where that cannot be.
    """
    if isinstance(source, Notebook):
        return _spliced_notebook(source, sorted(set(edits)))
    edits = sorted(set(edits))
    taken_out = _lines_taken_out(source, edits)
    text_end, byte_end = 0, 0
    texts: list[str] = []
    pieces: list[bytes] = []
    for edit in edits:
        if not text_end <= edit.start <= edit.end <= len(source.text):
            raise Harm("has edits that overlap, or lie outside of the file")
        replacement = in_style_of(source, edit, taken_out)
        texts += (source.text[text_end : edit.start], replacement)
        pieces += (source.data[byte_end : source.byte_offset(edit.start)], _encoded(replacement, source))
        text_end, byte_end = edit.end, source.byte_offset(edit.end)
    texts.append(source.text[text_end:])
    pieces.append(source.data[byte_end:])
    try:
        result = Source.from_bytes(source.path, b"".join(pieces))
    except SourceError as error:
        raise Harm(f"would make the file unreadable: {error.message}") from error
    if result.text != "".join(texts) or result.encoding != source.encoding:
        raise Harm("would change what the bytes of the file mean")
    return result


def _spliced_notebook(notebook: Notebook, edits: Sequence[Edit]) -> Notebook:
    for before, after in pairwise((Edit(notebook.path, 0, 0, ""), *edits)):
        if not before.end <= after.start <= after.end <= len(notebook.text):
            raise Harm("has edits that overlap, or lie outside of the file")
    try:
        return notebook.edited(
            Edit(edit.path, edit.start, edit.end, in_style_of(notebook, edit)) for edit in edits
        )
    except ValueError as error:
        raise Harm(str(error)) from error


def _lines_taken_out(source: Source, edits: Iterable[Edit]) -> dict[str, str]:
    """The lines that edits take out, and may put in elsewhere, with their line ends."""
    removed = (source.text[edit.start : edit.end] for edit in edits if not edit.replacement)
    return {text: end for lines in removed for text, end in _TEXT_AND_END.findall(lines) if text and end}


def in_style_of(source: Source, edit: Edit, taken_out: Mapping[str, str] = MappingProxyType({})) -> str:
    """The replacement of an edit with the line ends of the file.

    Where a file has several kinds, lines that the edit leaves as they are keep theirs, and so do those that
    are taken out elsewhere.
    """
    if "\r" not in source.text or len(set(_LINE_END.findall(source.text))) < 2:
        return _LINE_END.sub(source.newline, edit.replacement)
    old = _TEXT_AND_END.findall(source.text[edit.start : edit.end])
    new = _TEXT_AND_END.findall(edit.replacement)
    ends = [taken_out.get(text, source.newline) if end else "" for text, end in new]
    same = SequenceMatcher(None, [text for text, _ in old], [text for text, _ in new], autojunk=False)
    for first, first_new, count in same.get_matching_blocks():
        for (_, end), line in zip(old[first : first + count], range(first_new, len(new)), strict=False):
            ends[line] = end if end and ends[line] else ends[line]
    return "".join(text + end for (text, _), end in zip(new, ends, strict=True))


def _encoded(replacement: str, source: Source) -> bytes:
    try:
        return replacement.encode(source.encoding)
    except UnicodeEncodeError as error:
        character = replacement[error.start]
        raise Harm(f"needs the character {character!r}, which {source.encoding} does not have") from error
