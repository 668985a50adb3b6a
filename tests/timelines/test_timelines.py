"""What the linter says of random programs is what Warp does when it runs them.

A module that is built again because of the order of things is reported, and where nothing is built again
nothing is. Programs run on the CPU; their grammar is in `tests.timelines.programs`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.proofs.harness import REPOSITORY
from tests.timelines.comparing import Comparison, compare
from tests.timelines.programs import program

FEW = range(25)
MANY = range(500)


def compared(seeds: range, folder: Path) -> list[Comparison]:
    folders = [write(seed, folder) for seed in seeds]
    command = [sys.executable, "-m", "tests.timelines.watching", *map(str, folders)]
    process = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=True, text=True)
    outcomes = json.loads(process.stdout)
    comparisons = []
    for one in folders:
        runs = outcomes[str(one)]
        assert [run["error"] for run in runs] == [""] * len(runs), one
        comparisons.append(compare(one, [run["builds"] for run in runs]))
    return comparisons


def write(seed: int, folder: Path) -> Path:
    for name, text in program(seed).files.items():
        path = folder / str(seed) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / str(seed)


def assert_true(comparisons: list[Comparison]) -> None:
    rebuilt = sum(len(one.rebuilt) for one in comparisons)
    missed = sum(len(one.missed) for one in comparisons)
    sound = [one for one in comparisons if not one.rebuilt]
    print(f"{len(comparisons)} programs, {rebuilt} modules built again, {missed} of them not reported")
    alarms = sum(bool(one.false) for one in comparisons)
    print(f"{len(sound)} programs build nothing again; {alarms} programs with a false finding")

    assert 0.2 < len(sound) / len(comparisons) < 0.8, "both kinds are tried"
    assert missed <= 0.05 * rebuilt
    assert alarms <= 0.01 * len(comparisons)


@pytest.mark.proof
def test_few_programs(tmp_path: Path) -> None:
    assert_true(compared(FEW, tmp_path))


@pytest.mark.release
def test_many_programs(tmp_path: Path) -> None:
    assert_true(compared(MANY, tmp_path))
