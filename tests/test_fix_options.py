"""Fixes from the command line: what is made, written, printed and counted. Exit statuses are ruff's."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from warp_lint import cli
from warp_lint.findings import Applicability, Edit, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.rules import all_rules
from warp_lint.rules.base import Rule

REPLACEMENT = "done()"


class Planted(Rule):
    """A call of ``safe``, ``unsafe`` or ``display``, to be replaced by ``done``."""

    level = Level.WARNING

    def __init__(self, code: str, applicability: Applicability) -> None:
        self.code = code  # type: ignore[misc]
        self.name = f"planted-{code.lower()}"  # type: ignore[misc]
        self._applicability = applicability

    def check(self, project: Project) -> Iterable[Finding]:
        for file in project.files:
            for call in file.facts.calls:
                if getattr(call.function, "id", None) == self._applicability.value:
                    edit = Edit(file.facts.path, *call.span, REPLACEMENT)
                    fix = Fix("Replace by `done`", self._applicability, (edit,))
                    yield self.finding(file.facts.location(call.span), "planted", fix=fix)


SAFE, UNSAFE, DISPLAY = "WRP091", "WRP092", "WRP093"
RULES = {
    SAFE: Planted(SAFE, Applicability.SAFE),
    UNSAFE: Planted(UNSAFE, Applicability.UNSAFE),
    DISPLAY: Planted(DISPLAY, Applicability.DISPLAY),
}
BEFORE = "import warp\n\nsafe()\nunsafe()\ndisplay()\n"
AFTER_SAFE = BEFORE.replace("\nsafe()", "\ndone()")
AFTER_UNSAFE = AFTER_SAFE.replace("unsafe()", "done()")

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def warp_lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command line in an empty directory, with the planted rules as the only ones about programs."""
    monkeypatch.chdir(tmp_path)
    for code in [code for code in all_rules() if not code.startswith("WRP9")]:
        monkeypatch.delitem(all_rules(), code)
    for code, rule in RULES.items():
        monkeypatch.setitem(all_rules(), code, rule)

    def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = cli.run(arguments)
        return status, *capsys.readouterr()

    return run


def write(path: str, text: str | bytes = BEFORE) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


class TestWhatIsFixed:
    def test_nothing_unasked(self, warp_lint: Cli) -> None:
        file = write("app.py")
        status, output, _ = warp_lint()
        assert status == 1
        assert file.read_text() == BEFORE
        assert output.splitlines()[-2:] == [
            "Found 3 findings (3 warnings) in 1 file.",
            "[*] 1 fixable with `--fix` (1 unsafe fix available with `--fix --unsafe-fixes`).",
        ]

    def test_safe_fixes(self, warp_lint: Cli) -> None:
        file = write("app.py")
        status, output, _ = warp_lint("--fix")
        assert (status, file.read_text()) == (1, AFTER_SAFE)
        assert output == (
            "app.py:4:1: WRP092 planted\n"
            "app.py:5:1: WRP093 planted\n"
            "Found 3 findings (1 fixed, 2 remaining).\n"
            "1 unsafe fix available with `--fix --unsafe-fixes`.\n"
        )

    def test_unsafe_ones_too(self, warp_lint: Cli) -> None:
        file = write("app.py")
        assert "[*] 2 fixable with `--fix`.\n" in warp_lint("--unsafe-fixes")[1]
        status, output, _ = warp_lint("--fix", "--unsafe-fixes")
        assert (status, file.read_text()) == (1, AFTER_UNSAFE)
        assert output == "app.py:5:1: WRP093 planted\nFound 3 findings (2 fixed, 1 remaining).\n"

    def test_second_run_changes_nothing(self, warp_lint: Cli) -> None:
        file = write("app.py")
        warp_lint("--fix", "--unsafe-fixes")
        inode = file.stat().st_ino
        assert warp_lint("--fix", "--unsafe-fixes", "--exit-non-zero-on-fix", "--fix-only")[0] == 0
        assert file.stat().st_ino == inode

    def test_suppressed_and_unselected_findings_are_not_fixed(self, warp_lint: Cli) -> None:
        text = "import warp\n\nsafe()  # noqa: WRP091\nunsafe()\n"
        file = write("app.py", text)
        assert warp_lint("--fix", "--unsafe-fixes", "--ignore", "WRP092")[0] == 0
        assert file.read_text() == text

    def test_suppression_that_is_of_no_use_goes(self, warp_lint: Cli) -> None:
        file = write("app.py", "import warp\n\nother()  # noqa: WRP091\n")
        assert warp_lint("--fix")[:2] == (0, "Found 1 finding (1 fixed, 0 remaining).\n")
        assert file.read_text() == "import warp\n\nother()\n"

    @pytest.mark.parametrize(
        ("settings", "arguments", "after"),
        [
            ('fixable = ["WRP092"]', ["--unsafe-fixes"], BEFORE.replace("unsafe()", "done()")),
            ('unfixable = ["WRP091"]', ["--unsafe-fixes"], BEFORE.replace("unsafe()", "done()")),
            ('unfixable = ["ALL"]', ["--unsafe-fixes"], BEFORE),
            ('extend-safe-fixes = ["WRP092"]', [], AFTER_UNSAFE),
            ('extend-unsafe-fixes = ["WRP091"]', [], BEFORE),
            ('extend-unsafe-fixes = ["WRP091"]', ["--unsafe-fixes"], AFTER_UNSAFE),
            ('extend-safe-fixes = ["ALL"]', [], AFTER_UNSAFE),
        ],
    )
    def test_settings_say_what_may_be_fixed(
        self, warp_lint: Cli, settings: str, arguments: list[str], after: str
    ) -> None:
        write("warp-lint.toml", settings)
        file = write("app.py")
        warp_lint("--fix", *arguments)
        assert file.read_text() == after

    def test_files_that_were_not_asked_for_are_not_changed(self, warp_lint: Cli) -> None:
        """They are read, since it matters what happens in them."""
        write("warp-lint.toml", "")
        asked, other = write("app.py"), write("other.py")
        warp_lint("--fix", "app.py")
        assert (asked.read_text(), other.read_text()) == (AFTER_SAFE, BEFORE)

    def test_bytes_outside_of_a_fix_stay(self, warp_lint: Cli) -> None:
        before = b"\xef\xbb\xbf# \xe2\x82\xac\r\nimport warp\rsafe()  \r\n\x0c\nx = 'a\x1cb'"
        file = write("app.py", before)
        warp_lint("--fix")
        assert file.read_bytes() == before.replace(b"safe", b"done")

    def test_file_with_an_error_is_left_and_others_are_fixed(self, warp_lint: Cli) -> None:
        broken, file = write("broken.py", "import warp\nsafe()\n("), write("app.py")
        status, output, _ = warp_lint("--fix")
        assert status == 2
        assert "broken.py:3:1: WRP903" in output
        assert broken.read_text() == "import warp\nsafe()\n("
        assert file.read_text() == AFTER_SAFE


class TestLinks:
    def test_link_within_the_project_stays_one(self, warp_lint: Cli) -> None:
        write("warp-lint.toml", 'exclude = ["real"]\n')
        real, link = write("real/app.py"), Path("app.py")
        link.symlink_to(real)
        warp_lint("--fix")
        assert link.is_symlink()
        assert real.read_text() == AFTER_SAFE

    def test_link_out_of_the_project_is_not_followed(self, warp_lint: Cli) -> None:
        outside = write("outside/app.py")
        write("project/warp-lint.toml", "")
        Path("project/app.py").symlink_to("../outside/app.py")
        status, output, errors = warp_lint("--fix", "project")
        assert outside.read_text() == BEFORE
        assert status == 1
        assert "Found 3 findings (3 warnings) in 1 file." in output
        assert "the fix of WRP091 is refused: it would change" in errors
        assert "a link that leads out of" in errors

    def test_file_under_two_names_is_fixed_once(self, warp_lint: Cli) -> None:
        file = write("app.py")
        Path("link.py").symlink_to("app.py")
        status, _, errors = warp_lint("--fix")
        assert (status, errors) == (1, "")
        assert Path("link.py").is_symlink()
        assert file.read_text() == AFTER_SAFE


class TestWhatIsPrinted:
    def test_fixes_listed(self, warp_lint: Cli) -> None:
        write("app.py", "import warp\nsafe()\nsafe()\nunsafe()\n")
        write("lib.py", "import warp\nsafe()\n")
        assert warp_lint("--fix", "--unsafe-fixes", "--show-fixes")[1] == (
            "Fixed 4 findings:\n"
            "- app.py:\n"
            "    2 × WRP091 (planted-wrp091)\n"  # noqa: RUF001
            "    1 × WRP092 (planted-wrp092)\n"  # noqa: RUF001
            "- lib.py:\n"
            "    1 × WRP091 (planted-wrp091)\n"  # noqa: RUF001
            "\n"
            "Found 4 findings (4 fixed, 0 remaining).\n"
        )

    def test_fixes_listed_beside_a_format_for_machines(self, warp_lint: Cli) -> None:
        write("app.py", "import warp\nsafe()\n")
        _, output, errors = warp_lint("--fix", "--show-fixes", "--output-format", "json")
        assert output == "[]\n"
        assert errors.startswith("Fixed 1 finding:\n")

    @pytest.mark.parametrize(
        ("text", "arguments", "line"),
        [
            (BEFORE, [], "Fixed 1 finding (1 additional fix available with `--unsafe-fixes`)."),
            (BEFORE, ["--unsafe-fixes"], "Fixed 2 findings."),
            (AFTER_SAFE, [], "No findings fixed (1 fix available with `--unsafe-fixes`)."),
            (AFTER_UNSAFE, [], ""),
            (BEFORE, ["--diff"], "Would fix 1 finding (1 additional fix available with `--unsafe-fixes`)."),
            (AFTER_SAFE, ["--diff"], "No findings would be fixed (1 fix available with `--unsafe-fixes`)."),
            (BEFORE, ["--quiet"], ""),
        ],
    )
    def test_only_fixes(self, warp_lint: Cli, text: str, arguments: list[str], line: str) -> None:
        write("app.py", text)
        status, output, errors = warp_lint("--fix-only", *arguments)
        is_diff = "--diff" in arguments
        assert status == (1 if is_diff and text == BEFORE else 0)
        assert (errors if is_diff else output) == (f"{line}\n" if line else "")

    def test_report_is_about_what_is_left(self, warp_lint: Cli) -> None:
        write("app.py")
        output = warp_lint("--fix", "--output-format", "full")[1]
        assert "3 | done()\n4 | unsafe()\n  | ^^^^^^^^\n" in output
        assert "4 + done()" in output

    def test_statistics_are_about_what_is_left(self, warp_lint: Cli) -> None:
        write("app.py", "import warp\nsafe()\nunsafe()\n")
        assert warp_lint("--statistics")[1].startswith("1\tWRP091\t[*] planted-wrp091\n1\tWRP092\t[ ] ")
        assert warp_lint("--statistics", "--fix")[1].startswith("1\tWRP092\t[ ] planted-wrp092\nFound 2 ")


class TestDiff:
    def test_is_printed_and_nothing_written(self, warp_lint: Cli) -> None:
        file = write("pkg/app.py", "import warp\nsafe()\nx = 1\ny = 1\nz = 1\nsafe()")
        status, output, _ = warp_lint("--diff")
        assert status == 1
        assert output == (
            f"--- pkg{os.sep}app.py\n"
            f"+++ pkg{os.sep}app.py\n"
            "@@ -1,6 +1,6 @@\n"
            " import warp\n"
            "-safe()\n"
            "+done()\n"
            " x = 1\n"
            " y = 1\n"
            " z = 1\n"
            "-safe()\n"
            "\\ No newline at end of file\n"
            "+done()\n"
            "\\ No newline at end of file\n"
        )
        assert file.read_text().count("safe") == 2

    def test_of_nothing(self, warp_lint: Cli) -> None:
        write("app.py", "import warp\n")
        assert warp_lint("--diff") == (0, "", "")

    def test_git_makes_of_it_what_fixing_does(self, warp_lint: Cli) -> None:
        """Whatever the encoding and the line ends; what is binary is told from what is not by its content."""
        texts = {
            "latin.py": "# coding: latin-1\nimport warp\ns = 'é'\nsafe()\n".encode("latin-1"),
            "dos.py": b"import warp\r\nsafe()\r\n# \xe2\x82\xac\r\n",
            "mac.py": b"import warp\rsafe()\r",
            "mixed.py": b"import warp\r\nsafe()\nx = 1\r\nsafe()\r\n",
            "open.py": b"import warp\nx = 1\x0c\nsafe()",
            "with blank.py": b"import warp\nsafe()\n",
        }
        for name, text in texts.items():
            write(name, text)
        warp_lint("--diff", "-o", "fixes.patch")
        subprocess.run(["git", "apply", "-p0", "--whitespace=nowarn", "fixes.patch"], check=True)
        assert {name: Path(name).read_bytes() for name in texts} == {
            name: text.replace(b"safe", b"done") for name, text in texts.items()
        }


class TestStandardInput:
    def test_fixed_text_is_printed_and_the_report_is_not_in_it(self, warp_lint: Cli) -> None:
        status, output, errors = warp_lint("--fix", "-", stdin=BEFORE.encode())
        assert (status, output) == (1, AFTER_SAFE)
        assert errors.startswith("-:4:1: WRP092 planted\n")
        assert "Found 3 findings (1 fixed, 2 remaining).\n" in errors

    def test_text_without_anything_to_fix_is_printed_as_it_is(self, tmp_path: Path) -> None:
        text = b"# coding: latin-1\r\n'\xe9'"
        command = [sys.executable, "-m", "warp_lint", "--fix", "-"]
        run = subprocess.run(command, cwd=tmp_path, input=text, capture_output=True, check=True)
        assert (run.stdout, run.stderr) == (text, b"All checks passed!\n")

    def test_text_that_is_no_python_is_printed_as_it_is(self, warp_lint: Cli) -> None:
        status, output, errors = warp_lint("--fix", "-", stdin=b"safe()\n(")
        assert (status, output) == (2, "safe()\n(")
        assert "WRP903" in errors

    def test_only_fixes(self, warp_lint: Cli) -> None:
        assert warp_lint("--fix-only", "-q", "-", stdin=BEFORE.encode()) == (0, AFTER_SAFE, "")

    def test_diff(self, warp_lint: Cli) -> None:
        status, output, errors = warp_lint("--diff", "-", stdin=b"safe()\n")
        assert (status, errors) == (1, "Would fix 1 finding.\n")
        assert output == "--- -\n+++ -\n@@ -1 +1 @@\n-safe()\n+done()\n"

    def test_file_it_is_named_after_is_not_written(self, warp_lint: Cli) -> None:
        file = write("app.py")
        output = warp_lint("--fix", "--stdin-filename", "app.py", "-", stdin=b"import warp\n\nsafe()\n")[1]
        assert output == "import warp\n\ndone()\n"
        assert file.read_text() == BEFORE


@pytest.mark.parametrize("exit_option", [[], ["--exit-zero"], ["--exit-non-zero-on-fix"]], ids=str)
@pytest.mark.parametrize("option", [[], ["--fix"], ["--fix-only"], ["--diff"], ["--fix", "--diff"]], ids=str)
@pytest.mark.parametrize("unsafe", [[], ["--unsafe-fixes"]], ids=str)
@pytest.mark.parametrize(
    ("ours", "ruffs"),
    [
        pytest.param("", "", id="nothing to find"),
        pytest.param("safe()\n", "import os\n", id="a safe fix"),
        pytest.param("unsafe()\n", "print('%s' % (1,))\n", id="an unsafe fix"),
        pytest.param("display()\n", "import sys as a; a = 2; b\n", id="none"),
    ],
)
def test_exit_status_is_that_of_ruff(
    warp_lint: Cli, ours: str, ruffs: str, unsafe: list[str], option: list[str], exit_option: list[str]
) -> None:
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F401,UP031,F821"]
    arguments = [*unsafe, *option, *exit_option]
    write("of_ruff/app.py", ruffs)
    expected = subprocess.run([*ruff, *arguments, "of_ruff"], capture_output=True, check=False).returncode
    write("app.py", f"import warp\n{ours}")
    assert warp_lint(*arguments, "app.py")[0] == expected


class TestFailures:
    def test_file_that_cannot_be_written_is_told_and_others_are_fixed(self, warp_lint: Cli) -> None:
        locked, file = write("locked.py"), write("app.py")
        locked.chmod(0o444)
        status, output, errors = warp_lint("--fix")
        assert status == 2
        assert errors == f"error: {locked.absolute()}: is read-only\n"
        assert (locked.read_text(), file.read_text()) == (BEFORE, AFTER_SAFE)
        # it is reported as it is
        assert "locked.py:3:1: WRP091 [*] planted" in output
        assert "Found 6 findings (1 fixed, 5 remaining)." in output

    def test_full_disk(self, warp_lint: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(_descriptor: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        file = write("app.py")
        monkeypatch.setattr(os, "fsync", fail)
        status, output, errors = warp_lint("--fix")
        assert status == 2
        assert f"cannot be written: {os.strerror(errno.ENOSPC)}" in errors
        assert "Found 3 findings (3 warnings) in 1 file." in output
        assert file.read_text() == BEFORE
        assert [path.name for path in Path().iterdir()] == ["app.py"]

    def test_file_that_changes_while_it_is_linted(
        self, warp_lint: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The fix is made on what was linted, and not written over what came later."""
        file = write("app.py")
        check = RULES[SAFE].check

        def check_and_edit(project: Project) -> Iterable[Finding]:
            findings = list(check(project))
            file.write_text("import warp\n\n\n\nsafe()\n")
            return findings

        monkeypatch.setattr(RULES[SAFE], "check", check_and_edit)
        status, _, errors = warp_lint("--fix")
        assert status == 2
        assert "was changed by something else meanwhile" in errors
        assert file.read_text() == "import warp\n\n\n\nsafe()\n"

    def test_fix_that_would_lose_a_comment(self, warp_lint: Cli) -> None:
        """It is not offered as safe, and refused when it is asked for."""
        text = "import warp\n\nsafe(  # why\n)\n"
        file = write("app.py", text)
        assert warp_lint("--fix") == (
            1,
            "app.py:3:1: WRP091 planted\n"
            "Found 1 finding (1 warning) in 1 file.\n"
            "1 unsafe fix available with `--fix --unsafe-fixes`.\n",
            "",
        )
        status, output, errors = warp_lint("--fix", "--unsafe-fixes")
        assert (status, file.read_text()) == (1, text)
        assert errors == (
            "warning: app.py:3:1: the fix of WRP091 is refused: it would lose the comment `# why`\n"
        )
        # so it is not offered any more
        assert output == "app.py:3:1: WRP091 planted\nFound 1 finding (1 warning) in 1 file.\n"

    def test_refusals_that_are_alike_are_told_once(self, warp_lint: Cli) -> None:
        write("app.py", "import warp\n\n" + "safe(  # why\n)\n" * 3)
        assert warp_lint("--fix", "--unsafe-fixes")[2] == (
            "warning: app.py:3:1: the fix of WRP091 is refused: it would lose the comment `# why`"
            " (2 more like it)\n"
        )

    def test_fix_that_leaves_no_python(self, warp_lint: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tests.test_fix_options.REPLACEMENT", "(")
        file = write("app.py", "import warp\n\nsafe()\nother()  # noqa: WRP091\n")
        status, _, errors = warp_lint("--fix")
        assert status == 1
        assert "the fix of WRP091 is refused: it would leave no valid Python" in errors
        assert file.read_text() == "import warp\n\nsafe()\nother()\n"

    def test_fixes_that_do_not_come_to_an_end(self, warp_lint: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tests.test_fix_options.REPLACEMENT", "done() or safe()")
        text = "import warp\n\nsafe()\n"
        file = write("app.py", text)
        status, output, errors = warp_lint("--fix")
        assert (status, file.read_text()) == (1, text)
        assert errors == "warning: app.py: the fixes of WRP091 are left out: they do not come to an end\n"
        assert output == "app.py:3:1: WRP091 planted\nFound 1 finding (1 warning) in 1 file.\n"
