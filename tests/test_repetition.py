"""The same command again: it prints the same, for next to nothing, as long as nothing has changed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.test_cache import KERNEL_IN_FUNCTION
from tests.test_cli import assert_bears_reader_that_leaves
from warp_lint import cli, repetition, witnesses
from warp_lint.repetition import CACHE_FOLDER

IMPORTED = {"__future__", "binascii", "warp_lint", "warp_lint.__main__", "warp_lint.repetition"}
"""All that a repetition needs beside what Python starts with."""


class Ran(NamedTuple):
    status: int
    output: str
    is_repeated: bool
    """Whether it printed what it had printed before, and did nothing else."""


class Work:
    """A project, in which commands are run."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = folder
        self.root = folder / "work"
        self.monkeypatch = monkeypatch
        self._capsys = capsys
        self.write("pyproject.toml", '[tool.warp-lint]\nselect = ["WRP101"]\n')
        self.write("package/kernels.py", KERNEL_IN_FUNCTION)
        self.write("notes/notes.txt", "")
        self.write("all.toml", "exclude = []\n")
        monkeypatch.chdir(self.root)
        # somebody may be working on the linter
        monkeypatch.setattr(witnesses, "sources", lambda: ())

    def write(self, name: str, text: str) -> None:
        """Write a file that nobody has changed for a while."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.age()

    def age(self) -> None:
        """Make the times of what has just changed those of an hour ago, different from all before."""
        for path in (self.root, *self.root.rglob("*")):
            now = time.time()
            if CACHE_FOLDER not in path.parts and path.lstat().st_mtime > now - 600:
                os.utime(path, (now - 3600, now - 3600), follow_symlinks=False)

    def run(self, *arguments: str) -> Ran:
        """What the console script does, in this process."""
        status = repetition.answer(list(arguments))
        is_repeated = status is not None
        if status is None:
            status = cli.run(arguments)
        return Ran(status, self._capsys.readouterr().out, is_repeated)

    def make_known(self, *arguments: str) -> Ran:
        """Run a command until it is repeated: first it lints, and makes the folder of the cache, then it
        answers from the cache, and then it need not."""
        self.run(*arguments)
        self.age()
        first = self.run(*arguments)
        again = self.run(*arguments)
        assert not first.is_repeated
        assert again.is_repeated
        assert again[:2] == first[:2]
        return again


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Work:
    return Work(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("package",),
        ("package/kernels.py",),
        ("--output-format", "json"),
        ("--output-format=full", "--unsafe-fixes"),
        ("--statistics",),
        ("--exit-zero", "-q"),
        ("--isolated", "--select", "ALL", "."),
        ("--cache-dir", "../kept"),
        ("--cache-dir=../kept",),
        ("--config", "all.toml"),
    ],
)
def test_same_command_prints_the_same(work: Work, arguments: tuple[str, ...]) -> None:
    without = work.run(*arguments, "--no-cache")
    again = work.make_known(*arguments)
    assert again[:2] == without[:2]
    assert "WRP101" in again.output


def test_repetition_imports_next_to_nothing(work: Work) -> None:
    """Three runs of the console script: the last one repeats."""
    program = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
        "from warp_lint.__main__ import main; main()"
    )
    bare = subprocess.run(
        [sys.executable, "-c", "import atexit, sys; print(*sys.modules)"], capture_output=True, check=True
    )
    outputs: list[tuple[int, bytes]] = []
    modules = {"warp_lint.cli"}
    while "warp_lint.cli" in modules and len(outputs) < 20:
        work.age()
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
        outputs.append((run.returncode, run.stdout))
        modules = set(run.stderr.decode().splitlines()[-1].split())
    assert len(set(outputs)) == 1
    assert modules - set(bare.stdout.decode().split()) <= IMPORTED


def change_file(work: Work) -> None:
    work.write("package/kernels.py", KERNEL_IN_FUNCTION.replace("2.0", "3.0"))


def add_file_where_there_was_none(work: Work) -> None:
    work.write("notes/kernels.py", KERNEL_IN_FUNCTION)


def add_folder(work: Work) -> None:
    work.write("more/kernels.py", KERNEL_IN_FUNCTION)


def remove_file(work: Work) -> None:
    (work.root / "package" / "kernels.py").unlink()


def change_settings(work: Work) -> None:
    work.write("pyproject.toml", '[tool.warp-lint]\nselect = ["WRP102"]\n')


def add_settings_below(work: Work) -> None:
    work.write("package/warp-lint.toml", "select = []\n")


def add_requirements(work: Work) -> None:
    work.write("requirements.txt", "warp-lang>=1.16\n")


def add_repository(work: Work) -> None:
    (work.folder / ".git").mkdir()


def add_settings_above(work: Work) -> None:
    (work.folder / "ruff.toml").touch()


def change_variable(work: Work) -> None:
    work.monkeypatch.setenv("NO_COLOR", "1")


def cut_what_is_kept(work: Work) -> None:
    (kept,) = (work.root / CACHE_FOLDER).glob("again-*")
    kept.write_bytes(kept.read_bytes()[:-1])


def empty_what_is_kept(work: Work) -> None:
    (kept,) = (work.root / CACHE_FOLDER).glob("again-*")
    kept.write_bytes(b"")


@pytest.mark.parametrize(
    "change",
    [
        change_file,
        add_file_where_there_was_none,
        add_folder,
        remove_file,
        change_settings,
        add_settings_below,
        add_requirements,
        add_repository,
        add_settings_above,
        change_variable,
        cut_what_is_kept,
        empty_what_is_kept,
    ],
)
def test_change_ends_it(work: Work, change: Callable[[Work], None]) -> None:
    work.make_known()
    change(work)
    after = work.run()
    assert not after.is_repeated
    assert after[:2] == work.run("--no-cache")[:2]


def test_link_that_leads_somewhere_now(work: Work) -> None:
    (work.root / "linked.py").symlink_to(work.folder / "elsewhere.py")
    work.make_known()
    (work.folder / "elsewhere.py").write_text(KERNEL_IN_FUNCTION)
    after = work.run()
    assert not after.is_repeated
    assert "linked.py" in after.output


def test_file_brings_its_project_along(work: Work) -> None:
    """Its findings depend on all of it."""
    work.write("sizes.py", "SIZE = 1\n")
    work.make_known("package/kernels.py")
    work.write("sizes.py", "SIZE = 2\n")
    assert not work.run("package/kernels.py").is_repeated


def test_each_command_and_directory_for_itself(work: Work) -> None:
    work.make_known()
    assert not work.run(".").is_repeated
    assert work.run().is_repeated
    work.monkeypatch.chdir("package")
    assert not work.run().is_repeated


def test_what_is_young_is_not_relied_on(work: Work) -> None:
    """Another change may leave the same time and size."""
    work.run()
    (work.root / "package" / "kernels.py").touch()
    assert not work.run().is_repeated
    assert not work.run().is_repeated


@pytest.mark.parametrize(
    "arguments",
    [
        ("--fix",),
        ("--diff",),
        ("--no-cache",),
        ("--verbose",),
        ("--output-file", "found.txt"),
        ("--baseline", "baseline.json", "--write-baseline"),
        ("--show-files",),
    ],
)
def test_commands_that_do_more(work: Work, arguments: tuple[str, ...]) -> None:
    for _ in range(4):
        work.age()
        assert not work.run(*arguments).is_repeated


def test_cache_among_the_files(work: Work) -> None:
    """What is kept would change the directory that is searched."""
    for _ in range(4):
        work.age()
        assert not work.run("--cache-dir", "package").is_repeated


def test_lone_file_leaves_nothing_behind(work: Work) -> None:
    (work.root / "pyproject.toml").unlink()
    work.age()
    for _ in range(3):
        assert not work.run("package/kernels.py").is_repeated
    assert not list(work.folder.rglob("again-*"))


def test_reader_that_leaves_early(work: Work) -> None:
    work.write("comments.py", "# warp-lint: ignore[nothing]\n" * 2_000)
    work.make_known()
    assert_bears_reader_that_leaves(work.root)


def test_old_commands_are_forgotten(tmp_path: Path) -> None:
    for number in range(40):
        repetition.keep(str(tmp_path), [str(number)], 0, "", {}, time.time_ns())
    assert len(list(tmp_path.iterdir())) == 32
