"""Sources are read as Python reads them, and places convert without loss."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warp_lint.findings import Position
from warp_lint.source import Source, SourceError, concerns_warp, imported_modules

BOM = b"\xef\xbb\xbf"

READABLE = {
    "nothing": b"",
    "ascii": b"s = 'a'\n",
    "utf-8 by default": "s = 'é☃𝄞'\n".encode(),
    "byte order mark": BOM + "s = 'é'\n".encode(),
    "byte order mark and cookie": BOM + "# coding: utf-8\ns = 'é'\n".encode(),
    "cookie": b"# -*- coding: latin-1 -*-\ns = '\xe9'\n",
    "cookie on line two": b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\ns = '\x80'\n",
    "cookie on line two, carriage returns": b"# x\r# coding: latin-1\rs = '\xe9'\r",
    "cookie after a blank line": b"\n# coding: latin-1\ns = '\xe9'\n",
    "cookie on line three": "\n\n# coding: latin-1\ns = 'é'\n".encode(),
    "cookie after code": "import os\n# coding: latin-1\ns = 'é'\n".encode(),
    "two bytes a character": "# coding: shift_jis\ns = '日本'\n".encode("shift_jis"),
    "form feed before the cookie": b"\x0c# coding: latin-1\ns = '\xe9'\n",
}

UNREADABLE = {
    "byte that is no utf-8": (b"a = 1\nb = '\xff'\n", 2, 6),
    "byte in the first line": (b"b = '\xff'\n", 1, 6),
    "byte after a mark": (BOM + b"\nb = '\xff'\n", 2, 6),
    "byte after wide characters": ("b = '☃𝄞".encode() + b"\xff'\n", 1, 8),
    "cut off in a character": (b"b = '\xe2\x98", 1, 6),
    "surrogate": (b"'\xed\xa0\x80'", 1, 2),
    "mark against cookie": (BOM + b"# coding: latin-1\n", 1, 1),
    "unknown encoding": (b"# coding: klingon\n", 1, 1),
    "unknown encoding on line two": (b"#!\n# coding: klingon\n", 2, 1),
    "codec that makes no text": (b"# coding: rot13\n", 1, 1),
    "null byte": (b"a = 1\nb = \0\n", 2, 5),
    "wide characters without a mark": ("a = 1\n".encode("utf-16-le"), 1, 2),
    "wide characters with their mark": ("a = 1\n".encode("utf-16"), 1, 1),
    "text that utf-8 cannot say": (b"# coding: unicode_escape\n'\\ud800'\n", 1, 1),
}


@pytest.mark.parametrize("data", READABLE.values(), ids=READABLE)
def test_text_is_what_python_reads(data: bytes) -> None:
    source = Source.from_bytes("a.py", data)
    assert ast.dump(ast.parse(source.text)) == ast.dump(ast.parse(data))


@pytest.mark.parametrize(("data", "line", "column"), UNREADABLE.values(), ids=UNREADABLE)
def test_refuses_what_python_refuses(data: bytes, line: int, column: int) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        ast.parse(data)
    with pytest.raises(SourceError) as caught:
        Source.from_bytes("a.py", data)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "\n" not in caught.value.message


def test_message_names_the_byte_and_the_encoding() -> None:
    with pytest.raises(SourceError, match="cannot decode byte 0xff as utf-8"):
        Source.from_bytes("a.py", b"\xff")


def test_read_keeps_bytes_and_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(BOM + b"a = 1\r\nb = 2\rc = 3\n")
    source = Source.read(str(file))
    assert source.path == str(file)
    assert source.data == BOM + b"a = 1\r\nb = 2\rc = 3\n"
    assert source.text == "a = 1\r\nb = 2\rc = 3\n"
    assert (source.encoding, source.has_bom) == ("utf-8", True)


def test_read_tells_why_it_cannot(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot read the file: No such file or directory"):
        Source.read(str(tmp_path / "missing.py"))
    with pytest.raises(SourceError, match="cannot read the file: Is a directory"):
        Source.read(str(tmp_path))


def test_only_line_ends_end_lines() -> None:
    source = Source.from_bytes("a.py", "a\x0cb\x0b\u2028c\x85\x1cd\r\ne\rf\n".encode())
    assert [source.line_text(line) for line in range(1, source.line_count + 1)] == [
        "a\x0cb\x0b\u2028c\x85\x1cd",
        "e",
        "f",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "newline"),
    [
        ("", "\n"),
        ("a", "\n"),
        ("a\r\nb", "\r\n"),
        ("a\rb\n", "\r"),
        ("a\nb\r\nc\r\n", "\r\n"),
        ("a\r\r\nb\rc", "\r"),
    ],
)
def test_newline_is_the_commonest(text: str, newline: str) -> None:
    assert Source.from_bytes("a.py", text.encode()).newline == newline


def test_places_in_code_points_bytes_and_utf16_units() -> None:
    text = "# é\r\nx = '𝄞ab'\n"
    source = Source.from_bytes("a.py", BOM + text.encode())
    offset = text.index("a")
    assert source.position(offset) == Position(2, 7)
    assert source.offset(Position(2, 7)) == offset
    # the mark is three bytes, the first line six, `x = '` five, the clef four
    assert source.byte_offset(offset) == 3 + 6 + 5 + 4
    # the clef is two units
    assert source.utf16_column(offset) == 7
    assert source.utf16_column(text.index("x")) == 0


def test_byte_offsets_in_other_encodings() -> None:
    latin = Source.from_bytes("a.py", b"# coding: latin-1\n'\xe9'a")
    assert latin.data[latin.byte_offset(latin.text.index("a", 18)) :] == b"a"
    japanese = Source.from_bytes("a.py", "# coding: shift_jis\n'日本'a".encode("shift_jis"))
    assert japanese.data[japanese.byte_offset(japanese.text.index("本")) :] == "本'a".encode("shift_jis")


SOURCE_TEXT = st.text(
    st.one_of(
        st.sampled_from("ab \t\r\n\x0c\u2028é☃𝄞#"), st.characters(codec="utf-8", exclude_characters="\0")
    ),
    max_size=60,
)


@given(text=SOURCE_TEXT, has_bom=st.booleans())
def test_places_convert_without_loss(text: str, has_bom: bool) -> None:
    data = BOM * has_bom + f"{text}# end".encode()
    source = Source.from_bytes("a.py", data)
    lines = io.StringIO(source.text, newline="").readlines()
    assert [source.line_text(line + 1) for line in range(len(lines))] == [
        line.rstrip("\r\n") for line in lines
    ]
    for offset in range(len(source.text) + 1):
        assert source.offset(source.position(offset)) == offset
        assert data[source.byte_offset(offset) :].decode() == source.text[offset:]
        line = source.text[source.offset(Position(source.position(offset).line, 1)) :].encode("utf-16-le")
        assert line[2 * source.utf16_column(offset) :].decode("utf-16-le") == source.text[offset:]


@pytest.mark.parametrize(
    ("data", "concerned"),
    [
        (b"import warp as wp\n", True),
        (b"from compat import wp\n", True),
        (b"from my_warp import kernel\n", True),
        (b"from .kernels import blur\n", False),
        (b"import numpy as np\n", False),
        (b"newpath = 1; wpx = lwp", False),
        (b"from lib import *\nk(wp.launch)", True),
    ],
)
def test_concerns_warp(data: bytes, concerned: bool) -> None:
    assert concerns_warp(data) is concerned


def test_imported_modules() -> None:
    data = b"""\
import a.b as c, d
from . import (  # the filters (all)
    blur as soften,
    sharpen,
)
from ..x.y import *
if a: import e; from f import g
try:
\timport h.i
except ImportError: h = None
from .import j
import_module("k")
important (l)
reimport (m)
"""
    assert list(imported_modules(data)) == [
        ("a.b", ()),
        ("d", ()),
        (".", ("blur", "sharpen")),
        ("..x.y", ("*",)),
        ("e", ()),
        ("f", ("g",)),
        ("h.i", ()),
        (".", ("j",)),
    ]
