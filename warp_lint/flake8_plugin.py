"""The findings as flake8 reports them.

Flake8 hands its plugins one file at a time, often in several processes. What a kernel costs depends on the
whole project, so the first file that may concern Warp has everything linted that flake8 was told to check,
and for the others the findings are looked up. Where flake8 forks, that happens before.

Flake8 decides which codes are reported, but it would let rules that are off by default through. So here they
stay off, unless ``select`` or ``extend-select`` names them with at least one digit: ``WRP`` alone stands for
the plugin.
"""

from __future__ import annotations

import argparse
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from warp_lint import __version__
from warp_lint.source import concerns_warp, encoded

if TYPE_CHECKING:
    from warp_lint.reading import KnownFacts
    from warp_lint.result import Result
    from warp_lint.trees import SettingsLookup, Trees

FAILURE = "WRP000"
"""The code of what is no finding: a fault of the linter, or settings that cannot be followed."""

_STANDARD_INPUT = "-"
_SELECTOR = re.compile(r"WRP\d+")


class OptionManager(Protocol):
    """What the plugin needs of flake8's."""

    def add_option(self, *names: str, **settings: Any) -> None: ...


class Report(NamedTuple):
    """A 1-based line, a 0-based column, and the code with the message."""

    line: int
    column: int
    text: str


class Plugin:
    """What flake8 makes for each file."""

    name = "warp-lint"
    version = __version__
    _session: ClassVar[_Session | None] = None

    def __init__(self, tree: object, lines: Sequence[str], filename: str) -> None:  # noqa: ARG002 - flake8's names
        self._text = "".join(lines)
        self._path = os.path.abspath(filename)  # noqa: PTH100 - resolves `..`

    @classmethod
    def add_options(cls, manager: OptionManager) -> None:
        """Tell flake8 what can be set."""
        manager.add_option(
            "--warp-lint-project",
            metavar="true|false",
            default="true",
            parse_from_config=True,
            help="Whether warp-lint looks at the other files of the project, too. (Default: true)",
        )

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Begin a run of flake8."""
        if cls._session is None and hasattr(os, "register_at_fork"):
            os.register_at_fork(before=cls._before_fork)
        cls._session = _Session(options)

    @classmethod
    def _before_fork(cls) -> None:
        if cls._session is not None:
            cls._session.look_at_everything()

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """What is found in the file."""
        if not _may_concern_us(self._text.encode(errors="replace")):
            return
        session = self._session or _Session(argparse.Namespace())
        try:
            reports = list(session.reports(self._path, self._text))
        except Exception as error:
            reports = [_internal_error(f"{type(error).__name__}: {error}")]
        for line, column, text in reports:
            yield line, column, text, type(self)


class _Session:
    """One run of flake8."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._known_facts: KnownFacts = {}
        self._together: Mapping[str, Sequence[Report]] | None = None
        """What was found in the files that were linted together; None before that."""

    def look_at_everything(self) -> None:
        """Lint what flake8 was told to check, unless no file of it concerns Warp."""
        if self._together is not None:
            return
        self._together = {}
        paths = getattr(self._options, "filenames", None) or ["."]
        if self._sees_projects and _STANDARD_INPUT not in paths:
            with suppress(Exception):  # each file tells by itself what is wrong
                self._together = self._found_together(paths)

    def reports(self, path: str, text: str) -> Iterable[Report]:
        """What is found in a file."""
        self.look_at_everything()
        if self._together and path in self._together:
            return self._together[path]
        from warp_lint.settings import SettingsError
        from warp_lint.trees import find_trees

        texts = {path: encoded(text)}
        try:
            trees = find_trees([path], self._lookup(), in_memory=texts, whole_projects=self._sees_projects)
            return _by_path(self._linted(trees, texts)).get(path, ())
        except SettingsError as error:
            return [Report(1, 0, f"{FAILURE} {error}")]

    def _found_together(self, paths: Iterable[str]) -> Mapping[str, Sequence[Report]]:
        from warp_lint.trees import find_trees

        trees = find_trees(paths, self._lookup())
        asked = [path for tree in trees.trees for path in tree.asked]
        if not any(map(_file_may_concern_us, asked)):
            return {}
        return {**dict.fromkeys(asked, ()), **_by_path(self._linted(trees, {}))}

    def _linted(self, trees: Trees, texts: Mapping[str, bytes]) -> Result:
        from warp_lint.run import lint_trees
        from warp_lint.suppressions import Noqa

        ignores_noqa = getattr(self._options, "disable_noqa", False)
        return lint_trees(
            trees,
            texts=texts,
            catch_crashes=True,
            known_facts=self._known_facts,
            noqa=Noqa.DISABLED if ignores_noqa else Noqa.LEFT_TO_FLAKE8,
        )

    @property
    def _sees_projects(self) -> bool:
        return str(getattr(self._options, "warp_lint_project", "true")).lower() != "false"

    def _lookup(self) -> SettingsLookup:
        """The settings of the project, and what flake8's select on top of them."""
        from warp_lint.trees import SettingsLookup

        given = [getattr(self._options, name, None) or () for name in ("select", "extend_select")]
        selectors = tuple(one for some in given for one in some if _SELECTOR.fullmatch(one))
        if not selectors:
            return SettingsLookup()
        from warp_lint.rules import all_rules

        off = [rule.code for rule in all_rules().values() if not rule.default]
        return SettingsLookup(
            overrides={"extend-select": [code for code in off if code.startswith(selectors)]}
        )


def _by_path(result: Result) -> dict[str, list[Report]]:
    """The findings of each file; faults of the linter are told once, in the first file that can be theirs."""
    reports: dict[str, list[Report]] = defaultdict(list)
    for finding in result.findings:
        line, column = finding.location.range.start
        reports[finding.location.path].append(Report(line, column - 1, f"{finding.code} {finding.message}"))
    faults = [problem.message for problem in result.problems if problem.details]
    if faults and result.files:
        first = next(filter(_file_may_concern_us, result.files), result.files[0])
        reports[first].insert(0, _internal_error(faults[0].removeprefix("internal error ")))
    return reports


def _internal_error(what: str) -> Report:
    return Report(1, 0, f"{FAILURE} internal error: {what.splitlines()[0]}")


def _may_concern_us(data: bytes) -> bool:
    return concerns_warp(data) or b"WRP" in data


def _file_may_concern_us(path: str) -> bool:
    with suppress(OSError):
        return _may_concern_us(Path(path).read_bytes())
    return False
