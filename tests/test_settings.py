"""Settings: where they are found, what they may say, and which of two wins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from warp_lint.rules import all_rules
from warp_lint.settings import PathMatcher, ProjectKind, Settings, SettingsError


class FakeRule(NamedTuple):
    code: str
    name: str
    default: bool = True


KERNEL = FakeRule("WRP101", "kernel-in-function")
CAPTURE = FakeRule("WRP102", "capture-free-kernel", default=False)
BLOCK = FakeRule("WRP201", "mixed-block-dim")
RULES = [KERNEL, CAPTURE, BLOCK]

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the temporary directory, and the folders it needs."""

    def write_file(name: str, text: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return write_file


def settings(*tables: dict[str, Any]) -> Settings:
    """Settings of a project in ``/p``: the first table from its file, the second from the command line."""
    result = Settings("/p")
    for table in tables:
        result = result.with_overrides(table)
    return result


def enabled(*tables: dict[str, Any]) -> list[str]:
    return [rule.code for rule in RULES if settings(*tables).enables(rule)]  # type: ignore[arg-type]


class TestWhereSettingsAreFound:
    def test_nearest_directory_wins(self, write: Write) -> None:
        write("pyproject.toml", "[tool.warp-lint]\nselect = ['WRP1']\n")
        inner = write("sub/warp-lint.toml", "select = ['WRP2']\n")
        file = write("sub/deeper/a.py", "")
        assert Settings.nearest(str(file)).file == str(inner)
        assert Settings.nearest(str(file)).root == str(inner.parent)

    @pytest.mark.parametrize(
        ("names", "winner"),
        [
            (["pyproject.toml", "warp-lint.toml", ".warp-lint.toml"], ".warp-lint.toml"),
            (["pyproject.toml", "warp-lint.toml"], "warp-lint.toml"),
            (["pyproject.toml"], "pyproject.toml"),
        ],
    )
    def test_precedence_in_one_directory(self, write: Write, names: list[str], winner: str) -> None:
        for name in names:
            write(name, "[tool.warp-lint]\n" if name == "pyproject.toml" else "")
        directory = write("a.py", "").parent
        assert Settings.nearest(str(directory)).file == str(directory / winner)

    def test_pyproject_without_our_section_is_passed_over(self, write: Write) -> None:
        outer = write("warp-lint.toml", "")
        write("sub/pyproject.toml", "[tool.ruff]\n")
        file = write("sub/a.py", "")
        assert Settings.nearest(str(file)).file == str(outer)

    def test_defaults_where_there_are_none(self, write: Write) -> None:
        project = write("pyproject.toml", "[project]\nname = 'p'\n").parent
        found = Settings.nearest(str(write("src/a.py", "")))
        assert found == Settings(str(project))
        assert found.file is None

    def test_relative_paths_start_beside_the_file(self, write: Write) -> None:
        file = write("pyproject.toml", "[tool.warp-lint]\nsrc = ['lib', '.']\n")
        read = Settings.read(str(file))
        assert read.source_roots == (str(file.parent / "lib"), str(file.parent))


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("selct = []", "unknown key `selct` (did you mean `select`?)"),
            ("extend_select = []", "unknown key `extend_select` (did you mean `extend-select`?)"),
            ("line-length = 3", "unknown key `line-length`"),
            ("select = 'WRP101'", "`select` must be a list of strings, not 'WRP101'"),
            ("select = [1]", "`select` must be a list of strings, not [1]"),
            ("per-file-ignores = ['a']", "`per-file-ignores` must be a table of lists of strings, not ['a']"),
            ("respect-gitignore = 1", "`respect-gitignore` must be true or false, not 1"),
            ("target-version = 1.10", '`target-version` must be "auto" or a version such as "1.19", not 1.1'),
            (
                "target-version = '1'",
                '`target-version` must be "auto" or a version such as "1.19", not \'1\'',
            ),
            (
                "project-kind = 'app'",
                '`project-kind` must be one of "auto", "application", "library", not \'app\'',
            ),
            ("devices = ['gpu']", '`devices` must be a list of "cpu" and "cuda", not [\'gpu\']'),
        ],
    )
    def test_message_names_file_and_key(self, write: Write, text: str, message: str) -> None:
        file = write("warp-lint.toml", text)
        with pytest.raises(SettingsError) as caught:
            Settings.read(str(file))
        assert str(caught.value) == f"{file}: {message}"

    def test_command_line_is_named(self) -> None:
        with pytest.raises(SettingsError, match=r"^command line: unknown key `slect`"):
            settings({"slect": []})

    @pytest.mark.parametrize("text", ["select = [", "\ufeff\0", "[tool]\n[tool]\n", "a = " + "[" * 5000])
    def test_broken_files(self, write: Write, text: str) -> None:
        file = write("pyproject.toml", text)
        for read in (Settings.read, Settings.nearest):
            with pytest.raises(SettingsError, match=f"^{file}: not valid TOML: "):
                read(str(file))

    def test_bytes_that_are_no_text(self, tmp_path: Path) -> None:
        file = tmp_path / "warp-lint.toml"
        file.write_bytes(b"# \xff")
        with pytest.raises(SettingsError, match="not valid TOML"):
            Settings.read(str(file))

    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match=r"missing\.toml: No such file or directory"):
            Settings.read(str(tmp_path / "missing.toml"))

    def test_section_that_is_no_table(self, write: Write) -> None:
        file = write("pyproject.toml", "tool.warp-lint = 3")
        with pytest.raises(SettingsError, match=r"`tool\.warp-lint` must be a table, not 3"):
            Settings.read(str(file))


class TestSelectors:
    @pytest.mark.parametrize(
        ("tables", "codes"),
        [
            # nothing selected: the rules that are on by default
            ([{}], ["WRP101", "WRP201"]),
            ([{"ignore": ["WRP101"]}], ["WRP201"]),
            ([{"extend-select": ["WRP102"]}], ["WRP101", "WRP102", "WRP201"]),
            ([{"select": []}], []),
            ([{"select": ["ALL"]}], ["WRP101", "WRP102", "WRP201"]),
            ([{"select": ["WRP1"]}], ["WRP101", "WRP102"]),
            ([{"select": ["WRP"]}], ["WRP101", "WRP102", "WRP201"]),
            ([{"select": ["capture-free-kernel"]}], ["WRP102"]),
            # in one place the closest selector wins, whatever the order
            ([{"select": ["WRP101"], "ignore": ["WRP1"]}], ["WRP101"]),
            ([{"select": ["kernel-in-function"], "ignore": ["WRP10"]}], ["WRP101"]),
            ([{"select": ["WRP1"], "ignore": ["WRP101"]}], ["WRP102"]),
            ([{"select": ["ALL"], "ignore": ["WRP"], "extend-select": ["WRP2"]}], ["WRP201"]),
            # of two equally close ones, ignore
            ([{"select": ["WRP1"], "ignore": ["WRP1"]}], []),
            ([{"select": ["WRP101"], "extend-ignore": ["kernel-in-function"]}], []),
            # what comes later: a select starts anew, everything else changes what there is
            ([{"ignore": ["WRP101"]}, {"select": ["WRP1"]}], ["WRP101", "WRP102"]),
            ([{"select": ["WRP101"]}, {"ignore": ["WRP1"]}], []),
            ([{"ignore": ["WRP1"]}, {"extend-select": ["WRP101"]}], ["WRP101", "WRP201"]),
            ([{"select": ["WRP1"]}, {"select": ["WRP2"]}], ["WRP201"]),
            ([{"extend-select": ["WRP102"]}, {"select": ["WRP201"]}], ["WRP201"]),
        ],
    )
    def test_precedence_is_ruffs(self, tables: list[dict[str, Any]], codes: list[str]) -> None:
        assert enabled(*tables) == codes

    @pytest.mark.parametrize(
        ("tables", "fixable"),
        [
            ([{}], [True, True, True]),
            ([{"unfixable": ["WRP1"]}], [False, False, True]),
            ([{"fixable": ["WRP101"]}], [True, False, False]),
            ([{"fixable": ["ALL"], "unfixable": ["WRP201"]}], [True, True, False]),
            ([{"unfixable": ["WRP101"]}, {"fixable": ["WRP1"]}], [True, True, False]),
        ],
    )
    def test_fixable(self, tables: list[dict[str, Any]], fixable: list[bool]) -> None:
        assert [settings(*tables).may_fix(rule) for rule in RULES] == fixable

    def test_fix_safety(self) -> None:
        chosen = settings({"extend-safe-fixes": ["WRP1"], "extend-unsafe-fixes": ["WRP101"]})
        assert [chosen.trusts_fixes_of(rule) for rule in RULES] == [False, True, None]

    @pytest.mark.parametrize(
        ("selector", "hint"),
        [
            ("WRP111", " (did you mean `WRP101`?)"),
            ("wrp101", " (did you mean `WRP101`?)"),
            ("kernel-in-funtion", " (did you mean `kernel-in-function`?)"),
            ("mixed-block", " (did you mean `mixed-block-dim`?)"),
            ("E501", ""),
            ("WR", ""),
            ("", ""),
        ],
    )
    def test_unknown_selector(self, selector: str, hint: str) -> None:
        with pytest.raises(SettingsError) as caught:
            settings({"ignore": [selector]}).check_selectors(RULES)
        assert str(caught.value) == f"command line: `ignore` names the unknown rule `{selector}`{hint}"

    @pytest.mark.parametrize(
        "key",
        [
            "select",
            "extend-select",
            "extend-ignore",
            "fixable",
            "unfixable",
            "extend-safe-fixes",
            "extend-unsafe-fixes",
        ],
    )
    def test_every_key_with_selectors_is_checked(self, key: str) -> None:
        with pytest.raises(SettingsError, match=f"`{key}` names the unknown rule `WRP999`"):
            settings({key: ["ALL", "WRP999"]}).check_selectors(RULES)
        with pytest.raises(SettingsError, match="`per-file-ignores` names the unknown rule `WRP999`"):
            settings({"per-file-ignores": {"a": ["WRP999"]}}).check_selectors(RULES)

    def test_known_selectors_pass(self) -> None:
        settings({"select": ["ALL", "WRP", "WRP9", "WRP90", "WRP901", "unused-suppression"]}).check_selectors(
            all_rules().values()
        )


class TestPatterns:
    @pytest.mark.parametrize(
        ("pattern", "ignored"),
        [
            # what ruff 0.17 does with these patterns and files
            ("tests*", ["tests/a/b.py"]),
            ("tests", []),
            ("tests/*", ["tests/a/b.py"]),
            ("./tests/*", ["tests/a/b.py"]),
            ("!tests/*", ["b.py"]),
            ("{tests,x}/**/*.py", ["tests/a/b.py"]),
            ("**/b.py", ["b.py", "tests/a/b.py"]),
            ("tests/**/b.py", ["tests/a/b.py"]),
            ("tests/a/**/b.py", ["tests/a/b.py"]),
            ("b.py", ["b.py", "tests/a/b.py"]),
            ("a", []),
            ("[a-b].py", ["b.py", "tests/a/b.py"]),
        ],
    )
    def test_per_file_ignores(self, pattern: str, ignored: list[str]) -> None:
        chosen = settings({"per-file-ignores": {pattern: ["WRP1"]}})
        files = ["b.py", "tests/a/b.py"]
        assert [file for file in files if chosen.ignores_in_file(KERNEL, f"/p/{file}")] == ignored
        assert not any(chosen.ignores_in_file(BLOCK, f"/p/{file}") for file in files)

    def test_root_is_no_pattern(self) -> None:
        odd = Settings("/p[1]{a,b}*").with_overrides({"per-file-ignores": {"x/*": ["ALL"]}})
        assert odd.ignores_in_file(KERNEL, "/p[1]{a,b}*/x/y.py")
        assert not odd.ignores_in_file(KERNEL, "/p1a/x/y.py")

    def test_overrides_start_from_their_own_root(self) -> None:
        chosen = Settings("/p").with_overrides({"per-file-ignores": {"x/*": ["ALL"]}}, root="/p/sub")
        assert chosen.ignores_in_file(KERNEL, "/p/sub/x/y.py")
        assert not chosen.ignores_in_file(KERNEL, "/p/x/y.py")

    def test_exclude_replaces_and_extend_exclude_adds(self) -> None:
        def excludes(chosen: Settings, name: str) -> bool:
            return PathMatcher((*chosen.exclude, *chosen.extend_exclude)).matches(f"/p/{name}", name)

        extended = settings({"extend-exclude": ["generated"]}, {"extend-exclude": ["*_pb2.py"]})
        assert [excludes(extended, name) for name in ("venv", "generated", "a_pb2.py")] == [True, True, True]
        replaced = settings({"exclude": ["generated"]})
        assert [excludes(replaced, name) for name in ("venv", "generated")] == [False, True]


class TestTargetVersion:
    @pytest.mark.parametrize(
        ("requirement", "version"),
        [
            ("warp-lang>=1.10", (1, 10)),
            ("Warp_Lang[examples] >= 1.2, < 2 ; python_version > '3.9'", (1, 2)),
            ("warp.lang==1.12.1", (1, 12, 1)),
            ("warp-lang==1.13.*", (1, 13)),
            ("warp-lang~=1.7.0", (1, 7)),
            ("warp-lang>=1.5,!=1.8,>=1.6", (1, 6)),
            ("warp-lang>=1.14.0.dev20260101", (1, 14)),
            # no bound below: the newest that is known
            ("warp-lang", (1, 19)),
            ("warp-lang<1.4,!=1.3", (1, 19)),
            ("warp-lang @ https://example.org/warp_lang-1.2.0.whl", (1, 19)),
            ("warp-language>=1.2", (1, 19)),
            ("my-warp-lang>=1.2", (1, 19)),
        ],
    )
    def test_requirement(self, write: Write, requirement: str, version: tuple[int, ...]) -> None:
        file = write("pyproject.toml", f"[project]\ndependencies = ['numpy>=1.0', {requirement!r}]\n")
        assert Settings.nearest(str(file.parent)).target_version == version

    @pytest.mark.parametrize(
        "pyproject",
        [
            "[project.optional-dependencies]\ngpu = ['warp-lang>=1.11']",
            "[dependency-groups]\ndev = [{include-group = 'x'}, 'warp-lang>=1.11']",
            "[tool.poetry.dependencies]\nwarp-lang = '^1.11'",
            "[tool.poetry.dependencies]\nwarp-lang = '1.11'",
            "[tool.poetry.dependencies]\nwarp-lang = {version = '~1.11', optional = true}",
            "[tool.poetry.dependencies]\nwarp-lang = [{version = '>=1.12'}, {version = '>=1.11'}]",
            "[tool.poetry.dependencies]\nwarp-lang = '^1.12 || 1.11.*'",
            "[tool.poetry.group.gpu.dependencies]\nwarp-lang = '>=1.11'",
            # the oldest that any of them lets in
            "[project]\ndependencies = ['warp-lang>=1.11']\n[dependency-groups]\ndev = ['warp-lang==1.19']",
        ],
    )
    def test_places(self, write: Write, pyproject: str) -> None:
        file = write("pyproject.toml", pyproject)
        assert Settings.nearest(str(file.parent)).target_version == (1, 11)

    def test_requirements_files(self, write: Write) -> None:
        write("requirements.txt", "numpy\n")
        write("requirements-gpu.txt", "-r requirements.txt\nwarp-lang>=1.9.0  # >=1.2\n")
        write("setup.py", "")
        assert Settings.nearest(str(write("pkg/a.py", ""))).target_version == (1, 9)

    def test_settings_below_the_project(self, write: Write) -> None:
        write("pyproject.toml", "[project]\ndependencies = ['warp-lang>=1.9']\n")
        write("sub/warp-lint.toml", "")
        assert Settings.nearest(str(write("sub/a.py", ""))).target_version == (1, 9)

    @pytest.mark.parametrize(
        ("text", "version"), [("1.13", (1, 13)), ("1.10.1", (1, 10, 1)), ("1.9.0", (1, 9))]
    )
    def test_setting_wins(self, write: Write, text: str, version: tuple[int, ...]) -> None:
        file = write(
            "pyproject.toml",
            f"[project]\ndependencies = ['warp-lang>=1.2']\n[tool.warp-lint]\ntarget-version = '{text}'\n",
        )
        assert Settings.read(str(file)).target_version == version

    @pytest.mark.parametrize(
        "pyproject",
        [
            "project = 3",
            "project.dependencies = 'warp-lang>=1'",
            "dependency-groups = [1]",
            "tool.poetry = []",
            "tool.poetry.dependencies.warp-lang = 3",
            "tool.poetry.group.x = 1",
        ],
    )
    def test_odd_projects_do_no_harm(self, write: Write, pyproject: str) -> None:
        Settings.nearest(str(write("pyproject.toml", pyproject))).target_version  # noqa: B018


class TestProjectKind:
    def test_auto(self, write: Write) -> None:
        directory = write("pyproject.toml", "[project]\nname = 'p'\n").parent
        assert not Settings.nearest(str(directory)).is_library
        write("pyproject.toml", "[build-system]\nrequires = []\n")
        assert Settings.nearest(str(directory)).is_library

    def test_setup_script(self, write: Write) -> None:
        assert Settings.nearest(str(write("setup.py", ""))).is_library

    def test_setting_wins(self) -> None:
        assert settings({"project-kind": "library"}).is_library
        chosen = settings({"project-kind": "application"})
        assert chosen.project_kind is ProjectKind.APPLICATION
        assert not chosen.is_library


def test_other_settings() -> None:
    chosen = settings(
        {"respect-gitignore": False, "force-exclude": True, "devices": ["cpu"]},
        {"kernel-decorators": ["dav.kernel"], "known-warp-packages": ["mine"]},
    )
    assert not chosen.respect_gitignore
    assert chosen.force_exclude
    assert chosen.devices == ("cpu",)
    assert chosen.kernel_decorators == ("dav.kernel",)
    assert chosen.known_warp_packages == (*Settings("/p").known_warp_packages, "mine")
