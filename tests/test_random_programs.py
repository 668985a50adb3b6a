"""All fixes on programs at random: what must hold of every fix, whatever it is made on."""

from __future__ import annotations

import ast
import io
import itertools
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import libcst
import pytest
from hypothesis import HealthCheck, given, settings

from tests.random_programs import programs
from warp_lint import fixing
from warp_lint.findings import Edit, Finding
from warp_lint.fixing import Fixing
from warp_lint.result import Result
from warp_lint.run import lint_trees
from warp_lint.settings import Settings
from warp_lint.source import Source
from warp_lint.trees import SettingsLookup, find_trees

FILE = "/project/program.py"
"""Only in memory."""
REPOSITORY = Path(__file__).resolve().parents[1]
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


def test_an_option_that_a_function_may_write_later_is_lost() -> None:
    """Whether ``low`` has run when the kernel is launched, nobody knows; that is no option to carry."""
    text = """\
import warp as wp


def low():
    wp.set_module_options({"max_unroll": 4})


def run(n):
    @wp.kernel
    def scale(x: wp.array(dtype=float)):
        x[wp.tid()] *= float(n)

    wp.launch(scale, dim=1, inputs=[wp.zeros(1)])


wp.set_module_options({"max_unroll": 8})
"""
    outcome, _ = fix(text.encode(), select=["WRP101"])
    titles = [finding.fix.title for finding in outcome.fixed if finding.fix]
    assert titles == ['Give "scale" a module of its own, without max_unroll']


# What Warp makes of it.

CHANGE_OPTIONS = ["WRP3", "WRP4", "WRP7", "WRP8"]
"""Rules whose fixes mean to change the options that kernels are built with."""
LOST = re.compile(r'^Give "(?P<kernel>.*)" a module of its own, without (?P<options>.*)$')


@pytest.mark.proof
def test_kernels_keep_their_options(tmp_path: Path) -> None:
    """Every launch sees a kernel with the options that it had, but for those that a fix says it loses."""
    sample: list[bytes] = []

    @settings(at_random, max_examples=40)
    @given(programs())
    def draw(text: bytes) -> None:
        sample.append(text)

    draw()
    changed = []
    for text in sample:
        outcome, rounds = fix(text, ignore=CHANGE_OPTIONS)
        if outcome.changes:
            changed.append((text, rounds[-1].source.data, lost_options(outcome.fixed)))
    assert len(changed) >= 10

    before = launched_options(tmp_path / "before", [text for text, _, _ in changed])
    after = launched_options(tmp_path / "after", [text for _, text, _ in changed])

    for (text, made, lost), old, new in zip(changed, before, after, strict=True):
        assert [name for name, _ in old] == [name for name, _ in new], made.decode()
        for (name, options), (_, options_now) in zip(old, new, strict=True):
            may_differ = lost.get(name, set())
            if "options that are not known" in may_differ:
                continue
            differing = {key for key in options | options_now if options.get(key) != options_now.get(key)}
            assert differing <= may_differ, f"{name}: {differing}\n{text.decode()}\n\n{made.decode()}"


def lost_options(fixed: Iterable[Finding]) -> dict[str, set[str]]:
    """The options that kernels lose by fixes that say so, by the kernel's name."""
    lost = {}
    for finding in fixed:
        said = LOST.match(finding.fix.title) if finding.fix else None
        if said:
            lost[said["kernel"]] = set(said["options"].split(", "))
    return lost


def launched_options(folder: Path, texts: Iterable[bytes]) -> list[list[tuple[str, dict[str, str]]]]:
    """The launches of programs, each with the kernel's name and options, as real Warp has them."""
    folder.mkdir()
    files = []
    for number, text in enumerate(texts):
        files.append(folder / f"program_{number}.py")
        files[-1].write_bytes(text)
    command = [sys.executable, "-m", "tests.launched_options", *map(str, files)]
    run = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    launches: list[list[tuple[str, dict[str, str]]]] = json.loads(run.stdout.splitlines()[-1])
    return launches
