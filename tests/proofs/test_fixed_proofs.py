"""The proofs hold for what the fixer writes, not only for what a hand wrote.

Where the fixer makes of a proven pair's ``fires_<pair>`` its ``fixed_<pair>`` to the byte, the proof in
`test_proofs` is one of the fixer already, and no program runs here. Where the two differ, the pair is proven
again with what the fixer made.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.proofs import evidence
from tests.proofs.proofs import Case, observe, read_cases
from tests.test_fixtures import Case as Fixture
from tests.test_fixtures import settings_of
from warp_lint.run import fix_trees
from warp_lint.trees import SettingsLookup, find_trees

pytestmark = pytest.mark.proof

WITHOUT_FIX = {
    "WRP104": "whether the factory's arguments can be a key, only its author knows",
    "WRP105": "which key stays the same, only the author knows",
    "WRP106": "every launch has to pass the value",
    "WRP108": "which of the two kernels is meant, only their author knows",
    "WRP109": "an argument, a factory or a static expression would do, and only the author knows which",
    "WRP114": "a loop over an array, or vectors of one length, are other kernels",
    "WRP202": "how many block dimensions there will be, the code does not say",
    "WRP204": "whether the query or the launch has the right block dimension, only their author knows",
    "WRP206": "which shapes could be padded to which others, only the author knows",
    "WRP303": "which value the earlier load was meant to have, only its author knows",
    "WRP308": "which of two values is meant, only their author knows",
    "WRP309": "which launches the value is meant for, only their author knows",
    "WRP402": "whether the gradient is wanted, only its author knows",
    "WRP411": "whether an unrolled loop is what makes the kernel fast, only a measurement tells",
    "WRP412": "how the calls become one, only the author knows",
    "WRP502": "somebody gave the modules their names",
    "WRP503": "kernels that are rarely used are better off alone, and only the author knows which",
    "WRP504": "how the program is started belongs to it",
    "WRP604": "only the author knows which modules are meant",
    "WRP606": "what shall happen on an error, only the author knows",
    "WRP607": "whether the setting goes or a load comes, only the author knows",
    "WRP611": "which of two values is right, only the author knows",
    "WRP613": "whether the hashes stay or the kernels move apart, only the author knows",
    "WRP615": "the option would count for the module's other builds, too",
    "WRP616": "something may look for the files by these names",
    "WRP703": "where the cache shall be, only the author knows",
    "WRP803": "whether builds or launches shall be fast, only the author knows",
    "WRP805": "which kernels write a component twice, only the author knows",
    "WRP806": "most of what is private has no public name",
}
"""Rules that report what no fix can decide; their proofs show what to write instead."""

UNFINISHED = {
    ("WRP403", "own_module"): "the fix of rules.md is for a unique kernel; others share the module's option",
}

CASES = [
    pytest.param(
        case,
        id=f"{case.code}-{case.pair}-{case.device.value}",
        marks=[
            *([pytest.mark.release] if case.release else []),
            *(
                pytest.mark.xfail(reason=reason, strict=True)
                for pair, reason in UNFINISHED.items()
                if pair == (case.code, case.pair)
            ),
        ],
    )
    for case in read_cases(evidence.FIXTURES)
]


@pytest.mark.parametrize("case", CASES)
def test_fixer_has_the_proven_effect(case: Case, tmp_path: Path) -> None:
    made = fix_copy(case.before, tmp_path / case.after.name)
    if case.code in WITHOUT_FIX:
        assert contents(made) == contents(case.before)
        return
    assert contents(made) != contents(case.before)
    if contents(made) != contents(case.after):
        outcome = observe(case.before, made, case.device)
        for proof in case.proofs:
            outcome.check(proof)


def test_what_has_no_fix_is_proven() -> None:
    cases = list(read_cases(evidence.FIXTURES))
    assert WITHOUT_FIX.keys() <= {case.code for case in cases}
    assert UNFINISHED.keys() <= {(case.code, case.pair) for case in cases}


def fix_copy(program: Path, copy: Path) -> Path:
    """Make all fixes of the rule that a program is a fixture of, in a copy of the program."""
    if program.is_dir():
        shutil.copytree(program, copy)
    else:
        shutil.copyfile(program, copy)
    trees = find_trees(
        [str(program)], SettingsLookup(settings_of(Fixture(program, fires=True))), whole_projects=False
    )
    outcome = fix_trees(trees, unsafe=True)
    assert outcome.refused == ()
    assert outcome.unsettled == ()
    for change in (change for group in outcome.changes for change in group):
        (copy / Path(change.path).relative_to(program) if program.is_dir() else copy).write_bytes(
            change.after
        )
    return copy


def contents(program: Path) -> dict[str, bytes]:
    """The files of a program by their paths in it."""
    files = sorted(program.rglob("*.py")) if program.is_dir() else [program]
    return {str(file.relative_to(program)): file.read_bytes() for file in files}
