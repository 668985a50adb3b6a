"""The whole pipeline, one entry for the command line, flake8, the language server and the tests."""

from __future__ import annotations

import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from warp_lint.facts.extract import extract
from warp_lint.facts.parsing import ParseFailure
from warp_lint.facts.records import FileFacts
from warp_lint.findings import Finding
from warp_lint.project import Project
from warp_lint.relevance import Outline, outline, relevant
from warp_lint.rules import all_rules
from warp_lint.rules.base import Rule
from warp_lint.rules.suppressions.syntax_error import UnreadableFile
from warp_lint.settings import Settings
from warp_lint.source import Source, SourceError
from warp_lint.suppressions import Suppressions
from warp_lint.trees import SettingsLookup, Tree, Trees, find_trees

Progress = Callable[[int, int], None]
"""Told how many of how many files are done."""

Failure: TypeAlias = SourceError | ParseFailure
"""Why a file has no facts; both kinds have a message, a line and a column."""


class Problem(NamedTuple):
    """Something that kept the run from being complete, in one line."""

    message: str
    details: str = ""
    """The traceback, when the linter itself is at fault."""


@dataclass(frozen=True)
class Result:
    """What a run gives: ``findings`` sorted by path, line, column and code."""

    findings: tuple[Finding, ...]
    files: tuple[str, ...]
    """The files whose findings were asked for."""
    problems: tuple[Problem, ...]
    sources: Mapping[str, Source]
    """The sources of the files that findings, related places or fixes stand in."""

    @property
    def is_complete(self) -> bool:
        """Whether every file could be read, and nothing went wrong."""
        return not self.problems and all(finding.code != _UNREADABLE.code for finding in self.findings)


def lint(
    paths: Iterable[str],
    lookup: SettingsLookup | None = None,
    *,
    texts: Mapping[str, bytes] | None = None,
    whole_projects: bool = True,
    catch_crashes: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Lint files and directories.

    ``texts`` holds contents by absolute path, which count instead of what is on the disk. Without
    ``whole_projects`` a file that is given is judged alone. With ``catch_crashes`` a fault of the linter
    becomes a `Problem`, and the run goes on. Raises `SettingsError` when settings cannot be followed.
    """
    texts = texts or {}
    trees = find_trees(paths, lookup or SettingsLookup(), in_memory=texts, whole_projects=whole_projects)
    return lint_trees(trees, texts=texts, catch_crashes=catch_crashes, progress=progress)


def lint_trees(
    trees: Trees,
    *,
    texts: Mapping[str, bytes] | None = None,
    catch_crashes: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Lint the files of trees, as `lint` does; the order of the files makes no difference."""
    run = _Run(texts or {}, catch_crashes, progress)
    run.problems += [Problem(f"{error.path}: {error.message}") for error in trees.errors]
    findings = sorted(
        (finding for tree in trees.trees for finding in run.findings_in(tree)),
        key=lambda finding: finding.sort_key,
    )
    files = sorted(path for tree in trees.trees for path in tree.asked)
    return Result(tuple(findings), tuple(files), tuple(run.problems), run.sources_of(findings))


_UNREADABLE = UnreadableFile()


class _Reading(NamedTuple):
    """What reading a tree gives."""

    facts: list[FileFacts]
    """Of the files that can matter."""
    failures: dict[str, Failure]
    commented: set[str]
    """The files that may hold comments for the linter, whether their facts matter or not."""


class _Run:
    def __init__(self, texts: Mapping[str, bytes], catch_crashes: bool, progress: Progress | None) -> None:
        self.problems: list[Problem] = []
        self._texts = texts
        self._catch_crashes = catch_crashes
        self._progress = progress

    def findings_in(self, tree: Tree) -> Iterator[Finding]:
        """What is to be reported of the files of a tree that are asked for."""
        rules = all_rules().values()
        tree.settings.check_selectors(rules)
        enabled = [rule for rule in rules if tree.settings.enables(rule)]
        reading = self._read(tree)
        found: dict[str, list[Finding]] = defaultdict(list)
        for finding in self._findings_of(enabled, reading.facts, tree.settings):
            found[finding.location.path].append(finding)
        for path in tree.asked:
            failure = reading.failures.get(path)
            if failure is not None:
                if _reports_unreadable(tree.settings, path):
                    yield _UNREADABLE.report(path, failure.message, failure.line, failure.column)
            elif path in found or path in reading.commented:
                tried = {rule.code for rule in enabled if not tree.settings.ignores_in_file(rule, path)}
                of_file = [finding for finding in found[path] if finding.code in tried]
                with self._guarded(f"reading the comments of {path}"):
                    yield from Suppressions(self._source(path)).apply(of_file, tried)

    def sources_of(self, findings: Iterable[Finding]) -> dict[str, Source]:
        """The sources that drawing the findings takes."""
        sources = {}
        for path in {path for finding in findings for path in _paths_of(finding)}:
            with suppress(SourceError):  # that is what the finding says, or the file is gone by now
                sources[path] = self._source(path)
        return sources

    def _read(self, tree: Tree) -> _Reading:
        reading = _Reading([], {}, set())
        outlines: dict[str, Outline] = {}
        for path in (*tree.asked, *tree.others):
            try:
                data = self._source(path).data
            except SourceError as error:
                reading.failures[path] = error
            else:
                outlines[path] = outline(data)
                if b"warp-lint" in data or b"WRP" in data:
                    reading.commented.add(path)
        matter = relevant(outlines) | tree.named
        wanted = [path for path in outlines if path in matter]
        for done, path in enumerate(wanted):
            if self._progress:
                self._progress(done, len(wanted))
            with self._guarded(f"reading {path}"):
                try:
                    reading.facts.append(extract(self._source(path)))
                except (SourceError, ParseFailure) as error:
                    reading.failures[path] = error
        return reading

    def _findings_of(
        self, rules: Iterable[Rule], facts: list[FileFacts], settings: Settings
    ) -> Iterator[Finding]:
        with self._guarded("linking the files of the project"):
            project = Project.build(facts, settings, self._source)
            for rule in rules:
                with self._guarded(f"looking for {rule.code}"):
                    yield from list(rule.check(project))

    def _source(self, path: str) -> Source:
        """The source of a file; raises `SourceError`."""
        return Source.from_bytes(path, self._texts[path]) if path in self._texts else Source.read(path)

    @contextmanager
    def _guarded(self, doing: str) -> Iterator[None]:
        """Where crashes are to be caught, turn one into a problem."""
        try:
            yield
        except Exception as error:
            if not self._catch_crashes:
                raise
            summary = f"{type(error).__name__}: {error}".splitlines()[0]
            self.problems.append(Problem(f"internal error while {doing}: {summary}", traceback.format_exc()))


def _reports_unreadable(settings: Settings, path: str) -> bool:
    """Whether WRP903 is on: selecting other rules does not turn it off, only ignoring it does."""
    unselected = tuple(selection._replace(select=None) for selection in settings.selections)
    enabled = replace(settings, selections=unselected).enables(_UNREADABLE)
    return enabled and not settings.ignores_in_file(_UNREADABLE, path)


def _paths_of(finding: Finding) -> Iterator[str]:
    yield finding.location.path
    yield from (related.location.path for related in finding.related)
    yield from (edit.path for edit in (finding.fix.edits if finding.fix else ()))
