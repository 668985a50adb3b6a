"""From text to a LibCST tree, whatever the text is: a tree comes back, or `ParseFailure` is raised."""

from __future__ import annotations

import ast
import re
import warnings

import libcst

from warp_lint.facts.nesting import LIMIT, deepest

TOO_DEEP = "nested too deeply to be checked"


class ParseFailure(Exception):  # noqa: N818 - what is wrong is the file
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

    @classmethod
    def at(cls, offset: int, text: str, message: str) -> ParseFailure:
        """A failure at an offset into the text, in code points."""
        *lines, last = re.split(r"\r\n?|\n", text[:offset])
        return cls(message, len(lines) + 1, len(last) + 1)


def parse(text: str) -> libcst.Module:
    """The tree of a decoded file, given without its byte order mark.

    Raises:
        ParseFailure: LibCST has no tree for the text, or making one is not safe.
    """
    if "\0" in text:
        raise ParseFailure.at(text.index("\0"), text, "source code cannot contain null bytes")
    depth, place = deepest(text)
    if depth > LIMIT:
        raise ParseFailure.at(place, text, TOO_DEEP)
    try:
        return libcst.parse_module(text)
    except (libcst.ParserSyntaxError, libcst.CSTValidationError) as error:
        raise _refusal(text, error) from error
    except UnicodeEncodeError as error:
        raise ParseFailure.at(error.start, text, "source code cannot contain lone surrogates") from error
    except RecursionError as error:
        raise ParseFailure(TOO_DEEP) from error
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise  # Ctrl-C and the like; a panic of the native parser is no Exception either
        raise ParseFailure(f"LibCST fails: {error!r}") from error


def _refusal(text: str, error: Exception) -> ParseFailure:
    """Say it in CPython's words where CPython refuses the text too: they are known, and tell more."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as refusal:
        return ParseFailure(refusal.msg, refusal.lineno or 1, max(refusal.offset or 1, 1))
    except (ValueError, MemoryError, RecursionError):
        message = "invalid syntax"
    else:
        message = "LibCST cannot parse this, though it is valid syntax"
    # The parser tells the place in its message alone, the tokenizer not at all.
    place = re.search(r"error at (\d+):(\d+)", str(error))
    line, column = (int(number) for number in place.groups()) if place else (1, 1)
    return ParseFailure(message, line, max(column, 1))
