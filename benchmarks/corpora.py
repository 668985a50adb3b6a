"""The trees that are linted: released packages at fixed versions, and made-up programs of any size."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from tests.wild.corpora import CORPORA, cache_folder, fetch

WARP = ("warp-lang-1.19.0", "newton-1.5.2", "mujoco-warp-4.0.0")
_MONOREPO = (
    "numpy==2.3.5",
    "scipy==1.16.3",
    "sympy==1.14.0",
    "django==5.2.8",
    "sqlalchemy==2.0.44",
    "matplotlib==3.10.7",
    "pandas==2.3.3",
    "transformers==4.57.1",
    "kubernetes==34.1.0",
    "ansible-core==2.18.6",
)
_KERNEL = '''
@wp.kernel
def scale_{0}(values: wp.array(dtype=float), factor: float):
    """Scale values."""
    index = wp.tid()
    values[index] = values[index] * factor


def run_{0}(values, factor=2.0):
    wp.launch(scale_{0}, dim=values.shape[0], inputs=[values, factor])
    return [value + {0} for value in range(10)]
'''
_FINDING = """
def make_{0}(factor):
    @wp.kernel
    def made(values: wp.array(dtype=float)):
        values[wp.tid()] = factor

    return made
"""


def lay_out(names: tuple[str, ...], into: Path) -> Path:
    """A project of its own with the files of some corpora."""
    for corpus in CORPORA:
        if corpus.name in names:
            shutil.copytree(fetch(corpus), into / corpus.name)
    (into / "pyproject.toml").write_text("[tool.warp-lint]\nexclude = []\n[tool.ruff]\nexclude = []\n")
    return into


def lay_out_monorepo(into: Path) -> Path:
    """The Warp corpora among packages that have nothing to do with Warp, more than 10,000 files."""
    lay_out(WARP, into)
    wheels = cache_folder() / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*command, f"--dest={wheels}", *_MONOREPO], check=True)
    for requirement in _MONOREPO:
        name, _, version = requirement.partition("==")
        wheel = next(wheels.glob(f"{name.replace('-', '_')}-{version}-*.whl"))
        with ZipFile(wheel) as archive:
            archive.extractall(into / name, [entry for entry in archive.namelist() if entry.endswith(".py")])
    return into


def made_up(into: Path, *, files: int = 1, kernels: int = 1, findings: int = 0) -> Path:
    """A project with so many files, and in each so many kernels and places with a finding."""
    into.mkdir(parents=True)
    (into / "pyproject.toml").write_text("[tool.warp-lint]\n")
    for file in range(files):
        parts = ["import warp as wp\n"]
        parts += [f"from file_{file - 1} import run_0 as run_before\n"] if file else []
        parts += [_KERNEL.format(number) for number in range(kernels)]
        parts += [_FINDING.format(number) for number in range(findings)]
        (into / f"file_{file}.py").write_text("".join(parts))
    return into
