"""Command line, flake8, editors and pre-commit find the same in the same files."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from flake8.main import cli as flake8_cli  # type: ignore[import-untyped]

from tests.wild.corpora import Corpus, fetch
from warp_lint import cli
from warp_lint.files import find_files
from warp_lint.flake8_plugin import Plugin
from warp_lint.language_server.linting import Linting
from warp_lint.language_server.positions import Positions
from warp_lint.language_server.translation import Translation, uri_of
from warp_lint.settings import Settings

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


class Place(NamedTuple):
    path: str
    line: int
    column: int
    code: str
    message: str


def fixtures(pattern: str) -> list[Path]:
    return sorted(FIXTURES.glob(pattern))


def wild() -> list[Path]:
    """Packages with some 300 files."""
    small = (Corpus("gswarp", "1.1.0"), Corpus("xlb", "0.3.1"), Corpus("warp-nn", "0.4.1"))
    return [fetch(corpus) for corpus in (*small, Corpus("mujoco-warp", "4.0.0"))]


@pytest.fixture(
    params=[
        pytest.param(lambda: fixtures("WRP7*"), id="some fixtures"),
        pytest.param(lambda: fixtures("WRP*"), id="fixtures", marks=pytest.mark.release),
        pytest.param(wild, id="packages", marks=[pytest.mark.release, pytest.mark.wild]),
    ]
)
def files(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files of a project, which is the working directory."""
    for folder in request.param():
        shutil.copytree(folder, tmp_path / folder.name)
    (tmp_path / "pyproject.toml").write_text('[tool.warp-lint]\ntarget-version = "1.19"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Plugin, "_session", None)
    return find_files(["."], Settings(str(tmp_path))).files


def test_clients_agree(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    found = sorted(on_command_line(capfd, "."))
    assert found
    assert sorted(on_command_line(capfd, "--force-exclude", *files)) == found, "pre-commit names files"
    assert sorted(in_editor(files)) == found
    shown = set(filter(flake8_shows, files))
    by_flake8 = [place for place in in_flake8(capfd) if place.path in shown]
    assert sorted(by_flake8) == [place for place in found if place.path in shown]


def on_command_line(capfd: pytest.CaptureFixture[str], *arguments: str) -> Iterator[Place]:
    cli.run(["--output-format=json-lines", *arguments])
    for line in capfd.readouterr().out.splitlines():
        finding: dict[str, Any] = json.loads(line)
        row, column = finding["location"]["row"], finding["location"]["column"]
        yield Place(finding["filename"], row, column, finding["code"], finding["message"])


def in_editor(files: list[str]) -> Iterator[Place]:
    """Every file open; columns as in an editor that counts code points."""
    texts = {path: Path(path).read_bytes() for path in files}
    result = Linting().lint(texts)
    translation = Translation(result, Positions("utf-32"))
    paths = {uri_of(path): path for path in files}
    for finding in result.findings:
        diagnostic = translation.diagnostic(finding)
        start = diagnostic.range.start
        path = paths[uri_of(finding.location.path)]
        yield Place(path, start.line + 1, start.character + 1, str(diagnostic.code), diagnostic.message)


def in_flake8(capfd: pytest.CaptureFixture[str]) -> Iterator[Place]:
    layout = "%(path)s\t%(row)d\t%(col)d\t%(code)s\t%(text)s"
    flake8_cli.main(["-j1", "--isolated", "--select=WRP", f"--format={layout}", "."])
    for line in capfd.readouterr().out.splitlines():
        path, row, column, code, text = line.split("\t")
        yield Place(str(Path(path).absolute()), int(row), int(column), code, text)


def flake8_shows(path: str) -> bool:
    """Whether flake8 gives a file to its plugins: not where it finds it invalid or excluded by a comment."""
    data = Path(path).read_bytes()
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return path.endswith(".py") and b"flake8: noqa" not in data
