"""Which files are linted: the Python files under the paths given, without what is excluded or ignored."""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from warp_lint.repetition import CACHE_FOLDER
from warp_lint.settings import PathMatcher, Settings

SUFFIXES = (".py", ".pyi", ".ipynb")
"""How the names of Python files end; a file that is given by name may end otherwise."""

_GROUP_NAME = re.compile(r"\?P<\w+>")
# To git `a/**` is all that is below `a`, to pathspec `a` too.
_ALL_BELOW = re.compile(r"(/\*\*)(/?\s*)$")


class FileError(NamedTuple):
    """A path that cannot be searched, with the reason as one line."""

    path: str
    message: str


class FoundFiles(NamedTuple):
    """The absolute paths of the files to lint, sorted and each once, and what could not be searched."""

    files: list[str]
    errors: list[FileError]
    searched: Sequence[str] = ()
    """The directories that were gone through, and what has the name of a Python file there and is none."""


def find_files(paths: Iterable[str], settings: Settings) -> FoundFiles:
    """The Python files among ``paths`` and, recursively, in the directories among them.

    A path that is given is taken even when it is excluded or ignored; ``force-exclude`` lets exclusion
    win. A link to a directory is followed only when it is given, so that no loop is entered. As for git,
    ignore files count inside of a repository, from its top downwards.
    """
    search = _Search(settings)
    for path in paths:
        search.take(os.path.abspath(path))  # noqa: PTH100 - resolves `..`
    return FoundFiles(sorted(search.files), sorted(search.errors), sorted(search.searched))


class _Search:
    def __init__(self, settings: Settings) -> None:
        self.files: set[str] = set()
        self.errors: set[FileError] = set()
        self.searched: set[str] = set()
        self._settings = settings
        self._exclude = PathMatcher((*settings.exclude, *settings.extend_exclude))

    def take(self, path: str) -> None:
        if self._settings.force_exclude and self._is_excluded(path):
            return
        if os.path.isdir(path):  # noqa: PTH112
            self._search_below(path)
        elif os.path.exists(path):  # noqa: PTH110
            self._add_file(path)
        else:
            self._add_error(path, "no such file or directory")

    def _is_excluded(self, path: str) -> bool:
        """Whether the path, or a directory above it and below the root, matches ``exclude``."""
        root = Path(self._settings.root)
        return any(
            self._exclude.matches(str(part), part.name)
            for part in (Path(path), *Path(path).parents)
            if part != root and part.is_relative_to(root)
        )

    def _search_below(self, top: str) -> None:
        pending = [(top, self._ignores_above(top))]
        while pending:
            directory, ignores = pending.pop()
            try:
                with os.scandir(directory) as iterator:
                    entries = list(iterator)
            except OSError as error:
                self._add_error(directory, f"cannot search the directory: {error.strerror or error}")
                continue
            self.searched.add(directory)
            ignores = self._ignores_in(directory, {entry.name for entry in entries}, ignores)
            for entry in entries:
                name, path, is_directory = entry.name, entry.path, entry.is_dir(follow_symlinks=False)
                if not is_directory and not name.endswith(SUFFIXES):
                    continue
                if name == CACHE_FOLDER:  # ours, whatever is excluded
                    continue
                if self._exclude.matches(path, name) or _is_ignored(path, name, is_directory, ignores):
                    continue
                if is_directory:
                    pending.append((path, ignores))
                elif entry.is_file(follow_symlinks=False) or os.path.isfile(path):  # noqa: PTH113
                    self._add_file(path)
                else:
                    self.searched.add(path)

    def _ignores_above(self, top: str) -> _Ignores:
        """What the directories above ``top`` say, from the top of the git repository it is in downwards;
        nothing when they ignore it, since it is wanted all the same."""
        way = [Path(top), *Path(top).parents]
        repositories = [index for index, directory in enumerate(way) if (directory / ".git").exists()]
        way = way[: repositories[0] + 1][::-1] if repositories else []
        ignores: _Ignores = None
        for directory, below in itertools.pairwise(way):
            names = {name for name in (".git", ".gitignore") if (directory / name).exists()}
            ignores = self._ignores_in(str(directory), names, ignores)
            if _is_ignored(str(below), below.name, True, ignores):
                ignores = ()
        return ignores

    def _ignores_in(self, directory: str, names: set[str], ignores: _Ignores) -> _Ignores:
        """What counts in a directory that holds ``names``, where ``ignores`` count above it."""
        if not self._settings.respect_gitignore:
            return None
        if ".git" in names:
            exclude = Path(directory, ".git", "info", "exclude")
            ignores = (self._ignore_file(directory, exclude),) if exclude.is_file() else ()
        if ignores is not None and ".gitignore" in names:
            ignores = (*ignores, self._ignore_file(directory, Path(directory, ".gitignore")))
        return ignores

    def _ignore_file(self, directory: str, file: Path) -> _IgnoreFile:
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            self._add_error(str(file), f"cannot read the file: {error.strerror or error}")
            lines = []
        return _IgnoreFile(directory, lines)

    def _add_file(self, path: str) -> None:
        try:
            path.encode()
        except UnicodeEncodeError:
            # No report could name such a file.
            self._add_error(path, "the path is not valid text")
        else:
            self.files.add(path)

    def _add_error(self, path: str, message: str) -> None:
        self.errors.add(FileError(path.encode(errors="backslashreplace").decode(), message))


def _is_ignored(path: str, name: str, is_directory: bool, ignores: _Ignores) -> bool:
    for ignore_file in reversed(ignores or ()):
        verdict = ignore_file.verdict(path, name, is_directory)
        if verdict is not None:
            return verdict
    return False


class _IgnoreFile:
    """The patterns of one ``.gitignore``.

    A tree has many files and an ignore file many patterns. So the patterns without a slash, which look at
    names alone, are one expression, whose answers are kept by name, and the others are another.
    """

    def __init__(self, directory: str, lines: Sequence[str]) -> None:
        # Imported here: it is slow to import, and a tree without ignore files does without it.
        from pathspec import GitIgnoreSpec

        self._prefix_length = len(os.path.join(directory, ""))  # noqa: PTH118
        of_names: list[_Pattern] = []
        of_paths: list[_Pattern] = []
        for number, line in enumerate(lines):
            try:
                parsed = GitIgnoreSpec.from_lines([_ALL_BELOW.sub(r"\1/*\2", line)]).patterns
            except ValueError:  # git takes no notice of such a line
                continue
            patterns = of_paths if "/" in line.strip().rstrip("/") else of_names
            patterns += [
                _Pattern(number, pattern.regex.pattern, pattern.include)
                for pattern in parsed
                if pattern.include is not None and pattern.regex is not None
            ]
        self._last_of_names = functools.cache(_last_match(of_names))
        self._last_of_paths = _last_match(of_paths)

    def verdict(self, path: str, name: str, is_directory: bool) -> bool | None:
        """Whether a file or directory is ignored; None when no pattern speaks of it."""
        slash = "/" if is_directory else ""
        of_name = self._last_of_names(name + slash)
        of_path = self._last_of_paths(path[self._prefix_length :].replace(os.sep, "/") + slash)
        last = max(filter(None, (of_name, of_path)), default=None)
        return last.ignores if last else None


_Ignores: TypeAlias = tuple[_IgnoreFile, ...] | None
"""The ignore files that count in a directory, the nearest last; None outside of a repository."""


class _Pattern(NamedTuple):
    line: int
    expression: str
    ignores: bool


def _last_match(patterns: Sequence[_Pattern]) -> Callable[[str], _Pattern | None]:
    """A function that gives the last of the patterns that match a whole path."""
    latest_first = patterns[::-1]
    expression = re.compile("|".join(f"({_of_whole_path(pattern.expression)})" for pattern in latest_first))

    def last_match(path: str) -> _Pattern | None:
        match = expression.fullmatch(path) if latest_first else None
        # No group is inside of another one, so this is the group of the alternative that matched.
        return latest_first[match.lastindex - 1] if match and match.lastindex else None

    return last_match


def _of_whole_path(expression: str) -> str:
    """A pattern's expression, without groups, for `fullmatch`: what is below a directory that matches is
    no match of its own, since the search never gets there, or got there against a pattern."""
    nameless = _GROUP_NAME.sub("?:", expression)
    return nameless if nameless.startswith("^") else f".*{nameless}"
