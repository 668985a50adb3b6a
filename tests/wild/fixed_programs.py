"""What fixes do to Warp's own examples and tests: ``python -m tests.wild.fixed_programs`` writes the page.

Every program is run on the CPU as Warp ships it, and again with all fixes made, the unsafe ones too; the
recorder of `tests.proofs` counts what Warp builds.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.proofs.harness import Run, run
from warp_lint.run import fix_trees
from warp_lint.settings import Settings
from warp_lint.trees import SettingsLookup, find_trees

PAGE = Path(__file__).resolve().parents[2] / "docs" / "fixed_programs.md"

_HEADER = """\
# Warp's own programs, before and after the fixes

Examples and tests that Warp {version} ships, run on the CPU over an empty cache as they are and again with
every fix made (`warp-lint --select ALL --fix --unsafe-fixes`, each file judged alone, as an application).
*Output* compares what is printed, times left out, and the outcome of each test; *arrays* what each launch
left in the arrays it was given, to the byte. *Kernel builds* is how often a kernel was compiled: a fix that
gives kernels modules of their own can make more modules, each with less in it.
`python -m tests.wild.fixed_programs` writes this page.

| program | fixes | output | arrays | module builds | kernel builds |
|---|---|---|---|---|---|
"""

_TIMES = re.compile(r"\d+(\.\d+)?(e-?\d+)? ?(ms|s|sec|seconds)\b")


class Program(NamedTuple):
    """A file of Warp, and how it is called to end soon and without a window."""

    path: str
    arguments: tuple[str, ...] = ()


# Left out, of those that were tried: test_compile_consts, which compares hashes of the module that its
# kernels leave; test_cpu_block_dim, which hands over memory that nobody wrote.
PROGRAMS = (
    Program("examples/core/example_dem.py", ("--num-frames", "1", "--stage-path", "None")),
    Program("examples/core/example_fluid.py", ("--num-frames", "2", "--headless")),
    Program("examples/core/example_graph_capture.py", ("--num-frames", "2", "--headless")),
    Program("examples/core/example_nvdb.py", ("--num-frames", "2", "--stage-path", "None")),
    Program("examples/core/example_raymarch.py", ("--width", "64", "--height", "64", "--headless")),
    Program("examples/core/example_wave.py", ("--num-frames", "2", "--stage-path", "None")),
    Program("examples/tile/example_tile_block_cholesky.py", ("--N", "1", "--headless")),
    Program("examples/tile/example_tile_nbody.py", ("--num-frames", "1", "-N", "128", "--headless")),
    Program("tests/matrix/test_mat_assign_copy.py"),
    Program("tests/matrix/test_mat_lite.py"),
    Program("tests/test_assert.py"),
    Program("tests/test_atomic_bitwise.py"),
    Program("tests/test_atomic_cas.py"),
    Program("tests/test_bit_count.py"),
    Program("tests/test_bool.py"),
    Program("tests/test_codegen_continue.py"),
    Program("tests/test_constant_precision.py"),
    Program("tests/test_dense.py"),
    Program("tests/test_enum.py"),
    Program("tests/test_fixedarray.py"),
    Program("tests/test_func.py"),
)


class Comparison(NamedTuple):
    """A program's runs before and after the fixes."""

    program: Program
    fixes: tuple[str, ...]
    """The codes of the rules, one for each fix made."""
    before: Run
    after: Run

    @property
    def same_output(self) -> bool:
        return self._outputs(arrays=False)

    @property
    def same_arrays(self) -> bool:
        return self._outputs(arrays=True)

    def _outputs(self, *, arrays: bool) -> bool:
        before, after = (
            [
                _TIMES.sub("(time)", line)
                for line in run.output.splitlines()
                if line.startswith("arrays: ") == arrays
            ]
            for run in (self.before, self.after)
        )
        return before == after

    @property
    def row(self) -> str:
        counts = ", ".join(f"{code} ({self.fixes.count(code)})" for code in sorted(set(self.fixes)))
        builds = f"{len(self.before.builds)} → {len(self.after.builds)}"
        kernels = f"{self.before.kernel_builds} → {self.after.kernel_builds}"
        output, arrays = ("equal" if same else "differ" for same in (self.same_output, self.same_arrays))
        return f"| {self.program.path} | {counts} | {output} | {arrays} | {builds} | {kernels} |"


def compare(program: Program) -> Comparison:
    """Run a program as it is shipped, and with all fixes made."""
    text = (_warp_folder() / program.path).read_bytes()
    with tempfile.TemporaryDirectory(prefix="fixed_program_") as folder:
        before, after = Path(folder) / "before", Path(folder) / "after"
        for state in (before, after):
            state.mkdir()
            (state / Path(program.path).name).write_bytes(text)
            (state / "main.py").write_text(
                "from tests.wild.watched_program import run\n"
                f"run({Path(program.path).name!r}, {list(program.arguments)!r})\n"
            )
        codes = _fix(after / Path(program.path).name)
        runs = [run(state, Path(folder) / f"cache_{state.name}") for state in (before, after)]
    return Comparison(program, codes, *runs)


def _fix(file: Path) -> tuple[str, ...]:
    """Make all fixes in a file that is judged alone; returns the codes of what was fixed."""
    settings = Settings(str(file.parent)).with_overrides(
        {"select": ["ALL"], "target-version": "1.19", "project-kind": "application"}
    )
    outcome = fix_trees(find_trees([str(file)], SettingsLookup(settings), whole_projects=False), unsafe=True)
    for group in outcome.changes:
        for change in group:
            Path(change.path).write_bytes(change.after)
    return tuple(finding.code for finding in outcome.fixed)


def _warp_folder() -> Path:
    spec = importlib.util.find_spec("warp")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def page(version: str, rows: Iterable[str]) -> str:
    """The text of the page."""
    return _HEADER.format(version=version) + "".join(f"{row}\n" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.wild.fixed_programs", description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="only these; the page is left alone")
    names = parser.parse_args().programs
    rows = []
    for program in PROGRAMS:
        if not names or program.path in names:
            comparison = compare(program)
            rows.append(comparison.row)
            print(comparison.row, flush=True)
    if not names:
        PAGE.write_text(page(comparison.before.events.warp_version, rows))


if __name__ == "__main__":
    main()
