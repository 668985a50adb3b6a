"""The whole pipeline, one entry for the command line, flake8, the language server and the tests."""

from __future__ import annotations

import gc
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from warp_lint import fixing
from warp_lint.baseline import Baseline
from warp_lint.cache import Caches, Stamp
from warp_lint.facts.records import FileFacts
from warp_lint.findings import Applicability, Finding
from warp_lint.project import Project
from warp_lint.reading import KnownFacts, Progress, Reader
from warp_lint.replacing import ReplaceError, leads_out, replace_files
from warp_lint.result import Problem, Result, paths_of
from warp_lint.rules import all_rules
from warp_lint.rules.base import Rule
from warp_lint.rules.suppressions.syntax_error import UnreadableFile
from warp_lint.settings import Settings
from warp_lint.source import Source, SourceError
from warp_lint.suppressions import Noqa, Suppressions
from warp_lint.trees import SettingsLookup, Tree, Trees, find_trees


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
    known_facts: KnownFacts | None = None,
    noqa: Noqa = Noqa.OBEYED,
    baseline: Baseline | None = None,
    caches: Caches | None = None,
    jobs: int = 1,
) -> Result:
    """Lint the files of trees, as `lint` does; the order of the files makes no difference.

    ``known_facts`` spares the files that are as they were in an earlier run. ``noqa`` says what becomes of
    what these comments stand for. What ``baseline`` accepts is left out. ``caches`` spare what is as it was
    when it was put there, and get what is new. ``jobs`` is the most processes to use; it makes no difference
    to the findings.
    """
    run = _Run(
        texts=texts,
        catch_crashes=catch_crashes,
        progress=progress,
        known_facts=known_facts,
        noqa=noqa,
        caches=caches,
        jobs=jobs,
    )
    run.problems += [Problem(f"{error.path}: {error.message}") for error in trees.errors]
    findings: list[Finding] = []
    sources: dict[str, Source] = {}
    for tree in trees.trees:
        with _collector_paused():
            found = sorted(run.findings_in(tree), key=lambda finding: finding.sort_key)
        sources |= run.sources_of(found)
        found = [_as_offered(finding, sources) for finding in found]
        if not (texts or run.problems) and noqa is Noqa.OBEYED:
            run.store(tree, found)
        findings += found
    findings.sort(key=lambda finding: finding.sort_key)
    reported = baseline.unknown(findings, sources) if baseline is not None else findings
    return Result(
        findings=tuple(reported),
        files=tuple(sorted(path for tree in trees.trees for path in tree.asked)),
        problems=tuple(run.problems),
        sources=sources,
        notes=tuple(run.notes),
    )


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Let nobody look for cycles: a run makes millions of objects that live as long as it does, and hardly
    any cycles among them, so that looking costs half of the time and finds nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def project_of(path: str, lookup: SettingsLookup) -> Project:
    """The linked project that a file belongs to; raises `SettingsError` as `lint` does."""
    trees = find_trees([path], lookup).trees
    run = _Run()
    tree = trees[0] if trees else Tree(lookup.nearest(path), [], frozenset(), [])
    return run.project(tree)


def projects_of(trees: Trees) -> Iterator[tuple[Project, frozenset[str]]]:
    """The linked projects of trees, each with its files that were asked for; raises `SettingsError` as `lint`
    does."""
    run = _Run()
    for tree in trees.trees:
        yield run.project(tree), frozenset(tree.asked)


def fix_trees(
    trees: Trees,
    *,
    unsafe: bool,
    texts: Mapping[str, bytes] | None = None,
    catch_crashes: bool = False,
    progress: Progress | None = None,
    baseline: Baseline | None = None,
    caches: Caches | None = None,
    jobs: int = 1,
) -> fixing.Fixing[Result]:
    """Lint the files of trees and make the fixes, with ``unsafe`` also the unsafe ones. Writes nothing.

    In the result, fixes that were refused are left for display.
    """
    roots = {path: _root(path, tree.settings) for tree in trees.trees for path in tree.asked}
    known_facts: KnownFacts = {}

    def lint_again(texts: Mapping[str, bytes]) -> Result:
        return lint_trees(
            trees,
            texts=texts,
            catch_crashes=catch_crashes,
            progress=progress,
            known_facts=known_facts,
            baseline=baseline,
            caches=caches if not known_facts else None,  # the first round leaves nothing to look up
            jobs=jobs,
        )

    def reason_to_keep(path: str) -> str | None:
        if path not in roots:
            return f"would change {path}, which is not one of the files to lint"
        if path not in (texts or {}) and leads_out(path, roots[path]):
            return f"would change {path}, a link that leads out of {roots[path]}"
        return None

    outcome = fixing.fix(lint_again, unsafe=unsafe, texts=texts, reason_to_keep=reason_to_keep)
    left_out = {(finding.sort_key, finding.fix) for finding, _ in outcome.refused}
    findings = [
        _with_applicability(finding, Applicability.DISPLAY)
        if (finding.sort_key, finding.fix) in left_out
        or fixing.Unsettled(finding.location.path, finding.code) in outcome.unsettled
        else finding
        for finding in outcome.result.findings
    ]
    result = replace(outcome.result, findings=tuple(findings), fixed=outcome.fixed, unsafe_fixes=unsafe)
    return replace(outcome, result=result)


def _root(path: str, settings: Settings) -> str:
    """The directory that links must not lead out of when a file is fixed."""
    directory = Path(path).parent
    return settings.root if directory.is_relative_to(settings.root) else str(directory)


def write_fixes(
    outcome: fixing.Fixing[Result],
    trees: Trees,
    *,
    texts: Mapping[str, bytes] | None = None,
    catch_crashes: bool = False,
    baseline: Baseline | None = None,
) -> fixing.Fixing[Result]:
    """Write the files that fixes changed, but those of ``texts``; returns what came of it.

    What cannot be written becomes a problem, and its files are linted again as they are.
    """
    texts = texts or {}
    failed: set[str] = set()
    problems = []
    for group in outcome.changes:
        try:
            replace_files([change for change in group if change.path not in texts])
        except ReplaceError as error:
            problems.append(Problem(str(error)))
            failed |= {change.path for change in group}
    if not failed:
        return outcome
    written = tuple(group for group in outcome.changes if failed.isdisjoint(change.path for change in group))
    made = {change.path: change.after for group in written for change in group if change.path in texts}
    left = lint_trees(trees, texts={**texts, **made}, catch_crashes=catch_crashes, baseline=baseline)
    result = replace(
        left,
        problems=(*left.problems, *problems),
        fixed=tuple(
            finding
            for finding in outcome.fixed
            if finding.fix is None or failed.isdisjoint(edit.path for edit in finding.fix.edits)
        ),
        unsafe_fixes=outcome.result.unsafe_fixes,
    )
    return replace(outcome, result=result, fixed=result.fixed, changes=written)


_UNREADABLE = UnreadableFile()


class _Run:
    def __init__(
        self,
        *,
        texts: Mapping[str, bytes] | None = None,
        catch_crashes: bool = False,
        progress: Progress | None = None,
        known_facts: KnownFacts | None = None,
        noqa: Noqa = Noqa.OBEYED,
        caches: Caches | None = None,
        jobs: int = 1,
    ) -> None:
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.stamps: dict[str, Stamp] = {}
        """How the files were that were read from the disk."""
        self._catch_crashes = catch_crashes
        self._noqa = noqa
        self._caches = caches
        self._reader = Reader(
            self._guarded,
            texts=texts,
            known_facts=known_facts,
            caches=caches,
            jobs=jobs,
            progress=progress,
        )

    def findings_in(self, tree: Tree) -> Iterator[Finding]:
        """What is to be reported of the files of a tree that are asked for."""
        rules = all_rules().values()
        tree.settings.check_selectors(rules)
        enabled = [rule for rule in rules if tree.settings.enables(rule)]
        reading = self._reader.read(tree)
        self.stamps.update(reading.stamps)
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
                    for finding in Suppressions(self._reader.source(path), self._noqa).apply(of_file, tried):
                        yield _as_trusted(finding, tree.settings)

    def project(self, tree: Tree) -> Project:
        """The files of a tree, linked."""
        return Project.build(self._reader.read(tree).facts, tree.settings, self._reader.source)

    def store(self, tree: Tree, findings: Iterable[Finding]) -> None:
        """Keep the findings of a tree for the next run."""
        cache = self._caches.of(tree) if self._caches is not None else None
        files = {*tree.asked, *tree.others}
        if cache is not None and files <= self.stamps.keys():
            cache.store_findings(tree, findings, {path: self.stamps[path] for path in files})

    def sources_of(self, findings: Iterable[Finding]) -> dict[str, Source]:
        """The sources that drawing the findings takes."""
        sources = {}
        for path in paths_of(findings):
            with suppress(SourceError):  # that is what the finding says, or the file is gone by now
                sources[path] = self._reader.source(path)
        return sources

    def _findings_of(
        self, rules: Iterable[Rule], facts: list[FileFacts], settings: Settings
    ) -> Iterator[Finding]:
        with self._guarded("linking the files of the project"):
            project = Project.build(facts, settings, self._reader.source)
            for rule in rules:
                with self._guarded(f"looking for {rule.code}"):
                    yield from list(rule.check(project))
            self.notes += project.limits_reached()

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


def _as_trusted(finding: Finding, settings: Settings) -> Finding:
    """The finding with its fix as far as the settings let it be made."""
    if finding.fix is None or finding.fix.applicability is Applicability.DISPLAY:
        return finding
    if not settings.may_fix(finding):
        return _with_applicability(finding, Applicability.DISPLAY)
    is_safe = settings.trusts_fixes_of(finding)
    if is_safe is None:
        return finding
    return _with_applicability(finding, Applicability.SAFE if is_safe else Applicability.UNSAFE)


def _as_offered(finding: Finding, sources: Mapping[str, Source]) -> Finding:
    """The finding, its fix unsafe where it would lose comments."""
    is_safe = finding.fix is not None and finding.fix.applicability is Applicability.SAFE
    if is_safe and fixing.loses_comments(finding, sources):
        return _with_applicability(finding, Applicability.UNSAFE)
    return finding


def _with_applicability(finding: Finding, applicability: Applicability) -> Finding:
    if finding.fix is None:
        return finding
    fix = msgspec.structs.replace(finding.fix, applicability=applicability)
    return msgspec.structs.replace(finding, fix=fix)
