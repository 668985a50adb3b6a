"""From text to a LibCST tree, whatever the text is: a tree comes back, or `ParseFailure` is raised."""

from __future__ import annotations

import ast
import re
import warnings

import libcst


class ParseFailure(Exception):  # noqa: N818 - a failure of the file that is read, not an error of ours
    """A text that cannot be read as Python.

    Attributes:
        message: What is wrong, in one line.
        line: Where, 1-based.
        column: Where in that line, 1-based, in code points.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message, line, column)
        self.message = message
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


def parse(text: str) -> libcst.Module:
    """The tree of a decoded file without its byte order mark.

    Raises:
        ParseFailure: LibCST has no tree for the text.
    """
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ParseFailure("source code cannot contain null bytes", line)
    try:
        return libcst.parse_module(text)
    except libcst.ParserSyntaxError as error:
        raise _syntax_failure(text, error) from error
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the native parser is no Exception
        raise ParseFailure(f"cannot be parsed: {error}") from error


def _syntax_failure(text: str, error: libcst.ParserSyntaxError) -> ParseFailure:
    """Say it in CPython's words where CPython refuses the text too: they are better, and known."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as known:
        return ParseFailure(known.msg, known.lineno or 1, max(known.offset or 1, 1))
    except (ValueError, MemoryError, RecursionError):
        pass
    place = re.search(r"error at (\d+):(\d+)", error.message)
    line, column = (int(number) for number in place.groups()) if place else (1, 0)
    return ParseFailure("invalid syntax", line, column + 1)
