"""Whether a project's own linter reports imports below other code: E402 of ruff, flake8 and pycodestyle.

Fixes that put a statement between imports add ``# noqa: E402`` where it does, and only there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

_CODE = "E402"
_RUFF_DEFAULT = ("E4", "E7", "E9", "F")
_INI_SECTIONS = ("flake8", "pycodestyle", "pep8")
_PER_FILE = re.compile(r"([^\s:,]+)\s*:\s*([A-Z]+[0-9]*(?:[,\s]+[A-Z]+[0-9]*(?![\w./*]*\s*:))*)")


class LateImports(NamedTuple):
    """What one linter says of late imports: the globs are those of files in which it says nothing."""

    allowed_in: tuple[str, ...]


def linters_against_late_imports(directory: Path, pyproject: Mapping[str, Any]) -> Iterator[LateImports]:
    """The linters set up in a directory that report late imports. Nobody is taken to use one that is not."""
    ruff = _ruff_settings(directory, pyproject)
    if ruff is not None:
        lint = {**ruff, **_table(ruff, "lint")}
        chosen = [*_strings(lint.get("select", _RUFF_DEFAULT)), *_strings(lint.get("extend-select"))]
        ignored = [*_strings(lint.get("ignore")), *_strings(lint.get("extend-ignore"))]
        if _is_enabled(chosen, ignored):
            per_file = {**_table(lint, "per-file-ignores"), **_table(lint, "extend-per-file-ignores")}
            yield LateImports(tuple(path for path, codes in per_file.items() if _covers(_strings(codes))))
    for name in ("setup.cfg", "tox.ini", ".flake8"):
        for section in _ini_sections(directory / name):
            chosen = [*_words(section.get("select", "E")), *_words(section.get("extend-select", ""))]
            ignored = [*_words(section.get("ignore", "")), *_words(section.get("extend-ignore", ""))]
            if _is_enabled(chosen, ignored):
                pairs = _PER_FILE.findall(section.get("per-file-ignores", ""))
                yield LateImports(tuple(path for path, codes in pairs if _covers(_words(codes))))


def _ruff_settings(directory: Path, pyproject: Mapping[str, Any]) -> Mapping[str, Any] | None:
    from warp_lint.settings import read_toml

    for name in (".ruff.toml", "ruff.toml"):
        if (directory / name).is_file():
            return read_toml(directory / name)
    table = _table(pyproject, "tool").get("ruff")
    return table if isinstance(table, dict) else None


def _ini_sections(file: Path) -> Iterator[Mapping[str, str]]:
    if not file.is_file():
        return
    import configparser  # most projects have no such file

    parser = configparser.RawConfigParser()
    try:
        parser.read_string(file.read_text(encoding="utf-8", errors="replace"))
    except configparser.Error:
        return
    for name in _INI_SECTIONS:
        if parser.has_section(name):
            yield {key.replace("_", "-"): value for key, value in parser.items(name)}


def _is_enabled(chosen: Iterable[str], ignored: Iterable[str]) -> bool:
    """Whether the selector closest to the code selects; of two equally close ones, the one that ignores."""
    return _closeness(chosen) > _closeness(ignored)


def _covers(selectors: Iterable[str]) -> bool:
    return _closeness(selectors) >= 0


def _closeness(selectors: Iterable[str]) -> int:
    lengths = (0 if selector == "ALL" else len(selector) for selector in selectors if _selects(selector))
    return max(lengths, default=-1)


def _selects(selector: str) -> bool:
    return selector == "ALL" or bool(selector and _CODE.startswith(selector))


def _table(parent: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []


def _words(text: str) -> list[str]:
    """The codes of a list in an INI file, comments left out."""
    return re.split(r"[,\s]+", re.sub(r"#[^\n]*", "", text).strip())
