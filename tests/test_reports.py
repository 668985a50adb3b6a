"""What the reports draw. Expected drawings are written by hand from ruff's and rustc's conventions."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import click
import pytest

from warp_lint import reports
from warp_lint.findings import (
    Applicability,
    Edit,
    Finding,
    Fix,
    Level,
    Location,
    Position,
    Range,
    Related,
)
from warp_lint.reports import pages, statistics
from warp_lint.reports.snippet import draw, gutter_width
from warp_lint.result import Problem, Result
from warp_lint.source import Source

PATH = "/somewhere/else/app.py"


def place(source: Source, text: str, end_text: str | None = None) -> Location:
    """From the first occurrence of ``text`` to its end, or to the end of ``end_text`` after it."""
    start = source.text.index(text)
    last = end_text if end_text is not None else text
    end = source.text.index(last, start) + len(last)
    return Location(source.path, Range(source.position(start), source.position(end)))


def drawing(text: str, marked: str, end: str | None = None) -> str:
    source = Source.from_bytes(PATH, text.encode())
    where = place(source, marked, end).range
    lines = draw(source, where, "^", gutter=gutter_width(where.end.line), paint=str, paint_mark=str)
    return "\n".join(lines) + "\n"


def result_of(*findings: Finding, sources: Sequence[Source] = ()) -> Result:
    return Result(
        findings=findings,
        files=(PATH,),
        problems=(),
        sources={source.path: source for source in sources},
    )


def lines_of(output_format: str, result: Result) -> list[str]:
    return [click.unstyle(line) for line in reports.render(output_format, result, closing=True)]


def finding_at(location: Location, level: Level = Level.WARNING, **more: object) -> Finding:
    fields = {"code": "WRP101", "name": "kernel-in-function", "message": "a kernel is late", **more}
    return Finding(level=level, location=location, **fields)  # type: ignore[arg-type]


def test_place_is_underlined_between_two_lines_of_context() -> None:
    assert drawing("one\ntwo\nthree\nfour(x)\nfive\nsix\nseven\n", "(x)") == dedent(
        """\
          |
        2 | two
        3 | three
        4 | four(x)
          |     ^^^
        5 | five
        6 | six
          |
        """
    )


def test_blank_lines_at_the_edge_of_the_context_are_left_out() -> None:
    assert drawing("one\n\n\nfour\n\n\nseven\n", "four") == dedent(
        """\
          |
        4 | four
          | ^^^^
          |
        """
    )


def test_empty_place_gets_one_mark() -> None:
    source = Source.from_bytes(PATH, b"x = 1\n")
    here = Range(Position(1, 3), Position(1, 3))
    assert list(draw(source, here, "^", gutter=1, paint=str, paint_mark=str))[2] == "  |   ^"


@pytest.mark.parametrize(
    ("line", "drawn", "cells_before"),
    [
        pytest.param("\tx.launch", "    x.launch", 4 + 2, id="a tab is four blanks"),
        pytest.param("界 = x.launch", "界 = x.launch", 2 + 3 + 2, id="wide characters take two cells"),
        pytest.param("e\u0301 = x.launch", "e\u0301 = x.launch", 1 + 3 + 2, id="combining ones take none"),
        pytest.param("é = x.launch", "é = x.launch", 1 + 3 + 2, id="not every non-ASCII character is wide"),
        pytest.param("'\x1b[31m'; x.launch", "'\u241b[31m'; x.launch", 11, id="escapes reach no terminal"),
        pytest.param("\x0cx.launch", "\u240cx.launch", 3, id="a form feed is one cell"),
        pytest.param("'\u202e'; x.launch", "'\ufffd'; x.launch", 7, id="nothing turns the writing direction"),
    ],
)
def test_caret_stands_under_its_character(line: str, drawn: str, cells_before: int) -> None:
    _, shown, marked, _ = drawing(line, "launch").splitlines()
    assert shown == f"1 | {drawn}"
    assert marked == f"  | {' ' * cells_before}^^^^^^"


def test_range_over_lines_that_starts_its_line_has_a_rail() -> None:
    text = "def f():\n    wp.launch(\n        k,\n    )\n    done()\n"
    assert drawing(text, "wp.launch(", "    )") == dedent(
        """\
          |
        1 |   def f():
        2 | /     wp.launch(
        3 | |         k,
        4 | |     )
          | |_____^
        5 |       done()
          |
        """
    )


def test_range_over_lines_that_starts_inside_a_line_is_led_to_from_below() -> None:
    text = "x = launch(\n    k,\n)\n"
    assert drawing(text, "launch(", ")") == dedent(
        """\
          |
        1 |   x = launch(
          |  _____^
        2 | |     k,
        3 | | )
          | |_^
          |
        """
    )


def test_range_that_ends_at_the_start_of_a_line_does_not_touch_that_line() -> None:
    assert drawing("one\ntwo\n", "one\n") == "  |\n1 | one\n  | ^^^\n2 | two\n  |\n"


def test_middle_of_a_long_range_is_left_out() -> None:
    numbers = [f"line {number}" for number in range(1, 21)]
    drawn = drawing("\n".join(numbers), "line 1\n", "line 20").splitlines()
    assert [line.removeprefix(" ").split(" ")[0] for line in drawn if "line" in line] == [
        "1", "2", "3", "4", "19", "20",
    ]  # fmt: skip
    assert drawn[5] == "...  |"


def test_long_lines_are_cut_with_the_place_in_view() -> None:
    drawn = drawing("x" * 5_000 + "launch()" + "y" * 5_000, "launch()").splitlines()
    assert all(len(line) < 200 for line in drawn)
    start = drawn[2].index("^")
    assert drawn[1][start : start + 8] == "launch()"
    assert drawn[2].count("^") == 8


TEXT = "import warp as wp\n\n\ndef make():\n    @wp.kernel\n    def k(): ...\n    wp.launch(k, dim=1)\n"


def test_full_report() -> None:
    source = Source.from_bytes(PATH, TEXT.encode())
    finding = finding_at(
        place(source, "@wp.kernel"),
        related=(Related("first loaded here", place(source, "wp.launch(k, dim=1)")),),
        fix=Fix('Add `module="unique"`', Applicability.UNSAFE, ()),
    )
    assert "\n".join(lines_of("full", result_of(finding, sources=[source]))) == dedent(
        """\
        WRP101 a kernel is late
         --> /somewhere/else/app.py:5:5
          |
        4 | def make():
        5 |     @wp.kernel
          |     ^^^^^^^^^^
        6 |     def k(): ...
        7 |     wp.launch(k, dim=1)
          |
        note: first loaded here
         --> /somewhere/else/app.py:7:5
          |
        5 |     @wp.kernel
        6 |     def k(): ...
        7 |     wp.launch(k, dim=1)
          |     -------------------
          |
        help: Add `module="unique"`
        note: this fix is unsafe: it may change what the program does

        Found 1 finding (1 warning) in 1 file.
        1 unsafe fix available with `--fix --unsafe-fixes`."""
    )


def fix_drawn(finding: Finding, *sources: Source) -> str:
    """What a full report has after the ``help:`` line of its only finding."""
    lines = lines_of("full", result_of(finding, sources=sources))
    start = next(number for number, line in enumerate(lines) if line.startswith("help:"))
    return "\n".join(lines[start + 1 : lines.index("", start)]) + "\n"


def replacing(source: Source, *replacements: tuple[str, str]) -> tuple[Edit, ...]:
    """The edits that replace the first occurrences of texts."""
    starts = [(source.text.index(old), old, new) for old, new in replacements]
    return tuple(Edit(source.path, start, start + len(old), new) for start, old, new in starts)


@pytest.mark.parametrize(
    ("text", "replacements", "drawn"),
    [
        pytest.param(
            "one\ntwo\nthree\nfour\nfive\n",
            [("three\n", "3\nIII\n")],
            """\
              |
            2 | two
              - three
            3 + 3
            4 + III
            5 | four
              |
            """,
            id="numbers are those of afterwards",
        ),
        pytest.param(
            "".join(f"line {number}\n" for number in range(1, 13)),
            [("line 2\n", ""), ("line 11", "eleven")],
            f"""\
               |
             1 | line 1
               - line 2
             2 | line 3
            {"-" * 80}
             9 | line 10
               - line 11
            10 + eleven
            11 | line 12
               |
            """,
            id="what lies between is left out",
        ),
        pytest.param(
            "one\ntwo",
            [("two", "2")],
            """\
              |
            1 | one
              - two
              \\ No newline at end of file
            2 + 2
              \\ No newline at end of file
              |
            """,
            id="no final line end",
        ),
        pytest.param(
            "one\r\ntwo\r\n",
            [("two", "\x1b[31m\n")],
            """\
              |
            1 | one
              - two
            2 + \u241b[31m
            3 +
              |
            """,
            id="no escape reaches the terminal and no line end is drawn",
        ),
        pytest.param("one\n", [("one", "(")], "  |\n  - one\n1 + (\n  |\n", id="whatever it makes"),
        pytest.param("é\n", [("é", "界\ud800")], "", id="nothing where it cannot be made"),
    ],
)
def test_fix_is_drawn_as_what_it_changes(text: str, replacements: list[tuple[str, str]], drawn: str) -> None:
    source = Source.from_bytes(PATH, text.encode())
    fix = Fix("Do it", Applicability.SAFE, replacing(source, *replacements))
    finding = finding_at(Location(PATH, Range(Position(1, 1), Position(1, 2))), fix=fix)
    assert fix_drawn(finding, source) == (dedent(drawn) or "\n")


def test_fix_in_several_files_names_the_others() -> None:
    here, there = Source.from_bytes(PATH, b"one\n"), Source.from_bytes("/there/lib.py", b"two\n")
    edits = (*replacing(there, ("two", "2")), *replacing(here, ("one", "1")))
    fix = Fix("Do it", Applicability.DISPLAY, edits)
    finding = finding_at(Location(PATH, Range(Position(1, 1), Position(1, 2))), fix=fix)
    assert fix_drawn(finding, here, there) == dedent(
        """\
          |
          - one
        1 + 1
          |
        ::: /there/lib.py
          |
          - two
        1 + 2
          |
        note: this fix is only shown, not made
        """
    )


def test_safe_fix_is_starred() -> None:
    source = Source.from_bytes(PATH, TEXT.encode())
    finding = finding_at(place(source, "@wp.kernel"), fix=Fix("Do it", Applicability.SAFE, ()))
    assert lines_of("concise", result_of(finding))[0] == (
        "/somewhere/else/app.py:5:5: WRP101 [*] a kernel is late"
    )


def test_paths_under_the_working_directory_are_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = Range(Position(1, 1), Position(1, 2))
    inside = finding_at(Location(str(tmp_path / "pkg" / "app.py"), here))
    beside = finding_at(Location(f"{tmp_path}-other/app.py", here))
    first, second, _ = lines_of("concise", result_of(inside, beside))
    assert first.startswith(str(Path("pkg", "app.py")) + ":1:1:")
    assert second.startswith(f"{tmp_path}-other/app.py:1:1:")


def test_place_in_a_file_that_cannot_be_read_is_only_named() -> None:
    finding = finding_at(Location(PATH, Range(Position(1, 1), Position(1, 1))))
    assert lines_of("full", result_of(finding))[:3] == [
        "WRP101 a kernel is late",
        " --> /somewhere/else/app.py:1:1",
        "",
    ]


@pytest.mark.parametrize(
    ("levels", "line"),
    [
        ([], "All checks passed!"),
        ([Level.WARNING], "Found 1 finding (1 warning) in 1 file."),
        (
            [Level.INFO, Level.WARNING, Level.ERROR, Level.WARNING, Level.INFO],
            "Found 5 findings (1 error, 2 warnings, 2 info) in 1 file.",
        ),
    ],
)
def test_closing_line_counts_by_level(levels: list[Level], line: str) -> None:
    here = Location(PATH, Range(Position(1, 1), Position(1, 1)))
    result = result_of(*(finding_at(here, level) for level in levels))
    assert lines_of("concise", result)[-1] == line
    assert lines_of("full", result)[-1] == line


@pytest.mark.parametrize(
    ("safe", "unsafe", "asked", "lines"),
    [
        (0, 0, False, ["Found 1 finding (1 warning) in 1 file."]),
        (2, 0, False, ["Found 3 findings (3 warnings) in 1 file.", "[*] 2 fixable with `--fix`."]),
        (0, 1, False, [..., "1 unsafe fix available with `--fix --unsafe-fixes`."]),
        (0, 2, False, [..., "2 unsafe fixes available with `--fix --unsafe-fixes`."]),
        (
            1,
            2,
            False,
            [..., "[*] 1 fixable with `--fix` (2 unsafe fixes available with `--fix --unsafe-fixes`)."],
        ),
        (1, 2, True, [..., "[*] 3 fixable with `--fix`."]),
    ],
)
def test_closing_lines_count_fixes(safe: int, unsafe: int, asked: bool, lines: list[object]) -> None:
    here = Location(PATH, Range(Position(1, 1), Position(1, 1)))
    applicabilities = [Applicability.SAFE] * safe + [Applicability.UNSAFE] * unsafe + [Applicability.DISPLAY]
    findings = [finding_at(here, fix=Fix("Do it", applicability, ())) for applicability in applicabilities]
    result = replace(result_of(*findings), unsafe_fixes=asked)
    closing = [line for line in lines_of("concise", result) if not line.startswith(PATH)]
    assert [... if expected is ... else line for expected, line in zip(lines, closing, strict=True)] == lines
    stars = [line for line in lines_of("concise", result) if "[*] a kernel" in line]
    assert len(stars) == safe + (unsafe if asked else 0)


def test_closing_line_counts_what_was_fixed() -> None:
    finding = finding_at(Location(PATH, Range(Position(1, 1), Position(1, 1))))
    result = replace(result_of(finding), fixed=(finding, finding))
    assert lines_of("concise", result)[-1] == "Found 3 findings (2 fixed, 1 remaining)."
    result = replace(result_of(), fixed=(finding,))
    assert lines_of("concise", result) == ["Found 1 finding (1 fixed, 0 remaining)."]


def test_closing_line_does_not_call_a_failed_run_clean() -> None:
    result = Result(findings=(), files=(), problems=(Problem("no such file"),), sources={})
    assert lines_of("concise", result) == ["Nothing found in what could be checked."]


def test_json_has_the_keys_of_ruff_with_the_same_types(tmp_path: Path) -> None:
    """Held against the output of the installed ruff, nested objects included."""
    unsorted = tmp_path / "unsorted.py"
    unsorted.write_text("import os\n")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F401"]
    output = subprocess.run(
        [*command, "--output-format", "json", str(unsorted)], capture_output=True, text=True, check=False
    )
    (of_ruff,) = json.loads(output.stdout)

    source = Source.from_bytes(PATH, TEXT.encode())
    fix = Fix("Do it", Applicability.SAFE, (Edit(PATH, 0, 6, "x"),))
    finding = finding_at(place(source, "@wp.kernel"), fix=fix)
    (ours,) = json.loads("".join(lines_of("json", result_of(finding, sources=[source]))))

    assert _lacking(of_ruff, ours) == []
    assert set(ours) - set(of_ruff) == {"level", "certainty", "related", "redundant_builds"}


def _lacking(theirs: object, ours: object, path: str = "") -> list[str]:
    """The keys and types of ``theirs`` that ``ours`` does not have; a URL may be missing."""
    if isinstance(theirs, dict):
        assert isinstance(ours, dict), path
        return [
            problem
            for key, value in theirs.items()
            for problem in (
                _lacking(value, ours[key], f"{path}.{key}") if key in ours else [f"{path}.{key} is missing"]
            )
        ]
    if isinstance(theirs, list):
        assert isinstance(ours, list), path
        return _lacking(theirs[0], ours[0], f"{path}[0]")
    if path == ".url":
        return [] if ours is None or isinstance(ours, str) else [path]
    return [] if type(theirs) is type(ours) else [f"{path} is a {type(ours).__name__}"]


@pytest.mark.parametrize(
    ("urls", "url"),
    [
        (None, None),
        (["Source, https://example.org/x"], None),
        (["Documentation, https://example.org/docs/"], "https://example.org/docs/rules/mixed-block-dim.md"),
    ],
)
def test_pages_are_where_the_package_says(
    urls: list[str] | None, url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Metadata:
        def get_all(self, _name: str) -> list[str] | None:
            return urls

    monkeypatch.setattr(pages, "metadata", lambda _name: Metadata())
    pages._documentation.cache_clear()
    assert pages.page_url("mixed-block-dim") == url
    pages._documentation.cache_clear()


def test_json_says_everything() -> None:
    source = Source.from_bytes(PATH, TEXT.encode())
    finding = finding_at(
        place(source, "@wp.kernel"),
        related=(Related("first loaded here", place(source, "wp.launch")),),
        fix=Fix("Do it", Applicability.UNSAFE, (Edit(PATH, 18, 21, "x\n"),)),
        redundant_builds=3,
    )
    (ours,) = json.loads("".join(lines_of("json", result_of(finding, sources=[source]))))
    assert ours == {
        "cell": None,
        "code": "WRP101",
        "name": "kernel-in-function",
        "level": "warning",
        "severity": "warning",
        "certainty": "certain",
        "message": "a kernel is late",
        "filename": PATH,
        "location": {"row": 5, "column": 5},
        "end_location": {"row": 5, "column": 15},
        "fix": {
            "applicability": "unsafe",
            "message": "Do it",
            "edits": [
                {
                    "content": "x\n",
                    "filename": PATH,
                    "location": {"row": 2, "column": 1},
                    "end_location": {"row": 4, "column": 2},
                }
            ],
        },
        "noqa_row": 5,
        "redundant_builds": 3,
        "related": [
            {
                "message": "first loaded here",
                "filename": PATH,
                "location": {"row": 7, "column": 5},
                "end_location": {"row": 7, "column": 14},
            }
        ],
        "url": None,
    }


def test_json_of_a_clean_run_is_an_empty_array() -> None:
    assert json.loads("".join(lines_of("json", result_of()))) == []


def test_statistics_count_by_rule_and_sum_the_builds() -> None:
    here = Location(PATH, Range(Position(1, 1), Position(1, 1)))
    fix = Fix("Do it", Applicability.SAFE, ())
    result = result_of(
        finding_at(here, redundant_builds=4),
        finding_at(here, redundant_builds=2),
        finding_at(here, Level.ERROR, code="WRP307", name="unknown-option", fix=fix),
    )
    assert [click.unstyle(line) for line in statistics.render(result, closing=True)] == [
        "2\tWRP101\t[ ] kernel-in-function\t6 redundant builds",
        "1\tWRP307\t[*] unknown-option",
        "Found 3 findings (1 error, 2 warnings) in 1 file.",
        "[*] 1 fixable with `--fix`.",
        "6 kernel builds beyond the needed.",
    ]
    assert json.loads(statistics.render_json(result))[0] == {
        "code": "WRP101",
        "name": "kernel-in-function",
        "count": 2,
        "fixable": False,
        "fixable_count": 0,
        "redundant_builds": 6,
    }
