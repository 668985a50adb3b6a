"""Extraction in several processes: it is faster, and makes no other difference."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from warp_lint import extraction
from warp_lint.facts.extract import extract
from warp_lint.facts.records import FileFacts
from warp_lint.result import Result
from warp_lint.run import lint_trees
from warp_lint.source import Source
from warp_lint.trees import SettingsLookup, find_trees

FIXTURES = Path(__file__).parent.parent / "fixtures"
KERNEL = "import warp as wp\n\n@wp.kernel\ndef k{0}(a: wp.array(dtype=float)):\n    a[0] = {0}.0\n\n"


@pytest.fixture
def many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process pays for every byte."""
    monkeypatch.setattr(extraction, "_WORTH_A_PROCESS", 1)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for number in range(6):
        (tmp_path / f"file{number}.py").write_text(KERNEL.format(number))
    return tmp_path


def linted(path: Path, jobs: int) -> Result:
    trees = find_trees([str(path)], SettingsLookup())
    return lint_trees(trees, catch_crashes=True, jobs=jobs)


@pytest.mark.usefixtures("many_processes")
def test_any_number_of_processes_finds_the_same() -> None:
    alone, two, three = (linted(FIXTURES, jobs) for jobs in (1, 2, 3))
    assert alone.findings
    assert alone.findings == two.findings == three.findings
    assert alone.problems == two.problems == three.problems


@pytest.mark.usefixtures("many_processes")
def test_what_cannot_be_parsed(project: Path) -> None:
    (project / "file3.py").write_text("import warp\n(\n")
    alone, two = linted(project, 1), linted(project, 2)
    assert "WRP903" in {finding.code for finding in two.findings}
    assert two.findings == alone.findings


@pytest.mark.usefixtures("many_processes")
def test_crash_in_a_process(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(source: Source) -> FileFacts:
        if source.path.endswith("file3.py"):
            raise ZeroDivisionError("planted")
        return extract(source)

    monkeypatch.setattr(extraction, "extract", crash)
    (problem,) = linted(project, 2).problems
    assert "file3.py: ZeroDivisionError: planted" in problem.message
    assert "in crash" in problem.details


@pytest.mark.usefixtures("many_processes")
def test_process_that_is_killed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getpid()

    def die(source: Source) -> FileFacts:
        if source.path.endswith("file3.py") and os.getpid() != parent:
            os._exit(1)
        return extract(source)

    monkeypatch.setattr(extraction, "extract", die)
    assert linted(project, 2).findings == linted(project, 1).findings


def test_little_work_takes_one_process(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = set()

    def watched(source: Source) -> FileFacts:
        pids.add(os.getpid())
        return extract(source)

    monkeypatch.setattr(extraction, "extract", watched)
    linted(project, 8)
    assert pids == {os.getpid()}


@pytest.mark.skipif(sys.platform == "win32", reason="has no process groups")
def test_interrupt_leaves_no_process_behind(tmp_path: Path) -> None:
    body = "".join(KERNEL.format(number) for number in range(2000))
    for number in range(30):
        (tmp_path / f"file{number}.py").write_text(body)
    command = [sys.executable, "-m", "warp_lint", str(tmp_path), "--jobs", "3", "--no-cache"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(3)
    os.killpg(run.pid, signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert b"Traceback" not in errors
    with pytest.raises(ProcessLookupError):
        os.killpg(run.pid, 0)
