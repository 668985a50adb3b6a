"""Comments that suppress findings: flake8's ``# noqa`` and our own ``# warp-lint: ignore``.

``# noqa`` has flake8's grammar: it suppresses everything, ``# noqa: WRP101,E501`` what has one of these
codes or begins with it. ``# flake8: noqa``, with or without codes, on a line of its own, does so for the
whole file. Unlike flake8 we look for them in comments only, not in strings.

``# warp-lint: ignore[WRP101, mixed-block-dim]`` takes codes and names of rules, no prefixes; without
brackets it suppresses everything. At the end of a line it counts for that line, on a line of its own for
the statement that follows. ``# warp-lint: file-ignore[…]``, on a line of its own, counts for the file.

A suppression counts when it stands on any line of a finding's `suppression_range`; lines that a string or
a backslash joins are one to it. Nothing suppresses WRP903.
"""

from __future__ import annotations

import enum
import re
import tokenize
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from warp_lint.findings import Applicability, Edit, Finding, Fix, Location, Range
from warp_lint.rules import all_rules
from warp_lint.rules.base import Rule
from warp_lint.rules.suppressions.unknown_code_in_suppression import UnknownCodeInSuppression
from warp_lint.rules.suppressions.unused_suppression import UnusedSuppression
from warp_lint.source import Source

_CODES = r"(?::\s?(?P<codes>(?:[A-Z]+[0-9]+[,\s]*)+))?"
_NOQA = re.compile(r"# noqa" + _CODES, re.IGNORECASE)
_FILE_NOQA = re.compile(r"# flake8[:=]\s*noqa" + _CODES, re.IGNORECASE)
_OURS = re.compile(r"#\s*warp-lint:\s*(?P<verb>ignore|file-ignore)(?:\[(?P<codes>[^\]]*)\]|(?=\s|#|$))")
_MEANT_AS_OURS = re.compile(r"#\s*warp-lint:[^#]*")
_CODE = re.compile(r"[^,\s]+")

# What the text of a file must hold for a comment to suppress anything, or to be worth a report.
_MENTION = re.compile(r"#[^\r\n]*?(?:noqa|warp-lint:)", re.IGNORECASE)
_REPORTABLE_MENTION = re.compile(r"#[^\r\n]*?(?:noqa[^\r\n]*?WRP|warp-lint:)", re.IGNORECASE)

_UNUSED = UnusedSuppression()
_UNKNOWN = UnknownCodeInSuppression()


class Noqa(enum.Enum):
    """What becomes of a finding that a ``# noqa`` stands for."""

    OBEYED = enum.auto()
    """It is dropped."""
    LEFT_TO_FLAKE8 = enum.auto()
    """It is kept where flake8 sees the comment too: on the line that is reported, not on the others of the
    statement. So flake8, and what checks its comments, knows that the comment is needed."""
    DISABLED = enum.auto()
    """It is kept, as ``flake8 --disable-noqa`` wants."""


class _Comment(NamedTuple):
    """A comment: its text from the ``#`` on, and the code point where that stands."""

    text: str
    start: int
    own_line: bool
    lines: range
    """Its line, and those that a string or a backslash joins to it."""
    lines_below: range
    """Its line and the statement that follows."""


class _Code(NamedTuple):
    """A code or name in a suppression, and where it stands in code points."""

    text: str
    start: int
    end: int


class _Suppression(NamedTuple):
    """A suppression in a comment, and where it stands in code points."""

    comment: _Comment
    start: int
    end: int
    codes: tuple[_Code, ...] | None
    """What it suppresses; None for everything."""
    is_noqa: bool
    lines: range | None
    """The lines it counts for; None for the whole file."""

    def means(self, code: _Code, rule: Rule | Finding) -> bool:
        """Whether one of its codes stands for a rule, or for the rule of a finding."""
        if self.is_noqa:
            return rule.code.startswith(code.text)
        return code.text in (rule.code, rule.name)

    def reasons_to_suppress(self, finding: Finding) -> Iterator[int]:
        """The places of its codes, or of itself, that call for not reporting a finding."""
        if self.codes is None:
            yield self.start
        else:
            yield from (code.start for code in self.codes if self.means(code, finding))


class Suppressions:
    """The suppression comments of one file."""

    def __init__(self, source: Source, noqa: Noqa = Noqa.OBEYED) -> None:
        self._source = source
        self._noqa = noqa

    def apply(self, findings: Iterable[Finding], enabled: Collection[str]) -> list[Finding]:
        """What remains of the file's findings, and WRP901 and WRP902 on its suppressions where these rules
        are enabled.

        ``enabled`` are the codes of the rules that looked at the file: of a suppression of another rule
        nobody knows whether it is needed.
        """
        findings = list(findings)
        if not (_MENTION if findings else _REPORTABLE_MENTION).search(self._source.text):
            return findings
        needed: set[int] = set()
        kept = self._sift(findings, needed)
        if self._certain_comments is None:
            return kept
        if _UNKNOWN.code in enabled:
            kept += self._sift(self._unknown(), needed)
        if _UNUSED.code in enabled:
            kept += self._sift(self._with_unused_codes(needed, enabled), needed)
            kept += self._unused_without_codes(needed)
        return kept

    def _sift(self, findings: Iterable[Finding], needed: set[int]) -> list[Finding]:
        """The findings that nothing suppresses; the reasons for suppressing the others go to ``needed``."""
        kept = []
        for finding in findings:
            needed |= self._reasons_to_suppress(finding)
            if not self._is_suppressed(finding):
                kept.append(finding)
        return kept

    def _is_suppressed(self, finding: Finding) -> bool:
        return any(
            self._obeys(candidate, finding) and list(candidate.reasons_to_suppress(finding))
            for candidate in self._candidates(finding)
        )

    def _obeys(self, suppression: _Suppression, finding: Finding) -> bool:
        if not suppression.is_noqa or self._noqa is Noqa.OBEYED:
            return True
        if self._noqa is Noqa.DISABLED:
            return False
        return suppression.lines is None or finding.location.range.start.line not in suppression.lines

    def _reasons_to_suppress(self, finding: Finding) -> set[int]:
        return {
            reason
            for candidate in self._candidates(finding)
            for reason in candidate.reasons_to_suppress(finding)
        }

    def _candidates(self, finding: Finding) -> set[_Suppression]:
        """The suppressions whose place calls for suppressing a finding, if their codes do."""
        if finding.code == "WRP903":
            return set()
        of_lines = {candidate for line in _lines_of(finding) for candidate in self._by_line.get(line, ())}
        return of_lines.union(self._of_file)

    def _unknown(self) -> Iterator[Finding]:
        """WRP902 on codes and names that no rule has, and on comments that are not understood."""
        rules = all_rules().values()
        for suppression in self._suppressions:
            for code in suppression.codes or ():
                is_ours = not suppression.is_noqa or code.text.upper().startswith("WRP")
                if is_ours and not any(suppression.means(code, rule) for rule in rules):
                    known = [rule.code for rule in rules]
                    if not suppression.is_noqa:
                        known += [rule.name for rule in rules]
                    yield _UNKNOWN.report_code(self._location(code.start, code.end), code.text, known)
        for comment in self._comments:
            meant = _MEANT_AS_OURS.search(comment.text)
            if meant and _ours_in(comment) is None:
                text = meant[0].rstrip()
                start = comment.start + meant.start()
                yield _UNKNOWN.report_comment(self._location(start, start + len(text)), text)

    def _with_unused_codes(self, needed: Collection[int], enabled: Collection[str]) -> Iterator[Finding]:
        """WRP901 on suppressions with codes that are not ``needed``."""
        for suppression in self._suppressions:
            unused = [
                code
                for code in suppression.codes or ()
                if code.start not in needed and _was_tried(suppression, code, enabled)
            ]
            if unused:
                yield self._unused(suppression, unused)

    def _unused_without_codes(self, needed: Collection[int]) -> Iterator[Finding]:
        """WRP901 on suppressions of everything that are not ``needed``; a noqa may be so by other tools."""
        for suppression in self._suppressions:
            if suppression.codes is None and not suppression.is_noqa and suppression.start not in needed:
                finding = self._unused(suppression, [])
                # It is no reason to keep quiet about itself.
                if not self._reasons_to_suppress(finding) - {suppression.start}:
                    yield finding

    def _unused(self, suppression: _Suppression, unused: Sequence[_Code]) -> Finding:
        return _UNUSED.report(
            self._location(suppression.start, suppression.end),
            [code.text for code in unused],
            _without(self._source, suppression, unused),
        )

    @cached_property
    def _certain_comments(self) -> list[_Comment] | None:
        """None when the running Python cannot split the file into tokens: its syntax may be newer."""
        try:
            return list(_comments(self._source))
        except (tokenize.TokenError, SyntaxError):
            return None

    @cached_property
    def _comments(self) -> list[_Comment]:
        certain = self._certain_comments
        return list(_likely_comments(self._source)) if certain is None else certain

    @cached_property
    def _suppressions(self) -> list[_Suppression]:
        return [suppression for comment in self._comments for suppression in _suppressions_in(comment)]

    @cached_property
    def _of_file(self) -> list[_Suppression]:
        return [suppression for suppression in self._suppressions if suppression.lines is None]

    @cached_property
    def _by_line(self) -> dict[int, list[_Suppression]]:
        by_line = defaultdict(list)
        for suppression in self._suppressions:
            for line in suppression.lines or ():
                by_line[line].append(suppression)
        return by_line

    def _location(self, start: int, end: int) -> Location:
        return Location(self._source.path, Range(self._source.position(start), self._source.position(end)))


def _lines_of(finding: Finding) -> range:
    place = finding.suppression_range or finding.location.range
    ends_before_its_last_line = place.end.column == 1 and place.end.line > place.start.line
    return range(place.start.line, place.end.line + (0 if ends_before_its_last_line else 1))


def _was_tried(suppression: _Suppression, code: _Code, enabled: Collection[str]) -> bool:
    """Whether a finding that the code would have suppressed must have shown up.

    A suppression of WRP901 is its own reason and never counts as tried.
    """
    meant = [rule.code for rule in all_rules().values() if suppression.means(code, rule)]
    return bool(meant) and _UNUSED.code not in meant and all(code in enabled for code in meant)


# From comments to suppressions.


def _suppressions_in(comment: _Comment) -> Iterator[_Suppression]:
    whole_file = _FILE_NOQA.match(comment.text) if comment.own_line else None
    if whole_file:
        yield _suppression(comment, whole_file, is_noqa=True, lines=None)
    inline = _NOQA.search(comment.text)
    if inline:
        yield _suppression(comment, inline, is_noqa=True, lines=comment.lines)
    ours = _ours_in(comment)
    if ours and ours["verb"] == "file-ignore":
        yield _suppression(comment, ours, is_noqa=False, lines=None)
    elif ours:
        lines = comment.lines_below if comment.own_line else comment.lines
        yield _suppression(comment, ours, is_noqa=False, lines=lines)


def own_suppression(text: str) -> re.Match[str] | None:
    """The ``# warp-lint: ignore`` in a comment that stands after code, with its ``codes``; None where there
    is none or it makes no sense."""
    match = _OURS.search(text)
    return match if match is not None and match["verb"] == "ignore" and _has_codes_or_none(match) else None


def _ours_in(comment: _Comment) -> re.Match[str] | None:
    """The ``# warp-lint:`` suppression in a comment; None where there is none or it makes no sense."""
    match = _OURS.search(comment.text)
    if match is None or (match["verb"] == "file-ignore" and not comment.own_line):
        return None
    return match if _has_codes_or_none(match) else None


def _has_codes_or_none(match: re.Match[str]) -> bool:
    """Whether a suppression is one of everything, or of something."""
    return match["codes"] is None or _CODE.search(match["codes"]) is not None


def _suppression(
    comment: _Comment, match: re.Match[str], *, is_noqa: bool, lines: range | None
) -> _Suppression:
    start, end = comment.start + match.start(), comment.start + match.end()
    if match["codes"] is None:
        return _Suppression(comment, start, end, None, is_noqa, lines)
    codes = tuple(
        _Code(code[0], comment.start + code.start(), comment.start + code.end())
        for code in _CODE.finditer(comment.text, *match.span("codes"))
    )
    # The grammar of noqa takes the blanks after the last code for its own.
    return _Suppression(comment, start, codes[-1].end if is_noqa else end, codes, is_noqa, lines)


# From text to comments. Only those that can suppress something are looked at.


class _Stretch(NamedTuple):
    """Lines that are one to flake8: strings and backslashes join them."""

    lines: range
    has_code: bool
    ends_statement: bool


def _comments(source: Source) -> Iterator[_Comment]:
    """The comments of a file; raises what `tokenize` raises."""
    lines = (f"{source.line_text(line)}\n" for line in range(1, source.line_count + 1))
    stretches: list[_Stretch] = []
    found: list[tuple[tokenize.TokenInfo, int]] = []
    first_line, has_code = 0, False
    for token in tokenize.generate_tokens(lambda: next(lines, "")):
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        first_line = first_line or token.start[0]
        if token.type in (tokenize.NL, tokenize.NEWLINE):
            joined = range(first_line, token.end[0] + 1)
            stretches.append(_Stretch(joined, has_code, token.type == tokenize.NEWLINE))
            first_line, has_code = 0, False
        elif token.type != tokenize.COMMENT:
            has_code = True
        elif _MENTION.search(token.string):
            found.append((token, len(stretches)))
    for token, index in found:
        line, column = token.start
        yield _Comment(
            text=token.string.rstrip(),
            start=source.line_starts[line - 1] + column,
            own_line=not stretches[index].has_code,
            lines=stretches[index].lines,
            lines_below=range(line, _last_line_below(stretches, index) + 1),
        )


def _last_line_below(stretches: Sequence[_Stretch], index: int) -> int:
    """The last line of the statement below a comment; inside of brackets, of the next line of code."""
    before = next((stretches[i] for i in range(index - 1, -1, -1) if stretches[i].has_code), None)
    in_brackets = before is not None and not before.ends_statement
    for stretch in (stretches[i] for i in range(index + 1, len(stretches))):
        if stretch.ends_statement or (in_brackets and stretch.has_code):
            return stretch.lines[-1]
    return stretches[index].lines[-1]


def _likely_comments(source: Source) -> Iterator[_Comment]:
    """What looks like a comment, where the file cannot be split into tokens."""
    for line in range(1, source.line_count + 1):
        text = source.line_text(line)
        mention = _MENTION.search(text)
        if mention:
            start = mention.start()
            yield _Comment(
                text=text[start:].rstrip(),
                start=source.line_starts[line - 1] + start,
                own_line=not text[:start].strip(),
                lines=range(line, line + 1),
                lines_below=range(line, line + 2),
            )


# The fix of WRP901.


def _without(source: Source, suppression: _Suppression, unused: Collection[_Code]) -> Fix:
    """Remove the unused codes of a suppression, or all of it when no others are left."""
    codes = suppression.codes or ()
    left = [code.text for code in codes if code not in unused]
    if left:
        separator = source.text[codes[0].end : codes[1].start]
        edit = Edit(source.path, codes[0].start, codes[-1].end, separator.join(left))
        removed = ", ".join(f"`{code.text}`" for code in unused)
        return Fix(f"Remove {removed} from the suppression", Applicability.SAFE, (edit,))
    return Fix("Remove the suppression", Applicability.SAFE, (_removal(source, suppression),))


def _removal(source: Source, suppression: _Suppression) -> Edit:
    """Take a suppression out of its comment; the comment, and a line of its own, go when nothing is left."""
    comment = suppression.comment
    comment_end = comment.start + len(comment.text)
    before = source.text[comment.start : suppression.start].rstrip()
    after = source.text[suppression.end : comment_end].lstrip(" \t,")
    if after and not after.startswith("#"):
        after = f"# {after}"
    if before or after:
        return Edit(source.path, comment.start, comment_end, f"{before} {after}".strip())
    line = source.position(comment.start).line
    if comment.own_line:
        next_line = source.line_starts[line] if line < source.line_count else len(source.text)
        return Edit(source.path, source.line_starts[line - 1], next_line, "")
    code_end = len(source.line_text(line)[: comment.start - source.line_starts[line - 1]].rstrip())
    return Edit(source.path, source.line_starts[line - 1] + code_end, source.line_end(line), "")
