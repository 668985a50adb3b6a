"""Jupyter notebooks: their code cells as one program, and back.

The cells are taken in order, each ending with a line end, as if they were run from the first to the last.
What only IPython understands is blanked, character for character, so that every place in the program is one
in the notebook. Edits are written into the JSON text of the cells that they change, and nothing else in the
file is touched.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, NamedTuple

from warp_lint.findings import Edit, Position
from warp_lint.source import Source, SourceError, concerns_warp

SUFFIX = ".ipynb"

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_PYTHON = frozenset({"python", "python3", "ipython", "ipython3"})

_CELL_MAGIC = re.compile(r"\s*%%(\w*)")
_OF_PYTHON = frozenset({"capture", "prun", "time", "timeit"})
"""The cell magics that run Python."""
# A magic, a command of the shell or a question, alone or assigned: group 1 is what Python can keep.
_MAGIC = re.compile(r"([ \t]*(?:[\w.,\[\] \t]+=[ \t]*)?)[%!?].*|([ \t]*)(?:[\w.]+\?\??)[ \t]*")


class _Cell(NamedTuple):
    """A code cell."""

    number: int
    """Its place among all cells, from 1 on."""
    start: int
    """Where in the JSON text the value of ``source`` begins."""
    end: int
    text: str


class Notebook(Source):
    """A notebook; ``text`` is its program, ``data`` are the bytes of the file."""

    def __init__(self, path: str, data: bytes, json_text: str, cells: list[_Cell]) -> None:
        self._json_text = json_text
        self._cells = cells
        self._programs = [_without_magics(_ended(cell.text)) for cell in cells]
        super().__init__(path, data, "".join(self._programs), "utf-8", has_bom=False)
        self._starts = list(accumulate(map(len, self._programs), initial=0))

    @classmethod
    def of_bytes(cls, path: str, data: bytes) -> Notebook:
        """A notebook with these bytes; raises `SourceError`, unless it does not name Warp anyway."""
        try:
            json_text = data.decode()
            cells = list(_code_cells(json_text)) if _is_python(json.loads(json_text)) else []
            "".join(cell.text for cell in cells).encode()  # JSON can hold halves of characters
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            if not concerns_warp(data):
                return cls(path, data, "", [])
            reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
            raise SourceError(f"not a Jupyter notebook of version 4: {reason}") from error
        return cls(path, data, json_text, cells)

    @property
    def code(self) -> bytes:
        """The bytes of the program."""
        return self.text.encode()

    def cell_place(self, position: Position) -> tuple[int | None, Position]:
        """The number of the cell that a position of the program is in, and the position there."""
        if not self._cells:
            return None, position
        index = self._cell_at(self.offset(position))
        first_line = self.position(self._starts[index]).line
        return self._cells[index].number, Position(position.line - first_line + 1, position.column)

    def cell_source(self, number: int) -> Source:
        """The cell with a number as a source of its own, as people see it."""
        cell = next(cell for cell in self._cells if cell.number == number)
        return Source(self.path, cell.text.encode(), cell.text, "utf-8", has_bom=False)

    def changed_cells(self, other: Notebook) -> list[int]:
        """The numbers of the cells whose text is another one in another version of the notebook."""
        pairs = zip(self._cells, other._cells, strict=True)
        return [one.number for one, another in pairs if one.text != another.text]

    def edited(self, edits: Iterable[Edit]) -> Notebook:
        """The notebook with edits made, which must neither overlap nor leave the file.

        Raises ValueError, in words that go on from "the fix", where a cell cannot take an edit.
        """
        by_cell: dict[int, list[Edit]] = defaultdict(list)
        for edit in edits:
            by_cell[self._cell_at(edit.start)].append(edit)
        pieces, end = [], 0
        for index, of_cell in sorted(by_cell.items()):
            cell = self._cells[index]
            pieces += [
                self._json_text[end : cell.start],
                self._written(index, self._new_text(index, of_cell)),
            ]
            end = cell.end
        text = "".join((*pieces, self._json_text[end:]))
        return Notebook.of_bytes(self.path, text.encode())

    def _cell_at(self, offset: int) -> int:
        return min(bisect_right(self._starts, offset), len(self._cells)) - 1

    def _new_text(self, index: int, edits: Iterable[Edit]) -> str:
        start, end = self._starts[index], self._starts[index + 1]
        original, program = _ended(self._cells[index].text), self._programs[index]
        pieces, done = [], 0
        for edit in sorted(edits):
            first, last = edit.start - start, edit.end - start
            if edit.end > end:
                raise ValueError("would change several cells of a notebook at once")
            if original[first:last] != program[first:last]:
                raise ValueError("would change a line that only IPython understands")
            pieces += [original[done:first], edit.replacement]
            done = last
        text = "".join((*pieces, original[done:]))
        return text if original == self._cells[index].text else text.removesuffix("\n")

    def _written(self, index: int, text: str) -> str:
        """The JSON of a cell's new text, written as its old one is."""
        cell = self._cells[index]
        old = self._json_text[cell.start : cell.end]
        if old.startswith('"'):
            return _string(text, old)
        items = list(_items(old))
        known = {_DECODER.decode(old[start:end]): old[start:end] for start, end in items}
        lines = [known.get(line) or _string(line, old) for line in _LINE.findall(text)]
        before = old[: items[0][0]]
        between = old[items[0][1] : items[1][0]] if len(items) > 1 else f",{before[1:]}"
        return before + between.join(lines) + old[items[-1][1] :] if lines else "[]"


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _string(text: str, like: str) -> str:
    """A JSON string, with other characters than ASCII escaped where that is so already."""
    return json.dumps(text, ensure_ascii=like.isascii() and "\\u" in like)


def _is_python(content: Any) -> bool:
    """Whether a notebook is one of Python; raises what access to something else raises."""
    if content["nbformat"] < 4:
        raise ValueError(f"it is of version {content['nbformat']}")
    metadata = content.get("metadata", {})
    for key in ("language_info", "kernelspec"):
        about = metadata.get(key, {})
        language = about.get("language") or (about.get("name") if key == "language_info" else None)
        if language:
            return str(language).lower() in _PYTHON
    return True


# Where values stand in JSON that is known to be valid.


def _code_cells(text: str) -> Iterator[_Cell]:
    members = {key: (start, end) for key, start, end in _members(text, _skip(text, 0))}
    start, end = members["cells"]
    for number, (cell_start, _) in enumerate(_items(text[start:end]), start=1):
        places = {key: place for key, *place in _members(text, start + cell_start)}
        if _value(text, places["cell_type"]) == "code":
            source = _value(text, places["source"])
            lines = [source] if isinstance(source, str) else source
            if lines:
                source_start, source_end = places["source"]
                yield _Cell(number, source_start, source_end, "".join(lines))


def _value(text: str, place: list[int]) -> Any:
    return _DECODER.raw_decode(text, place[0])[0]


def _members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Key, start and end of the values of the object that begins at ``start``."""
    position = _skip(text, start + 1)
    while text[position] == '"':
        key, position = _DECODER.raw_decode(text, position)
        value = _skip(text, _skip(text, position) + 1)
        _, end = _DECODER.raw_decode(text, value)
        yield key, value, end
        position = _skip(text, end)
        position = _skip(text, position + 1) if text[position] == "," else position


def _items(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the items of the array that a text is."""
    position = _skip(text, 1)
    while text[position] != "]":
        _, end = _DECODER.raw_decode(text, position)
        yield position, end
        position = _skip(text, end)
        position = _skip(text, position + 1) if text[position] == "," else position


def _skip(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    assert match is not None
    return match.end()


# What only IPython understands.


def _without_magics(text: str) -> str:
    """A cell with such lines replaced by others of the same length that do nothing."""
    lines = text.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), None)
    magic = _CELL_MAGIC.match(lines[first]) if first is not None else None
    if first is not None and magic is not None:
        if magic[1] not in _OF_PYTHON:
            return "\n".join("#".ljust(len(line)) if line else "" for line in lines)
        lines[first] = "#".ljust(len(lines[first]))
    # Whether a line is a magic, or goes on from the one above, Python's parser knows best.
    while (fault := _faulty_line("\n".join(lines))) is not None:
        blanked = _blanked(lines[fault]) if fault < len(lines) else None
        if blanked is None:
            break
        lines[fault] = blanked
    return "\n".join(lines)


def _faulty_line(text: str) -> int | None:
    """The 0-based line at which Python does not understand a text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return (error.lineno or 1) - 1
    except (ValueError, MemoryError, RecursionError):
        return None
    return None


def _blanked(line: str) -> str | None:
    """A line without its magic, or None where it has none."""
    match = _MAGIC.fullmatch(line)
    if match is None:
        return None
    kept = match[1] if match[1] is not None else match[2]
    rest = len(line) - len(kept)
    return kept + ("0" if rest == 1 else "0#".ljust(rest))
