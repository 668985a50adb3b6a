"""What a project needs to begin with."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from warp_lint.settings import Settings, SettingsError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_SETTINGS = """\
# What is not set here is as warp-lint's README says.
# target-version = "1.19"  # by default from the dependency on warp-lang
# extend-select = ["WRP102"]
# per-file-ignores = { "tests/**" = ["WRP801"] }
"""


class Offer(NamedTuple):
    """A change of another tool's settings."""

    file: Path
    setting: str
    """What it adds, in words of the file."""
    text: str | None
    """What the file would hold; None where a person must make the change."""


def start(directory: Path) -> str:
    """Give the project in a directory settings, unless it has some; returns what was done, in one line.

    Raises `SettingsError` when a file cannot be read or written.
    """
    known = Settings.nearest(str(directory))
    if known.file is not None and Path(known.file).parent == directory.absolute():
        return f"{known.file} has settings already"
    pyproject = directory / "pyproject.toml"
    try:
        if pyproject.is_file():
            text = pyproject.read_text(encoding="utf-8")
            between = "" if not text else "\n" if text.endswith("\n") else "\n\n"
            pyproject.write_text(f"{text}{between}[tool.warp-lint]\n{_SETTINGS}", encoding="utf-8")
            return f"Added [tool.warp-lint] to {pyproject}"
        file = directory / "warp-lint.toml"
        file.write_text(_SETTINGS, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{directory}: {error}") from error
    return f"Wrote {file}"


def offer_to_ruff(directory: Path) -> Offer | None:
    """How ruff learns that codes with WRP are ours; None where it is not used, or knows."""
    for name in (".ruff.toml", "ruff.toml", "pyproject.toml"):
        file = directory / name
        if not file.is_file():
            continue
        path = ("tool", "ruff") if name == "pyproject.toml" else ()
        text = file.read_text(encoding="utf-8")
        try:
            settings = _within(tomllib.loads(text), path)
        except tomllib.TOMLDecodeError:
            return None
        if settings is not None:
            external = _within(settings, ("lint", "external"))
            if "WRP" in (external or ()):
                return None
            return _offer(file, text, (*path, "lint"), is_new=external is None)
    return None


def _offer(file: Path, text: str, table: tuple[str, ...], *, is_new: bool) -> Offer:
    header = f"[{'.'.join(table)}]"
    setting = f'external = ["WRP"] in {header}'
    if not is_new:
        return Offer(file, setting, None)
    line = 'external = ["WRP"]\n'
    added, count = re.subn(
        rf"^{re.escape(header)}[ \t]*(?:#.*)?\n", rf"\g<0>{line}", text, count=1, flags=re.M
    )
    if not count:
        added = f"{text.rstrip()}\n\n{header}\n{line}"
    # The file may write the same table in another way.
    try:
        is_understood = _within(tomllib.loads(added), (*table, "external")) == ["WRP"]
    except tomllib.TOMLDecodeError:
        is_understood = False
    return Offer(file, setting, added if is_understood else None)


def _within(table: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        table = table.get(key) if isinstance(table, dict) else None
    return table
