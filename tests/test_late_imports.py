"""Which settings of other linters make a fix excuse the imports below an assignment."""

from __future__ import annotations

from pathlib import Path

import pytest

from warp_lint.settings import Settings

REPORTED = {
    "ruff's defaults": ("pyproject.toml", "[tool.ruff]\nline-length = 100\n"),
    "ruff selects the family": ("ruff.toml", '[lint]\nselect = ["E"]\n'),
    "ruff selects everything": (".ruff.toml", 'lint.select = ["ALL"]\n'),
    "ruff selects more": ("ruff.toml", 'lint.select = ["F"]\nlint.extend-select = ["E4"]\n'),
    "ruff ignores less": ("ruff.toml", 'lint.select = ["E402"]\nlint.ignore = ["E4"]\n'),
    "ruff ignores it elsewhere": ("ruff.toml", '[lint.per-file-ignores]\n"docs/*.py" = ["E402"]\n'),
    "flake8's defaults": (".flake8", "[flake8]\nmax-line-length = 100\n"),
    "flake8 ignores others": ("setup.cfg", "[flake8]\nignore = E501,\n    W503\n"),
    "flake8 ignores it elsewhere": (
        "tox.ini",
        "[flake8]\nper-file-ignores =\n    docs/*: E402\n    a.py: F401\n",
    ),
    "pycodestyle": ("setup.cfg", "[pycodestyle]\nmax-line-length = 100\n"),
}
ALLOWED = {
    "no linter": ("pyproject.toml", "[project]\nname = 'x'\n"),
    "ruff selects others": ("ruff.toml", 'lint.select = ["F", "I"]\n'),
    "ruff ignores it": ("pyproject.toml", '[tool.ruff.lint]\nignore = ["E402"]\n'),
    "ruff ignores the family": ("ruff.toml", 'lint.select = ["E"]\nlint.extend-ignore = ["E4"]\n'),
    "ruff ignores it here": ("ruff.toml", '[lint.per-file-ignores]\n"examples/*.py" = ["E402", "F"]\n'),
    "flake8 ignores it": (".flake8", "[flake8]\nignore = E402\n"),
    "flake8 ignores more": ("tox.ini", "[flake8]\nextend_ignore = E203,E402  # late\n"),
    "flake8 selects others": ("setup.cfg", "[flake8]\nselect = F,W\n"),
    "flake8 ignores it here": ("setup.cfg", "[flake8]\nper-file-ignores =\n    examples/*: F401,E402\n"),
    "another tool": ("setup.cfg", "[metadata]\nname = x\n"),
    "no INI file": ("tox.ini", "what is this\n"),
}


def reports(file: str, text: str, folder: Path) -> bool:
    (folder / "pyproject.toml").touch()
    (folder / file).write_text(text)
    settings = Settings.nearest(str(folder))
    return settings.reports_late_import(str(folder / "examples" / "a.py"))


@pytest.mark.parametrize(("file", "text"), REPORTED.values(), ids=REPORTED)
def test_reported(file: str, text: str, tmp_path: Path) -> None:
    assert reports(file, text, tmp_path)


@pytest.mark.parametrize(("file", "text"), ALLOWED.values(), ids=ALLOWED)
def test_allowed(file: str, text: str, tmp_path: Path) -> None:
    assert not reports(file, text, tmp_path)
