"""Files are replaced whole or stay as they are, whatever goes wrong."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warp_lint.replacing import ReplaceError, leads_out, replace_files
from warp_lint.splicing import Change

OLD, NEW = b"old\r\n\xe9", b"new\n\xe8"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return old_file(tmp_path / "a.py")


def old_file(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(OLD)
    return path


def to_new(*files: Path) -> list[Change]:
    return [Change(str(file), OLD, NEW) for file in files]


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def failing(error: int) -> Callable[..., Any]:
    def fail(*_arguments: object, **_more: object) -> None:
        raise OSError(error, os.strerror(error))

    return fail


def test_new_bytes_take_the_place_of_the_old(file: Path) -> None:
    replace_files(to_new(file))
    assert file.read_bytes() == NEW
    assert names(file.parent) == {"a.py"}


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o2750])
def test_mode_stays(file: Path, mode: int) -> None:
    file.chmod(mode)
    replace_files(to_new(file))
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_owner_stays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Giving it to its owner is asked of the system, whoever that is."""
    owners = []
    monkeypatch.setattr(os, "fchown", lambda _descriptor, *owner: owners.append(owner))
    replace_files(to_new(file))
    assert owners == [(file.stat().st_uid, file.stat().st_gid)]


def test_time_does_not_stay(file: Path) -> None:
    """Or nobody would notice the change."""
    os.utime(file, (1_000_000_000, 1_000_000_000))
    replace_files(to_new(file))
    assert file.stat().st_mtime > 1_000_000_000


class TestLinks:
    def test_link_stays_one_and_its_file_is_replaced(self, tmp_path: Path) -> None:
        target = old_file(tmp_path / "real" / "a.py")
        link = tmp_path / "link.py"
        link.symlink_to(target)
        replace_files(to_new(link))
        assert link.readlink() == target
        assert target.read_bytes() == NEW
        assert names(tmp_path) == {"real", "link.py"}
        assert names(target.parent) == {"a.py"}

    def test_file_that_is_reached_in_two_ways_is_replaced_once(self, file: Path) -> None:
        link = file.with_name("link.py")
        link.symlink_to(file)
        replace_files(to_new(file))
        replace_files(to_new(link))
        assert link.is_symlink()
        assert file.read_bytes() == NEW

    def test_links_that_lead_out_of_a_directory(self, tmp_path: Path) -> None:
        inside, outside = old_file(tmp_path / "tree" / "a.py"), old_file(tmp_path / "other" / "a.py")
        tree = inside.parent
        (tree / "to_inside.py").symlink_to("a.py")
        (tree / "to_outside.py").symlink_to("../other/a.py")
        (tree / "loop.py").symlink_to("loop.py")
        (tree / "directory").symlink_to(outside.parent)
        (tmp_path / "tree-to-tree").symlink_to(tree)
        assert not leads_out(str(inside), str(tree))
        assert not leads_out(str(tree / "to_inside.py"), str(tree))
        assert not leads_out(str(tree / "loop.py"), str(tree))
        assert not leads_out(str(tmp_path / "tree-to-tree" / "a.py"), str(tmp_path / "tree-to-tree"))
        assert leads_out(str(tree / "to_outside.py"), str(tree))
        assert leads_out(str(tree / "directory" / "a.py"), str(tree))
        assert leads_out(f"{tree}-beside/a.py", str(tree))


class TestRefusal:
    """The file stays as it is, and nothing is left beside it."""

    @pytest.mark.parametrize(
        ("function", "error"),
        [
            ("os.fsync", errno.ENOSPC),
            ("os.fchown", errno.EPERM),
            ("tempfile.mkstemp", errno.EACCES),
            ("pathlib.Path.replace", errno.EPERM),
        ],
    )
    def test_when_the_system_refuses(
        self, file: Path, monkeypatch: pytest.MonkeyPatch, function: str, error: int
    ) -> None:
        monkeypatch.setattr(function, failing(error))
        with pytest.raises(ReplaceError, match=rf"{file}: cannot be .*: {os.strerror(error)}"):
            replace_files(to_new(file))
        assert file.read_bytes() == OLD
        assert names(file.parent) == {"a.py"}

    def test_when_the_disk_takes_only_a_part(self, file: Path) -> None:
        """The system stops the writing in the middle, as it does when the disk is full."""
        program = (
            "import resource, signal, sys\n"
            "from warp_lint.replacing import replace_files\n"
            "from warp_lint.splicing import Change\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
            "replace_files([Change(sys.argv[1], open(sys.argv[1], 'rb').read(), b'x' * 10000)])\n"
        )
        run = subprocess.run(
            [sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=False
        )
        assert f"ReplaceError: {file}: cannot be written: {os.strerror(errno.EFBIG)}" in run.stderr
        assert file.read_bytes() == OLD
        assert names(file.parent) == {"a.py"}

    def test_of_a_file_that_is_read_only(self, file: Path) -> None:
        file.chmod(0o444)
        with pytest.raises(ReplaceError, match="is read-only"):
            replace_files(to_new(file))
        assert file.read_bytes() == OLD

    def test_of_a_file_that_was_changed_meanwhile(self, file: Path) -> None:
        file.write_bytes(b"edited")
        with pytest.raises(ReplaceError, match="was changed by something else meanwhile"):
            replace_files(to_new(file))
        assert file.read_bytes() == b"edited"
        assert names(file.parent) == {"a.py"}

    def test_of_a_file_that_is_gone(self, file: Path) -> None:
        file.unlink()
        with pytest.raises(ReplaceError, match="cannot be written: No such file or directory"):
            replace_files(to_new(file))
        assert names(file.parent) == set()

    def test_of_a_link_that_leads_to_itself(self, tmp_path: Path) -> None:
        loop = tmp_path / "loop.py"
        loop.symlink_to("loop.py")
        with pytest.raises(ReplaceError, match="cannot be written"):
            replace_files(to_new(loop))


class TestSeveralFiles:
    def test_all_are_replaced(self, tmp_path: Path) -> None:
        files = [old_file(tmp_path / name / "a.py") for name in ("one", "two")]
        replace_files(to_new(*files))
        assert [file.read_bytes() for file in files] == [NEW, NEW]

    def test_none_is_when_one_was_changed_meanwhile(self, tmp_path: Path) -> None:
        first, second = old_file(tmp_path / "a.py"), old_file(tmp_path / "b.py")
        second.write_bytes(b"edited")
        with pytest.raises(ReplaceError, match=r"b\.py"):
            replace_files(to_new(first, second))
        assert (first.read_bytes(), second.read_bytes()) == (OLD, b"edited")
        assert names(tmp_path) == {"a.py", "b.py"}

    def test_those_before_get_their_old_bytes_back_when_the_system_refuses(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, second = old_file(tmp_path / "a.py"), old_file(tmp_path / "b.py")
        replace = Path.replace

        def replace_all_but_second(new: Path, target: Path) -> Path:
            if target == second:
                raise PermissionError(errno.EPERM, "in use")
            return replace(new, target)

        monkeypatch.setattr(Path, "replace", replace_all_but_second)
        with pytest.raises(ReplaceError, match=r"b\.py: cannot be replaced: in use"):
            replace_files(to_new(first, second))
        assert (first.read_bytes(), second.read_bytes()) == (OLD, OLD)
        assert names(tmp_path) == {"a.py", "b.py"}

    @pytest.mark.parametrize("after", [0, 1, 2])
    def test_process_that_is_killed_between_files_leaves_each_of_them_whole(
        self, tmp_path: Path, after: int
    ) -> None:
        files = [tmp_path / name for name in ("a.py", "b.py", "c.py")]
        for file in files:
            file.write_text("x = 1  # warp-lint: ignore[WRP101]\n" * 40)
        program = (
            "import os, pathlib, signal, sys\n"
            "from warp_lint import cli\n"
            "replace, left = pathlib.Path.replace, int(sys.argv[1])\n"
            "def replace_or_die(new, target):\n"
            "    global left\n"
            "    if not left:\n"
            "        os.kill(os.getpid(), signal.SIGKILL)\n"
            "    left -= 1\n"
            "    return replace(new, target)\n"
            "pathlib.Path.replace = replace_or_die\n"
            "cli.run(['--fix', '--isolated', sys.argv[2]])\n"
        )
        command = [sys.executable, "-c", program, str(after), str(tmp_path)]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        texts = [file.read_text() for file in files]
        assert texts[:after] == ["x = 1\n" * 40] * after
        assert texts[after:] == ["x = 1  # warp-lint: ignore[WRP101]\n" * 40] * (3 - after)
