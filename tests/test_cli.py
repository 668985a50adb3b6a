"""The command line as people and scripts meet it. Exit statuses and habits are ruff's."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from warp_lint import __version__, cli
from warp_lint.facts.extract import extract
from warp_lint.facts.records import FileFacts
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.rules import all_rules
from warp_lint.rules.base import Rule
from warp_lint.source import Source
from warp_lint.trees import SettingsLookup, find_trees

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

COMMAND = [sys.executable, "-m", "warp_lint"]


def assert_bears_reader_that_leaves(directory: Path, *arguments: str) -> None:
    """That nobody is told of it when the reader of a long output has seen enough."""
    command = subprocess.Popen(
        [*COMMAND, *arguments], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert command.stdout is not None
    assert command.stderr is not None
    command.stdout.readline()
    command.stdout.close()
    assert command.stderr.read() == b""
    assert command.wait() == 1


class PlantedCall(Rule):
    """A call of ``planted``.

    ## What it does
    Finds what a test planted.
    """

    code = "WRP099"
    name = "planted-call"
    level = Level.WARNING

    def check(self, project: Project) -> Iterable[Finding]:
        for file in project.files:
            calls = [call for call in file.facts.calls if _is_planted(call.function)]
            for call in calls:
                here = file.facts.location(call.span)
                first = Related("first planted here", file.facts.location(calls[0].span))
                yield self.finding(here, "planted", related=[first], redundant_builds=len(calls))


def _is_planted(function: object) -> bool:
    return getattr(function, "id", None) == "planted"


class Crash(PlantedCall):
    """A rule with a fault."""

    code = "WRP098"
    name = "crash"

    def check(self, project: Project) -> Iterable[Finding]:  # noqa: ARG002
        raise KeyError("of\nall things")


Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def warp_lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command line in an empty directory, with `PlantedCall` as the only rule about programs."""
    monkeypatch.chdir(tmp_path)
    for code in [code for code in all_rules() if not code.startswith("WRP9")]:
        monkeypatch.delitem(all_rules(), code)
    monkeypatch.setitem(all_rules(), PlantedCall.code, PlantedCall())

    def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = cli.run(arguments)
        return status, *capsys.readouterr()

    return run


def write(path: str, text: str | bytes = "import warp\n\nplanted()\n") -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def places(output: str) -> list[str]:
    """``path:line`` of each finding in concise output."""
    return [":".join(line.split(":")[:2]) for line in output.splitlines() if ": WRP" in line]


class TestExitStatus:
    def test_nothing_found(self, warp_lint: Cli) -> None:
        write("app.py", "import warp\n")
        assert warp_lint() == (0, "All checks passed!\n", "")

    def test_findings(self, warp_lint: Cli) -> None:
        write("app.py")
        assert warp_lint() == (
            1,
            "app.py:3:1: WRP099 planted\nFound 1 finding (1 warning) in 1 file.\n",
            "",
        )

    def test_findings_that_shall_not_count(self, warp_lint: Cli) -> None:
        write("app.py")
        status, output, _ = warp_lint("--exit-zero")
        assert (status, places(output)) == (0, ["app.py:3"])

    def test_unreadable_file_outweighs_findings_and_exit_zero(self, warp_lint: Cli) -> None:
        write("app.py")
        write("broken.py", "import warp\ndef f(:\n")
        status, output, errors = warp_lint("--exit-zero")
        assert (status, errors) == (2, "")
        assert places(output) == ["app.py:3", "broken.py:2"]
        assert "broken.py:2:7: WRP903 invalid syntax" in output

    def test_missing_path(self, warp_lint: Cli) -> None:
        write("app.py")
        status, output, errors = warp_lint("app.py", "missing")
        assert status == 2
        assert places(output) == ["app.py:3"]
        assert errors == f"error: {Path.cwd() / 'missing'}: no such file or directory\n"

    def test_only_a_missing_path(self, warp_lint: Cli) -> None:
        status, output, _ = warp_lint("missing")
        assert (status, output) == (2, "Nothing found in what could be checked.\n")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--no-such-option"], "No such option"),
            (["--output-format", "xml"], "'xml' is not one of"),
            (["--config", "missing.toml"], "'missing.toml' does not exist"),
            (["--select", "WRP0987"], "unknown rule `WRP0987`"),
            (["--select", "planted-cal"], "did you mean `planted-call`?"),
            (["--target-version", "new"], "`target-version` must be"),
            (["--per-file-ignores", "app.py"], "'app.py' is not PATTERN:CODE"),
            (["--isolated", "--config", "some.toml"], "exclude each other"),
            (["rule", "WRP0987"], "no rule has the code or name 'WRP0987'"),
            (["rule"], "name one rule, or give --all"),
        ],
    )
    def test_usage_errors(self, warp_lint: Cli, arguments: list[str], message: str) -> None:
        write("some.toml", "")
        status, output, errors = warp_lint(*arguments)
        assert (status, output) == (2, "")
        assert message in errors

    def test_broken_settings(self, warp_lint: Cli) -> None:
        write("app.py")
        file = write("warp-lint.toml", 'selct = ["ALL"]\n')
        status, output, errors = warp_lint()
        assert (status, output) == (2, "")
        assert errors == f"error: {Path.cwd() / file}: unknown key `selct` (did you mean `select`?)\n"


class TestSelection:
    def test_no_rule_but_unreadable_files(self, warp_lint: Cli) -> None:
        write("app.py")
        write("broken.py", "import warp\ndef f(:\n")
        status, output, _ = warp_lint("--select", "WRP901")
        assert (status, places(output)) == (2, ["broken.py:2"])

    def test_unreadable_files_can_be_ignored_but_only_by_name(self, warp_lint: Cli) -> None:
        write("broken.py", "import warp\ndef f(:\n")
        assert warp_lint("--ignore", "WRP903")[:2] == (0, "All checks passed!\n")
        assert warp_lint("--per-file-ignores", "broken.py:WRP903")[:2] == (0, "All checks passed!\n")

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--ignore", "planted-call"],
            ["--ignore", "WRP902,WRP0"],
            ["--extend-ignore", "WRP099"],
            ["--per-file-ignores", "*.py:WRP902,app.py:WRP099"],
        ],
    )
    def test_ignored(self, warp_lint: Cli, arguments: list[str]) -> None:
        write("app.py")
        assert warp_lint(*arguments)[0] == 0

    def test_command_line_outweighs_settings(self, warp_lint: Cli) -> None:
        write("app.py")
        write("warp-lint.toml", 'ignore = ["WRP099"]\n')
        assert warp_lint()[0] == 0
        assert warp_lint("--extend-select", "WRP099")[0] == 1
        assert warp_lint("--select", "ALL")[0] == 1
        assert warp_lint("--isolated")[0] == 1

    def test_given_settings_file_replaces_the_nearest(self, warp_lint: Cli) -> None:
        write("app.py")
        write("warp-lint.toml", 'ignore = ["WRP099"]\n')
        write("other.toml", "")
        assert warp_lint("--config", "other.toml")[0] == 1

    def test_suppressed_finding_is_not_reported_and_an_unused_suppression_is(self, warp_lint: Cli) -> None:
        write("app.py", "import warp\n\nplanted()  # noqa: WRP099\nother()  # noqa: WRP099\n")
        status, output, _ = warp_lint()
        assert (status, places(output)) == (1, ["app.py:4"])
        assert "WRP901" in output

    def test_unused_suppression_in_a_file_that_has_nothing_to_do_with_warp(self, warp_lint: Cli) -> None:
        write("app.py", "x = 1  # noqa: WRP099\n")
        assert places(warp_lint()[1]) == ["app.py:1"]


class TestFiles:
    def test_working_directory_is_the_default(self, warp_lint: Cli) -> None:
        write("pkg/app.py")
        assert places(warp_lint("check")[1]) == places(warp_lint()[1]) == [f"pkg{os.sep}app.py:3"]

    def test_directory_named_as_a_command(self, warp_lint: Cli) -> None:
        write("rule/app.py")
        assert places(warp_lint("./rule")[1]) == [f"rule{os.sep}app.py:3"]

    def test_no_python_files(self, warp_lint: Cli) -> None:
        assert warp_lint() == (
            0,
            "All checks passed!\n",
            "warning: no Python files found under the given paths\n",
        )

    def test_listed(self, warp_lint: Cli) -> None:
        files = [write(name).absolute() for name in ("b.py", "a.py", "pkg/c.pyi")]
        write("notes.txt")
        write(".venv/d.py")
        status, output, _ = warp_lint("--show-files")
        assert (status, output.splitlines()) == (0, sorted(map(str, files)))

    def test_file_that_has_nothing_to_do_with_warp_is_not_parsed(self, warp_lint: Cli) -> None:
        """As long as it is just one in a directory, it is other linters' business."""
        write("broken.py", "def f(:\n")
        assert warp_lint()[0] == 0
        assert warp_lint("broken.py")[0] == 2

    @pytest.mark.parametrize("data", [b"x = '\xff'\n", b"x = 1\0\n"], ids=["encoding", "null byte"])
    def test_file_that_cannot_be_decoded_is_reported_wherever_it_is(
        self, warp_lint: Cli, data: bytes
    ) -> None:
        write("broken.py", data)
        status, output, _ = warp_lint()
        assert (status, places(output)) == (2, ["broken.py:1"])

    def test_nearest_settings_count(self, warp_lint: Cli) -> None:
        write("app.py")
        write("quiet/app.py")
        write("quiet/deep/app.py")
        write("quiet/warp-lint.toml", 'ignore = ["WRP099"]\n')
        write("quiet/deep/loud/pyproject.toml", "[tool.warp-lint]\n")
        write("quiet/deep/loud/app.py")
        loud = f"{Path('quiet', 'deep', 'loud', 'app.py')}:3"
        assert places(warp_lint()[1]) == ["app.py:3", loud]
        assert places(warp_lint("quiet")[1]) == [loud]
        assert places(warp_lint("quiet/app.py", "app.py")[1]) == ["app.py:3"]

    def test_link_that_leads_nowhere(self, warp_lint: Cli) -> None:
        write("app.py")
        Path("gone.py").symlink_to("missing.py")
        status, _, errors = warp_lint("app.py", "gone.py")
        assert status == 2
        assert "gone.py: no such file or directory" in errors


class TestStandardInput:
    def test_without_a_name(self, warp_lint: Cli) -> None:
        status, output, _ = warp_lint("-", stdin=b"\nplanted()\n")
        assert (status, places(output)) == (1, ["-:2"])

    def test_stands_for_the_file_it_is_named_after(self, warp_lint: Cli) -> None:
        write("pkg/app.py")
        write("pkg/warp-lint.toml", 'extend-ignore = ["WRP902"]\n')
        arguments = ("--stdin-filename", "pkg/app.py", "--output-format", "full", "-")
        status, output, _ = warp_lint(*arguments, stdin=b"\n\n\n\nplanted('here')\n")
        assert status == 1
        assert f"--> pkg{os.sep}app.py:5:1" in output
        assert "5 | planted('here')" in output

    def test_file_need_not_exist(self, warp_lint: Cli) -> None:
        status, output, errors = warp_lint("--stdin-filename", "new.py", "-", stdin=b"planted()\n")
        assert (status, places(output), errors) == (1, ["new.py:1"], "")

    def test_per_file_settings_count(self, warp_lint: Cli) -> None:
        write("warp-lint.toml", '[per-file-ignores]\n"new.py" = ["WRP099"]\n')
        assert warp_lint("--stdin-filename", "new.py", "-", stdin=b"planted()\n")[0] == 0


class TestOutput:
    def test_formats(self, warp_lint: Cli) -> None:
        write("app.py")
        assert "3 | planted()\n  | ^^^^^^^^^\n" in warp_lint("--output-format", "full")[1]
        (finding,) = json.loads(warp_lint("--output-format=json")[1])
        assert (finding["code"], finding["location"]) == ("WRP099", {"row": 3, "column": 1})

    def test_output_is_full_on_a_terminal_and_coloured(self, tmp_path: Path) -> None:
        (tmp_path / "app.py").write_text("x = 1  # noqa: WRP903\n# warp-lint: ignore[WRP0987]\n")
        output = on_terminal([*COMMAND, "app.py"], tmp_path)
        assert "\x1b[" in output
        assert "2 |" in output
        assert "\x1b[" not in on_terminal([*COMMAND, "app.py"], tmp_path, NO_COLOR="1")

    def test_colours_can_be_had_elsewhere(self, warp_lint: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        write("app.py")
        assert "\x1b[" not in warp_lint()[1]
        monkeypatch.setenv("FORCE_COLOR", "1")
        assert "\x1b[" in warp_lint()[1]

    def test_quiet_prints_findings_and_nothing_else(self, warp_lint: Cli) -> None:
        write("app.py")
        assert warp_lint("-q") == (1, "app.py:3:1: WRP099 planted\n", "")
        write("app.py", "")
        assert warp_lint("-q") == (0, "", "")

    def test_verbose_sums_up_on_standard_error(self, warp_lint: Cli) -> None:
        write("app.py")
        _, output, errors = warp_lint("-v")
        assert errors.startswith("1 file, 1 finding, ")
        assert output == warp_lint()[1]

    def test_file(self, warp_lint: Cli) -> None:
        write("app.py")
        status, output, _ = warp_lint("-o", "report.txt")
        assert (status, output) == (1, "")
        assert places(Path("report.txt").read_text()) == ["app.py:3"]

    def test_file_that_cannot_be_written(self, warp_lint: Cli) -> None:
        write("app.py")
        status, _, errors = warp_lint("-o", "missing/report.txt")
        assert status == 2
        assert "missing/report.txt" in errors

    def test_statistics(self, warp_lint: Cli) -> None:
        write("app.py", "import warp\nplanted()\nplanted()\n")
        assert warp_lint("--statistics")[:2] == (
            1,
            "2\tWRP099\t[ ] planted-call\t4 redundant builds\n"
            "Found 2 findings (2 warnings) in 1 file.\n"
            "4 kernel builds beyond the needed.\n",
        )
        (row,) = json.loads(warp_lint("--statistics", "--output-format", "json")[1])
        assert (row["code"], row["count"]) == ("WRP099", 2)

    def test_settings_shown(self, warp_lint: Cli) -> None:
        write("app.py")
        status, output, _ = warp_lint("--show-settings", "--target-version", "1.12", "--ignore", "WRP902")
        assert status == 0
        settings = tomllib.loads(output)
        assert sorted(settings["select"]) == ["WRP099", "WRP901", "WRP903"]
        assert settings["target-version"] == "1.12"

    def test_version(self, warp_lint: Cli) -> None:
        assert warp_lint("--version")[:2] == (0, f"warp-lint, version {__version__}\n")

    def test_help_of_both_levels(self, warp_lint: Cli) -> None:
        assert "check" in warp_lint("--help")[1]
        assert "--per-file-ignores" in warp_lint("check", "-h")[1]


class TestRulePages:
    @pytest.mark.parametrize("rule", ["WRP099", "planted-call"])
    def test_of_one_rule(self, warp_lint: Cli, rule: str) -> None:
        assert warp_lint("rule", rule)[:2] == (
            0,
            "# planted-call (WRP099)\n\nLevel: warning. Default: on.\n\n"
            "A call of ``planted``.\n\n## What it does\nFinds what a test planted.\n\n",
        )

    def test_as_json(self, warp_lint: Cli) -> None:
        page = json.loads(warp_lint("rule", "WRP099", "--output-format", "json")[1])
        assert page["summary"] == "A call of ``planted``."
        assert len(json.loads(warp_lint("rule", "--all", "--output-format", "json")[1])) == len(all_rules())

    def test_drawn_on_a_terminal(self, tmp_path: Path) -> None:
        page = on_terminal([*COMMAND, "rule", "WRP903"], tmp_path)
        assert "\x1b[" in page
        assert "## What it does" not in page


class TestFaults:
    def test_fault_of_a_rule_is_one_line_and_the_others_go_on(
        self, warp_lint: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(all_rules(), Crash.code, Crash())
        write("app.py")
        status, output, errors = warp_lint()
        assert (status, places(output)) == (2, ["app.py:3"])
        (line,) = errors.splitlines()
        assert line.startswith("error: internal error while looking for WRP098: KeyError:")

    def test_fault_of_a_rule_is_told_in_full_when_asked(
        self, warp_lint: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(all_rules(), Crash.code, Crash())
        write("app.py")
        assert "Traceback" in warp_lint("--verbose")[2]

    def test_fault_on_a_file_names_it_and_the_others_go_on(
        self, warp_lint: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def extract_or_crash(source: Source) -> FileFacts:
            if source.path.endswith("bad.py"):
                raise ZeroDivisionError
            return extract(source)

        monkeypatch.setattr("warp_lint.extraction.extract", extract_or_crash)
        write("app.py")
        bad = write("bad.py").absolute()
        status, output, errors = warp_lint()
        assert (status, places(output)) == (2, ["app.py:3"])
        assert errors == f"error: internal error while reading {bad}: ZeroDivisionError: \n"

    def test_reader_that_leaves_early(self, tmp_path: Path) -> None:
        (tmp_path / "app.py").write_text("# warp-lint: ignore[nothing]\n" * 5_000)
        assert_bears_reader_that_leaves(tmp_path, "app.py")

    def test_interrupt(self, tmp_path: Path) -> None:
        """While it waits for standard input, it is surely running."""
        command = subprocess.Popen(
            [*COMMAND, "-"],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while b"pipe" not in _waiting_for(command.pid) and command.poll() is None:
            time.sleep(0.05)
        command.send_signal(signal.SIGINT)
        output, errors = command.communicate()
        assert (command.returncode, output) == (130, b"")
        assert b"Traceback" not in errors

    def test_output_encoding_that_lacks_characters(self, tmp_path: Path) -> None:
        (tmp_path / "app.py").write_text("# warp-lint: ignore[é界]\n", encoding="utf-8")
        output = subprocess.run(
            [*COMMAND, "app.py"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONIOENCODING": "latin-1"},
            capture_output=True,
            check=False,
        )
        assert (output.returncode, output.stderr) == (1, b"")
        assert b"`\xe9\\u754c`" in output.stdout


class TestImports:
    """What is not needed is not imported: a linter that is started for every commit starts fast."""

    @pytest.mark.parametrize(
        ("arguments", "unneeded"),
        [
            (["--version"], {"libcst", "rich"}),
            (["--help"], {"libcst", "rich"}),
            (["--output-format", "full", "app.py"], {"rich", "warp", "pathspec"}),
        ],
    )
    def test_unneeded(self, tmp_path: Path, arguments: list[str], unneeded: set[str]) -> None:
        (tmp_path / "app.py").write_text("# warp-lint: ignore[nothing]\n")
        program = (
            "import sys; from warp_lint import cli; cli.run(sys.argv[1:]);"
            "print(*sys.modules, sep='\\n', file=sys.stderr)"
        )
        run = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert set(run.stderr.split()) & unneeded == set()


class TestTrees:
    """Which files a run looks at, beyond those whose findings it reports."""

    def test_file_brings_its_project_along(self, tmp_path: Path) -> None:
        (tmp_path / "pyproject.toml").touch()
        for name in ("a.py", "b.py", "pkg/c.py"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).touch()
        (tree,), *_ = find_trees([str(tmp_path / "a.py")], SettingsLookup())
        assert tree.asked == [str(tmp_path / "a.py")]
        assert tree.others == [str(tmp_path / "b.py"), str(tmp_path / "pkg" / "c.py")]
        (tree,), *_ = find_trees([str(tmp_path / "a.py")], SettingsLookup(), whole_projects=False)
        assert tree.others == []

    def test_directory_is_its_own_project(self, tmp_path: Path) -> None:
        (tmp_path / "pyproject.toml").touch()
        (tmp_path / "pkg").mkdir()
        (tmp_path / "a.py").touch()
        (tmp_path / "pkg" / "b.py").touch()
        (tree,), *_ = find_trees([str(tmp_path / "pkg")], SettingsLookup())
        assert (tree.asked, tree.others) == ([str(tmp_path / "pkg" / "b.py")], [])

    def test_lone_file_does_not_bring_the_directory_it_happens_to_lie_in(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").touch()
        (tmp_path / "b.py").touch()
        (tree,), *_ = find_trees([str(tmp_path / "a.py")], SettingsLookup())
        assert (tree.asked, tree.others) == ([str(tmp_path / "a.py")], [])

    def test_projects_below_do_not_belong_to_the_one_above(self, tmp_path: Path) -> None:
        (tmp_path / "warp-lint.toml").touch()
        (tmp_path / "a.py").touch()
        (tmp_path / "below").mkdir()
        (tmp_path / "below" / "warp-lint.toml").touch()
        (tmp_path / "below" / "b.py").touch()
        (tree,), *_ = find_trees([str(tmp_path / "a.py")], SettingsLookup())
        assert tree.others == []
        trees, *_ = find_trees([str(tmp_path)], SettingsLookup())
        assert [tree.asked for tree in trees] == [
            [str(tmp_path / "a.py")],
            [str(tmp_path / "below" / "b.py")],
        ]

    def test_paths_of_one_project_are_judged_together(self, tmp_path: Path) -> None:
        (tmp_path / "warp-lint.toml").touch()
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "a.py").touch()
        paths = [str(tmp_path / name) for name in ("two", "one", "one/a.py")]
        (tree,), *_ = find_trees(paths, SettingsLookup())
        assert tree.asked == [str(tmp_path / "one" / "a.py"), str(tmp_path / "two" / "a.py")]


def on_terminal(command: list[str], directory: Path, **environment: str) -> str:
    """What a command prints when its standard output is a terminal."""
    main, terminal = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        command,
        cwd=directory,
        env={**inherited, "TERM": "xterm-256color", "COLUMNS": "100", **environment},
        stdout=terminal,
        stderr=subprocess.PIPE,
    )
    os.close(terminal)
    output = b""
    while True:
        try:
            part = os.read(main, 65_536)
        except OSError:  # how Linux tells that the other end is closed
            break
        if not part:
            break
        output += part
    process.wait()
    os.close(main)
    return output.decode()


def _waiting_for(process: int) -> bytes:
    """The kernel function that a process sleeps in, or nothing where that cannot be told."""
    try:
        return Path(f"/proc/{process}/wchan").read_bytes()
    except OSError:
        return b"pipe"
