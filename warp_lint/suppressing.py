"""Comments for findings that shall not be reported any more."""

from __future__ import annotations

import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from warp_lint.findings import Edit, Finding
from warp_lint.replacing import ReplaceError, replace_files
from warp_lint.source import Source
from warp_lint.splicing import Change, Harm, spliced
from warp_lint.suppressions import own_suppression

if TYPE_CHECKING:
    from warp_lint.result import Result

NOT_SUPPRESSED = frozenset({"WRP901", "WRP902", "WRP903"})
"""Findings about comments, which are to be changed instead, and about files that cannot be read."""


class Outcome(NamedTuple):
    """How many findings are suppressed now, and what kept others from being so, in one line each."""

    suppressed: int
    problems: tuple[str, ...]


class _LineEnd(NamedTuple):
    """Where a comment can stand, and the one that stands there; code points."""

    offset: int
    comment: tokenize.TokenInfo | None


def suppress(result: Result, reason: str = "") -> Outcome:
    """Write comments for all findings into the files."""
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in result.findings:
        if finding.code not in NOT_SUPPRESSED:
            by_path[finding.location.path].append(finding)
    suppressed, problems = 0, []
    for path, findings in by_path.items():
        source = result.sources[path]
        try:
            after = spliced(source, edits_to_suppress(findings, source, reason))
            replace_files([Change(path, source.data, after.data)])
        except ReplaceError as error:
            problems.append(str(error))
        except (Harm, tokenize.TokenError, SyntaxError) as error:
            problems.append(f"{path}: no comments can be added: {error.args[0]}")
        else:
            suppressed += len(findings)
    return Outcome(suppressed, tuple(problems))


def edits_to_suppress(findings: Iterable[Finding], source: Source, reason: str = "") -> Iterator[Edit]:
    """Edits that put ``# warp-lint: ignore[CODE]`` on the lines of a file's findings, with a reason after it.

    A comment of ours that is there gets the codes. Raises `tokenize.TokenError` or `SyntaxError` where
    Python cannot split the file into tokens.
    """
    codes: dict[int, list[str]] = defaultdict(list)
    for finding in findings:
        of_line = codes[finding.location.range.start.line]
        if finding.code not in of_line:
            of_line.append(finding.code)
    ends = _line_ends(source)
    together: dict[_LineEnd, list[str]] = defaultdict(list)
    for line, of_line in codes.items():
        together[ends[line]] += [code for code in of_line if code not in together[ends[line]]]
    for end, codes_there in together.items():
        yield _edit(source, end, codes_there, " ".join(reason.split()))


def _edit(source: Source, end: _LineEnd, codes: list[str], reason: str) -> Edit:
    if end.comment is not None:
        line, column = end.comment.start
        start = source.line_starts[line - 1] + column
        ours = own_suppression(end.comment.string)
        if ours is not None and ours["codes"] is not None:
            place = start + ours.end("codes")
            return Edit(source.path, place, place, "".join(f", {code}" for code in codes))
    comment = f"  # warp-lint: ignore[{', '.join(codes)}]{' ' if reason else ''}{reason}"
    return Edit(source.path, end.offset, end.offset, comment)


def _line_ends(source: Source) -> dict[int, _LineEnd]:
    """For each line, the end of the last of those that strings and backslashes join it to."""
    ends: dict[int, _LineEnd] = {}
    lines = (f"{source.line_text(line)}\n" for line in range(1, source.line_count + 1))
    first_line, comment = 1, None
    for token in tokenize.generate_tokens(lambda: next(lines, "")):
        if token.type == tokenize.COMMENT:
            comment = token
        elif token.type in (tokenize.NL, tokenize.NEWLINE):
            last = token.start[0]
            text = source.line_text(last)
            offset = source.line_starts[last - 1] + len(text.rstrip())
            ends |= dict.fromkeys(range(first_line, last + 1), _LineEnd(offset, comment))
            first_line, comment = last + 1, None
    return ends
