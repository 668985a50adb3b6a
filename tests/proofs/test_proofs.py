"""Every rule is true on real Warp, silence is right where the rules keep it, and the traps are traps.

Each test runs its programs itself and also holds the line of ``docs/evidence.md`` against what it saw.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from tests.proofs import evidence
from tests.proofs.harness import record
from tests.proofs.proofs import Case, NotProvenError, observe, read_cases, read_reasons
from warp_lint.rules import all_rules
from warp_lint.run import lint_trees
from warp_lint.settings import Settings
from warp_lint.trees import SettingsLookup, find_trees

pytestmark = pytest.mark.proof

CASES = list(read_cases(evidence.FIXTURES))
SILENT = evidence.programs(evidence.SILENT)
TRAPS = evidence.programs(evidence.TRAPS)

PRINTED_BY_TRAPS = {
    # The edited kernel triples, yet the binary of its first version is loaded.
    "stale_strip_hash": "[2.0, 2.0, 2.0, 2.0]\n",
    # With captures both results are those of the first; with arguments each has its own.
    "map_keeps_first_capture": "[[2.0, 2.0], [2.0, 2.0]]\n[[2.0, 2.0], [3.0, 3.0]]\n",
    # All three kernels of the loop see its last value; those of the factory each their own.
    "loop_variable_in_kernel": "[5.0, 5.0, 5.0]\n[2.0, 3.0, 5.0]\n",
    # The gradient of x² at 3 is 6.
    "tape_without_backward": "[0.0, 0.0]\n[6.0, 6.0]\n",
    "aot_option_changed": "loads\nFileNotFoundError\n",
    "device_as_module": "RuntimeError\nloads\n",
    "module_options_without_unique": "ValueError\nunique\n",
    "strip_hash_with_two_overloads": "1 file\nRuntimeError\n",
    # The kernel ran before; only the one in a module of its own still does.
    "failing_overload": "scale runs\ninvert fails\nscale fails\nscale_alone runs\n",
}


RULES_OF_TRAPS = {
    "device_as_module": "WRP605",
    "loop_variable_in_kernel": "WRP109",
    "map_keeps_first_capture": "WRP107",
    "module_options_without_unique": "WRP311",
    "stale_strip_hash": "WRP616",
    "tape_without_backward": "WRP402",
}
"""The rule that reports each trap. That an overload fails to compile cannot be seen, and two traps bear the
error that they show; the pairs of WRP611 and WRP613 let it out."""


def name_of(value: object) -> str:
    if isinstance(value, Case):
        return f"{value.code}-{value.pair}-{value.device.value}"
    assert isinstance(value, Path)
    return value.stem


def check_page_has(line: str) -> None:
    if line not in evidence.PAGE.read_text().splitlines():
        pytest.fail(f"docs/evidence.md is stale, run `python -m tests.proofs.evidence`; it lacks\n{line}")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name_of(case), marks=[pytest.mark.release] if case.release else [])
        for case in CASES
    ],
)
def test_effect(case: Case) -> None:
    """The fix has the effects that are claimed, and each claim fails when fires and fixed change places."""
    outcome = observe(case.before, case.after, case.device)
    for proof in case.proofs:
        outcome.check(proof)
        with pytest.raises(NotProvenError):
            outcome.swapped.check_effect(proof)
    check_page_has(evidence.proof_row(case, outcome))


@pytest.mark.parametrize("program", SILENT, ids=name_of)
def test_silence_is_right(program: Path) -> None:
    """No module is built a second time, neither in the run nor in the next."""
    recording = record(program)
    cold, warm = recording.cold, recording.warm
    assert cold.exit_status == warm.exit_status == 0, cold.messages
    assert cold.output == warm.output != ""
    modules = [build.module for build in cold.builds]
    assert modules
    assert len(set(modules)) == len(modules)
    assert warm.builds == []
    check_page_has(evidence.silent_row(program, recording))


@pytest.mark.parametrize("trap", TRAPS, ids=name_of)
def test_trap(trap: Path) -> None:
    last_run = evidence.run_trap(trap)
    assert last_run.exit_status == 0, last_run.messages
    assert last_run.output == PRINTED_BY_TRAPS[trap.stem]
    check_page_has(evidence.trap_row(trap, last_run))


@pytest.mark.parametrize("trap", [trap for trap in TRAPS if trap.stem in RULES_OF_TRAPS], ids=name_of)
def test_trap_is_reported(trap: Path) -> None:
    """In each program of the trap, which is a run of its own."""
    code = RULES_OF_TRAPS[trap.stem]
    for program in evidence.programs(trap) if trap.is_dir() else [trap]:
        settings = Settings(str(program.parent)).with_overrides({"select": [code], "target-version": "1.19"})
        found = find_trees([str(program)], SettingsLookup(settings), whole_projects=False)
        assert code in {finding.code for finding in lint_trees(found).findings}


def test_every_rule_is_proven_or_says_why_not() -> None:
    proven, unproven = {case.code for case in CASES}, set(read_reasons(evidence.FIXTURES))
    assert not proven & unproven
    assert set(all_rules()) <= proven | unproven
    assert len(unproven) <= len(all_rules()) / 6


def test_page_has_these_lines_and_no_others() -> None:
    """What the lines say is held against the runs above; here, that none is missing, left over or moved."""
    text = evidence.PAGE.read_text()
    rows = evidence.read_rows(text)
    assert text == evidence.page(importlib.metadata.version("warp-lang"), rows)
    assert [evidence.cells(line)[:3] for line in rows.proofs] == [
        [case.code, case.pair, case.device.value] for case in CASES
    ]
    assert rows.reasons == evidence.reason_rows()
    assert [evidence.cells(line)[0] for line in rows.silent] == [program.stem for program in SILENT]
    assert [evidence.cells(line)[0] for line in rows.traps] == [trap.stem for trap in TRAPS]
