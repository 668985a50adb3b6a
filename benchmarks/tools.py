"""The commands that are compared."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

_REPOSITORY = Path(__file__).resolve().parents[1]
ENVIRONMENT = {"PYTHONPATH": str(_REPOSITORY)}
_OURS = (str(Path(sys.executable).with_name("warp-lint")), "--quiet")
_YOUNG_SECONDS = 2.5
"""As long as that a change may hide behind another: nothing is repeated over what is younger."""


class Tool(NamedTuple):
    """One way to look at a tree."""

    name: str
    command: tuple[str, ...]
    before: Callable[[Path], None] = lambda _: None
    """What is done to the tree first, and takes no part."""


def tools(changed: str, directories: Sequence[str] = ()) -> list[Tool]:
    """Everything that is compared and can be run here; ``changed`` is the file that an editor changes.

    Programs are taken from the first of ``directories`` that has them, from beside Python, or from the path.
    """

    def change(tree: Path) -> None:
        with (tree / changed).open("a") as file:
            file.write("# changed\n")

    def settle(tree: Path) -> None:
        time.sleep(_YOUNG_SECONDS)
        subprocess.run(
            warm, cwd=tree, check=False, stdout=subprocess.DEVNULL, env={**os.environ, **ENVIRONMENT}
        )

    warm = (*_OURS, "--jobs=1", ".")
    found = [
        Tool("warp-lint, cold, one process", (*_OURS, "--no-cache", "--jobs=1", ".")),
        Tool("warp-lint, cold, two processes", (*_OURS, "--no-cache", "--jobs=2", ".")),
        Tool("warp-lint, filling the cache", warm),
        Tool("warp-lint, warm, first time", warm),
        Tool("warp-lint, warm", warm, settle),
        Tool("warp-lint, one file changed", warm, change),
        Tool("import libcst", (sys.executable, "-c", "import libcst")),
        Tool("libcst.parse_module alone", (sys.executable, "-m", "benchmarks.parse_with_libcst", ".")),
    ]
    ruff = ("check", "--select=E9", "--exit-zero", "--quiet", ".")
    for name, *options in (
        ("ruff", *ruff, "--no-cache"),
        ("ruff, filling the cache", *ruff),
        ("ruff, warm", *ruff),
    ):
        found += _installed(directories, name, "ruff", *options)
    for name, *command in (
        ("flake8", "flake8", "--isolated", "--jobs=1", "--exit-zero", "."),
        ("pylint", "pylint", "--jobs=1", "--exit-zero", "--recursive=y", "."),
        ("Fixit", "fixit", "lint", "."),
        ("TorchFix", "torchfix", "--select=ALL", "."),
    ):
        found += _installed(directories, name, *command)
    return found


def _installed(directories: Sequence[str], name: str, program: str, *options: str) -> list[Tool]:
    path = shutil.which(program, path=os.pathsep.join((*directories, str(Path(sys.executable).parent))))
    path = path or shutil.which(program)
    return [Tool(name, (path, *options))] if path else []
