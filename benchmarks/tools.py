"""The commands that are compared."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_REPOSITORY = Path(__file__).resolve().parents[1]
ENVIRONMENT = {"PYTHONPATH": str(_REPOSITORY)}
_OURS = (sys.executable, "-m", "warp_lint", ".", "--quiet")


class Tool(NamedTuple):
    """One way to look at a tree."""

    name: str
    command: tuple[str, ...]
    before: Callable[[Path], None] = lambda _: None
    """What is done to the tree first, and takes no part."""


def tools(changed: str) -> list[Tool]:
    """Everything that is compared and can be run here; ``changed`` is the file that an editor changes."""

    def change(tree: Path) -> None:
        with (tree / changed).open("a") as file:
            file.write("# changed\n")

    found = [
        Tool("warp-lint, cold, one process", (*_OURS, "--no-cache", "--jobs=1")),
        Tool("warp-lint, cold, two processes", (*_OURS, "--no-cache", "--jobs=2")),
        Tool("warp-lint, filling the cache", (*_OURS, "--jobs=1")),
        Tool("warp-lint, warm", (*_OURS, "--jobs=1")),
        Tool("warp-lint, one file changed", (*_OURS, "--jobs=1"), change),
        Tool("import libcst", (sys.executable, "-c", "import libcst")),
        Tool("libcst.parse_module alone", (sys.executable, "-m", "benchmarks.parse_with_libcst", ".")),
    ]
    ruff = ("check", "--select=E9", "--exit-zero", "--quiet", ".")
    for name, *options in (
        ("ruff", *ruff, "--no-cache"),
        ("ruff, filling the cache", *ruff),
        ("ruff, warm", *ruff),
    ):
        found += _installed(name, "ruff", *options)
    found += _installed("flake8", "flake8", "--isolated", "--jobs=1", "--exit-zero", ".")
    found += _installed("pylint", "pylint", "--jobs=1", "--exit-zero", "--recursive=y", ".")
    found += _installed("Fixit", "fixit", "lint", ".")
    return found


def _installed(name: str, program: str, *options: str) -> list[Tool]:
    beside = Path(sys.executable).with_name(program)
    path = str(beside) if beside.exists() else shutil.which(program)
    return [Tool(name, (path, *options))] if path else []
