"""Which files of a tree can matter to the rules: the others are never parsed.

A file matters when it imports Warp, when it imports, by whatever way, from a file that matters (it may
re-export a kernel or call a function that launches one), or when a file that imports Warp imports it, by
whatever way (it may hold a block dimension). Imports are read off the raw bytes and matched to files by the
end of their paths, so that nothing needs to be known about ``sys.path``; both err on the side of parsing.
Only what begins inside of a package is no match: ``import types`` is not ``warp/types.py``, unless beside it.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from warp_lint.source import WARP_ALIAS, concerns_warp, imported_modules


class Outline(NamedTuple):
    """What is known of a file without parsing it."""

    concerns_warp: bool
    imports: tuple[tuple[str, tuple[str, ...]], ...]
    """As `warp_lint.source.imported_modules` gives them."""


def outline(data: bytes) -> Outline:
    """The outline of a file with these bytes."""
    imports = tuple(imported_modules(data))
    return Outline(concerns_warp(data) and _imports_warp(data, imports), imports)


def _imports_warp(data: bytes, imports: Iterable[tuple[str, tuple[str, ...]]]) -> bool:
    """Whether a file may get hold of Warp by itself: imports it, from wherever, or asks for it by a string.

    The word alone is no sign: there are warped images and the winding number ``wp``. One that finds ``wp``
    in a file of the project imports from a file that matters.
    """
    return _ASKED_FOR.search(data) is not None or any(
        "warp" in module.split(".")
        or not {"warp", "wp"}.isdisjoint(names)
        or ("*" in names and WARP_ALIAS.search(data) is not None)
        for module, names in imports
    )


_ASKED_FOR = re.compile(rb"""['"]warp['".]|(?:from|import)[\s\\(]+warp(?!\w)|as[ \t]+wp(?!\w)""")


def relevant(outlines: Mapping[str, Outline]) -> set[str]:
    """The paths, among those given (absolute, each with its outline), of the files that matter."""
    seeds = {path for path, one in outlines.items() if one.concerns_warp}
    if not seeds:
        return set()
    index = _ModuleIndex(outlines)
    imported = {path: set(index.files_imported_by(path, one)) for path, one in outlines.items()}
    importers: dict[str, set[str]] = defaultdict(set)
    for path, targets in imported.items():
        for target in targets:
            importers[target].add(path)
    return _reachable(seeds, importers) | _reachable(seeds, imported)


def _reachable(seeds: Iterable[str], edges: Mapping[str, set[str]]) -> set[str]:
    reached = set(seeds)
    waiting = list(reached)
    while waiting:
        new = edges.get(waiting.pop(), set()) - reached
        reached |= new
        waiting.extend(new)
    return reached


class _ModuleIndex:
    """Finds the files that a module name can stand for."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_last_name: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._packages: dict[str, bool] = {"": False}
        for path in paths:
            stem = _stem(path)
            self._by_last_name[_last(stem)].append((stem, path))
            if stem != path.rpartition(".")[0]:
                self._packages[stem] = True

    def files_imported_by(self, path: str, outline: Outline) -> Iterator[str]:
        """The files that the imports of a file may execute or take names from."""
        for module, names in outline.imports:
            absolute = module.lstrip(".")
            level = len(module) - len(absolute)
            # the directory that a relative import starts from
            start = path.rsplit(_SLASH, level)[0] if level else ""
            beside = path.rpartition(_SLASH)[0]
            parts = absolute.split(".") if absolute else []
            if not parts:
                yield from self._files(start, beside)
            # `import a.b` executes `a` too; `from a import b` may mean the module `a.b`
            for end in range(1, len(parts) + 1):
                yield from self._files(_SLASH.join((start, *parts[:end])), beside)
            for name in names:
                yield from self._files(_SLASH.join((start, *parts, name)), beside)

    def _files(self, ending: str, beside: str) -> Iterator[str]:
        """The files whose paths end so, from a directory that may be on the path: no package, or the one
        ``beside`` which the import stands."""
        for stem, path in self._by_last_name.get(_last(ending), ()):
            if stem.endswith(ending):
                top = stem[: len(stem) - len(ending)]
                if top == beside or not self._is_in_package(top):
                    yield path

    def _is_in_package(self, directory: str) -> bool:
        """Whether a directory is a package, or below one and so part of it."""
        known = self._packages.get(directory)
        if known is None:
            outer, _, name = directory.rpartition(_SLASH)
            known = self._packages[directory] = name.isidentifier() and self._is_in_package(outer)
        return known


_SLASH = os.sep


def _stem(path: str) -> str:
    """The path that a module's dotted name ends: without ``.py``, a package named by its folder."""
    stem, dot, _ = path.rpartition(".")
    return stem.removesuffix(f"{_SLASH}__init__") if dot else path


def _last(path: str) -> str:
    return path.rpartition(_SLASH)[2]
