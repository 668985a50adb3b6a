"""The plugin in the real flake8."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from flake8.main import cli as flake8_cli  # type: ignore[import-untyped]

from warp_lint.findings import Finding
from warp_lint.flake8_plugin import Plugin
from warp_lint.project import Project
from warp_lint.rules import all_rules
from warp_lint.run import lint, lint_trees
from warp_lint.trees import SettingsLookup, find_trees

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
EDITORS_FORMAT = "%(row)d,%(col)d,%(code).1s,%(code)s:%(text)s"
"""What the extension of VS Code asks for."""

KERNELS = """\
import warp as wp


@wp.kernel(enable_backward=False)
def scale(x: wp.array(dtype=float)):
    x[wp.tid()] *= 2.0


@wp.kernel(enable_backward=False)
def shift(x: wp.array(dtype=float)):
    x[wp.tid()] += 2.0
"""
LAUNCHES = """\
import warp as wp

from kernels import scale, shift


def run(x):
    wp.launch(scale, dim=8, inputs=[x])
    wp.launch(shift, dim=8, inputs=[x], block_dim=64)
"""
NESTED = """\
import warp as wp


def make():
    @wp.kernel(enable_backward=False, module="unique")
    def one(x: wp.array(dtype=float)):
        x[wp.tid()] = 1.0

    return one


def make_all(n):
    {comment_above}
    @wp.kernel(enable_backward=False){comment}
    def gamma(x: wp.array(dtype=float)):{comment_below}
        x[wp.tid()] = float(n)

    return gamma
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty project as the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Plugin, "_session", None)
    write("pyproject.toml", "[tool.warp-lint]\n")


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def write_nested(comment: str = "", *, above: str = "", below: str = "") -> None:
    write("app.py", NESTED.format(comment=comment, comment_above=above or "pass", comment_below=below))


def flake8(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """The lines of flake8, run in this process, that are about us."""
    flake8_cli.main(["-j1", *arguments])
    output, errors = capsys.readouterr()
    assert "Traceback" not in errors
    return [line for line in output.splitlines() if "WRP" in line]


def flake8_process(*arguments: str, stdin: str | None = None, program: str = "") -> list[str]:
    """The lines of flake8 in a process of its own, or in one that runs a program in its place."""
    command = [sys.executable, *(("-c", program) if program else ("-m", "flake8")), "--select", "WRP"]
    run = subprocess.run([*command, *arguments], input=stdin, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    return run.stdout.splitlines()


def of_command_line(*paths: str) -> list[str]:
    return [
        f"{Path(path).relative_to(Path.cwd())}:{line}:{column}: {finding.code} {finding.message}"
        for finding in lint(paths).findings
        for path, ((line, column), _) in [finding.location]
    ]


class TestProjects:
    def test_other_files_count(self, capsys: pytest.CaptureFixture[str]) -> None:
        write("kernels.py", KERNELS)
        write("launches.py", LAUNCHES)
        found = flake8(capsys, "--select", "WRP")
        assert found == [f"./{line}" for line in of_command_line(".")]
        assert [line.split()[:2] for line in found] == [["./launches.py:8:5:", "WRP201"]]

    def test_files_by_name_bring_their_project(self, capsys: pytest.CaptureFixture[str]) -> None:
        write("kernels.py", KERNELS)
        write("launches.py", LAUNCHES)
        assert flake8(capsys, "launches.py") == of_command_line("launches.py") != []

    def test_every_file_can_be_left_to_itself(self, capsys: pytest.CaptureFixture[str]) -> None:
        write("kernels.py", KERNELS)
        write("launches.py", LAUNCHES)
        assert flake8(capsys, "--warp-lint-project=false", "--select", "WRP2") == []
        write("setup.cfg", "[flake8]\nwarp-lint-project = false\nselect = WRP2\n")
        assert flake8(capsys) == []

    def test_settings_and_comments_count(self, capsys: pytest.CaptureFixture[str]) -> None:
        write_nested()
        assert [line.split()[1] for line in flake8(capsys, "--select", "WRP")] == ["WRP101"]
        write_nested("  # warp-lint: ignore[WRP101]")
        assert flake8(capsys) == []
        write_nested()
        write("pyproject.toml", '[tool.warp-lint]\nignore = ["WRP101"]\n')
        assert flake8(capsys) == []

    def test_settings_that_cannot_be_followed(self, capsys: pytest.CaptureFixture[str]) -> None:
        write_nested()
        write("pyproject.toml", '[tool.warp-lint]\nselct = ["ALL"]\n')
        (line,) = flake8(capsys)
        assert line.startswith("./app.py:1:1: WRP000 ")
        assert line.endswith("pyproject.toml: unknown key `selct` (did you mean `select`?)")


class TestProcesses:
    def test_forked(self) -> None:
        self.write_packages()
        assert flake8_process("-j2") == [f"./{line}" for line in of_command_line(".")] != []

    def test_spawned(self) -> None:
        """As on Windows and macOS."""
        self.write_packages()
        program = (
            "import multiprocessing, sys; multiprocessing.set_start_method('spawn')\n"
            "from flake8.main.cli import main; sys.exit(main(sys.argv[1:]))"
        )
        lines = flake8_process("-j2", program=program)
        assert lines == [f"./{line}" for line in of_command_line(".")] != []

    def write_packages(self) -> None:
        write("kernels.py", KERNELS)
        write("launches.py", LAUNCHES)
        write_nested()

    def test_project_is_linted_once_before_the_fork(self) -> None:
        self.write_packages()
        program = (
            "import sys, warp_lint.run as run; lint_trees = run.lint_trees\n"
            "def tell(*a, **k): print('linted', flush=True); return lint_trees(*a, **k)\n"
            "run.lint_trees = tell\n"
            "import multiprocessing; multiprocessing.set_start_method('fork')\n"
            "from flake8.main.cli import main; sys.exit(main(sys.argv[1:]))"
        )
        assert flake8_process("-j2", program=program).count("linted") == 1


class TestStandardInput:
    def test_stands_for_the_file_it_is_named_after(self) -> None:
        write("kernels.py", KERNELS)
        write("launches.py", "")
        arguments = ("--stdin-display-name", "launches.py", "--format", EDITORS_FORMAT, "-")
        (line,) = flake8_process(*arguments, stdin=f"\n{LAUNCHES}")
        assert line.startswith('9,5,W,WRP201:module "kernels" is built 2 times')

    def test_without_a_name(self) -> None:
        (line,) = flake8_process("-", stdin=NESTED.format(comment="", comment_above="pass", comment_below=""))
        assert line.startswith("stdin:14:5: WRP101 ")


class TestSelection:
    @pytest.mark.parametrize(
        ("options", "codes"),
        [
            ([], {"WRP101"}),
            (["--ignore=E203"], {"WRP101"}),
            (["--extend-ignore=E203"], {"WRP101"}),
            (["--select=E,F"], set()),
            (["--select=E,F,W"], {"WRP101"}),  # to flake8, W stands for all that begins with it
            (["--select=E,F,W,WRP"], {"WRP101"}),
            (["--select=E,F,W", "--extend-select=WRP1"], {"WRP101", "WRP102"}),
            (["--select=E,F,W", "--extend-select=WRP5"], {"WRP101"}),
            (["--extend-select=WRP5"], {"WRP101"}),
            (["--extend-select=WRP102"], {"WRP101", "WRP102"}),
            (["--select=WRP102"], {"WRP102"}),
            (["--extend-select=WRP1", "--extend-ignore=WRP102"], {"WRP101"}),
            (["--ignore=WRP101", "--extend-select=WRP1"], {"WRP102"}),
            (["--extend-ignore=WRP"], set()),
            (["--per-file-ignores=app.py:WRP101"], set()),
        ],
    )
    def test_rules_that_are_off_by_default_stay_off_until_they_are_named(
        self, capsys: pytest.CaptureFixture[str], options: list[str], codes: set[str]
    ) -> None:
        """NESTED has a finding of WRP101, and one of WRP102, which is off."""
        write_nested()
        assert {line.split()[1] for line in flake8(capsys, *options)} == codes

    def test_own_settings_turn_rules_on(self, capsys: pytest.CaptureFixture[str]) -> None:
        write_nested()
        write("pyproject.toml", '[tool.warp-lint]\nextend-select = ["WRP102"]\n')
        assert {line.split()[1] for line in flake8(capsys)} == {"WRP101", "WRP102"}


class TestNoqa:
    @pytest.mark.parametrize("comment", ["  # noqa: WRP101", "  # noqa", "  # noqa: WRP1"])
    def test_is_heeded_unless_it_is_disabled(self, capsys: pytest.CaptureFixture[str], comment: str) -> None:
        write_nested(comment)
        assert flake8(capsys) == []
        assert [line.split()[1] for line in flake8(capsys, "--disable-noqa")] == ["WRP101"]

    def test_on_the_reported_line_it_is_left_to_flake8(self) -> None:
        """Other plugins look for comments that nothing needs."""
        write_nested("  # noqa: WRP101")
        assert [text.split()[0] for _, _, text, _ in self.run_plugin()] == ["WRP101"]

    def test_elsewhere_in_the_statement_it_counts_too(self, capsys: pytest.CaptureFixture[str]) -> None:
        write_nested(below="  # noqa: WRP101")
        assert list(self.run_plugin()) == []
        assert [line.split()[1] for line in flake8(capsys, "--disable-noqa")] == ["WRP101"]

    def test_that_nothing_needs_is_reported(self, capsys: pytest.CaptureFixture[str]) -> None:
        write("app.py", "import warp as wp\n\nwp.init()  # noqa: WRP101\n")
        assert [line.split()[:2] for line in flake8(capsys)] == [["./app.py:3:12:", "WRP901"]]

    def run_plugin(self) -> Iterable[tuple[int, int, str, type]]:
        lines = Path("app.py").read_text(encoding="utf-8").splitlines(keepends=True)
        return Plugin(None, lines, "app.py").run()


class TestFaults:
    @pytest.fixture
    def crash(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def check(_project: Project) -> Iterable[Finding]:
            raise KeyError("of\nall things")

        monkeypatch.setattr(all_rules()["WRP201"], "check", check)

    @pytest.mark.usefixtures("crash")
    def test_fault_of_the_linter_is_told_once_and_the_rest_goes_on(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_nested()
        write("kernels.py", KERNELS)
        write("a_file_without_kernels.py", "x = 1\n")
        assert [line.split()[:2] for line in flake8(capsys)] == [
            ["./app.py:1:1:", "WRP000"],
            ["./app.py:14:5:", "WRP101"],
        ]

    def test_fault_of_the_plugin(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_nested()

        def fail(*_arguments: object, **_options: object) -> None:
            raise RuntimeError("no\nidea")

        monkeypatch.setattr("warp_lint.run.lint_trees", fail)
        assert flake8(capsys) == ["./app.py:1:1: WRP000 internal error: RuntimeError: no"]


class TestFilesWithoutWarp:
    def test_nothing_is_imported_for_them(self) -> None:
        write("app.py", "x = 1\n")
        program = (
            "import sys; from flake8.main.cli import main; main(sys.argv[1:])\n"
            "print(*sorted({'libcst', 'warp_lint.run', 'warp_lint.trees'} & sys.modules.keys()))"
        )
        assert flake8_process("-j1", program=program) == [""]


def test_all_of_the_fixtures_of_a_family_as_on_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The other families go the same ways."""
    folders = sorted(str(path) for path in FIXTURES.glob("WRP7*"))
    expected = [
        (finding.location.path, *finding.location.range.start, finding.code, finding.message)
        for finding in lint_trees(find_trees(folders, SettingsLookup())).findings
    ]
    capsys.readouterr()
    flake8_cli.main(
        [
            "-j1",
            "--isolated",
            "--select=WRP",
            "--format=%(path)s\t%(row)d\t%(col)d\t%(code)s\t%(text)s",
            *folders,
        ]
    )
    found = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert sorted((path, int(row), int(column), code, text) for path, row, column, code, text in found) == (
        sorted(expected)
    )
