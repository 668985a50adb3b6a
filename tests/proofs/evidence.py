"""Writes ``docs/evidence.md``: what Warp did for each proof, silent program and trap.

``python -m tests.proofs.evidence`` runs every program and writes the page; with codes of rules, as in
``python -m tests.proofs.evidence WRP101``, only theirs and those of pairs that are new. The tests run them
too and hold each line of the page against what they saw.
"""

from __future__ import annotations

import ast
import importlib.metadata
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.proofs.harness import REPOSITORY, Recording, Run, record, run
from tests.proofs.proofs import Case, Outcome, Proof, observe, read_cases, read_reasons

PAGE = REPOSITORY / "docs" / "evidence.md"
FIXTURES = REPOSITORY / "fixtures"
SILENT = Path(__file__).resolve().parent / "silent"
TRAPS = Path(__file__).resolve().parent / "traps"

WORKERS = 2

WITH_A_COLUMN = {
    "fewer-builds",
    "fewer-kernel-builds",
    "less-source",
    "fewer-links",
    "warm-without-builds",
}
"""Effects whose counts stand in a column of their own."""

HEADINGS = ("| rule |", "| program |")

TEMPLATE = """\
# Evidence

Each rule is true on real Warp: these programs were run on warp-lang {version}, on the CPU and, for CUDA,
through NVRTC without a GPU. Counts only: times vary, these do not. `python -m tests.proofs.evidence`
writes this page, and `pytest tests/proofs` fails where a run and the page disagree.

## Rules

A pair is `fires_<pair>` and `fixed_<pair>` in the rule's folder under `fixtures/`. Both print the same and
launch the same, except where the result itself is the effect. Figures stand before → after the fix, over
a cache that was empty: module builds, kernels compiled in them, bytes of generated source, LTO binaries
compiled, and module builds of a second run over the same cache.

| rule | pair | device | shown | builds | kernels | source | links | warm builds |
|---|---|---|---|---|---|---|---|---|
{proofs}

## Rules without a proof

| rule | reason |
|---|---|
{reasons}

## Where silence is right

Each module is built once, and a second run builds nothing.

| program | what it does | builds |
|---|---|---|
{silent}

## Traps

What Warp does is not what the program says.

| program | what it does | prints |
|---|---|---|
{traps}
"""


class Rows(NamedTuple):
    """The lines of the page's tables."""

    proofs: Sequence[str]
    reasons: Sequence[str]
    silent: Sequence[str]
    traps: Sequence[str]


def page(version: str, rows: Rows) -> str:
    """The whole page."""
    return TEMPLATE.format(
        version=version, **{name: "\n".join(lines) for name, lines in rows._asdict().items()}
    )


def read_rows(text: str) -> Rows:
    """The lines of the tables of a page."""
    tables: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("|---"):
            tables.append([])
        elif line.startswith("| ") and tables and not line.startswith(HEADINGS):
            tables[-1].append(line)
    return Rows(*tables)


def cells(line: str) -> list[str]:
    return line.strip("| ").split(" | ")


def proof_row(case: Case, outcome: Outcome) -> str:
    before, after = outcome.before, outcome.after
    return row(
        case.code,
        case.pair,
        case.device.value,
        ", ".join(shown(proof, outcome) for proof in case.proofs),
        change(len(before.cold.builds), len(after.cold.builds)),
        change(before.cold.kernel_builds, after.cold.kernel_builds),
        change(before.cold.source_bytes, after.cold.source_bytes),
        change(before.cold.links, after.cold.links),
        change(len(before.warm.builds), len(after.warm.builds)),
    )


def shown(proof: Proof, outcome: Outcome) -> str:
    """The effect; with its values where they are no count that stands in a column of its own."""
    if proof.effect in WITH_A_COLUMN:
        return proof.effect
    subject = f"{proof.effect} `{proof.option}`" if proof.option else proof.effect
    return f"{subject} {change(proof.measure(outcome.before), proof.measure(outcome.after))}"


def change(before: object, after: object) -> str:
    return f"{before} → {after}"


def silent_row(program: Path, recording: Recording) -> str:
    return row(program.stem, description(program), len(recording.cold.builds))


def trap_row(trap: Path, last_run: Run) -> str:
    return row(trap.stem, description(trap), "<br>".join(last_run.output.splitlines()))


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def programs(folder: Path) -> list[Path]:
    """The programs of a folder: files, or folders whose files are run one after another over one cache."""
    return sorted(path for path in folder.iterdir() if path.suffix == ".py" or path.is_dir())


def run_trap(trap: Path) -> Run:
    """The last run of a trap."""
    with tempfile.TemporaryDirectory(prefix="warp_proof_") as cache:
        return [run(program, Path(cache)) for program in (programs(trap) if trap.is_dir() else [trap])][-1]


def description(program: Path) -> str:
    """The docstring of a program on one line; of several programs that of the last."""
    file = programs(program)[-1] if program.is_dir() else program
    return " ".join((ast.get_docstring(ast.parse(file.read_text())) or "").split())


def reason_rows() -> list[str]:
    return [row(code, reason) for code, reason in read_reasons(FIXTURES).items()]


def proven_row(case: Case) -> str:
    """A case's line, once its proofs hold."""
    outcome = observe(case.before, case.after, case.device)
    for proof in case.proofs:
        outcome.check(proof)
    return proof_row(case, outcome)


def measured_silent_row(program: Path) -> str:
    return silent_row(program, record(program))


def measured_trap_row(trap: Path) -> str:
    return trap_row(trap, run_trap(trap))


def case_of(line: str) -> tuple[str, ...]:
    """The rule, pair and device of a line."""
    return tuple(cells(line)[:3])


def write_page(codes: Sequence[str]) -> None:
    """Measure the proofs of some rules and keep the other lines; without codes, measure everything."""
    cases = list(read_cases(FIXTURES))
    kept = read_rows(PAGE.read_text()) if codes else Rows((), (), (), ())
    lines = {case_of(line): line for line in kept.proofs if cells(line)[0] not in codes}
    unknown = [case for case in cases if (case.code, case.pair, case.device.value) not in lines]
    with ProcessPoolExecutor(WORKERS) as pool:
        lines |= {case_of(line): line for line in pool.map(proven_row, unknown)}
        rows = Rows(
            proofs=[lines[case.code, case.pair, case.device.value] for case in cases],
            reasons=reason_rows(),
            silent=kept.silent or list(pool.map(measured_silent_row, programs(SILENT))),
            traps=kept.traps or list(pool.map(measured_trap_row, programs(TRAPS))),
        )
    PAGE.write_text(page(importlib.metadata.version("warp-lang"), rows))


if __name__ == "__main__":
    write_page(sys.argv[1:])
