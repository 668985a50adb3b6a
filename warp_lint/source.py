"""A Python file as bytes and as text, and the ways between places in the one and in the other.

Every span in facts, findings and fixes is a pair of code-point offsets into `Source.text`. The text is
what Python reads, except that line ends stay as they are: its code points are the bytes of the file,
decoded, without the byte order mark.
"""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from warp_lint.findings import Position

_LINE_END = re.compile(r"\r\n?|\n")
_LINE_END_BYTES = re.compile(rb"\r\n?|\n")
# A whole word, not a part of `newpath`; it begins with what is searched for, which is fast.
WARP_ALIAS = re.compile(rb"wp(?<!\wwp)(?!\w)")
_IMPORTED = re.compile(rb"import(?=[ \t(])[ \t]*(\((?:[^()#]|#[^\r\n]*[\r\n])*\)|[^\r\n;#(]+)")
_COMMENT = re.compile(rb"#[^\r\n]*")
# The name itself, not the one it is given after ``as``.
_IMPORTED_NAME = re.compile(rb"([\w.\x80-\xff]+|\*)(?:[ \t]+as[ \t]+[\w\x80-\xff]+)?")


class SourceError(Exception):
    """A file that cannot be read as Python source: ``message`` is one line, ``line`` and ``column`` are
    1-based, the column in code points. Where the fault has no place, they are 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class Source:
    """The bytes of a file, its text, and the conversions between them.

    ``data`` are the raw bytes, ``text`` is what they say, ``encoding`` is the codec that reads them (without
    the byte order mark), ``has_bom`` tells whether they begin with one.
    """

    def __init__(self, path: str, data: bytes, text: str, encoding: str, has_bom: bool) -> None:
        self.path = path
        self.data = data
        self.text = text
        self.encoding = encoding
        self.has_bom = has_bom

    @classmethod
    def read(cls, path: str) -> Source:
        """The file at ``path``; raises `SourceError` when it cannot be read or decoded."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise SourceError(f"cannot read the file: {error.strerror or error}") from error
        return cls.from_bytes(path, data)

    @classmethod
    def from_bytes(cls, path: str, data: bytes) -> Source:
        """A file with these bytes; raises `SourceError` when Python could not decode them."""
        if path.endswith(".ipynb"):
            from warp_lint.notebook import Notebook

            return Notebook.of_bytes(path, data)
        has_bom = data.startswith(codecs.BOM_UTF8)
        encoding = _declared_encoding(data)
        text = _decode(data.removeprefix(codecs.BOM_UTF8), encoding)
        null = text.find("\0")
        if null >= 0:
            line_starts = _line_starts(text[:null])
            raise SourceError("source contains a null byte", len(line_starts), null - line_starts[-1] + 1)
        return cls(path, data, text, encoding, has_bom)

    @property
    def code(self) -> bytes:
        """The bytes of the Python code."""
        return self.data

    def cell_place(self, position: Position) -> tuple[int | None, Position]:
        """Where people look for a position: the number of a notebook's cell, None elsewhere, and the position
        in it."""
        return None, position

    def cell_source(self, number: int) -> Source:  # noqa: ARG002 - what is no notebook is all one cell
        """The cell of a notebook, as a source of its own."""
        return self

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset of the first code point of every line. Lines end at ``\\n``, ``\\r\\n`` and ``\\r`` alone,
        as Python ends them; what follows the last line end is a line too, even when it is empty."""
        return _line_starts(self.text)

    @cached_property
    def newline(self) -> str:
        """The line end that most lines have, the first one seen on a tie, ``\\n`` when there is none."""
        counts: dict[str, int] = {}
        for line_end in _LINE_END.findall(self.text):
            counts[line_end] = counts.get(line_end, 0) + 1
        return max(counts, key=counts.__getitem__, default="\n")

    @property
    def line_count(self) -> int:
        """How many lines there are, the empty one after a final line end included."""
        return len(self.line_starts)

    def line_text(self, line: int) -> str:
        """The text of a 1-based line, without its line end."""
        return self.text[self.line_starts[line - 1] : self.line_end(line)]

    def line_end(self, line: int) -> int:
        """Offset of the line end of a 1-based line, or of the end of the text."""
        if line == self.line_count:
            return len(self.text)
        end = self.line_starts[line]
        return end - 2 if self.text.startswith("\r\n", end - 2) else end - 1

    def position(self, offset: int) -> Position:
        """The line and column of a code-point offset."""
        line = bisect_right(self.line_starts, offset)
        return Position(line, offset - self.line_starts[line - 1] + 1)

    def offset(self, position: Position) -> int:
        """The code-point offset of a line and column."""
        return self.line_starts[position.line - 1] + position.column - 1

    def byte_offset(self, offset: int) -> int:
        """Where in ``data`` the code point at ``offset`` begins, the byte order mark counted.

        In an encoding with shift states (``utf-7``, ``iso-2022-jp``) the same code point has no bytes of
        its own: who splices bytes decodes the result and compares it with the text it should hold.
        """
        start = len(codecs.BOM_UTF8) if self.has_bom else 0
        if self._one_byte_each:
            return start + offset
        return start + len(self.text[:offset].encode(self.encoding))

    def utf16_column(self, offset: int) -> int:
        """UTF-16 code units between the start of the line and ``offset``: a 0-based column, as editors
        that speak the language server protocol count."""
        line = bisect_right(self.line_starts, offset)
        before = self.text[self.line_starts[line - 1] : offset]
        return len(before) if before.isascii() else len(before.encode("utf-16-le")) // 2

    @cached_property
    def _one_byte_each(self) -> bool:
        return len(self.data) - (len(codecs.BOM_UTF8) if self.has_bom else 0) == len(self.text)


def encoded(text: str) -> bytes:
    """The bytes of a file with this text; UTF-8 where it cannot be in the encoding that it declares."""
    data = text.encode(errors="replace")
    with suppress(SourceError, UnicodeError, LookupError):
        return text.encode(_declared_encoding(data))
    return data


def concerns_warp(data: bytes) -> bool:
    """Whether a file names Warp, by its name or by the alias that everyone gives it.

    A file that does neither cannot define a kernel or set an option, but it can pass one on: a package's
    ``__init__`` that re-exports kernels, a helper that hands a kernel to another helper. Whether it does
    is no property of its bytes: it matters when it imports, by whatever way, from a file that matters.
    `imported_modules` tells that without parsing.
    """
    return b"warp" in data or (b"wp" in data and WARP_ALIAS.search(data) is not None)


def imported_modules(data: bytes) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What the import statements of a file name: a module with its leading dots, and the names taken from
    it (none for a plain ``import``; they may be submodules, or ``*``).

    A guess on the raw bytes, several hundred times faster than parsing. It sees imports under ``if``,
    ``try`` and in functions, and takes for imports what stands in a string like one; it misses computed
    imports.
    """
    for match in _IMPORTED.finditer(data):
        before = data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()].split()
        names = _IMPORTED_NAME.findall(_COMMENT.sub(b"", match[1]))
        if before[-2:-1] == [b"from"]:
            yield (
                before[-1].decode("utf-8", "replace"),
                tuple(name.decode("utf-8", "replace") for name in names),
            )
        elif not before or before[-1].endswith((b":", b";")):
            yield from ((name.decode("utf-8", "replace"), ()) for name in names)


def _line_starts(text: str) -> list[int]:
    if "\r" in text:
        return [0, *(line_end.end() for line_end in _LINE_END.finditer(text))]
    lengths = map(len, text.split("\n")[:-1])
    return list(accumulate(lengths, lambda start, length: start + length + 1, initial=0))


def _declared_encoding(data: bytes) -> str:
    """The encoding that Python takes for these bytes; raises `SourceError` when it would refuse."""
    # Only the first two lines count. Python ends lines at a lone carriage return too, `detect_encoding`
    # does not, so it is handed them with the line ends it knows.
    head = b"\n".join(_LINE_END_BYTES.split(data, maxsplit=2)[:2])
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(head).readline)
    except SyntaxError as error:
        # Either these lines are no UTF-8, and decoding tells where, or the declaration is at fault.
        first_line, *_ = _decode(head.removeprefix(codecs.BOM_UTF8), "utf-8").split("\n")
        line = 1 if "coding" in first_line else 2
        raise SourceError(f"cannot follow the encoding declaration: {error.msg}", line) from error
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _decode(body: bytes, encoding: str) -> str:
    try:
        text = body.decode(encoding)
        if encoding != "utf-8":
            # Python hands its parser UTF-8: what an odd codec makes must be expressible in it.
            text.encode()
    except UnicodeDecodeError as error:
        lines = _LINE_END_BYTES.split(body[: error.start])
        column = len(lines[-1].decode(encoding, "replace")) + 1
        raise SourceError(
            f"cannot decode byte 0x{body[error.start]:02x} as {encoding}: {error.reason}", len(lines), column
        ) from error
    except (ValueError, LookupError) as error:
        raise SourceError(f"cannot decode the file as {encoding}: {error}") from error
    return text
