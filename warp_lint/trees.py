"""From the paths that are given to the trees of files that are linted together.

Rules ask what happens elsewhere in the project: who launches a kernel, whether anything is differentiated.
So files are never linted one by one. Files with the same settings file, or without one in the same project
directory, make one tree. A directory that is given is taken for the whole project; a file that is given
brings the rest of its project along, unreported, so that it gets the findings it gets there.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from warp_lint.files import FileError, FoundFiles, find_files
from warp_lint.settings import SETTINGS_FILES, Settings

_PROJECT_MARKERS = (*SETTINGS_FILES, "setup.py", "setup.cfg", ".git")


class Tree(NamedTuple):
    """Files that are linted together; absolute paths."""

    settings: Settings
    asked: list[str]
    """The files whose findings are wanted."""
    named: frozenset[str]
    """Those of them that were given by name, not found in a directory."""
    others: list[str]
    """The files that are read only because what happens in them matters to those asked for."""


class Trees(NamedTuple):
    trees: list[Tree]
    errors: list[FileError]
    searched: frozenset[str] = frozenset()
    """The directories that were gone through for their files."""


class SettingsLookup:
    """Finds the settings of paths: those given, else the nearest, with the command line's on top."""

    def __init__(self, given: Settings | None = None, overrides: Mapping[str, Any] | None = None) -> None:
        self._given = given
        self._overrides = overrides or {}
        self._below: dict[tuple[str, str], Settings | None] = {}

    def nearest(self, path: str) -> Settings:
        """The settings that count at a file or directory; raises `SettingsError`."""
        return self._overridden(self._given or Settings.nearest(path))

    def between(self, top: str, file: str) -> Settings | None:
        """The settings of the nearest settings file above ``file`` and below the directory ``top``."""
        directory = str(Path(file).parent)
        if self._given is not None or directory == top or not directory.startswith(top):
            return None
        if (top, directory) not in self._below:
            self._below[top, directory] = self._own(directory) or self.between(top, directory)
        return self._below[top, directory]

    def _own(self, directory: str) -> Settings | None:
        if not any(Path(directory, name).is_file() for name in SETTINGS_FILES):
            return None
        settings = Settings.nearest(directory)
        is_own = settings.file is not None and str(Path(settings.file).parent) == directory
        return self._overridden(settings) if is_own else None

    def _overridden(self, settings: Settings) -> Settings:
        return settings.with_overrides(self._overrides, root=str(Path.cwd())) if self._overrides else settings


def find_trees(
    paths: Iterable[str],
    lookup: SettingsLookup,
    *,
    in_memory: Container[str] = (),
    whole_projects: bool = True,
) -> Trees:
    """The trees that hold the files at and under ``paths``.

    ``in_memory`` are absolute paths that count as files whether they exist or not. Without
    ``whole_projects`` nothing is read but what is given. Raises `SettingsError` when a settings file on the
    way cannot be followed.
    """
    asked: dict[Settings, set[str]] = defaultdict(set)
    named: dict[Settings, set[str]] = defaultdict(set)
    errors: list[FileError] = []
    searched: set[str] = set()
    for path in (os.path.abspath(path) for path in paths):  # noqa: PTH100 - resolves `..`
        settings = lookup.nearest(path)
        asked.setdefault(settings, set())  # its selectors are checked even when no file is found
        found = FoundFiles([path], []) if path in in_memory else find_files([path], settings)
        errors += found.errors
        searched |= {*found.searched, path}
        for file in found.files:
            asked[lookup.between(path, file) or settings].add(file)
            if file == path:
                named[settings].add(file)
    trees = []
    for settings, files in asked.items():
        brings_project = whole_projects and settings in named and is_project(settings)
        others: set[str] = set()
        if brings_project:
            project = find_files([settings.root], settings)
            searched.update(project.searched)
            others = {file for file in project.files if lookup.between(settings.root, file) is None} - files
        trees.append(Tree(settings, sorted(files), frozenset(named[settings]), sorted(others)))
    return Trees(trees, errors, frozenset(searched))


def is_project(settings: Settings) -> bool:
    """Whether the root of the settings is the top of a project, and not just where a lone file lies."""
    return any(Path(settings.root, marker).exists() for marker in _PROJECT_MARKERS)
