"""How deep a text is nested, told without parsing it.

LibCST's native parser recurses on the machine's stack and kills the process where the stack ends: on some
hundred nested brackets or some thousand chained operators. It takes time exponential in the depth of a
``match`` pattern. So the depth is measured before the parse, from brackets, strings, indentation and the
length of what stands between them.

LibCST finds all tokens before it begins to parse. A text whose strings are not closed or whose brackets do
not pair is refused there, whatever its depth: here it need not be told right.
"""

from __future__ import annotations

import re
from collections.abc import Callable

LIMIT = 400
"""The greatest depth that can be parsed. One more operator, attribute, call or subscript in a row is 1 deeper
and takes the parser about 1.5 KiB of stack, so this stays below 1 MiB, the smallest stack in use."""

_BRACKET = 5
_LAMBDA = 9
_INDENTATION = 16
_PATTERN_BRACKET = LIMIT // 6
"""In ``case`` and ``del``, where it is not the stack that runs out but the time."""


def _code(boundaries: str = "", closers: str = "", tokens: str = "(?!)") -> re.Pattern[str]:
    """Matches a segment of code and the token after it; a segment has no token and no boundary in it."""
    plain = rf"[^()\[\]{{}}\"'\#\\l{boundaries}]*"
    return re.compile(
        rf"""(?P<segment>{plain}(?:(?:l(?!ambda(?!\w))|(?<=\w)l){plain})*)(?:
            (?P<open>[(\[{{])
          | (?P<close>[)\]}}{closers}])
          | (?P<string>
                "(?:""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"""|[^"\\\r\n]*(?:\\(?:\r\n|.)[^"\\\r\n]*)*"?)
              | '(?:''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*\'''|[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'?)
            )
          | (?P<comment>\#[^\r\n]*)
          | (?P<continuation>\\(?:\r\n?|\n)?)
          | (?P<lambda>lambda)
          | {tokens}
        )""",
        re.VERBOSE | re.DOTALL,
    )


def _text(quote: str) -> re.Pattern[str]:
    return re.compile(
        rf"""[^{{}}\\{quote[0]}]*(?P<segment>)(?:
            (?P<escape>\{{\{{ | \}}\}} | \\N\{{[\w\ -]+\}} | \\[^{{}}])
          | (?P<field>\{{)
          | (?P<close>{quote})
          | (?P<other>.)
        )""",
        re.VERBOSE | re.DOTALL,
    )


_IN_STATEMENT = _code(r"\r\n;", tokens=r"(?P<line>[\r\n](?:\s*\#[^\r\n]*)*\s*) | (?P<semicolon>;)")
"""Outside brackets. A line break takes blank lines, comments and the next line's indentation with it."""
_IN_BRACKETS = _code()
_IN_PARAMETERS = _code(":", closers=":")
"""Of a ``lambda``."""
_IN_FIELD = _code(":", tokens="(?P<format>:)")
"""Of a formatted string, before the colon."""
_IN_FORMAT = re.compile(r"[^{}]*(?P<segment>)(?:(?P<field>\{)|(?P<close>\}))")
_IN_TEXT = {quote: _text(quote) for quote in ('"', "'", '"' * 3, "'" * 3)}
"""Of a formatted string, outside its fields."""

_LINK = re.compile(r"[^\w\s]|\s\w")
_DEL_WORD = re.compile(r"(?<!\w)del(?!\w)")
_CASE_START = re.compile(r"case(?=\s*[(\[{*'\"-]|\s+\w)")
_PREFIX_ENDS = frozenset("fFtTrR")
_FORMATTED = re.compile(r"(?<!\w)(?:[fFtT][rR]?|[rR][fFtT])\Z")


def deepest(text: str) -> tuple[int, int]:
    """The greatest depth in a text, and the offset of the statement that has it.

    The depth is never too small. It may be too great up to `LIMIT`, and is close above.
    """
    depth, place = _deepest(text, len)  # a segment has no more links than characters
    return _deepest(text, _links) if depth > LIMIT else (depth, place)


def _links(segment: str) -> int:
    """How many operators, attributes and words that join others a segment may hold."""
    return len(_LINK.findall(segment))


def _deepest(text: str, weigh: Callable[[str], int]) -> tuple[int, int]:
    text = f"\n{text}\n"  # every statement stands between two line breaks
    greatest = place = statement = position = 0
    levels = [(-1, -_INDENTATION), (0, 0)]  # indentation and depth of the statements around, and of this one
    bracket = _BRACKET
    # Of each open bracket, lambda, formatted string and field: the pattern to go on with at its end, its
    # weight, and the three numbers below as they were before it.
    frames: list[tuple[re.Pattern[str], int, int, int, int]] = []
    pattern = _IN_STATEMENT
    # Of the element at hand, which ends at a comma: its links, and its deepest bracket. Of those before it in
    # the same brackets: the deepest.
    own = inner = widest = 0
    while (match := pattern.match(text, position)) and len(frames) * _BRACKET <= LIMIT:
        position = match.end()
        segment = match[1]
        token = match.lastgroup
        if "," in segment:
            first, *between, last = segment.split(",")
            widest = max(widest, own + weigh(first) + inner, *map(weigh, between))
            own, inner = weigh(last), 0
        else:
            own += weigh(segment)
        if not frames and "del" in segment and _DEL_WORD.search(segment):
            bracket = _PATTERN_BRACKET

        if token == "open":
            frames.append((pattern, bracket, own, inner, widest))
            own = inner = widest = 0
            pattern = _IN_BRACKETS
        elif token == "close":
            if frames:
                nested = max(widest, own + inner)
                pattern, weight, own, inner, widest = frames.pop()
                own += 1
                inner = max(inner, nested + weight)
        elif token == "string":
            own += 1
            if segment[-1:] in _PREFIX_ENDS and "{" in match["string"] and _FORMATTED.search(segment):
                quote = match["string"][0]
                if match["string"].startswith(quote * 3):
                    quote *= 3
                position = match.start("string") + len(quote)
                frames.append((pattern, 0, own, inner, widest))
                own = inner = widest = 0
                pattern = _IN_TEXT[quote]
        elif token == "field":
            # The fields before it are to this one what elements before a comma are.
            frames.append((pattern, bracket, 0, 0, max(widest, own + inner)))
            own = inner = widest = 0
            pattern = _IN_FIELD
        elif token == "format":
            pattern = _IN_FORMAT
        elif token == "lambda":
            frames.append((pattern, _LAMBDA, own, inner, widest))
            own = inner = widest = 0
            pattern = _IN_PARAMETERS
        elif token == "line" or token == "semicolon":
            depth = levels[-1][1] + max(widest, own + inner)
            if depth > greatest:
                greatest, place = depth, statement
            own = inner = widest = 0
            statement = position
            if token == "line":
                _indent(levels, match["line"], text, statement)
            bracket = _BRACKET
            if text.startswith("case", statement) and _CASE_START.match(text, statement):
                bracket = _PATTERN_BRACKET

    own += weigh(text[position:])
    for _, weight, outer_own, outer_inner, outer_widest in reversed(frames):
        own, inner, widest = outer_own, max(outer_inner, max(widest, own + inner) + weight), outer_widest
    depth = levels[-1][1] + max(widest, own + inner)
    if depth > greatest:
        greatest, place = depth, statement
    return greatest, max(place - 1, 0)


def _indent(levels: list[tuple[int, int]], line_break: str, text: str, statement: int) -> None:
    """Go to the indentation of the statement after a line break."""
    width = len(line_break) - 1 - max(map(line_break.rfind, "\n\r\f"))
    while width < levels[-1][0]:
        levels.pop()
    if width > levels[-1][0]:
        levels.append((width, levels[-1][1] + _INDENTATION))
    elif text.startswith("elif", statement):
        levels[-1] = (width, levels[-1][1] + 1)
    elif not text.startswith("else", statement):
        levels[-1] = (width, levels[-2][1] + _INDENTATION)
