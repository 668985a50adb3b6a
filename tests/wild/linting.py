"""Linting a corpus, with every rule, as a project of its own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.wild.corpora import Corpus, fetch
from warp_lint import extraction
from warp_lint.facts.extract import extract
from warp_lint.facts.records import FileFacts
from warp_lint.findings import Finding
from warp_lint.result import Result
from warp_lint.run import lint_trees
from warp_lint.settings import Settings
from warp_lint.source import Source
from warp_lint.trees import SettingsLookup, Trees, find_trees

_SETTINGS = {
    "select": ["ALL"],
    "target-version": "1.19",
    "project-kind": "library",
    # a corpus lies in an ignored folder, and all of it is to be read
    "exclude": [],
    "respect-gitignore": False,
}


def settings_file(path: Path) -> None:
    """Write the settings of a corpus for a run from the command line."""
    # strings, lists of strings and truth values look the same in JSON and in TOML
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in _SETTINGS.items()))


class Spot(NamedTuple):
    """Where a finding stands: the path from the top of the corpus, with slashes, and the line."""

    path: str
    line: int


class LintedCorpus:
    """A corpus with what the linter says of it."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.root = fetch(corpus)
        self._facts: dict[str, FileFacts] = {}
        self.result = self.lint()

    def lint(self, *, reverse: bool = False) -> Result:
        """Lint, with the files in order or in reverse. The second time no file is parsed again: that takes
        most of the time, and is done one by one."""
        settings = Settings(str(self.root)).with_overrides(_SETTINGS)
        found = find_trees([str(self.root)], SettingsLookup(settings), whole_projects=False)
        trees = [tree._replace(asked=sorted(tree.asked, reverse=reverse)) for tree in found.trees]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(extraction, "extract", self._facts_of)
            return lint_trees(Trees(trees, found.errors))

    def spots(self, code: str, level: str = "") -> set[Spot]:
        """Where the findings of a rule stand, all or those of one level."""
        return {
            self.spot(finding)
            for finding in self.result.findings
            if finding.code == code and level in ("", finding.level.value)
        }

    def spot(self, finding: Finding) -> Spot:
        path = Path(finding.location.path).relative_to(self.root)
        return Spot(path.as_posix(), finding.location.range.start.line)

    def _facts_of(self, source: Source) -> FileFacts:
        if source.path not in self._facts:
            self._facts[source.path] = extract(source)
        return self._facts[source.path]


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings there are of each rule, in the order of the codes."""
    return dict(sorted(Counter(finding.code for finding in findings).items()))
