"""What an editor has open, linted with the projects around it."""

from __future__ import annotations

from collections.abc import Mapping

from warp_lint.findings import Finding
from warp_lint.reading import KnownFacts
from warp_lint.result import Result
from warp_lint.run import fix_trees, lint_trees
from warp_lint.source import Source
from warp_lint.splicing import Change
from warp_lint.trees import SettingsLookup, Trees, find_trees


class Linting:
    """Lints open files again and again. A file that is as it was is not parsed again.

    Which files belong to a project is found out once, until something tells that it may have changed.
    """

    def __init__(self) -> None:
        self._known_facts: KnownFacts = {}
        self._trees: Trees | None = None
        self._paths: frozenset[str] = frozenset()

    def forget_files(self) -> None:
        """Search the projects anew the next time: files or settings may have changed."""
        self._trees = None

    def lint(self, texts: Mapping[str, bytes]) -> Result:
        """What is found in the open files, whose contents are given; raises `SettingsError`."""
        if self._trees is None or self._paths != texts.keys():
            self._trees = find_trees(texts, SettingsLookup(), in_memory=texts)
            self._paths = frozenset(texts)
        return lint_trees(self._trees, texts=texts, catch_crashes=True, known_facts=self._known_facts)

    def fixed(self, path: str, texts: Mapping[str, bytes]) -> Change | None:
        """What the safe fixes make of one open file; None where there is nothing to fix.

        Raises `SettingsError`.
        """
        trees = find_trees([path], SettingsLookup(), in_memory=texts)
        outcome = fix_trees(trees, unsafe=False, texts=texts, catch_crashes=True)
        changes = [change for group in outcome.changes for change in group]
        return next((change for change in changes if change.path == path), None)


def findings_between(result: Result, source: Source, start: int, end: int) -> list[Finding]:
    """The findings of a file that touch the text between two offsets."""
    return [
        finding
        for finding in result.findings
        if finding.location.path == source.path
        and source.offset(finding.location.range.start) <= end
        and source.offset(finding.location.range.end) >= start
    ]
