"""Between our places and the protocol's: lines from 0, and columns in the units that were agreed on."""

from __future__ import annotations

from lsprotocol import types

from warp_lint.findings import Position, Range
from warp_lint.source import Source

_CODECS = {
    types.PositionEncodingKind.Utf8: ("utf-8", 1),
    types.PositionEncodingKind.Utf16: ("utf-16-le", 2),
    types.PositionEncodingKind.Utf32: ("utf-32-le", 4),
}


class Positions:
    """The conversions for one editor; by default it counts UTF-16 code units, as all editors can."""

    def __init__(self, encoding: types.PositionEncodingKind | str | None = None) -> None:
        kind = types.PositionEncodingKind(encoding) if encoding else types.PositionEncodingKind.Utf16
        self._codec, self._bytes_per_unit = _CODECS[kind]

    def position(self, source: Source | None, position: Position) -> types.Position:
        """A position of ours; without the source, what it would be in ASCII."""
        line, column = position.line - 1, position.column - 1
        if source is not None and position.line <= source.line_count:
            column = self._units(source.line_text(position.line)[:column])
        return types.Position(line, column)

    def range(self, source: Source | None, place: Range) -> types.Range:
        """A range of ours."""
        return types.Range(self.position(source, place.start), self.position(source, place.end))

    def range_between(self, source: Source, start: int, end: int) -> types.Range:
        """The range between two code-point offsets."""
        return self.range(source, Range(source.position(start), source.position(end)))

    def offset(self, source: Source, position: types.Position) -> int:
        """The code-point offset of the editor's position, or of the nearest one that there is."""
        if position.line >= source.line_count:
            return len(source.text)
        line = source.line_text(position.line + 1)
        data = line.encode(self._codec, "replace")[: position.character * self._bytes_per_unit]
        return source.line_starts[position.line] + len(data.decode(self._codec, "ignore"))

    def _units(self, text: str) -> int:
        if text.isascii():
            return len(text)
        return len(text.encode(self._codec, "replace")) // self._bytes_per_unit
