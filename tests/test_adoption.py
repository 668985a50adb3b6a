"""What helps an existing project to begin: suppressions for all that is found, a baseline, settings."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from warp_lint import cli
from warp_lint.findings import Finding, Level, Location, Position, Range
from warp_lint.source import Source
from warp_lint.splicing import spliced
from warp_lint.suppressing import edits_to_suppress
from warp_lint.suppressions import Suppressions

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROGRAM = """\
import warp as wp


def make(n):
    @wp.kernel(enable_backward=False)
    def add(x: wp.array(dtype=float)):
        x[wp.tid()] += float(n)

    return add


wp.clear_kernel_cache()
wp.load_module()
"""
CODES = ["WRP101", "WRP701"]
"""What is found in PROGRAM."""

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def warp_lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command line in a directory that holds PROGRAM as ``app.py``."""
    monkeypatch.chdir(tmp_path)
    Path("app.py").write_text(PROGRAM)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"import warp\n")))
        return cli.run(arguments), *capsys.readouterr()

    return run


def codes(output: str) -> list[str]:
    return [line.split()[1] for line in output.splitlines() if ": WRP" in line]


class TestSuppressions:
    def test_nothing_is_left_and_nothing_is_unused(self, warp_lint: Cli) -> None:
        assert codes(warp_lint()[1]) == CODES
        assert warp_lint("--add-suppressions", ".") == (0, "Suppressed 2 findings.\n", "")
        assert warp_lint()[:2] == (0, "All checks passed!\n")

    def test_reason_stands_in_the_comment(self, warp_lint: Cli) -> None:
        warp_lint("--add-suppressions=until  we\nmove on", "app.py")
        comments = [line for line in Path("app.py").read_text().splitlines() if "#" in line]
        assert comments == [
            "    @wp.kernel(enable_backward=False)  # warp-lint: ignore[WRP101] until we move on",
            "wp.clear_kernel_cache()  # warp-lint: ignore[WRP701] until we move on",
        ]
        assert warp_lint()[0] == 0

    def test_what_cannot_be_suppressed_is_told(self, warp_lint: Cli) -> None:
        Path("broken.py").write_text("import warp\ndef f(:\n")
        assert warp_lint("--add-suppressions")[:2] == (2, "Suppressed 2 findings.\n")
        assert codes(warp_lint()[1]) == ["WRP903"]

    @pytest.mark.parametrize("option", ["--fix", "--diff", "-"])
    def test_goes_with_no_fixes(self, warp_lint: Cli, option: str) -> None:
        assert warp_lint("--add-suppressions", option)[0] == 2
        assert warp_lint("--write-baseline", "--baseline", "b.json", option)[0] == 2
        assert Path("app.py").read_text() == PROGRAM

    @pytest.mark.parametrize(
        ("before", "line", "after"),
        [
            pytest.param("f()", 1, "f()  # warp-lint: ignore[WRP101]", id="no line end"),
            pytest.param("f()  \n", 1, "f()  # warp-lint: ignore[WRP101]  \n", id="blanks at the end"),
            pytest.param("f() # why\n", 1, "f() # why  # warp-lint: ignore[WRP101]\n", id="comment"),
            pytest.param(
                "f()  # warp-lint: ignore[WRP201] why\n",
                1,
                "f()  # warp-lint: ignore[WRP201, WRP101] why\n",
                id="comment of ours",
            ),
            pytest.param(
                "f() + \\\n  g()\n", 1, "f() + \\\n  g()  # warp-lint: ignore[WRP101]\n", id="backslash"
            ),
            pytest.param(
                's = """a\nb # c\n"""; f()\n',
                1,
                's = """a\nb # c\n"""; f()  # warp-lint: ignore[WRP101]\n',
                id="string",
            ),
            pytest.param(
                "f(\n    1,\n)\n", 2, "f(\n    1,  # warp-lint: ignore[WRP101]\n)\n", id="inside of brackets"
            ),
            pytest.param("é()\r\n", 1, "é()  # warp-lint: ignore[WRP101]\r\n", id="other line ends"),
        ],
    )
    def test_comment_stands_where_it_counts(self, before: str, line: int, after: str) -> None:
        source = Source.from_bytes("/a.py", before.encode())
        place = Range(Position(line, 1), Position(line, 2))
        finding = Finding("WRP101", "kernel-in-function", Level.WARNING, "m", Location("/a.py", place))
        result = spliced(source, edits_to_suppress([finding, finding], source))
        assert result.text == after
        assert Suppressions(result).apply([finding], frozenset()) == []


class TestBaseline:
    def test_what_is_accepted_is_not_told(self, warp_lint: Cli) -> None:
        assert warp_lint("--baseline", "known.json", "--write-baseline")[:2] == (
            0,
            "Accepted 2 findings in known.json.\n",
        )
        assert warp_lint("--baseline", "known.json")[0] == 0
        assert warp_lint()[0] == 1

    def test_edits_elsewhere_change_nothing(self, warp_lint: Cli) -> None:
        warp_lint("--baseline", "known.json", "--write-baseline")
        Path("app.py").write_text(f"# further down\n\n{PROGRAM}".replace("float(n)", "float(n) * 2.0"))
        assert warp_lint("--baseline", "known.json")[0] == 0

    def test_changed_statement_is_told_again(self, warp_lint: Cli) -> None:
        warp_lint("--baseline", "known.json", "--write-baseline")
        Path("app.py").write_text(PROGRAM.replace("def add(", "def subtract("))
        assert codes(warp_lint("--baseline", "known.json")[1]) == ["WRP101"]

    def test_equal_code_is_counted(self, warp_lint: Cli) -> None:
        warp_lint("--baseline", "known.json", "--write-baseline")
        Path("app.py").write_text(PROGRAM.replace("def make(n)", "def first(n)") + PROGRAM)
        assert codes(warp_lint("--baseline", "known.json")[1]) == CODES

    def test_other_files_stay_accepted(self, warp_lint: Cli) -> None:
        Path("other.py").write_text(PROGRAM)
        Path("gone.py").write_text(PROGRAM)
        warp_lint("--baseline", "known.json", "--write-baseline")
        Path("app.py").write_text("")
        Path("gone.py").unlink()
        warp_lint("--baseline", "known.json", "--write-baseline", "app.py")
        assert list(json.loads(Path("known.json").read_text())["findings"]) == ["other.py"]
        assert warp_lint("--baseline", "known.json")[0] == 0

    def test_paths_start_at_the_file(self, warp_lint: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        Path("below").mkdir()
        warp_lint("--baseline", "below/known.json", "--write-baseline")
        assert list(json.loads(Path("below/known.json").read_text())["findings"]) == ["../app.py"]
        monkeypatch.chdir("below")
        assert warp_lint("--baseline", "known.json", "..")[0] == 0

    def test_files_that_cannot_be_read_are_never_accepted(self, warp_lint: Cli) -> None:
        Path("app.py").write_text("import warp\ndef f(:\n")
        assert warp_lint("--baseline", "known.json", "--write-baseline")[0] == 2
        assert codes(warp_lint("--baseline", "known.json")[1]) == ["WRP903"]

    def test_what_is_accepted_is_not_fixed(self, warp_lint: Cli) -> None:
        warp_lint("--baseline", "known.json", "--write-baseline")
        warp_lint("--baseline", "known.json", "--fix", "--unsafe-fixes")
        assert Path("app.py").read_text() == PROGRAM

    @pytest.mark.parametrize(
        "text", ["", "[]", '{"version": 2}', '{"version": 1, "findings": []}', "[" * 9999]
    )
    def test_that_is_none_is_an_error(self, warp_lint: Cli, text: str) -> None:
        Path("known.json").write_text(text)
        status, output, errors = warp_lint("--baseline", "known.json")
        assert (status, output) == (2, "")
        assert errors.startswith("error: known.json: ")

    def test_that_is_missing_is_an_error(self, warp_lint: Cli) -> None:
        assert warp_lint("--baseline", "known.json")[2] == "error: known.json: No such file or directory\n"
        assert "needs --baseline" in warp_lint("--write-baseline")[2]


class TestClean:
    def test_caches_go_and_nothing_else(self, warp_lint: Cli) -> None:
        for folder in (".warp_lint_cache", "pkg/.warp_lint_cache/deep", "pkg/other", "elsewhere"):
            Path(folder).mkdir(parents=True)
        Path("linked").mkdir()
        Path("linked/.warp_lint_cache").symlink_to(Path("elsewhere").absolute())
        status, output, errors = warp_lint("clean")
        assert (status, errors) == (0, "")
        assert sorted(output.splitlines()) == sorted(
            f"Removed {Path.cwd() / folder}" for folder in (".warp_lint_cache", "pkg/.warp_lint_cache")
        )
        assert Path("elsewhere").is_dir()
        assert Path("pkg/other").is_dir()
        assert warp_lint("clean") == (0, "", "")

    def test_cache_of_the_project_around_goes_too(
        self, warp_lint: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path("warp-lint.toml").touch()
        Path("pkg").mkdir()
        Path(".warp_lint_cache").mkdir()
        monkeypatch.chdir("pkg")
        assert warp_lint("clean")[0] == 0
        assert not Path("../.warp_lint_cache").exists()


class TestInit:
    def test_project_without_any_settings(self, warp_lint: Cli) -> None:
        assert warp_lint("init") == (0, "Wrote warp-lint.toml\n", "")
        assert warp_lint("--show-settings")[0] == 0
        assert "has settings already" in warp_lint("init")[1]

    def test_pyproject_keeps_what_it_has(self, warp_lint: Cli) -> None:
        Path("pyproject.toml").write_text('[project]\nname = "x"')
        assert warp_lint("init")[1] == "Added [tool.warp-lint] to pyproject.toml\n"
        text = Path("pyproject.toml").read_text()
        assert text.startswith('[project]\nname = "x"\n\n[tool.warp-lint]\n')
        assert tomllib.loads(text)["tool"] == {"warp-lint": {}}
        assert "has settings already" in warp_lint("init")[1]

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            pytest.param(
                "[tool.ruff]\n", '[tool.ruff]\n\n[tool.ruff.lint]\nexternal = ["WRP"]\n', id="no table"
            ),
            pytest.param(
                '[tool.ruff.lint]  # ours\nselect = ["E"]\n',
                '[tool.ruff.lint]  # ours\nexternal = ["WRP"]\nselect = ["E"]\n',
                id="table",
            ),
            pytest.param("[tool.ruff]\nlint.select = []\n", None, id="written in another way"),
            pytest.param('[tool.ruff.lint]\nexternal = ["ABC"]\n', None, id="has others"),
        ],
    )
    def test_ruff_is_told_when_that_is_wanted(self, warp_lint: Cli, before: str, after: str | None) -> None:
        Path("pyproject.toml").write_text(f"[tool.warp-lint]\n\n{before}")
        status, output, _ = warp_lint("init", "--ruff")
        assert status == 0
        assert Path("pyproject.toml").read_text() == f"[tool.warp-lint]\n\n{after or before}"
        assert ("Added external" in output) == (after is not None)
        assert 'external = ["WRP"] in [tool.ruff.lint]' in output

    def test_ruff_is_spoken_of_once(self, warp_lint: Cli) -> None:
        Path("ruff.toml").write_text("line-length = 110\n")
        assert "add external" in warp_lint("init")[1]
        assert Path("ruff.toml").read_text() == "line-length = 110\n"
        assert "external" not in warp_lint("init", "--no-ruff")[1]
        warp_lint("init", "--ruff")
        assert Path("ruff.toml").read_text() == 'line-length = 110\n\n[lint]\nexternal = ["WRP"]\n'
        assert "external" not in warp_lint("init")[1]
