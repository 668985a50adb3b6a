"""What the fixes make of the fixtures: of ``fires_<x>.py`` exactly ``fixed_<x>.py``, however it is written.

Safe and unsafe fixes are made, in memory. A new pair needs no line here.
"""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import libcst
import pytest

from tests.test_fixtures import Case, all_cases, settings_of
from warp_lint.fixing import Fixing
from warp_lint.result import Result
from warp_lint.run import fix_trees
from warp_lint.settings import Settings
from warp_lint.trees import SettingsLookup, find_trees

NOT_FIXABLE = {
    "WRP104",
    "WRP105",
    "WRP106",
    "WRP108",
    "WRP109",
    "WRP114",
    "WRP202",
    "WRP204",
    "WRP206",
    "WRP303",
    "WRP308",
    "WRP309",
    "WRP402",
    "WRP411",
    "WRP412",
    "WRP502",
    "WRP503",
    "WRP504",
    "WRP604",
    "WRP606",
    "WRP607",
    "WRP611",
    "WRP613",
    "WRP615",
    "WRP616",
    "WRP703",
    "WRP803",
    "WRP805",
    "WRP806",
}
"""Rules without a fix: their pairs show what to write instead, which depends on what is meant."""


class Pair(NamedTuple):
    fires: Path
    fixed: Path

    @property
    def name(self) -> str:
        return f"{self.fires.parent.name}/{self.fires.stem.removeprefix('fires_')}"


FIRES = [case for case in all_cases() if case.fires]
ALL_PAIRS = [
    Pair(case.path, fixed)
    for case in FIRES
    for fixed in [case.path.with_name(case.path.name.replace("fires", "fixed", 1))]
    if fixed.exists()
]
NOT_UNIQUE = "WRP403-tile-backward-flag/own_module"
"""The rule's fix is for a unique kernel; the option of a module that others share is theirs, too."""
PAIRS = [
    pair for pair in ALL_PAIRS if Case(pair.fires, True).code not in NOT_FIXABLE and pair.name != NOT_UNIQUE
]
UNFIXABLE_PAIRS = [pair for pair in ALL_PAIRS if pair not in PAIRS]
FOLDER_PAIRS = [pair for pair in PAIRS if pair.fires.is_dir()]
"""Pairs of several files, which are not written in other ways."""
PAIRS = [pair for pair in PAIRS if pair.fires.is_file()]

of_pairs = pytest.mark.parametrize("pair", [pytest.param(pair, id=pair.name) for pair in PAIRS])


def fixed(path: Path, settings: Settings, texts: dict[str, bytes] | None = None) -> Fixing[Result]:
    """What all fixes make of a file or directory, with ``texts`` in place of what is on the disk."""
    trees = find_trees([str(path)], SettingsLookup(settings), in_memory=texts or {}, whole_projects=False)
    return fix_trees(trees, unsafe=True, texts=texts)


def fixed_text(path: Path, text: bytes) -> bytes:
    """What the fixes of its folder's rule make of a text in place of a fixture."""
    outcome = fixed(path, settings_of(Case(path, True)), {str(path): text})
    assert outcome.refused == ()
    assert outcome.unsettled == ()
    changed = {change.path: change.after for group in outcome.changes for change in group}
    assert changed.keys() <= {str(path)}
    return changed.get(str(path), text)


# Ways to write the same program. What a fix makes of it is to be written in the same way.

Rewrite = Callable[[str], bytes]


def with_line_ends(line_end: str) -> Rewrite:
    return lambda text: text.replace("\n", line_end).encode()


def with_tabs(text: str) -> bytes:
    return re.sub(
        r"^(?:    )+", lambda blanks: "\t" * (len(blanks[0]) // 4), text, flags=re.MULTILINE
    ).encode()


def with_other_names(text: str) -> bytes:
    """Two bytes and one code point, four bytes and one code point: no offset is right by accident."""
    return re.sub(r"\b(wp|x)\b", lambda name: {"wp": "ωp", "x": "𝔵ₓ"}[name[0]], text).encode()


def with_cookie(text: str) -> bytes:
    return f"# -*- coding: latin-1 -*-\n# größer\n{text}".encode("latin-1")


REWRITES: dict[str, Rewrite] = {
    "as it is": str.encode,
    "CRLF": with_line_ends("\r\n"),
    "CR": with_line_ends("\r"),
    "BOM": lambda text: text.encode("utf-8-sig"),
    "tabs": with_tabs,
    "latin-1": with_cookie,
    "other names": with_other_names,
    "wide characters": lambda text: f"# Umlaute: äöü 日本 🙂\n{text}".encode(),
    "no final line end": lambda text: text.removesuffix("\n").encode(),
    "more below": lambda text: f"{text}\n\ndef below():\n    return 0  # the end\n".encode(),
}


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
@of_pairs
def test_pair(pair: Pair, rewrite: Rewrite) -> None:
    fires, expected = (rewrite(path.read_text(encoding="utf-8")) for path in pair)

    result = fixed_text(pair.fires, fires)

    assert result.decode("utf-8", "replace") == expected.decode("utf-8", "replace")
    assert result == expected
    assert fixed_text(pair.fires, result) == result


@of_pairs
def test_mixed_line_ends(pair: Pair) -> None:
    """Every line that a fix leaves alone keeps its line end; the new ones get that of most lines."""
    fires, expected = (path.read_text(encoding="utf-8").splitlines() for path in pair)
    mixed = [f"{line}{chr(13) if number % 3 == 0 else ''}\n" for number, line in enumerate(fires)]

    result = fixed_text(pair.fires, "".join(mixed).encode()).decode()

    lines = io.StringIO(result, newline="").readlines()
    assert [line.rstrip("\r\n") for line in lines] == expected
    same = difflib.SequenceMatcher(None, fires, expected).get_matching_blocks()
    for block in same:
        after, before = lines[block.b : block.b + block.size], mixed[block.a : block.a + block.size]
        # which of several blank lines in a row is new cannot be told
        assert [line for line in after if line.strip()] == [line for line in before if line.strip()]


@pytest.mark.parametrize("pair", [pytest.param(pair, id=pair.name) for pair in FOLDER_PAIRS])
def test_pair_of_folders(pair: Pair) -> None:
    before, expected = (
        {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*.py")} for folder in pair
    )

    outcome = fixed(pair.fires, settings_of(Case(pair.fires, True)))

    assert outcome.refused == ()
    assert outcome.unsettled == ()
    changes = [change for group in outcome.changes for change in group]
    changed = {Path(change.path).relative_to(pair.fires): change.after for change in changes}
    assert before | changed == expected


@pytest.mark.parametrize("pair", [pytest.param(pair, id=pair.name) for pair in UNFIXABLE_PAIRS])
def test_pair_without_a_fix(pair: Pair) -> None:
    assert fixed(pair.fires, settings_of(Case(pair.fires, True))).changes == ()


# All rules at once, on everything that fires.


def comments(data: bytes) -> Counter[str]:
    """The comments of a file but those for linters, which fixes may remove or add."""
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    texts = (token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT)
    texts = (text.removesuffix("  # noqa: E402") for text in texts)
    return Counter(text for text in texts if not re.search("noqa|warp-lint:", text))


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{case.path.parent.name}/{case.path.name}")
        for case in FIRES
        if case.code != "WRP903"
    ],
)
def test_all_rules_at_once(case: Case) -> None:
    settings = settings_of(case).with_overrides({"select": ["ALL"]})

    outcome = fixed(case.path, settings)

    assert outcome.refused == ()
    assert outcome.unsettled == ()
    changes = [change for group in outcome.changes for change in group]
    for change in changes:
        ast.parse(change.after)
        libcst.parse_module(change.after)
        assert comments(change.before) <= comments(change.after)
    again = fixed(case.path, settings, {change.path: change.after for change in changes})
    assert again.changes == ()
    assert [finding.sort_key for finding in again.result.findings] == [
        finding.sort_key for finding in outcome.result.findings
    ]
