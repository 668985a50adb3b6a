"""All fixes, the unsafe ones too, on real packages: they stay programs, keep their comments, and settle.

Fixes are made in memory: that files are written well is tested in `tests.test_replacing`.
"""

from __future__ import annotations

import io
import re
import tokenize
import warnings
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import version
from typing import NamedTuple

import pytest

from tests.wild.corpora import Corpus, fetch
from tests.wild.fixed_programs import PAGE, PROGRAMS, Program, compare, page
from warp_lint import extraction
from warp_lint.facts.extract import extract
from warp_lint.facts.records import FileFacts
from warp_lint.fixing import Fixing
from warp_lint.result import Result
from warp_lint.run import fix_trees
from warp_lint.settings import Settings
from warp_lint.source import Source
from warp_lint.splicing import Change
from warp_lint.trees import SettingsLookup, Trees, find_trees


class Part(NamedTuple):
    """The files of a package below one of its folders."""

    corpus: Corpus
    folder: str = "."


PARTS = (
    Part(Corpus("xlb", "0.3.1")),
    Part(Corpus("warp-nn", "0.4.1")),
)
LARGE_PARTS = (
    Part(Corpus("warp-lang", "1.19.0"), "warp/examples"),
    Part(Corpus("nvalchemi-toolkit-ops", "0.5.0")),
    Part(Corpus("mujoco-warp", "4.0.0")),
    Part(Corpus("newton", "1.5.2")),
)
"""Too large for every change; tried before a release."""


class Fixed:
    """A part of a package with all fixes made."""

    def __init__(self, part: Part) -> None:
        self._facts: dict[tuple[str, bytes], FileFacts] = {}
        self._trees = self._find_trees(part)
        self.outcome = self.fix({})
        self.changes = changes_of(self.outcome)

    def fix(self, texts: Mapping[str, bytes]) -> Fixing[Result]:
        """Make all fixes, with ``texts`` in place of files. No text is parsed twice: that takes most time."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(extraction, "extract", self._facts_of)
            return fix_trees(self._trees, unsafe=True, texts=texts)

    @staticmethod
    def _find_trees(part: Part) -> Trees:
        root = fetch(part.corpus) / part.folder
        settings = Settings(str(root)).with_overrides(
            {
                "select": ["ALL"],
                "target-version": "1.19",
                "exclude": [],
                "respect-gitignore": False,  # a corpus lies in an ignored folder
            }
        )
        return find_trees([str(root)], SettingsLookup(settings), whole_projects=False)

    def _facts_of(self, source: Source) -> FileFacts:
        key = (source.path, source.data)
        if key not in self._facts:
            self._facts[key] = extract(source)
        return self._facts[key]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            part,
            id=part.corpus.name,
            marks=[
                pytest.mark.xdist_group(part.corpus.name),
                pytest.mark.release if part in LARGE_PARTS else pytest.mark.wild,
            ],
        )
        for part in (*PARTS, *LARGE_PARTS)
    ],
)
def fixed(request: pytest.FixtureRequest) -> Fixed:
    return Fixed(request.param)


def test_fixes_are_made(fixed: Fixed) -> None:
    assert fixed.changes
    assert fixed.outcome.refused == ()
    assert fixed.outcome.unsettled == ()
    assert fixed.outcome.result.problems == ()


def test_every_file_can_be_compiled(fixed: Fixed) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for change in fixed.changes:
            compile(change.after, change.path, "exec", dont_inherit=True)


def test_no_comment_is_lost(fixed: Fixed) -> None:
    lost = {change.path: comments(change.before) - comments(change.after) for change in fixed.changes}
    assert {path: texts for path, texts in lost.items() if texts} == {}


def test_a_second_run_changes_nothing(fixed: Fixed) -> None:
    again = fixed.fix({change.path: change.after for change in fixed.changes})
    assert changes_of(again) == []
    assert again.result.findings == fixed.outcome.result.findings


def changes_of(outcome: Fixing[Result]) -> list[Change]:
    return [change for group in outcome.changes for change in group]


def comments(text: bytes) -> Counter[str]:
    """The comments of a file but those for linters, which fixes may remove or add."""
    tokens = tokenize.tokenize(io.BytesIO(text).readline)
    texts = (token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT)
    return Counter(text for text in texts if not re.search("noqa|warp-lint:", text))


@pytest.mark.release
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.path)
def test_program_of_warp_works_as_before(program: Program) -> None:
    """Warp's own examples and tests compute the same after the fixes, and build no more kernels."""
    comparison = compare(program)
    assert comparison.fixes
    assert comparison.same_output
    assert comparison.same_arrays
    assert comparison.before.exit_status == comparison.after.exit_status == 0
    assert comparison.after.kernel_builds <= comparison.before.kernel_builds
    assert comparison.row in PAGE.read_text().splitlines()


def test_page_of_fixed_programs_is_whole() -> None:
    text = PAGE.read_text()
    rows = [line for line in text.splitlines() if line.startswith(("| examples/", "| tests/"))]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [program.path for program in PROGRAMS]
    assert text == page(version("warp-lang"), rows)
    assert len(rows) >= 20
