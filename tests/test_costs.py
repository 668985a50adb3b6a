"""What a run costs, in counts: they are the same on every machine, and say as much as seconds do.

Growth is told by the calls of Python functions in a whole run over made-up programs of two sizes.
"""

from __future__ import annotations

import ast
import cProfile
import pstats
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import libcst
import pytest

from benchmarks.corpora import made_up
from tests.wild.corpora import CORPORA, fetch
from warp_lint.facts import walk as walk_module
from warp_lint.reading import Reader
from warp_lint.run import lint_trees
from warp_lint.settings import Settings
from warp_lint.trees import SettingsLookup, find_trees

_KERNEL = """
@wp.kernel
def scale(values: wp.array(dtype=float)):
    index = wp.tid()
    values[index] = values[index] * 2.0
"""


def write(into: Path, files: dict[str, str]) -> Path:
    """A project with some files."""
    into.mkdir(parents=True)
    (into / "pyproject.toml").write_text("[tool.warp-lint]\n")
    for name, text in files.items():
        (into / name).write_text(text)
    return into


def with_files(into: Path, size: int) -> Path:
    return made_up(into, files=size)


def with_kernels(into: Path, size: int) -> Path:
    return made_up(into, kernels=size)


def with_findings(into: Path, size: int) -> Path:
    return made_up(into, findings=size)


def with_launches(into: Path, size: int) -> Path:
    """Many launches of one kernel in one function."""
    launch = "    wp.launch(scale, dim=1, inputs=[values])\n"
    return write(into, {"app.py": f"import warp as wp\n{_KERNEL}\ndef run(values):\n{launch * size}"})


def with_launches_at_import(into: Path, size: int) -> Path:
    launch = "wp.launch(scale, dim=1, inputs=[wp.zeros(1)])\n"
    return write(into, {"app.py": f"import warp as wp\n{_KERNEL}\n{launch * size}"})


def with_callers(into: Path, size: int) -> Path:
    """Many functions that hand a kernel to one that launches it."""
    callers = "".join(f"def run_{n}(values):\n    launch(scale, values)\n" for n in range(size))
    helper = "def launch(kernel, values):\n    wp.launch(kernel, dim=1, inputs=[values])\n"
    return write(into, {"app.py": f"import warp as wp\n{_KERNEL}\n{helper}{callers}"})


def with_chain_of_calls(into: Path, size: int) -> Path:
    """Functions that call each other, one the next."""
    chain = "".join(f"def run_{n}(values):\n    run_{n + 1}(values)\n" for n in range(size))
    last = f"def run_{size}(values):\n    wp.launch(scale, dim=1, inputs=[values])\n"
    return write(into, {"app.py": f"import warp as wp\n{_KERNEL}\n{chain}{last}run_0(wp.zeros(1))\n"})


def with_circle_of_imports(into: Path, size: int) -> Path:
    """Modules of which each imports the next and the one before, the last the first."""
    files = {
        f"part_{n}.py": (
            f"import warp as wp\nimport part_{(n + 1) % size}\nimport part_{(n - 1) % size}\n{_KERNEL}\n"
            f"def run(values):\n    wp.launch(part_{(n + 1) % size}.scale, dim=1, inputs=[values])\n"
        )
        for n in range(size)
    }
    return write(into, files)


def with_deep_nesting(into: Path, size: int) -> Path:
    nested = "".join(f"{' ' * n}if values[{n}]:\n" for n in range(size))
    launch = f"{' ' * size}wp.launch(scale, dim=1, inputs=[values])\n"
    return write(into, {"app.py": f"import warp as wp\nvalues = []\n{_KERNEL}\n{nested}{launch}"})


def with_long_literal(into: Path, size: int) -> Path:
    return write(into, {"app.py": f"import warp as wp\nTABLE = [{'1.5, ' * size}]\n{_KERNEL}"})


def with_long_file(into: Path, size: int) -> Path:
    """Host code that does not concern Warp."""
    function = 'def plot_{0}(a, b):\n    """Plot."""\n    c = a.mean() + b[{0}]\n    return [c, print(c)]\n'
    functions = "".join(function.format(number) for number in range(size))
    return write(into, {"app.py": f"import warp as wp\n{_KERNEL}\n{functions}"})


def lint(root: Path) -> None:
    """Lint with every rule."""
    settings = Settings(str(root)).with_overrides({"select": ["ALL"]})
    lint_trees(find_trees([str(root)], SettingsLookup(settings)))


def calls_in(root: Path) -> int:
    """How often functions are called, those of Python and built-in ones, to lint a project."""
    profile = cProfile.Profile()
    profile.runcall(lint, root)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (with_files, 20),
        (with_kernels, 40),
        (with_findings, 100),
        (with_launches, 200),
        (with_launches_at_import, 200),
        (with_callers, 100),
        (with_chain_of_calls, 60),
        (with_circle_of_imports, 20),
        (with_deep_nesting, 40),
        (with_long_literal, 5_000),
        (with_long_file, 200),
    ],
)
def test_cost_grows_with_the_size(make: Callable[[Path, int], Path], size: int, tmp_path: Path) -> None:
    lint(make(tmp_path / "first", 1))  # what is imported and kept once takes no part
    start, once, twice = (calls_in(make(tmp_path / str(n), n)) for n in (1, size, 2 * size))
    assert (twice - start) / (once - start) < 2.1


class Work(NamedTuple):
    """What is done for the files of a tree."""

    files_parsed: int
    bytes_parsed: int
    nodes_visited: int


_ALLOWED = Work(files_parsed=82, bytes_parsed=328_000, nodes_visited=42_000)
"""For xlb: of its 86 Python files 82 name Warp, or import what does, or are imported by it."""


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Work]:
    parsed: list[int] = []
    visited: list[int] = []

    def watched(parse: Callable[..., object]) -> Callable[..., object]:
        def parse_and_tell(source: str, *arguments: object, **options: object) -> object:
            parsed.append(len(source.encode()))
            return parse(source, *arguments, **options)

        return parse_and_tell

    class Plans(walk_module._Plans):
        def __getitem__(self, kind: type) -> walk_module._Plan | None:
            visited.append(1)
            return super().__getitem__(kind)

    monkeypatch.setattr(ast, "parse", watched(ast.parse))
    monkeypatch.setattr(libcst, "parse_module", watched(libcst.parse_module))
    monkeypatch.setattr(walk_module, "_Plans", Plans)

    def measure(root: Path) -> Work:
        settings = Settings(str(root)).with_overrides({"exclude": [], "respect-gitignore": False})
        (tree,) = find_trees([str(root)], SettingsLookup(settings), whole_projects=False).trees
        Reader(lambda _: nullcontext()).read(tree)
        return Work(len(parsed), sum(parsed), len(visited))

    return measure


@pytest.mark.wild
def test_no_more_is_read_than_before(work: Callable[[Path], Work]) -> None:
    """Where this fails because less is done, lower the figures."""
    (corpus,) = (corpus for corpus in CORPORA if corpus.distribution == "xlb")
    done = work(fetch(corpus))
    assert all(did <= allowed for did, allowed in zip(done, _ALLOWED, strict=True)), done


def test_imports_that_lead_through_hundreds_of_files(tmp_path: Path) -> None:
    """One in the other, and the last one back to the first."""
    size = 600
    files = {
        f"part_{n}.py": f"import warp as wp\nimport part_{(n + 1) % size}\n{_KERNEL}\n" for n in range(size)
    }
    files["part_0.py"] += "wp.launch(scale, dim=1, inputs=[])\nwp.set_module_options({'fast_math': True})\n"
    root = write(tmp_path / "project", files)
    settings = Settings(str(root)).with_overrides({"select": ["WRP301"]})
    found = lint_trees(find_trees([str(root)], SettingsLookup(settings)))
    assert [Path(finding.location.path).name for finding in found.findings] == ["part_0.py"]
