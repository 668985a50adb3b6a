"""Which files of a tree can matter to the rules: the others are never parsed.

A file matters when it names Warp, when it imports, by whatever way, from a file that matters (it may
re-export a kernel or call a function that launches one), or when a file that names Warp imports it, by
whatever way (it may hold a block dimension). Imports are read off the raw bytes and matched to files by the
end of their paths, so that nothing needs to be known about ``sys.path``; both err on the side of parsing.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from warp_lint.source import concerns_warp, imported_modules


class Outline(NamedTuple):
    """What is known of a file without parsing it."""

    concerns_warp: bool
    imports: tuple[tuple[str, tuple[str, ...]], ...]
    """As `warp_lint.source.imported_modules` gives them."""


def outline(data: bytes) -> Outline:
    """The outline of a file with these bytes."""
    return Outline(concerns_warp(data), tuple(imported_modules(data)))


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
        for path in paths:
            stem = _stem(path)
            self._by_last_name[_last(stem)].append((stem, path))

    def files_imported_by(self, path: str, outline: Outline) -> Iterator[str]:
        """The files that the imports of a file may execute or take names from."""
        for module, names in outline.imports:
            absolute = module.lstrip(".")
            level = len(module) - len(absolute)
            # the directory that a relative import starts from
            start = path.rsplit(_SLASH, level)[0] if level else ""
            parts = absolute.split(".") if absolute else []
            if not parts:
                yield from self._files(start)
            # `import a.b` executes `a` too; `from a import b` may mean the module `a.b`
            for end in range(1, len(parts) + 1):
                yield from self._files(_SLASH.join((start, *parts[:end])))
            for name in names:
                yield from self._files(_SLASH.join((start, *parts, name)))

    def _files(self, ending: str) -> Iterator[str]:
        for stem, path in self._by_last_name.get(_last(ending), ()):
            if stem.endswith(ending):
                yield path


_SLASH = os.sep


def _stem(path: str) -> str:
    """The path that a module's dotted name ends: without ``.py``, a package named by its folder."""
    stem, dot, _ = path.rpartition(".")
    return stem.removesuffix(f"{_SLASH}__init__") if dot else path


def _last(path: str) -> str:
    return path.rpartition(_SLASH)[2]
