"""The cache: it is faster, and makes no other difference."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from warp_lint import cache as cache_module
from warp_lint import cli, extraction
from warp_lint.cache import Caches
from warp_lint.facts.encoding import decoded, encoded
from warp_lint.facts.extract import extract
from warp_lint.facts.parsing import ParseFailure
from warp_lint.facts.records import FileFacts
from warp_lint.findings import Finding
from warp_lint.repetition import CACHE_FOLDER
from warp_lint.run import lint, lint_trees
from warp_lint.source import Source, SourceError
from warp_lint.trees import SettingsLookup, find_trees

FIXTURES = sorted((Path(__file__).parent.parent / "fixtures").rglob("*.py"))
KERNEL_IN_FUNCTION = """import warp as wp
from sizes import SIZE


def make(scale: float):
    @wp.kernel
    def scaled(a: wp.array(dtype=float)):
        a[0] = scale

    return scaled


def run(a):
    wp.launch(make(2.0), dim=1, inputs=[a], block_dim=SIZE)
"""
SETTINGS = '[tool.warp-lint]\nselect = ["WRP101"]\n'
NEVER_NEEDED = ("libcst", "rich", "multiprocessing", "asyncio", "concurrent", "pathspec")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "kernels.py").write_text(KERNEL_IN_FUNCTION)
    (tmp_path / "sizes.py").write_text("SIZE = 128\n")
    (tmp_path / "other.py").write_text("print(1)\n")
    for path in tmp_path.glob("*.py"):
        make_old(path)
    return tmp_path


@pytest.fixture
def extracted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were parsed, as they are."""
    names: list[str] = []

    def watched(source: Source) -> FileFacts:
        names.append(Path(source.path).name)
        return extract(source)

    monkeypatch.setattr(extraction, "extract", watched)
    return names


def make_old(path: Path) -> None:
    """A file that nobody has changed in the last hour."""
    past = path.stat().st_mtime - 3600
    os.utime(path, (past, past))


def write(path: Path, text: str) -> None:
    path.write_text(text)
    make_old(path)


def linted(*paths: Path, caches: Caches | None = None) -> tuple[Finding, ...]:
    """What a run finds, in the way of the command line."""
    caches = caches or Caches()
    trees = find_trees(map(str, paths), SettingsLookup())
    known = caches.result(trees)
    return (known or lint_trees(trees, caches=caches)).findings


def is_known(*paths: Path) -> bool:
    return Caches().result(find_trees(map(str, paths), SettingsLookup())) is not None


def test_unchanged_tree_is_not_linted_again(project: Path, extracted: list[str]) -> None:
    first = linted(project)
    assert [finding.code for finding in first] == ["WRP101"]
    assert sorted(extracted) == ["kernels.py", "sizes.py"]
    assert linted(project) == first == lint([str(project)]).findings
    assert is_known(project)


def test_only_changed_file_is_parsed_again(project: Path, extracted: list[str]) -> None:
    linted(project)
    extracted.clear()
    write(project / "kernels.py", KERNEL_IN_FUNCTION.replace("@wp.kernel", '@wp.kernel(module="unique")'))
    assert not is_known(project)
    assert linted(project) == ()
    assert extracted == ["kernels.py"]


def test_touched_file_is_not_parsed_again(project: Path, extracted: list[str]) -> None:
    first = linted(project)
    extracted.clear()
    os.utime(project / "kernels.py")
    assert is_known(project)
    assert linted(project) == first
    assert not extracted


def test_change_that_keeps_time_and_size(project: Path) -> None:
    """As may happen to a file that is written twice at the same moment."""
    kernels = project / "kernels.py"
    kernels.touch()
    linted(project)
    before = kernels.stat()
    kernels.write_text(KERNEL_IN_FUNCTION.replace("@wp.kernel", "# p.kernel"))
    os.utime(kernels, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert kernels.stat().st_size == before.st_size
    assert linted(project) == ()


def test_added_and_removed_files(project: Path) -> None:
    linted(project)
    write(project / "more.py", KERNEL_IN_FUNCTION)
    assert len(linted(project)) == 2
    (project / "kernels.py").unlink()
    assert [Path(finding.location.path).name for finding in linted(project)] == ["more.py"]


def test_other_settings_are_another_question(project: Path, extracted: list[str]) -> None:
    linted(project)
    extracted.clear()
    (project / "pyproject.toml").write_text('[tool.warp-lint]\nselect = ["WRP102"]\n')
    assert linted(project) == ()
    assert not extracted
    (project / "pyproject.toml").write_text(SETTINGS)
    assert is_known(project)


def test_package_mark_outside_of_the_tree(project: Path) -> None:
    inner = project / "package"
    inner.mkdir()
    write(inner / "kernels.py", KERNEL_IN_FUNCTION)
    linted(inner)
    assert is_known(inner)
    (inner / "__init__.py").touch()
    assert not is_known(inner)
    linted(inner)
    (project / "__init__.py").touch()
    assert not is_known(inner)


def test_file_alone_and_with_its_project(project: Path) -> None:
    assert linted(project / "kernels.py") == linted(project)
    assert linted(project / "sizes.py") == ()
    write(project / "sizes.py", "SIZE = 64\n")
    assert not is_known(project / "kernels.py")


def test_unreadable_files_are_reported_each_time(project: Path) -> None:
    (project / "broken.py").write_text("import warp\n(\n")
    (project / "undecodable.py").write_bytes(b"# warp \xff\n")
    first = linted(project)
    assert [finding.code for finding in first] == ["WRP903", "WRP101", "WRP903"]
    assert linted(project) == first
    (project / "gone.py").symlink_to("nowhere.py")
    assert linted(project) == first


@pytest.mark.parametrize("store", ["facts", "findings-*"])
@pytest.mark.parametrize(
    "corrupt",
    [
        lambda _: b"",
        lambda _: b"garbage",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
        lambda data: bytes([data[0] ^ 1]) + data[1:],
        lambda data: data[:16] + cache_module._digest(b"\xc1") + b"\xc1",
        lambda data: data[:16] + cache_module._digest(b"\x93\1\2\3") + b"\x93\1\2\3",
        lambda data: data[:16] + cache_module._digest(b"\x91" * 99999) + b"\x91" * 99999,
    ],
    ids=["empty", "garbage", "half", "less", "more", "flipped", "other", "nothing", "foreign", "deep"],
)
def test_corrupt_store_is_a_miss(project: Path, store: str, corrupt: Callable[[bytes], bytes]) -> None:
    first = linted(project)
    (path,) = (project / CACHE_FOLDER).glob(store)
    path.write_bytes(corrupt(path.read_bytes()))
    if store == "facts":
        write(project / "other.py", "print(2)\n")
    assert is_known(project) is False
    assert linted(project) == first
    assert is_known(project)


def test_folder_in_place_of_a_store(project: Path) -> None:
    folder = project / CACHE_FOLDER
    (folder / "facts").mkdir(parents=True)
    first = linted(project)
    (answer,) = folder.glob("findings-*")
    answer.unlink()
    answer.mkdir()
    assert linted(project) == linted(project) == first
    assert not list(folder.glob(".new-*"))


def test_file_in_place_of_the_folder(project: Path) -> None:
    (project / CACHE_FOLDER).write_text("mine")
    assert len(linted(project)) == len(linted(project)) == 1
    assert (project / CACHE_FOLDER).read_text() == "mine"


def test_other_versions_store_is_a_miss(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linted(project)
    monkeypatch.setattr(cache_module, "__version__", "0.0.0")
    cache_module._salt.cache_clear()
    try:
        assert not is_known(project)
        assert Caches().of(find_trees([str(project)], SettingsLookup()).trees[0]).files() == {}  # type: ignore[union-attr]
    finally:
        cache_module._salt.cache_clear()


def test_old_questions_are_forgotten(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_MOST_QUESTIONS", 2)
    for paths in ([project], [project / "kernels.py"], [project / "sizes.py"], [project / "other.py"]):
        linted(*paths)
    assert len(list((project / CACHE_FOLDER).glob("findings-*"))) == 2


def test_folder_hides_itself_from_git_and_backups(project: Path) -> None:
    linted(project)
    assert (project / CACHE_FOLDER / ".gitignore").read_text().endswith("*\n")
    assert (project / CACHE_FOLDER / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172")


def test_file_of_no_project_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNEL_IN_FUNCTION)
    linted(tmp_path / "kernels.py")
    assert [path.name for path in tmp_path.iterdir()] == ["kernels.py"]


def test_options(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([str(project), "--no-cache"]) == cli.FINDINGS
    assert not (project / CACHE_FOLDER).exists()
    elsewhere = tmp_path / "else" / "where"
    assert cli.run([str(project), "--cache-dir", str(elsewhere)]) == cli.FINDINGS
    assert not (project / CACHE_FOLDER).exists()
    assert {path.name.split("-")[1][:8] for path in elsewhere.glob("*-*")} == {"facts", "findings"}
    first = capsys.readouterr().out
    assert cli.run([str(project), "--cache-dir", str(elsewhere)]) == cli.FINDINGS
    assert first == 2 * capsys.readouterr().out


def test_fixes_use_the_cache_and_leave_it_right(project: Path, extracted: list[str]) -> None:
    linted(project)
    extracted.clear()
    assert cli.run([str(project), "--fix"]) == cli.CLEAN
    assert extracted == ["kernels.py"]  # once, after the fix
    assert linted(project) == ()


@pytest.mark.parametrize("finds", [True, False])
def test_warm_run_imports_little(project: Path, finds: bool) -> None:
    if not finds:
        write(project / "kernels.py", "import warp as wp\n")
    program = "import sys; from warp_lint import cli; cli.run(sys.argv[1:]); print(*sorted(sys.modules))"
    command = [sys.executable, "-c", program, str(project)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2)]
    cold, warm = (set(run.stdout.splitlines()[-1].split()) for run in runs)
    assert runs[0].stdout.splitlines()[:-1] == runs[1].stdout.splitlines()[:-1]
    assert "libcst" in cold
    assert not {name for name in warm if name.partition(".")[0] in NEVER_NEEDED}
    own = {name for name in warm if name.startswith("warp_lint.")}
    assert not {name for name in own if name.split(".")[1] in ("rules", "facts", "project", "edits", "run")}
    assert len(own) <= 16


def test_runs_at_the_same_time(project: Path) -> None:
    command = [sys.executable, "-m", "warp_lint", str(project), "--output-format", "concise"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    outputs = {run.communicate()[0] for run in runs}
    assert len(outputs) == 1
    assert [run.returncode for run in runs] == [cli.FINDINGS] * 4
    assert is_known(project)
    assert not list((project / CACHE_FOLDER).glob(".new-*"))


@pytest.mark.parametrize("constant", ["1e999", "-1e999j", str(10**40), "'\\ud800'", "0.1 + 1.0", "b'\\xff'"])
def test_odd_constants(project: Path, constant: str) -> None:
    write(project / "kernels.py", f"{KERNEL_IN_FUNCTION}\nx = {constant}\n")
    first = linted(project)
    write(project / "other.py", "print(2)\n")
    assert linted(project) == first


def test_facts_come_back_as_they_were() -> None:
    for path in FIXTURES:
        try:
            facts = extract(Source.read(str(path)))
        except (SourceError, ParseFailure):
            continue
        data = encoded(facts)
        assert data
        assert decoded(data) == facts
        assert encoded(facts) == data
