"""Reading the files of a tree: which of them matter, and what those say.

Facts come from where they are cheapest: from an earlier round of this process, from the cache, or from the
file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from warp_lint.cache import Cache, Caches, KnownFile, Stamp, stamp_of_data
from warp_lint.extraction import extraction
from warp_lint.facts.encoding import decoded, encoded
from warp_lint.facts.parsing import ParseFailure
from warp_lint.facts.records import FileFacts
from warp_lint.relevance import Outline, outline, relevant
from warp_lint.source import Source, SourceError
from warp_lint.trees import Tree

Progress = Callable[[int, int], None]
"""Told how many of how many files are done."""

KnownFacts: TypeAlias = dict[str, tuple[bytes, FileFacts]]
"""By path, the digest of a file's bytes and what they say."""

Failure: TypeAlias = SourceError | ParseFailure
"""Why a file has no facts; both kinds have a message, a line and a column."""

Guard: TypeAlias = Callable[[str], AbstractContextManager[None]]
"""Decides what becomes of a crash while something is done, which the string names."""


class Reading(NamedTuple):
    """What reading a tree gives."""

    facts: list[FileFacts]
    """Of the files that can matter."""
    failures: dict[str, Failure]
    commented: set[str]
    """The files that may hold comments for the linter, whether their facts matter or not."""
    stamps: dict[str, Stamp]
    """How the files were that could be read from the disk."""


class Reader:
    """Reads the files of one run: each is the same each time, whatever happens to it meanwhile."""

    def __init__(
        self,
        guard: Guard,
        *,
        texts: Mapping[str, bytes] | None = None,
        known_facts: KnownFacts | None = None,
        caches: Caches | None = None,
        jobs: int = 1,
        progress: Progress | None = None,
    ) -> None:
        self._guard = guard
        self._texts = texts or {}
        self._known_facts = known_facts if known_facts is not None else {}
        self._caches = caches
        self._jobs = jobs
        self._progress = progress
        self._seen: dict[str, bytes] = {}
        self._stamps: dict[str, Stamp] = {}

    def source(self, path: str) -> Source:
        """The source of a file: what a rule saw is what its fix is made on. Raises `SourceError`."""
        data = self._seen.get(path)
        if data is None:
            data = self._data(path)
            stamp = self._stamps.get(path)
            if stamp is not None and stamp_of_data(data, None).digest != stamp.digest:
                raise SourceError("the file was changed while it was linted")
            self._seen[path] = data
        return Source.from_bytes(path, data)

    def read(self, tree: Tree) -> Reading:
        """Read the files of a tree."""
        cache = self._caches.of(tree) if self._caches is not None else None
        stored = cache.files() if cache is not None else {}
        failures: dict[str, Failure] = {}
        files: dict[str, KnownFile] = {}
        for path in (*tree.asked, *tree.others):
            try:
                files[path] = self._file(path, stored.get(path))
            except SourceError as error:
                failures[path] = error
        outlines = {path: Outline(file.concerns_warp, file.imports) for path, file in files.items()}
        matter = relevant(outlines) | tree.named
        wanted = [path for path in files if path in matter]
        facts = {path: known for path in wanted if (known := self._known(path, files[path])) is not None}
        self._extract([path for path in wanted if path not in facts], facts, failures)
        for path in wanted:
            if path in facts:
                self._known_facts[path] = (files[path].stamp.digest, facts[path])
        if cache is not None:
            self._store(cache, stored, files, facts)
        return Reading(
            facts=[facts[path] for path in wanted if path in facts],
            failures=failures,
            commented={path for path, file in files.items() if file.may_hold_comments},
            stamps=self._stamps,
        )

    def _file(self, path: str, stored: KnownFile | None) -> KnownFile:
        """What can be known of a file without parsing it; raises `SourceError`."""
        status = None
        if path not in self._texts:
            try:
                status = os.stat(path)  # noqa: PTH116 - where one file has changed, most of reading is this
            except OSError as error:
                raise _unreadable(error) from error
            if stored is not None and (status.st_mtime_ns, status.st_size) == stored.stamp[:2]:
                self._stamps[path] = stored.stamp
                return stored
        data = self._data(path)
        stamp = stamp_of_data(data, status)
        if status is not None:
            self._stamps[path] = stamp
        if stored is not None and stored.stamp.digest == stamp.digest:
            return replace(stored, stamp=stamp)
        code = Source.from_bytes(path, data).code
        may_hold_comments = b"warp-lint" in code or b"WRP" in code
        return KnownFile(stamp, *outline(code), may_hold_comments)

    def _data(self, path: str) -> bytes:
        """The bytes of a file; raises `SourceError`."""
        if path in self._texts:
            return self._texts[path]
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise _unreadable(error) from error

    def _known(self, path: str, file: KnownFile) -> FileFacts | None:
        """The facts of a file, when it need not be parsed for them."""
        digest, facts = self._known_facts.get(path, (b"", None))
        if facts is not None and digest == file.stamp.digest:
            return facts
        return decoded(file.facts) if file.facts else None

    def _extract(self, paths: list[str], facts: dict[str, FileFacts], failures: dict[str, Failure]) -> None:
        """Add the facts of files, or why there are none."""
        sources: dict[str, Source] = {}
        for path in paths:
            try:
                sources[path] = self.source(path)
            except SourceError as error:
                failures[path] = error
        size = sum(len(source.data) for source in sources.values())
        with extraction(self._jobs, size) as begin:
            begun = {path: begin(source) for path, source in sources.items()}
            for done, (path, finish) in enumerate(begun.items()):
                if self._progress:
                    self._progress(done, len(begun))
                with self._guard(f"reading {path}"):
                    try:
                        facts[path] = finish()
                    except ParseFailure as failure:
                        failures[path] = failure

    def _store(
        self,
        cache: Cache,
        stored: Mapping[str, KnownFile],
        files: Mapping[str, KnownFile],
        facts: Mapping[str, FileFacts],
    ) -> None:
        """Keep what is known of files now, and what was known of others of the project that still exist."""
        new = {
            path: replace(file, facts=encoded(facts[path])) if not file.facts and path in facts else file
            for path, file in files.items()
            if path not in self._texts
        }
        if any(stored.get(path) is not file for path, file in new.items()):
            kept = {path: file for path, file in stored.items() if path not in files and os.path.exists(path)}  # noqa: PTH110
            cache.store_files({**kept, **new})


def _unreadable(error: OSError) -> SourceError:
    return SourceError(f"cannot read the file: {error.strerror or error}")
