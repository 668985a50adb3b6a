"""When a late definition stays where it is, because going up could change what it means or does."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from warp_lint.findings import Finding
from warp_lint.run import lint_trees
from warp_lint.settings import Settings
from warp_lint.trees import SettingsLookup, find_trees

START = """\
import warp as wp

FACTOR = 2.0


@wp.kernel
def shift(x: wp.array(dtype=float)):
    x[wp.tid()] += 1.0


x = wp.zeros(4, dtype=float)
"""
LOAD = "wp.launch(shift, dim=4, inputs=[x])\n"
KERNEL = """

@wp.kernel
def scale(x: wp.array(dtype=float)):
    x[wp.tid()] *= FACTOR
"""


def late(text: str, tmp_path: Path) -> Finding:
    """The finding of a late definition in a program; fails when there is not just one."""
    file = tmp_path / "program.py"
    file.write_text(text)
    settings = Settings(str(tmp_path)).with_overrides({"select": ["WRP103"]})
    (finding,) = lint_trees(find_trees([str(file)], SettingsLookup(settings))).findings
    return finding


def test_moves(tmp_path: Path) -> None:
    assert late(START + LOAD + KERNEL, tmp_path).fix is not None


STAYS = {
    "a name gets its value below the load": START.replace("FACTOR = 2.0\n", "")
    + LOAD
    + "FACTOR = 2.0\n"
    + KERNEL,
    "a name gets another value on the way": START + LOAD + "FACTOR = 3.0\n" + KERNEL,
    "a name gets another value below": START + LOAD + KERNEL + "\n\nFACTOR = 3.0\n",
    "a function may give a name another value": START
    + "\n\ndef change():\n    global FACTOR\n    FACTOR = 3.0\n\n\n"
    + LOAD
    + "change()\n"
    + KERNEL,
    "a part of what it reads is changed on the way": START + LOAD + "FACTOR.value = 3.0\n" + KERNEL,
    "a name is bound inside of the load": START.replace("FACTOR = 2.0\n", "")
    + "wp.launch(shift, dim=(FACTOR := 4), inputs=[x])\n"
    + KERNEL,
    "a name may come with a star": START.replace("FACTOR = 2.0", "from numbers import *") + LOAD + KERNEL,
    "anything may come with a star": START + LOAD + "from numbers import *\n" + KERNEL,
    "a function that it calls comes below the load": START
    + LOAD
    + "\n\n@wp.func\ndef double(x: float):\n    return 2.0 * x\n"
    + KERNEL.replace("*= FACTOR", "= double(1.0)"),
    "its own name is in use": START + "scale = 1.0\n" + LOAD + "print(scale)\n" + KERNEL,
    "its own name is asked for": START
    + LOAD
    + "try:\n    scale\nexcept NameError:\n    print('none')\n"
    + KERNEL,
    "options are set on the way": START
    + LOAD
    + "wp.set_module_options({'enable_backward': False})\n"
    + KERNEL,
    "configuration is set on the way": START + LOAD + "wp.config.max_unroll = 4\n" + KERNEL,
    "a condition decides about the load": START + f"if x.shape:\n    {LOAD}" + KERNEL,
    "a condition decides about the kernel": START
    + LOAD
    + "\nif x.shape:\n"
    + textwrap.indent(KERNEL, "    "),
    "the load shares its line": START + f"y = 1; {LOAD}" + KERNEL,
    "formatters are to leave it alone": START + LOAD + "\n# fmt: off" + KERNEL + "# fmt: on\n",
    "formatters are to leave the load alone": START + "# fmt: off\n" + LOAD + "# fmt: on\n" + KERNEL,
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_stays(text: str, tmp_path: Path) -> None:
    assert late(text, tmp_path).fix is None


def test_many_at_once(tmp_path: Path) -> None:
    """One at a time, they would need a round each, and there are no more than ten."""
    kernels = "".join(KERNEL.replace("scale", f"scale_{number}") for number in range(20))
    file = tmp_path / "program.py"
    file.write_text(START + LOAD + kernels)
    settings = Settings(str(tmp_path)).with_overrides({"select": ["WRP103"]})

    findings = lint_trees(find_trees([str(file)], SettingsLookup(settings))).findings

    assert len(findings) == 20
    assert len({finding.fix for finding in findings}) == 1


def test_suppressed_stays(tmp_path: Path) -> None:
    """What is suppressed does not come along with another late definition."""
    meant = KERNEL.replace("@wp.kernel", "@wp.kernel  # noqa: WRP103 -- after the warm-up")
    other = KERNEL.replace("scale", "halve")
    finding = late(START + LOAD + meant + other, tmp_path)
    assert finding.fix is not None
    (edit,) = finding.fix.edits
    places = [edit.replacement.index(text) for text in ("halve", LOAD, "noqa")]
    assert places == sorted(places)
