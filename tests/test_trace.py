"""``warp-lint trace`` shows what a person can check by reading the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from warp_lint.cli import run
from warp_lint.run import project_of
from warp_lint.trees import SettingsLookup

KERNELS = """
import warp as wp


@wp.kernel
def fill(x: wp.array(dtype=float)):
    x[wp.tid()] = 1.0
"""
PROGRAM = """
import sys

import warp as wp

from kernels import fill


def launch(kernel, x, size):
    wp.launch(kernel, dim=1, inputs=[x], block_dim=size)


def step(x):
    if len(sys.argv) > 3:
        return
    with wp.Tape():
        launch(fill, x, 64)
    wp.set_module_options({"fast_math": True}, module="kernels")
    wp.config.mode = "debug"


wp.load_module("kernels")
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.warp-lint]\n")
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_function(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trace", f"{program / 'program.py'}:step"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "before: program.py:22: load of module kernels",
        'program.py:10: launch "fill" of module kernels with block_dim 64 under tape '
        "via launch (program.py:17)",
        "program.py:18: set option of module kernels fast_math = True",
        "program.py:19: set config mode = 'debug'",
    ]


def test_file(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trace", str(program / "program.py")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "program.py:22: load of module kernels",
    ]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("program.py:jump", "has no function jump (it has: launch, step)"),
        ("other.py", "is not of the project"),
    ],
)
def test_unknown_place(program: Path, place: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trace", str(program / place)]) == 2
    assert message in capsys.readouterr().err


def test_verbose_tells_where_events_are_left_out(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    launches = "".join(f"    wp.launch(fill, dim={size}, inputs=[x])\n" for size in range(500))
    (program / "long.py").write_text(f"import warp as wp\nfrom kernels import fill\ndef run(x):\n{launches}")

    run(["check", "--no-cache", "--verbose"])
    assert (
        "long.py: run leads to too many events; what comes last is not looked at" in capsys.readouterr().err
    )
    run(["check", "--no-cache"])
    assert "too many events" not in capsys.readouterr().err


def test_function_that_imports_who_calls_it(tmp_path: Path) -> None:
    """The circle is cut only for the import that comes to the function itself."""
    (tmp_path / "pyproject.toml").write_text("[tool.warp-lint]\n")
    (tmp_path / "kernels.py").write_text(
        f"{KERNELS}\nfrom loading import again\n\nagain()\nwp.launch(fill, dim=1, inputs=[wp.zeros(1)])\n"
    )
    (tmp_path / "loading.py").write_text("def again():\n    import kernels\n")
    project = project_of(str(tmp_path / "loading.py"), SettingsLookup())
    project.timeline.flows()
    (loading,) = (file for file in project.files if file.path.name == "loading.py")
    events = project.timeline.events(loading.index, 1)
    assert [event.description for event in events] == ['the launch of "fill"']
