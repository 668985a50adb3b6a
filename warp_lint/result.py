"""What a run gives. Importing this imports neither rules nor LibCST: a run that finds its answer in the cache
needs them for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from warp_lint.findings import Applicability, Finding

if TYPE_CHECKING:
    from warp_lint.source import Source

UNREADABLE = "WRP903"
"""The code of the finding that a file could not be read."""


class Problem(NamedTuple):
    """Something that kept the run from being complete, in one line."""

    message: str
    details: str = ""
    """The traceback, when the linter itself is at fault."""


@dataclass(frozen=True)
class Result:
    """What a run gives: ``findings`` sorted by path, line, column and code."""

    findings: tuple[Finding, ...]
    files: tuple[str, ...]
    """The files whose findings were asked for."""
    problems: tuple[Problem, ...]
    sources: Mapping[str, Source]
    """The sources of the files that findings, related places or fixes stand in, as they were when they were
    linted."""
    fixed: tuple[Finding, ...] = ()
    """The findings that are gone because they were fixed."""
    notes: tuple[str, ...] = ()
    """What the run left out to come to an end; a result from the cache has none."""
    unsafe_fixes: bool = False
    """Whether who asked wants unsafe fixes, too."""

    def can_fix(self, finding: Finding) -> bool:
        """Whether the fix of a finding would be made for who asked."""
        return finding.fix is not None and (
            finding.fix.applicability is Applicability.SAFE
            or (finding.fix.applicability is Applicability.UNSAFE and self.unsafe_fixes)
        )

    @property
    def is_complete(self) -> bool:
        """Whether every file could be read, and nothing went wrong."""
        return not self.problems and all(finding.code != UNREADABLE for finding in self.findings)


def paths_of(findings: Iterable[Finding]) -> set[str]:
    """The files that findings, related places or fixes stand in."""
    return {path for finding in findings for path in _paths_of(finding)}


def _paths_of(finding: Finding) -> Iterator[str]:
    yield finding.location.path
    yield from (related.location.path for related in finding.related)
    yield from (edit.path for edit in (finding.fix.edits if finding.fix else ()))


class SourcesOnDisk(Mapping[str, "Source"]):
    """The sources of files, each read when somebody asks for it; files that cannot be read are left out."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._read: dict[str, Source | None] = {}

    def __getitem__(self, path: str) -> Source:
        from warp_lint.source import Source, SourceError

        if path not in self._paths:
            raise KeyError(path)
        if path not in self._read:
            try:
                self._read[path] = Source.read(path)
            except SourceError:
                self._read[path] = None
        source = self._read[path]
        if source is None:
            raise KeyError(path)
        return source

    def __iter__(self) -> Iterator[str]:
        return (path for path in sorted(self._paths) if path in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
