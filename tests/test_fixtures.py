"""Every fixture fires exactly where it says so. A new rule needs fixtures, and no line here.

A fixture is a Python file, or a directory that holds a small project, in ``fixtures/<CODE>-<name>/``:
``fires…`` has a marker for each finding, ``silent…`` has none and gives none; ``fixed…`` is what the fix
makes of ``fires…``: it gives none, and keeps the markers as it keeps all comments. Markers::

    some_call()  # expect: WRP201
    some_call()  # expect: WRP201, WRP301 -- text that a message must contain
    # expect[+1]: WRP101 -- the finding is one line further down

Only the rule of the folder is selected. The first lines of a file may set more, as TOML::

    # settings: select = ["WRP901", "WRP101"]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from warp_lint.findings import Finding
from warp_lint.result import Result
from warp_lint.run import lint_trees
from warp_lint.settings import SETTINGS_FILES, Settings
from warp_lint.trees import SettingsLookup, Trees, find_trees

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
CODES = r"[A-Z]+[0-9]+(?:\s*,\s*[A-Z]+[0-9]+)*"
MARKER = re.compile(
    rf"#\s*expect(?:\[(?P<lines>[+-]\d+)\])?:\s*(?P<codes>{CODES})(?:\s+--\s+(?P<text>.*\S))?\s*$"
)
"""The whole of a marker: it ends its line."""
LINE_END = re.compile(r"\r\n?|\n")


class Case(NamedTuple):
    """One fixture: a file or a directory."""

    path: Path
    fires: bool

    @property
    def code(self) -> str:
        return self.path.parent.name.partition("-")[0]

    @property
    def files(self) -> list[Path]:
        return sorted(self.path.rglob("*.py")) if self.path.is_dir() else [self.path]


class Expectation(NamedTuple):
    path: str
    line: int
    code: str
    text: str


def all_cases() -> Iterator[Case]:
    for folder in sorted(FIXTURES.iterdir()):
        for path in sorted(folder.iterdir()):
            kind = re.match("fires|silent|fixed", path.name)
            if kind and (path.is_dir() or path.suffix in (".py", ".pyi")):
                yield Case(path, kind[0] == "fires")


def expectations(path: Path) -> Iterator[Expectation]:
    # what cannot be decoded is just what some fixtures are about
    lines = LINE_END.split(path.read_bytes().decode("utf-8", "replace"))
    for number, line in enumerate(lines, start=1):
        marker = MARKER.search(line)
        if marker is None:
            assert not re.search(r"#\s*expect\b", line), f"{path}:{number}: not a marker: {line}"
            continue
        for code in re.split(r"\s*,\s*", marker["codes"]):
            yield Expectation(str(path), number + int(marker["lines"] or 0), code, marker["text"] or "")


def settings_of(case: Case) -> Settings:
    of_the_folder: dict[str, Any] = {"select": [case.code], "target-version": "1.19"}
    if case.path.is_dir():
        if not any((case.path / name).exists() for name in SETTINGS_FILES):
            return Settings(str(case.path)).with_overrides(of_the_folder)
        settings = Settings.nearest(str(case.path))
        selects = any(selection.select is not None for selection in settings.selections)
        return settings if selects else settings.with_overrides({"select": [case.code]})
    header = re.match(rb"(?:# settings: [^\n]*\n)*", case.path.read_bytes())
    assert header is not None
    table = tomllib.loads(header[0].decode().replace("# settings: ", ""))
    return Settings(str(case.path.parent)).with_overrides({**of_the_folder, **table})


def linted(case: Case, *, reverse: bool = False) -> Result:
    found = find_trees([str(case.path)], SettingsLookup(settings_of(case)), whole_projects=False)
    trees = [tree._replace(asked=sorted(tree.asked, reverse=reverse)) for tree in found.trees]
    return lint_trees(Trees(trees, found.errors))


def place(finding: Finding) -> tuple[str, int, str]:
    return (finding.location.path, finding.location.range.start.line, finding.code)


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{case.path.parent.name}/{case.path.name}") for case in all_cases()]
)
def test_fixture(case: Case) -> None:
    # a fix keeps comments, so what is fixed still has the markers of what fired
    is_fixed = case.path.name.startswith("fixed")
    expected = [] if is_fixed else [one for file in case.files for one in expectations(file)]
    assert bool(expected) == case.fires, "markers stand in fixtures that fire, and only there"

    result = linted(case)

    assert result.problems == ()
    assert sorted(map(place, result.findings)) == sorted(one[:3] for one in expected), result.findings
    for one in expected:
        messages = [finding.message for finding in result.findings if place(finding) == one[:3]]
        assert any(one.text in message for message in messages), messages
    assert linted(case, reverse=True).findings == result.findings
