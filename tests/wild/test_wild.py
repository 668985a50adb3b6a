"""The linter on real packages: sound, the same each time, and in agreement with a person who reads them.

What is expected comes from reading the packages, not from the linter: `silent_kernels.toml` and
`places.toml` are written by hand, `independent_counts` counts with `ast`. Only `counts.toml` is written by
the linter, and stands for the findings that were reviewed in `review.md`.

With pytest-xdist, ``--dist loadgroup`` keeps the tests of one corpus together, so that it is read once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.wild import counts as counts_table
from tests.wild.corpora import CORPORA, Corpus, fetch
from tests.wild.independent_counts import Home, Kernel, Place, kernels, nested_kernels
from tests.wild.linting import LintedCorpus, Spot, counts, settings_file

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.wild

HERE = Path(__file__).parent
NEWTON_BEFORE = Corpus("newton", "1.5.2")
"""The last release before its maintainers gave their kernels in functions modules of their own."""
NEWTON_AFTER = Corpus("newton", "1.8.0")
SMALL = (
    Corpus("gswarp", "1.1.0"),
    Corpus("warp-jsb", "0.1.0"),
    Corpus("warp-nn", "0.4.1"),
    Corpus("xlb", "0.3.1"),
)


def grouped(corpora: tuple[Corpus, ...]) -> list[Any]:
    """Parameters whose tests stay in one process."""
    return [pytest.param(one, id=one.name, marks=pytest.mark.xdist_group(one.name)) for one in corpora]


LARGE = ("newton-1.5.2", "newton-1.8.0", "warp-lang-1.19.0")
"""Linted twice only before a release: once takes a minute or more."""
OTHERS = tuple(corpus for corpus in CORPORA if corpus.name not in LARGE)
LARGE_ONES = grouped(tuple(corpus for corpus in CORPORA if corpus.name in LARGE))


@pytest.fixture(scope="module", params=grouped(CORPORA))
def linted(request: pytest.FixtureRequest) -> LintedCorpus:
    return LintedCorpus(request.param)


def table(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / name).read_text())


def test_every_file_is_read(linted: LintedCorpus) -> None:
    assert linted.result.problems == ()
    assert linted.spots("WRP903") == set()
    assert {Path(path) for path in linted.result.files} == set(linted.root.rglob("*.py*"))


@pytest.mark.parametrize(
    "linted",
    [
        *grouped(OTHERS),
        *(
            pytest.param(*one.values, id=one.id, marks=[*one.marks, pytest.mark.release])
            for one in LARGE_ONES
        ),
    ],
    indirect=True,
)
def test_another_run_finds_the_same_in_files_in_another_order(linted: LintedCorpus) -> None:
    assert linted.lint(reverse=True).findings == linted.result.findings


@pytest.mark.parametrize("corpus", grouped(SMALL))
def test_findings_do_not_depend_on_the_process(corpus: Corpus, tmp_path: Path) -> None:
    """Reading included: what goes through a set comes out in another order when strings hash differently."""
    settings_file(tmp_path / "warp-lint.toml")
    outputs = []
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "warp_lint", "check", "--output-format=json"]
        command += [f"--config={tmp_path / 'warp-lint.toml'}", str(fetch(corpus))]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(command, env=environment, capture_output=True, check=False, text=True)
        assert (run.returncode, run.stderr) == (1, "")
        outputs.append(run.stdout)

    assert json.loads(outputs[0])
    assert outputs[0] == outputs[1]


def test_counts_are_those_that_were_reviewed(linted: LintedCorpus) -> None:
    assert counts(linted.result.findings) == counts_table.committed()[linted.corpus.name]


def test_every_kernel_in_a_function_is_reported_or_listed(linted: LintedCorpus) -> None:
    nested = {spot(kernel) for kernel in nested_kernels(linted.root)}
    silent = listed_as_silent(linted.corpus)
    reported = linted.spots("WRP101")

    assert silent <= nested, "silent_kernels.toml names places where there is no such kernel"
    assert nested - reported == silent


def test_no_other_kernel_is_reported(linted: LintedCorpus) -> None:
    """Nothing that is unique, named by a variable or in a class body; a literal name is no isolation."""
    growing = {
        spot(kernel)
        for kernel in kernels(linted.root)
        if kernel.place is Place.FUNCTION and kernel.home in (Home.OWN, Home.LITERAL)
    }

    assert linted.spots("WRP101") <= growing


def test_findings_stand_where_a_reader_expects_them(linted: LintedCorpus) -> None:
    missing = [
        f"{entry['code']} {at.path}:{at.line} -- {entry['reason']}"
        for entry in entries("fires", linted.corpus)
        for at in sorted(lines_of(entry) - linted.spots(entry["code"], entry.get("level", "")))
    ]
    assert missing == []


def test_nothing_is_found_where_a_reader_finds_nothing(linted: LintedCorpus) -> None:
    wrong = [
        f"{entry['code']} {at.path}:{at.line} -- {entry['reason']}"
        for entry in entries("silent", linted.corpus)
        for at in sorted(linted.spots(entry["code"]))
        if at in lines_of(entry) or is_under(at, entry.get("under", []))
    ]
    assert wrong == []


@pytest.mark.parametrize(("corpus", "number"), [(NEWTON_BEFORE, 106), (NEWTON_AFTER, 10)])
def test_newton_got_rid_of_kernels_in_functions(corpus: Corpus, number: int) -> None:
    """The count itself: these numbers were known before."""
    assert len(nested_kernels(fetch(corpus))) == number


def test_few_kernels_in_functions_of_newton_may_be_silent() -> None:
    assert len(nested_kernels(fetch(NEWTON_BEFORE))) - len(listed_as_silent(NEWTON_BEFORE)) >= 95


def test_tables_name_corpora_that_exist() -> None:
    names = {corpus.name for corpus in CORPORA}
    places = table("places.toml")
    used = {entry["corpus"] for entry in (*places["fires"], *places["silent"])}
    used |= {entry["corpus"] for entry in table("silent_kernels.toml")["silent"]}

    assert used <= names
    assert set(counts_table.committed()) == names


def spot(kernel: Kernel) -> Spot:
    return Spot(kernel.path, kernel.line)


def listed_as_silent(corpus: Corpus) -> set[Spot]:
    return {
        Spot(entry["path"], line)
        for entry in table("silent_kernels.toml")["silent"]
        if entry["corpus"] == corpus.name
        for line in entry["lines"]
    }


def entries(kind: str, corpus: Corpus) -> list[dict[str, Any]]:
    return [entry for entry in table("places.toml")[kind] if entry["corpus"] == corpus.name]


def lines_of(entry: dict[str, Any]) -> set[Spot]:
    return {Spot(path, line) for path, lines in entry.get("lines", {}).items() for line in lines}


def is_under(at: Spot, tops: list[str]) -> bool:
    return any(at.path == top or at.path.startswith(f"{top}/") for top in tops)
