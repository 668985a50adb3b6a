"""The whole pipeline, one entry for the command line, flake8, the language server and the tests."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from warp_lint.facts.extract import extract
from warp_lint.facts.parsing import ParseFailure
from warp_lint.facts.records import FileFacts
from warp_lint.findings import Finding, Location, Position, Range
from warp_lint.project import Project
from warp_lint.relevance import Outline, outline, relevant
from warp_lint.rules import all_rules
from warp_lint.source import Source, SourceError
from warp_lint.trees import SettingsLookup, Tree, find_trees

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
        """Whether every file could be read, and every rule ran."""
        return not self.problems and all(finding.code != "WRP903" for finding in self.findings)


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
    lookup = lookup or SettingsLookup()
    texts = texts or {}
    trees, errors = find_trees(paths, lookup, in_memory=texts, whole_projects=whole_projects)
    run = _Run(texts, catch_crashes, progress)
    run.problems += [Problem(f"{error.path}: {error.message}") for error in errors]
    for tree in trees:
        run.lint(tree)
    return run.result()


class _Run:
    """The state of one run over several trees."""

    def __init__(self, texts: Mapping[str, bytes], catch_crashes: bool, progress: Progress | None) -> None:
        self.problems: list[Problem] = []
        self._texts = texts
        self._catch_crashes = catch_crashes
        self._progress = progress
        self._files: list[str] = []
        self._findings: list[Finding] = []

    def lint(self, tree: Tree) -> None:
        """Add what the rules find in the files of a tree that are asked for."""
        settings = tree.settings
        rules = all_rules()
        settings.check_selectors(rules.values())
        facts, failures = self._facts(tree)
        findings = [_unreadable(path, error) for path, error in failures.items()]
        with self._guarded("linking the files of the project"):
            project = Project.build(facts, settings)
            for rule in rules.values():
                if settings.enables(rule):
                    with self._guarded(f"looking for {rule.code}"):
                        findings += rule.check(project)
        asked = set(tree.asked)
        self._files += tree.asked
        self._findings += (
            finding
            for finding in findings
            if finding.location.path in asked and not settings.ignores_in_file(finding, finding.location.path)
        )

    def result(self) -> Result:
        """All that was found so far."""
        findings = sorted(self._findings, key=lambda finding: finding.sort_key)
        sources = {}
        for path in sorted({path for finding in findings for path in _paths_of(finding)}):
            with suppress(SourceError):  # it is reported, or has changed under our hands
                sources[path] = self._source(path)
        return Result(tuple(findings), tuple(sorted(self._files)), tuple(self.problems), sources)

    def _facts(self, tree: Tree) -> tuple[list[FileFacts], dict[str, Failure]]:
        """The facts of the files that can matter, and why other files have none."""
        outlines: dict[str, Outline] = {}
        failures: dict[str, Failure] = {}
        facts: list[FileFacts] = []
        for path in (*tree.asked, *tree.others):
            try:
                outlines[path] = outline(self._source(path).data)
            except SourceError as error:
                failures[path] = error
        wanted = relevant(outlines) | (tree.named & outlines.keys())
        for done, path in enumerate(sorted(wanted)):
            if self._progress:
                self._progress(done, len(wanted))
            with self._guarded(f"reading {path}"):
                try:
                    facts.append(extract(self._source(path)))
                except (SourceError, ParseFailure) as error:
                    failures[path] = error
        return facts, failures

    def _source(self, path: str) -> Source:
        """A file's source; raises `SourceError`."""
        return Source.from_bytes(path, self._texts[path]) if path in self._texts else Source.read(path)

    @contextmanager
    def _guarded(self, doing: str) -> Iterator[None]:
        """Where crashes are to be caught, turn one into a problem."""
        try:
            yield
        except Exception as error:
            if not self._catch_crashes:
                raise
            message = f"internal error while {doing}: {error!r}"
            self.problems.append(Problem(message, traceback.format_exc()))


def _unreadable(path: str, failure: Failure) -> Finding:
    place = Position(failure.line, failure.column)
    return all_rules()["WRP903"].finding(Location(path, Range(place, place)), failure.message)


def _paths_of(finding: Finding) -> Iterator[str]:
    """The files that must be at hand to draw a finding and its fix."""
    yield finding.location.path
    yield from (related.location.path for related in finding.related)
    yield from (edit.path for edit in (finding.fix.edits if finding.fix else ()))
