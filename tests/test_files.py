"""Discovery: what is linted is what git would track and ruff would read."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from warp_lint.files import FileError, find_files
from warp_lint.settings import Settings


def plant(root: Path, names: Iterable[str]) -> None:
    """Create empty files; a name that ends with ``/`` is a directory."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.touch()


def found(root: Path, *paths: str, **overrides: Any) -> list[str]:
    """Names, relative to ``root``, of the files found below ``root / path`` for each path."""
    table = {key.replace("_", "-"): value for key, value in overrides.items()}
    result = find_files(
        [str(root / path) for path in paths or ("",)], Settings(str(root)).with_overrides(table)
    )
    assert not result.errors
    return [os.path.relpath(file, root) for file in result.files]


class TestPaths:
    def test_python_files_sorted(self, tmp_path: Path) -> None:
        plant(tmp_path, ["b.py", "a/z.pyi", "a/b.py", "a.py", "c.txt", "d.pyc", "e.ipynb", "py", "f.py/"])
        assert found(tmp_path) == ["a.py", "a/b.py", "a/z.pyi", "b.py", "e.ipynb"]

    def test_each_file_once(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a/b.py"])
        assert found(tmp_path, "a/b.py", "a", "", "a/../a/./b.py") == ["a/b.py"]

    def test_order_of_paths_does_not_matter(self, tmp_path: Path) -> None:
        plant(tmp_path, ["b.py", "a.py"])
        assert found(tmp_path, "b.py", "a.py") == found(tmp_path, "a.py", "b.py") == ["a.py", "b.py"]

    def test_relative_paths(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plant(tmp_path, ["a.py"])
        monkeypatch.chdir(tmp_path)
        assert find_files(["."], Settings(str(tmp_path))).files == [str(tmp_path / "a.py")]

    def test_given_files_need_no_suffix(self, tmp_path: Path) -> None:
        plant(tmp_path, ["script", "a.py"])
        assert found(tmp_path, "script") == ["script"]

    def test_missing_path(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a.py"])
        missing = str(tmp_path / "missing")
        result = find_files([missing, missing, str(tmp_path)], Settings(str(tmp_path)))
        assert result.files == [str(tmp_path / "a.py")]
        assert result.errors == [FileError(missing, "no such file or directory")]

    def test_unreadable_directory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plant(tmp_path, ["a.py", "locked/b.py"])
        scandir = os.scandir

        def refuse(path: str) -> Any:
            if path.endswith("locked"):
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refuse)
        result = find_files([str(tmp_path)], Settings(str(tmp_path)))
        assert result.files == [str(tmp_path / "a.py")]
        assert result.errors == [
            FileError(str(tmp_path / "locked"), "cannot search the directory: Permission denied")
        ]

    def test_name_that_is_no_text(self, tmp_path: Path) -> None:
        try:
            plant(tmp_path, [os.fsdecode(b"\xff.py")])
        except OSError:
            return  # this file system knows only text
        result = find_files([str(tmp_path)], Settings(str(tmp_path)))
        assert result.files == []
        assert result.errors == [FileError(f"{tmp_path}/\\udcff.py", "the path is not valid text")]


class TestLinks:
    def test_loops_are_not_entered(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a/b.py"])
        (tmp_path / "a/up").symlink_to(tmp_path)
        (tmp_path / "a/self").symlink_to("self")
        (tmp_path / "a/self.py").symlink_to("self.py")
        assert found(tmp_path) == ["a/b.py"]

    def test_links_to_files_are_files(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a.py"])
        (tmp_path / "b.py").symlink_to("a.py")
        (tmp_path / "broken.py").symlink_to("missing.py")
        assert found(tmp_path) == ["a.py", "b.py"]

    def test_a_link_that_is_given_is_followed(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a/b.py"])
        (tmp_path / "c").symlink_to("a")
        assert found(tmp_path, "c") == ["c/b.py"]


class TestExclude:
    TREE = (
        "a.py",
        "venv/b.py",
        "src/build/c.py",
        "src/d.py",
        "src/gen/e.py",
        "src/gen_pb2.py",
        "tests/gen/f.py",
    )

    @pytest.mark.parametrize(
        ("overrides", "files"),
        [
            ({}, ["a.py", "src/d.py", "src/gen/e.py", "src/gen_pb2.py", "tests/gen/f.py"]),
            ({"extend_exclude": ["gen"]}, ["a.py", "src/d.py", "src/gen_pb2.py"]),
            ({"extend_exclude": ["src/gen"]}, ["a.py", "src/d.py", "src/gen_pb2.py", "tests/gen/f.py"]),
            ({"extend_exclude": ["./src/gen"]}, ["a.py", "src/d.py", "src/gen_pb2.py", "tests/gen/f.py"]),
            ({"extend_exclude": ["*_pb2.py", "tests/"]}, ["a.py", "src/d.py", "src/gen/e.py"]),
            ({"extend_exclude": ["**/gen/*.py"]}, ["a.py", "src/d.py", "src/gen_pb2.py"]),
            ({"extend_exclude": ["{src,tests}"]}, ["a.py"]),
            (
                {"exclude": ["tests", "src"]},
                ["a.py", "venv/b.py"],
            ),
        ],
    )
    def test_patterns(self, tmp_path: Path, overrides: dict[str, Any], files: list[str]) -> None:
        plant(tmp_path, self.TREE)
        assert found(tmp_path, **overrides) == files

    def test_what_is_given_is_taken(self, tmp_path: Path) -> None:
        plant(tmp_path, self.TREE)
        assert found(tmp_path, "venv/b.py", "src/build") == ["src/build/c.py", "venv/b.py"]

    def test_force_exclude(self, tmp_path: Path) -> None:
        plant(tmp_path, self.TREE)
        assert found(tmp_path, "venv/b.py", "src/build", "a.py", force_exclude=True) == ["a.py"]
        assert found(tmp_path, "src/gen/e.py", extend_exclude=["src"], force_exclude=True) == []

    def test_force_exclude_stops_at_the_root(self, tmp_path: Path) -> None:
        root = tmp_path / "build/project"
        plant(root, ["a.py"])
        assert found(root, "a.py", force_exclude=True) == ["a.py"]


def git(root: Path, *arguments: str) -> str:
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "HOME": str(root),
    }
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def known_to_git(root: Path) -> list[str]:
    """The files below ``root`` that git would add."""
    return sorted(git(root, "ls-files", "--others", "--exclude-standard").splitlines())


class TestIgnoreFiles:
    TREE = ("a.py", "b.py", "b/a.py", "b/c.py", "b/c/a.py", "c/b/a.py", "c/d/e/a.py", "c/d/e/b.py", "d/#x.py")

    @pytest.mark.parametrize(
        "patterns",
        [
            "",
            "b",
            "b/",
            "/b",
            "/a.py",
            "*.py\n!a.py",
            "!a.py\n*.py",
            "b/*\n!b/c",
            "b/**",
            "**/b",
            "c/**/a.py",
            "c/*/e",
            "*/a.py",
            "b/c/",
            "# a.py\n\n\\#x.py",
            "[ab].py",
            "?.py",
            "a.py  ",
            "a.py\\ ",
            "!\n/\n[\n***",
            "*\n!*/\n!e/*.py",
            "d/e",
            "c/d/e/a.py\n!a.py",
        ],
    )
    def test_one_file_as_git_reads_it(self, tmp_path: Path, patterns: str) -> None:
        plant(tmp_path, self.TREE)
        git(tmp_path, "init", "-q")
        (tmp_path / ".gitignore").write_text(patterns)
        known = known_to_git(tmp_path)
        assert found(tmp_path) == [name for name in known if name.endswith(".py")]

    @given(
        ignore_files=st.dictionaries(
            st.sampled_from(["", "b", "c", "c/d"]),
            st.lists(
                st.from_regex(r"\A!?/?(\*\*/)?([abcde]|\*|[ab*]\.py|d/e|c/\*\*|\?\.py|\[a-c\]\*)/?\Z"),
                max_size=4,
            ),
            max_size=3,
        )
    )
    @hypothesis_settings(
        max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    def test_several_files_as_git_reads_them(
        self, tmp_path: Path, ignore_files: dict[str, list[str]]
    ) -> None:
        plant(tmp_path, self.TREE)
        git(tmp_path, "init", "-q")
        for old in tmp_path.rglob(".gitignore"):
            old.unlink()
        for directory, patterns in ignore_files.items():
            (tmp_path / directory / ".gitignore").write_text("\n".join(patterns))
        known = known_to_git(tmp_path)
        assert found(tmp_path) == [name for name in known if name.endswith(".py")]

    def test_files_above_count(self, tmp_path: Path) -> None:
        plant(tmp_path, [".git/", "a/b/c.py", "a/b/d.py", "a/b/e.py"])
        (tmp_path / ".gitignore").write_text("c.py\n/a/b/d.py\n")
        (tmp_path / "a/.gitignore").write_text("!c.py\n")
        assert found(tmp_path, "a/b") == ["a/b/c.py", "a/b/e.py"]

    def test_what_is_given_is_taken(self, tmp_path: Path) -> None:
        plant(tmp_path, [".git/", "a/b.py", "a/c/d.py", "e.py"])
        (tmp_path / ".gitignore").write_text("a\ne.py\n")
        assert found(tmp_path, "a", "e.py") == ["a/b.py", "a/c/d.py", "e.py"]

    def test_exclude_file_of_the_repository(self, tmp_path: Path) -> None:
        plant(tmp_path, [".git/info/", "a.py", "b.py"])
        (tmp_path / ".git/info/exclude").write_text("a.py\n")
        assert found(tmp_path) == ["b.py"]

    def test_repository_in_a_repository(self, tmp_path: Path) -> None:
        plant(tmp_path, [".git/", "a.py", "inner/.git/", "inner/a.py", "inner/b.py"])
        (tmp_path / ".gitignore").write_text("a.py\n")
        (tmp_path / "inner/.gitignore").write_text("b.py\n")
        assert found(tmp_path) == ["inner/a.py"]

    def test_work_tree_whose_git_is_a_file(self, tmp_path: Path) -> None:
        plant(tmp_path, [".git", "a.py", "b.py"])
        (tmp_path / ".gitignore").write_text("a.py\n")
        assert found(tmp_path) == ["b.py"]

    def test_outside_of_a_repository_they_do_not_count(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a.py"])
        (tmp_path / ".gitignore").write_text("a.py\n")
        assert found(tmp_path) == ["a.py"]

    def test_respect_gitignore_off(self, tmp_path: Path) -> None:
        plant(tmp_path, [".git/", "a.py"])
        (tmp_path / ".gitignore").write_text("a.py\n")
        assert found(tmp_path, respect_gitignore=False) == ["a.py"]

    def test_ignore_file_that_cannot_be_read(self, tmp_path: Path) -> None:
        plant(tmp_path, [".git/", "a.py", ".gitignore/"])
        result = find_files([str(tmp_path)], Settings(str(tmp_path)))
        assert result.files == [str(tmp_path / "a.py")]
        assert result.errors == [
            FileError(str(tmp_path / ".gitignore"), "cannot read the file: Is a directory")
        ]
