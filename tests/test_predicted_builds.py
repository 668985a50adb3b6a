"""What `warp-lint modules` predicts is what Warp does, for the programs of ``docs/evidence.md``.

The figures of that page are what the recorder saw; ``tests/proofs`` holds them against Warp. Here the
prediction is held against them, and no program runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.proofs.evidence import FIXTURES, PAGE, SILENT, cells, programs, read_rows
from tests.proofs.proofs import program
from warp_lint.project.build_records import ModuleBuilds
from warp_lint.project.builds import predict
from warp_lint.run import projects_of
from warp_lint.settings import Settings
from warp_lint.trees import SettingsLookup, find_trees

MISSES = {
    "WRP101 fixed_solver_variants": "a launch that only some turns of a loop come to counts for all of them",
    "WRP107 fires_parameter": "the kernel is one that wp.map makes, in a module that no file names",
    "WRP107 fixed_parameter": "the kernel is one that wp.map makes, in a module that no file names",
    "WRP114 fires_proof_lengths": "how many lengths the data has, the code does not say",
    "WRP202 fires_proof_columns": "how many block dimensions are computed, the code does not say",
    "WRP202 fixed_proof_columns": "how many block dimensions are computed, the code does not say",
    "WRP311 fires_fast_math": "the program raises before it launches anything",
    "WRP504 fires_proof_beside": "a file with two names is predicted as one module",
    "WRP604 fires_unused": "modules of Warp itself are loaded, too",
    "WRP605 fires_cpu": "the program raises before it launches anything",
    "WRP612 fires_only_generic": "the program raises before it launches anything",
    "WRP613 fires_overloads": "the program raises while it builds",
}
"""Programs that are predicted wrongly, and why."""


class Recorded(NamedTuple):
    """What Warp did with a program over an empty cache."""

    name: str
    program: Path
    device: str
    builds: int
    kernel_builds: int | None
    """None where the page does not say."""


def recorded() -> list[Recorded]:
    rows = read_rows(PAGE.read_text(encoding="utf-8"))
    found = []
    for line in rows.proofs:
        code, pair, device, _, builds, kernel_builds, *_ = cells(line)
        (folder,) = FIXTURES.glob(f"{code}-*")
        for position, state in enumerate(("fires", "fixed")):
            name = f"{state}_{pair}"
            figures = [int(cell.split(" → ")[position]) for cell in (builds, kernel_builds)]
            found.append(Recorded(f"{code} {name}", program(folder, name), device, *figures))
    builds_of = {name: int(builds) for name, *_, builds in map(cells, rows.silent)}
    found += [
        Recorded(silent.stem, silent, "cpu", builds_of[silent.stem], None) for silent in programs(SILENT)
    ]
    return found


RECORDED = recorded()


def predicted(one: Recorded) -> list[ModuleBuilds]:
    lookup = SettingsLookup(Settings(str(one.program.parent)))
    trees = find_trees([str(one.program)], lookup, whole_projects=False)
    ((project, _),) = projects_of(trees)
    main = one.program / "main.py" if one.program.is_dir() else one.program
    (entry,) = (file for file in project.files if file.facts.path == str(main))
    return list(predict(project, entry, one.device).values())


def id_of(one: Recorded) -> str:
    return f"{one.name} {one.device}"


@pytest.mark.parametrize("one", [one for one in RECORDED if one.name not in MISSES], ids=id_of)
def test_prediction_is_what_warp_does(one: Recorded) -> None:
    modules = predicted(one)
    assert sum(len(module.builds) for module in modules) == one.builds
    if one.kernel_builds is not None:
        assert sum(module.kernel_builds for module in modules) == one.kernel_builds


@pytest.mark.parametrize("one", [one for one in RECORDED if one.name in MISSES], ids=id_of)
def test_misses_are_still_missed(one: Recorded) -> None:
    assert sum(len(module.builds) for module in predicted(one)) != one.builds


def test_there_are_many_programs() -> None:
    assert (
        len({one.program for one in RECORDED} - {one.program for one in RECORDED if one.name in MISSES}) >= 25
    )
    assert MISSES.keys() <= {one.name for one in RECORDED}
