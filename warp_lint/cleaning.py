"""The folders that runs leave behind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from warp_lint.repetition import CACHE_FOLDER
from warp_lint.settings import Settings

_NOT_SEARCHED = frozenset({".git", ".hg", "node_modules"})


def find_caches(paths: Iterable[str]) -> Iterator[Path]:
    """The caches in and below directories, and those of the projects that the directories are in.

    Links are not followed. Raises `SettingsError`.
    """
    seen: set[Path] = set()
    for path in paths:
        candidates = [Path(Settings.nearest(path).root, CACHE_FOLDER)]
        for directory, names, _ in os.walk(path):
            if CACHE_FOLDER in names:
                candidates.append(Path(directory, CACHE_FOLDER).absolute())
            names[:] = sorted(set(names) - _NOT_SEARCHED - {CACHE_FOLDER})
        for candidate in candidates:
            if candidate not in seen and candidate.is_dir() and not candidate.is_symlink():
                seen.add(candidate)
                yield candidate


def remove(cache: Path) -> None:
    """Remove a cache with all that it holds; raises `OSError`."""
    shutil.rmtree(cache)
