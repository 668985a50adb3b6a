"""The fix engine: which fixes are made together, in rounds, and which are refused for the harm they would do.

It works on texts in memory and writes nothing; `warp_lint.replacing` writes files. A fix is made whole or not
at all. What it makes must be Python and keep every comment, or it is refused and the others go on.
"""

from __future__ import annotations

import tokenize
import warnings
from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from warp_lint.facts.parsing import ParseFailure, parse
from warp_lint.findings import Applicability, Edit, Finding
from warp_lint.source import Source
from warp_lint.splicing import Change, Harm, spliced

MOST_ROUNDS = 10
"""How often fixes are made on what fixes made."""


class Linted(Protocol):
    """What the engine needs of a run of the linter."""

    @property
    def findings(self) -> Sequence[Finding]: ...

    @property
    def sources(self) -> Mapping[str, Source]:
        """The files that edits of the findings stand in, as they were when they were linted."""
        ...


Run = TypeVar("Run", bound=Linted)


class Refusal(NamedTuple):
    """A fix that is not made, and why, in words that go on from "the fix"."""

    finding: Finding
    reason: str


class Unsettled(NamedTuple):
    """A rule whose fixes in a file call for ever new ones."""

    path: str
    code: str


@dataclass(frozen=True)
class Fixing(Generic[Run]):
    """What fixes make of a project."""

    result: Run
    """The run of the linter on what the fixes made."""
    fixed: tuple[Finding, ...]
    """The findings whose fixes were made, in the order in which that was."""
    changes: tuple[tuple[Change, ...], ...]
    """The changed files. Those that one fix changed are to be written together or not at all."""
    refused: tuple[Refusal, ...]
    unsettled: tuple[Unsettled, ...]
    """Rules whose fixes were left out, because they did not come to an end within `MOST_ROUNDS`."""


def fix(
    lint: Callable[[Mapping[str, bytes]], Run],
    *,
    unsafe: bool,
    texts: Mapping[str, bytes] | None = None,
    reason_to_keep: Callable[[str], str | None] = lambda _path: None,
) -> Fixing[Run]:
    """Make the fixes of what ``lint`` finds, until none is left to be made.

    ``lint`` is given contents by path, which count instead of what is on the disk; ``texts`` are those that
    do so from the start. Safe fixes are made, with ``unsafe`` also the unsafe ones. ``reason_to_keep`` tells
    why a file must not be changed, None if it may be.
    """
    unsettled: set[Unsettled] = set()
    while True:
        attempt = _Attempt(lint, _Chooser(unsafe, unsettled), dict(texts or {}), reason_to_keep)
        restless = attempt.run()
        if not restless:
            return attempt.outcome(unsettled)
        unsettled |= restless


def loses_comments(finding: Finding, sources: Mapping[str, Source]) -> bool:
    """Whether the fix of a finding, if it can be made, would be refused for a comment in what it replaces."""
    edits = _edits_by_path([finding])
    if not edits.keys() <= sources.keys():
        return False
    if not any("#" in sources[edit.path].text[edit.start : edit.end] for edit in _edits_of(finding)):
        return False
    try:
        _check_comments(edits, sources, {path: spliced(sources[path], edits[path]) for path in edits})
    except Harm:
        return True
    return False


class _Chooser:
    """Tells which fixes are to be made."""

    def __init__(self, unsafe: bool, unsettled: Collection[Unsettled]) -> None:
        self._applicable = {Applicability.SAFE} | ({Applicability.UNSAFE} if unsafe else set())
        self._unsettled = frozenset(unsettled)

    def wants(self, finding: Finding) -> bool:
        return (
            finding.fix is not None
            and finding.fix.applicability in self._applicable
            and bool(finding.fix.edits)
            and Unsettled(finding.location.path, finding.code) not in self._unsettled
        )


class _Attempt(Generic[Run]):
    """Rounds of fixes from the first text of every file on."""

    def __init__(
        self,
        lint: Callable[[Mapping[str, bytes]], Run],
        chooser: _Chooser,
        texts: dict[str, bytes],
        reason_to_keep: Callable[[str], str | None],
    ) -> None:
        self._lint = lint
        self._chooser = chooser
        self._texts = texts
        self._reason_to_keep = reason_to_keep
        self._originals: dict[str, bytes] = {}
        self._rounds: list[_Round] = []
        self._files = _Together()

    def run(self) -> set[Unsettled]:
        """Make fixes; returns the rules that would not have come to an end."""
        for _ in range(MOST_ROUNDS + 1):
            if not self._one_round():
                return set()
        # Rules can undo each other's work in turns, so the last one at work is not the only one to blame.
        return {
            Unsettled(finding.location.path, finding.code)
            for one in self._rounds[MOST_ROUNDS // 2 :]
            for finding in one.applied
        }

    def _one_round(self) -> bool:
        self._result = self._lint(self._texts)
        wanted = [finding for finding in self._result.findings if self._chooser.wants(finding)]
        one = _Round(wanted, self._result.sources, self._reason_to_keep)
        self._rounds.append(one)
        for finding in one.applied:
            self._files.tie(_paths_of(finding))
        for path, source in one.after.items():
            self._originals.setdefault(path, self._result.sources[path].data)
            self._texts[path] = source.data
        return bool(one.applied)

    def outcome(self, unsettled: Iterable[Unsettled]) -> Fixing[Run]:
        groups: dict[str, list[Change]] = defaultdict(list)
        for path, before in sorted(self._originals.items()):
            if self._texts[path] != before:
                groups[self._files.find(path)].append(Change(path, before, self._texts[path]))
        return Fixing(
            self._result,
            tuple(finding for one in self._rounds for finding in one.applied),
            tuple(map(tuple, groups.values())),
            tuple(self._rounds[-1].refused),
            tuple(sorted(unsettled)),
        )


class _Round:
    """One round: of the fixes that are wanted, those are made that neither touch each other nor do harm."""

    def __init__(
        self,
        wanted: Iterable[Finding],
        sources: Mapping[str, Source],
        reason_to_keep: Callable[[str], str | None],
    ) -> None:
        self.applied: list[Finding]
        self.after: dict[str, Source]
        """The changed sources."""
        self.refused: list[Refusal] = []
        self._sources = sources
        left = []
        for finding in sorted(wanted, key=_order):
            reason = next(filter(None, map(reason_to_keep, sorted(_paths_of(finding)))), None)
            if reason is None:
                left.append(finding)
            else:
                self.refused.append(Refusal(finding, reason))
        # What is refused must keep nothing waiting.
        while self._refuses_some_of(left):
            refused = {id(refusal.finding) for refusal in self.refused}
            left = [finding for finding in left if id(finding) not in refused]

    def _refuses_some_of(self, findings: Iterable[Finding]) -> bool:
        """Make the fixes of findings as far as they are apart; returns whether any was refused."""
        refused_before = len(self.refused)
        self.applied, self.after = [], {}
        for group in _tied(_apart(findings)):
            applied, after = self._harmless([], {}, group)
            self.applied += applied
            self.after |= after
        return len(self.refused) > refused_before

    def _harmless(
        self, accepted: list[Finding], made: dict[str, Source], more: Sequence[Finding]
    ) -> tuple[list[Finding], dict[str, Source]]:
        """The accepted findings and those of ``more`` whose fixes do no harm, and what all of them make.

        Harm is rare, so all are tried at once, then halves.
        """
        try:
            return [*accepted, *more], _made([*accepted, *more], self._sources)
        except Harm as harm:
            if len(more) == 1:
                self.refused.append(Refusal(more[0], str(harm)))
                return accepted, made
        half = len(more) // 2
        return self._harmless(*self._harmless(accepted, made, more[:half]), more[half:])


def _edits_of(finding: Finding) -> tuple[Edit, ...]:
    return finding.fix.edits if finding.fix is not None else ()


def _paths_of(finding: Finding) -> set[str]:
    return {edit.path for edit in _edits_of(finding)}


def _order(finding: Finding) -> tuple[object, ...]:
    return (min(_edits_of(finding)), finding.sort_key)


def _apart(findings: Iterable[Finding]) -> list[Finding]:
    """Those of the findings whose edits do not touch edits of one before; equal edits do not count."""
    taken: dict[str, list[Edit]] = defaultdict(list)
    chosen = []
    for finding in findings:
        new = {edit for edit in _edits_of(finding) if edit not in _around(taken[edit.path], edit)}
        if not any(_around(taken[edit.path], edit) for edit in new):
            chosen.append(finding)
            for edit in new:
                insort(taken[edit.path], edit)
    return chosen


def _around(edits: Sequence[Edit], edit: Edit) -> Sequence[Edit]:
    """Those of the sorted edits, which do not touch each other, that touch one more."""
    first = bisect_left(edits, edit.start, key=lambda other: other.end)
    last = bisect_right(edits, edit.end, key=lambda other: other.start)
    return edits[first:last]


class _Together:
    """Which files fixes tie to each other: disjoint sets, each known by one of its files."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def tie(self, paths: Iterable[str]) -> None:
        first, *others = sorted(map(self.find, paths))
        self._parents.update(dict.fromkeys(others, first))

    def find(self, path: str) -> str:
        """The file that the set of ``path`` is known by."""
        while (parent := self._parents.get(path, path)) != path:
            path = parent
        return path


def _tied(findings: Iterable[Finding]) -> Iterable[list[Finding]]:
    """The findings in groups that change no file in common."""
    findings = list(findings)
    files = _Together()
    for finding in findings:
        files.tie(_paths_of(finding))
    groups: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[files.find(_edits_of(finding)[0].path)].append(finding)
    return groups.values()


# What a fix must leave as it was.


def _made(findings: Iterable[Finding], sources: Mapping[str, Source]) -> dict[str, Source]:
    """The sources that the fixes of findings change; raises `Harm`."""
    edits = _edits_by_path(findings)
    after = {}
    for path, of_file in edits.items():
        if path not in sources:
            raise Harm(f"would change {path}, which cannot be read")
        after[path] = spliced(sources[path], of_file)
        _check_syntax(sources[path], after[path])
    _check_comments(edits, sources, after)
    return after


def _edits_by_path(findings: Iterable[Finding]) -> dict[str, list[Edit]]:
    edits: dict[str, list[Edit]] = defaultdict(list)
    for finding in findings:
        for edit in _edits_of(finding):
            edits[edit.path].append(edit)
    return dict(sorted(edits.items()))


def _check_syntax(before: Source, after: Source) -> None:
    """Raise `Harm` if a file is no Python any more. LibCST reads newer syntax than the running Python too."""
    try:
        parse(after.text)
    except ParseFailure as failure:
        raise Harm(f"would leave no valid Python: {failure.message} in line {failure.line}") from failure
    fault = _fault(after.text)
    if fault is not None and _fault(before.text) is None:
        raise Harm(f"would leave no valid Python: {fault}")


def _fault(text: str) -> str | None:
    """Why Python would not import a text, as far as its syntax tells."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<text>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"{error.msg} in line {error.lineno}"
    except (ValueError, MemoryError, RecursionError) as error:
        return str(error) or "nested too deeply"
    return None


class _Comment(NamedTuple):
    """A comment, without blanks at its end, and where it stands in code points."""

    text: str
    start: int
    end: int


def _comments(source: Source) -> list[_Comment]:
    """The comments of a file, in order; raises `Harm` when Python cannot tell."""
    lines = (f"{source.line_text(line)}\n" for line in range(1, source.line_count + 1))
    comments = []
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.COMMENT:
                start = source.line_starts[token.start[0] - 1] + token.start[1]
                comments.append(_Comment(token.string.rstrip(), start, start + len(token.string)))
    except (tokenize.TokenError, SyntaxError) as error:
        raise Harm(f"is in a file whose comments cannot be told: {error.args[0]}") from error
    return comments


def _check_comments(
    edits: Mapping[str, Sequence[Edit]], before: Mapping[str, Source], after: Mapping[str, Source]
) -> None:
    """Raise `Harm` if a comment is lost; it may move, also to another of the files."""
    lost: Counter[str] = Counter()
    for path, source in after.items():
        lost.update(_comments_to_keep(before[path], edits[path]))
        lost.subtract(comment.text for comment in _comments(source))
    for text in sorted((+lost).elements()):
        raise Harm(f"would lose the comment `{text}`")


def _comments_to_keep(source: Source, edits: Iterable[Edit]) -> Iterable[str]:
    """The comments of a file but those that an edit means to change."""
    comments = _comments(source)
    meant = {comment for edit in edits for comment in _comments_meant(source, comments, edit)}
    return (comment.text for comment in comments if comment not in meant)


def _comments_meant(source: Source, comments: Sequence[_Comment], edit: Edit) -> Sequence[_Comment]:
    """The comments that an edit means to change: it touches nothing else, or adds a comment to one."""
    first = bisect_left(comments, edit.start, key=lambda comment: comment.end)
    touched = comments[first : bisect_left(comments, edit.end, key=lambda comment: comment.start)]
    if edit.start == edit.end:
        return touched if edit.replacement.lstrip(" \t").startswith("#") else ()
    touched = [comment for comment in touched if comment.end > edit.start]
    removed_code = "".join(
        source.text[start:end]
        for start, end in zip(
            (edit.start, *(comment.end for comment in touched)),
            (*(comment.start for comment in touched), edit.end),
            strict=True,
        )
    )
    return () if removed_code.strip() else touched
