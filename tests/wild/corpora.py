"""The packages that the linter is tried on, fetched from PyPI once and unpacked into a cache folder.

The cache is ``.wild`` at the top of the repository, or the folder that ``WARP_LINT_WILD_CACHE`` names:
``wheels/`` holds what was downloaded, beside it lies one folder per corpus with its Python files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

_REPOSITORY = Path(__file__).resolve().parents[2]


class Corpus(NamedTuple):
    """A released package, linted as a project of its own."""

    distribution: str
    version: str

    @property
    def name(self) -> str:
        return f"{self.distribution}-{self.version}"


CORPORA = (
    Corpus("gswarp", "1.1.0"),
    Corpus("mujoco-warp", "4.0.0"),
    Corpus("newton", "1.5.2"),
    Corpus("newton", "1.8.0"),
    Corpus("nvalchemi-toolkit-ops", "0.5.0"),
    Corpus("nvidia-physicsnemo", "2.2.2"),
    Corpus("warp-jsb", "0.1.0"),
    Corpus("warp-lang", "1.19.0"),
    Corpus("warp-nn", "0.4.1"),
    Corpus("xlb", "0.3.1"),
)


def cache_folder() -> Path:
    """Where the corpora are kept between runs."""
    return Path(os.environ.get("WARP_LINT_WILD_CACHE") or _REPOSITORY / ".wild").resolve()


def fetch(corpus: Corpus) -> Path:
    """The folder with the Python files of a corpus, as installed.

    Downloads the wheel when the cache lacks it. Several processes may ask at once: both the wheel and the
    folder appear under their names only when they are complete. Raises `subprocess.CalledProcessError` when
    the package index cannot be reached.
    """
    folder = cache_folder() / corpus.name
    if not folder.is_dir():
        _unpack(_wheel_of(corpus), folder)
    return folder


def _wheel_of(corpus: Corpus) -> Path:
    wheels = cache_folder() / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    pattern = f"{corpus.distribution.replace('-', '_')}-{corpus.version}-*.whl"
    if not any(wheels.glob(pattern)):
        with tempfile.TemporaryDirectory(dir=cache_folder()) as incoming:
            _download(corpus, Path(incoming))
            for wheel in Path(incoming).glob("*.whl"):
                wheel.replace(wheels / wheel.name)
    return next(wheels.glob(pattern))


def _download(corpus: Corpus, into: Path) -> None:
    # the same files on every machine: only sources are read, so the platform of the wheel does not matter
    options = ["--no-deps", "--only-binary=:all:", "--quiet", "--disable-pip-version-check", f"--dest={into}"]
    platform = ["--implementation=cp", "--python-version=3.12", "--platform=manylinux_2_28_x86_64"]
    requirement = f"{corpus.distribution}=={corpus.version}"
    subprocess.run([sys.executable, "-m", "pip", "download", *options, *platform, requirement], check=True)


def _unpack(wheel: Path, folder: Path) -> None:
    incoming = Path(tempfile.mkdtemp(dir=folder.parent))
    with ZipFile(wheel) as archive:
        sources = [name for name in archive.namelist() if name.endswith((".py", ".pyi"))]
        archive.extractall(incoming, sources)
    try:
        incoming.rename(folder)
    except OSError:  # another process was first
        shutil.rmtree(incoming)
        if not folder.is_dir():
            raise
