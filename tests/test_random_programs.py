"""All fixes on programs at random: what must hold of every fix, whatever it is made on."""

from __future__ import annotations

import ast
import io
import itertools
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping

import libcst
from hypothesis import HealthCheck, given, settings

from tests.random_programs import programs
from warp_lint import fixing
from warp_lint.findings import Edit, Finding
from warp_lint.fixing import Fixing
from warp_lint.run import Result, lint_trees
from warp_lint.settings import Settings
from warp_lint.source import Source
from warp_lint.trees import SettingsLookup, find_trees

FILE = "/project/program.py"
"""Only in memory."""
at_random = settings(
    max_examples=60,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Round:
    """A text, and what was found in it."""

    def __init__(self, text: bytes, findings: tuple[Finding, ...]) -> None:
        self.source = Source.from_bytes(FILE, text)
        self.findings = findings


def fix(text: bytes, **overrides: object) -> tuple[Fixing[Result], list[Round]]:
    """What all fixes make of a text, and the rounds in which that was."""
    values = {"select": ["ALL"], "target-version": "1.19", **overrides}
    of_project = Settings("/project").with_overrides(values)
    trees = find_trees([FILE], SettingsLookup(of_project), in_memory={FILE: text}, whole_projects=False)
    rounds = []

    def lint(texts: Mapping[str, bytes]) -> Result:
        result = lint_trees(trees, texts=texts)
        assert result.problems == ()
        rounds.append(Round(texts[FILE], result.findings))
        return result

    return fixing.fix(lint, unsafe=True, texts={FILE: text}), rounds


@at_random
@given(programs())
def test_fixes_of_a_random_program(text: bytes) -> None:
    outcome, rounds = fix(text)

    assert outcome.refused == ()
    assert outcome.unsettled == ()
    after = rounds[-1].source
    ast.parse(after.text)
    libcst.parse_module(after.data)
    assert comments(text) <= comments(after.data)
    for before, following in itertools.pairwise(rounds):
        # findings of a round that were fixed are the same objects
        made = [one for one in outcome.fixed if any(one is found for found in before.findings)]
        check_bytes_outside(before.source, following.source, edits_of(made))
    again, _ = fix(after.data)
    assert again.changes == ()


def comments(text: bytes) -> Counter[str]:
    """The comments of a file but those for linters, which fixes may remove or add."""
    tokens = tokenize.tokenize(io.BytesIO(text).readline)
    texts = (token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT)
    return Counter(comment for comment in texts if not re.search("noqa|warp-lint:", comment))


def edits_of(findings: Iterable[Finding]) -> list[Edit]:
    return sorted({edit for finding in findings if finding.fix for edit in finding.fix.edits})


def check_bytes_outside(before: Source, after: Source, edits: Iterable[Edit]) -> None:
    """What lies between the edits is the same to the byte, and they are made as they are written."""
    pattern, done = [], 0
    for edit in edits:
        kept = before.data[before.byte_offset(done) if done else 0 : before.byte_offset(edit.start)]
        lines = re.split(r"\r\n?|\n", edit.replacement)
        pattern += [re.escape(kept), rb"(?:\r\n|\r|\n)".join(re.escape(line.encode()) for line in lines)]
        done = edit.end
    pattern.append(re.escape(before.data[before.byte_offset(done) if done else 0 :]))
    assert re.fullmatch(b"".join(pattern), after.data)
