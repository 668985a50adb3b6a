"""Notebooks: what is found in their cells, where, and what fixes leave of the file."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import pytest

from warp_lint import cli
from warp_lint.findings import Edit
from warp_lint.notebook import Notebook
from warp_lint.reports import render
from warp_lint.run import lint
from warp_lint.source import Source, SourceError
from warp_lint.splicing import Harm, spliced

KERNEL = """\
@wp.kernel(enable_backward=False)
def scale(x: wp.array(dtype=float)):
    x[wp.tid()] *= 2.0"""
CELLS = [
    "%matplotlib inline\nimport warp as wp\n!pip list",
    KERNEL,
    "x = wp.zeros(8)\nwp.launch(scale, dim=8, inputs=[x])",
    KERNEL.replace("2.0", "3.0"),
    "wp.launch(scale, dim=8, inputs=[x])",
]
"""The classic: a kernel is changed and defined again after it was launched."""

WITHOUT_CELLS = ("github", "gitlab", "junit", "sarif", "rdjson", "pylint")
"""The formats that know of no cells."""


def notebook(cells: Sequence[str], *, as_lines: bool = True, indent: int | None = 1, **more: Any) -> str:
    """The JSON of a notebook, with a cell of text before those of code."""
    content = {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# é"]},
            *(
                {
                    "cell_type": "code",
                    "execution_count": number,
                    "metadata": {},
                    "outputs": [{"data": {"text/plain": ["1e400", '"source": "wp"']}, "value": 1e-7}],
                    "source": cell.splitlines(keepends=True) if as_lines else cell,
                }
                for number, cell in enumerate(cells)
            ),
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
        **more,
    }
    return json.dumps(content, indent=indent, ensure_ascii=False) + "\n"


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)


def read(text: str) -> Notebook:
    source = Source.from_bytes("/p/a.ipynb", text.encode())
    assert isinstance(source, Notebook)
    return source


def program(*cells: str) -> str:
    return read(notebook(cells)).text


class TestProgram:
    def test_cells_follow_each_other(self) -> None:
        assert program("a", "", "b\n", "c = '''\n'''") == "a\nb\nc = '''\n'''\n"

    @pytest.mark.parametrize(
        ("cell", "line"),
        [
            ("%matplotlib inline", "0#                "),
            ("!ls", "0# "),
            ("?", "0"),
            ("wp.launch?", "0#        "),
            ("wp.launch??  ", "0#           "),
            ("files = !ls", "files = 0# "),
            ("a, b = %time f()", "a, b = 0#       "),
            ("x = (a\n% b)", "x = (a\n% b)"),
            ("x = '''\n%time\n!ls\n'''", "x = '''\n%time\n!ls\n'''"),
            ("if x:\n    !ls\n    f()", "if x:\n    0# \n    f()"),
            ("%%time\nf()", "#     \nf()"),
            ("\n%%timeit -n 3\n%pip list\nf()", "\n#            \n0#       \nf()"),
            ("%%bash\nls | wc\n\nx", "#     \n#      \n\n#"),
            ("await f()", "await f()"),
            ("def f(:", "def f(:"),
        ],
    )
    def test_what_only_ipython_understands_is_blanked(self, cell: str, line: str) -> None:
        assert program(cell, "f()") == f"{line}\nf()\n"

    def test_other_languages_are_none_of_ours(self) -> None:
        assert read(notebook(["x = 1"], metadata={"kernelspec": {"language": "julia"}})).text == ""
        assert read(notebook(["x = 1"], metadata={})).text == "x = 1\n"

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[1]",
            '{"nbformat": 3, "worksheets": []}',
            '{"nbformat": 4}',
            '{"nbformat": 4, "cells": [{}]}',
            "[" * 100_000,
            notebook(["x"]).replace('"x"', '"\\ud800"').replace("wp", ""),
        ],
    )
    def test_what_is_no_notebook_is_told_only_where_it_names_warp(self, text: str) -> None:
        assert Source.from_bytes("/a.ipynb", text.encode()).text == ""
        with pytest.raises(SourceError, match="not a Jupyter notebook of version 4"):
            Source.from_bytes("/a.ipynb", f"{text} warp".encode())


class TestFindings:
    @pytest.fixture(autouse=True)
    def file(self, directory: None) -> None:  # noqa: ARG002 - it goes first
        Path("a.ipynb").write_text(notebook(CELLS), encoding="utf-8")

    def test_kernel_that_is_defined_again_after_a_launch(self) -> None:
        assert [self.shown(line) for line in self.report("concise") if "WRP" in line] == [
            "a.ipynb:cell 5:1:1: WRP103",
            "a.ipynb:cell 5:1:1: WRP108",
        ]
        assert self.report("grouped")[:2][1].startswith("  cell 5:1:1 WRP103 ")

    def test_full_report_shows_the_cell(self) -> None:
        lines = self.report("full")
        assert " --> a.ipynb:cell 5:1:1" in [line.rstrip() for line in lines]
        assert "1 | @wp.kernel(enable_backward=False)" in lines
        assert " --> a.ipynb:cell 4:2:1" in [line.rstrip() for line in lines]

    def test_json_has_the_cell(self) -> None:
        findings = json.loads("".join(self.report("json")))
        places = [(finding["cell"], finding["location"]) for finding in findings]
        assert places == [(5, {"row": 1, "column": 1})] * 2

    @pytest.mark.parametrize("output_format", WITHOUT_CELLS)
    def test_other_formats_tell_the_cell_in_the_message(self, output_format: str) -> None:
        assert "cell 5:1:1: " in "".join(self.report(output_format))

    def report(self, output_format: str) -> list[str]:
        result = lint(["a.ipynb"])
        return [click.unstyle(line) for line in render(output_format, result, closing=True)]

    def shown(self, line: str) -> str:
        return " ".join(line.split()[:3])

    def test_notebook_is_found_and_may_import_the_project(self) -> None:
        Path("a.ipynb").write_text(notebook(["import lib\nlib.run()"]))
        Path("pyproject.toml").write_text("[tool.warp-lint]\n")
        Path("lib.py").write_text(f"import warp as wp\n{KERNEL}\ndef run():\n    wp.launch(scale, dim=8)\n")
        result = lint(["."])
        assert [Path(path).name for path in result.files] == ["a.ipynb", "lib.py"]
        assert result.findings == ()


class TestFixes:
    UNUSED = "import warp as wp\nwp.init()  # warp-lint: ignore[WRP101]\n'é'"

    @pytest.mark.usefixtures("directory")
    @pytest.mark.parametrize("as_lines", [True, False])
    @pytest.mark.parametrize("indent", [None, 1, 4])
    def test_only_the_line_that_is_fixed_changes(self, as_lines: bool, indent: int | None) -> None:
        file = Path("a.ipynb")
        before = notebook(["x = 'é'", self.UNUSED, "f()"], as_lines=as_lines, indent=indent)
        file.write_text(before, encoding="utf-8")
        assert cli.run(["--isolated", "--fix", "-q", str(file)]) == 0
        comment = "  # warp-lint: ignore[WRP101]"
        assert file.read_text(encoding="utf-8") == before.replace(comment, "")

    @pytest.mark.usefixtures("directory")
    def test_suppression_is_added_to_the_cell(self) -> None:
        file = Path("a.ipynb")
        file.write_text(notebook(CELLS), encoding="utf-8")
        assert cli.run(["--isolated", "--add-suppressions", str(file)]) == 0
        assert cli.run(["--isolated", str(file)]) == 0
        before, after = notebook(CELLS).splitlines(), file.read_text(encoding="utf-8").splitlines()
        changed = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
        assert changed[1:] == [
            '+     "@wp.kernel(enable_backward=False)  # warp-lint: ignore[WRP103, WRP108]\\n",'
        ]

    @pytest.mark.parametrize("as_lines", [True, False])
    def test_edits_stand_in_the_cell_that_they_begin_in(self, as_lines: bool) -> None:
        source = read(notebook(["a", "b\nc", "d\n"], as_lines=as_lines))
        assert source.text == "a\nb\nc\nd\n"
        edits = [Edit(source.path, 2, 2, "new\n"), Edit(source.path, 5, 5, "x"), Edit(source.path, 6, 8, "")]
        after = spliced(source, edits)
        assert json.loads(after.data) == json.loads(notebook(["a", "new\nb\ncx", ""], as_lines=as_lines))

    @pytest.mark.parametrize(
        ("start", "end", "reason"),
        [
            (0, 3, "would change several cells"),
            (3, 5, "only IPython understands"),
            (9, 99, "lie outside of the file"),
        ],
    )
    def test_edits_that_do_harm_are_refused(self, start: int, end: int, reason: str) -> None:
        source = read(notebook(["a", "!ls\nb"]))
        with pytest.raises(Harm, match=reason):
            spliced(source, [Edit(source.path, start, end, "")])
