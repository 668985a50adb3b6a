"""Which files are parsed: imports as Python resolves them, files by what they can pass on."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest

from warp_lint.relevance import outline, relevant


def matter(files: Mapping[str, str]) -> set[str]:
    """The files that matter, of some in one directory."""
    paths = {f"/root/{name}".replace("/", os.sep): name for name in files}
    found = relevant({path: outline(files[name].encode()) for path, name in paths.items()})
    return {paths[path] for path in found}


def test_nothing_matters_where_nothing_names_warp() -> None:
    assert matter({"a.py": "import b", "b.py": "x = 1"}) == set()


@pytest.mark.parametrize(
    "text",
    [
        "import warp as wp",
        "from warp import kernel",
        "from warp \\\n  import kernel",
        "import \\\n  warp",
        "import os, warp",
        "import warp.config as c",
        "from warp.context import Module",
        "if True:\n    import warp",
        'warp = importlib.import_module("warp")',
        "config = __import__('warp.config')",
        'exec("import warp as w")',
        "from elsewhere import kernel, wp",
        "from elsewhere import warp",
        "from elsewhere import (  # ours\n    warp as w,\n)",
        "import elsewhere.sim as wp",
        "from elsewhere import *\n@wp.kernel\ndef f(): ...",
    ],
)
def test_importing_warp_is_enough(text: str) -> None:
    assert matter({"a.py": text, "b.py": "x = 1"}) == {"a.py"}


@pytest.mark.parametrize(
    "text",
    [
        "# warp",
        "x = warp(image)",
        "wp, ws = passband()",
        "def warped(a): return a.warp",
        "from a import b\nwp = b",
    ],
)
def test_the_word_is_not(text: str) -> None:
    assert matter({"a.py": text, "c.py": "import a"}) == set()


@pytest.mark.parametrize(
    "text",
    [
        "import pkg.sim",
        "import os, pkg.sim as s",
        "from pkg import sim",
        "from pkg.sim import step",
        "from pkg.sim import *",
        "from sim import step",  # `pkg` itself may be on the path
        "def f():\n    from pkg.sim import step",
        "try:\n    import pkg.sim\nexcept ImportError: pass",
    ],
)
def test_importing_from_a_file_that_names_warp_is_enough(text: str) -> None:
    files = {"pkg/sim.py": "import warp", "app.py": text, "other.py": "import os"}
    assert matter(files) == {"pkg/sim.py", "app.py"}


@pytest.mark.parametrize("text", ["from . import sim", "from .sim import step", "from ..pkg.sim import step"])
def test_relative_imports(text: str) -> None:
    assert matter({"pkg/sim.py": "import warp", "pkg/app.py": text}) == {"pkg/sim.py", "pkg/app.py"}


@pytest.mark.parametrize(
    ("name", "text", "matters"),
    [
        ("app.py", "import types", False),
        ("app.py", "from types import FunctionType", False),
        ("app.py", "import kernels.types", False),
        # A file of a package may be run as a program; and what holds the package may be on the path.
        ("sim/app.py", "import types", True),
        ("sim/app.py", "from types import step", True),
        ("sim/app.py", "from sim.types import step", True),
    ],
)
def test_no_absolute_import_begins_inside_of_a_package(name: str, text: str, matters: bool) -> None:
    files = {
        "sim/__init__.py": "",
        "sim/types.py": "import warp",
        "sim/kernels/types.py": "import warp",
        "other.py": "import types",
        name: text,
    }
    assert matter(files) == {"sim/types.py", "sim/kernels/types.py", *([name] if matters else [])}


def test_relative_import_stays_in_its_package() -> None:
    assert matter({"pkg/sim.py": "import warp", "other/app.py": "from .sim import step"}) == {"pkg/sim.py"}


def test_importing_in_several_steps() -> None:
    files = {
        "pkg/sim.py": "import warp",
        "pkg/__init__.py": "from .sim import step as go",
        "helper.py": "import pkg",
        "app.py": "from helper import run",
    }
    assert matter({**files, "other.py": "from helpers import run"}) == set(files)


def test_what_a_file_that_names_warp_imports_matters() -> None:
    """Block dimensions and options are often constants of other files; packages run before their modules."""
    files = {
        "pkg/sim.py": "import warp\nfrom .settings import BLOCK_DIM",
        "pkg/settings.py": "from base.defaults import *",
        "base/__init__.py": "",
        "base/defaults.py": "BLOCK_DIM = 64",
    }
    assert matter({**files, "base/unused.py": "x = 1"}) == set(files)


def test_names_of_a_package() -> None:
    files = {
        "pkg/__init__.py": "import warp",
        "pkg/app.py": "from . import kernel",
        "app.py": "from pkg import kernel",
        "script": "import pkg",
    }
    assert matter({**files, "other/app.py": "from . import kernel"}) == set(files)
