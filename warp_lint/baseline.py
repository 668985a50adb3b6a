"""Findings that are known and accepted for now, so that a project can begin with what is new.

The file lists, for each path and code, fingerprints of the reported code: edits elsewhere in a file change
nothing, an edit of the reported statement brings its finding back.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

from warp_lint.findings import Finding
from warp_lint.fingerprints import fingerprint
from warp_lint.settings import SettingsError
from warp_lint.source import Source

_VERSION = 1
_NEVER_ACCEPTED = "WRP903"
"""What is not read is not known either."""


class Baseline:
    """The accepted findings, counted by path, code and fingerprint."""

    def __init__(self, file: str, accepted: Mapping[str, Counter[tuple[str, str]]]) -> None:
        self._file = Path(file).absolute()
        self._accepted = dict(accepted)

    @classmethod
    def read(cls, file: str) -> Baseline:
        """The baseline in a file; raises `SettingsError`."""
        try:
            content = json.loads(Path(file).read_text(encoding="utf-8"))
        except OSError as error:
            raise SettingsError(f"{file}: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:
            raise SettingsError(f"{file}: not a baseline: {error}") from error
        return cls(file, _accepted_in(content, file))

    @classmethod
    def empty(cls, file: str) -> Baseline:
        """The baseline of a file that is not there yet."""
        return cls(file, {})

    def unknown(self, findings: Iterable[Finding], sources: Mapping[str, Source]) -> tuple[Finding, ...]:
        """The findings that are not accepted. Of equal ones, the first are those that are."""
        left = {path: counter.copy() for path, counter in self._accepted.items()}
        unknown = []
        for finding in findings:
            accepted = left.get(self._name(finding.location.path), Counter())
            key = (finding.code, fingerprint(finding, sources))
            if accepted[key] > 0 and finding.code != _NEVER_ACCEPTED:
                accepted[key] -= 1
            else:
                unknown.append(finding)
        return tuple(unknown)

    def accept(self, findings: Iterable[Finding], sources: Mapping[str, Source], files: Iterable[str]) -> int:
        """Accept what was found in ``files``, and of these nothing else; returns how much that is."""
        for path in files:
            self._accepted.pop(self._name(path), None)
        accepted = [finding for finding in findings if finding.code != _NEVER_ACCEPTED]
        for finding in accepted:
            of_file = self._accepted.setdefault(self._name(finding.location.path), Counter())
            of_file[finding.code, fingerprint(finding, sources)] += 1
        return len(accepted)

    def write(self) -> None:
        """Write the file, without what is accepted in files that are gone; raises `OSError`."""
        findings: dict[str, dict[str, list[str]]] = {}
        for name, counter in sorted(self._accepted.items()):
            if counter and (self._file.parent / name).exists():
                by_code: dict[str, list[str]] = defaultdict(list)
                for code, known_by in sorted(counter.elements()):
                    by_code[code].append(known_by)
                findings[name] = by_code
        text = json.dumps({"version": _VERSION, "findings": findings}, indent=2, ensure_ascii=False)
        self._file.write_text(f"{text}\n", encoding="utf-8")

    def _name(self, path: str) -> str:
        """How the file calls a path: relative to itself, the same on all systems."""
        try:
            return PurePath(os.path.relpath(path, self._file.parent)).as_posix()
        except ValueError:  # another drive
            return PurePath(path).as_posix()


def _accepted_in(content: Any, file: str) -> dict[str, Counter[tuple[str, str]]]:
    """What the content of a baseline file says; raises `SettingsError`."""
    try:
        if content["version"] != _VERSION:
            raise SettingsError(f"{file}: written by another version of warp-lint")
        return {
            path: Counter(
                (str(code), str(known_by)) for code, all_of_code in codes.items() for known_by in all_of_code
            )
            for path, codes in content["findings"].items()
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise SettingsError(f"{file}: not a baseline") from error
