"""The table of modules: what it tells in each format, and the command line that asks for it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from warp_lint.cli import commands

PROGRAM = """\
import warp as wp

wp.set_module_options({"max_unroll": 8})


@wp.kernel
def wide(x: wp.array(dtype=float)):
    x[wp.tid()] = 1.0


@wp.kernel
def narrow(x: wp.array(dtype=float)):
    x[wp.tid()] = 2.0


def make_scale(factor):
    @wp.kernel(module="unique", enable_backward=False)
    def scale(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = x[i] * factor

    return scale


def main():
    x = wp.ones(4, dtype=float)
    wp.launch(wide, dim=4, inputs=[x])
    wp.launch(narrow, dim=4, inputs=[x], block_dim=64)
    for factor in (2.0, 3.0):
        wp.launch(make_scale(factor), dim=4, inputs=[x])


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def output(*arguments: str) -> str:
    result = CliRunner().invoke(commands, ["modules", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_json(folder: Path) -> None:
    own, unique = json.loads(output("--output-format", "json"))

    assert own["name"] == "program"
    assert own["file"] == str(folder / "program.py")
    assert [kernel["name"] for kernel in own["kernels"]] == ["wide", "narrow"]
    assert own["options"] == {"max_unroll": "8"}
    assert own["block_dims"] == [64, 256]
    assert (own["backward"], own["backward_used"]) == (True, False)
    assert own["loaded_by"].startswith('the launch of "wide" (program.py:')
    assert (own["predicted_builds"], own["needed_builds"]) == (2, 2)
    assert (own["predicted_kernel_builds"], own["needed_kernel_builds"]) == (4, 2)
    assert [
        (build["block_dim"], [kernel["name"] for kernel in build["kernels"] if kernel["use"] == "needed"])
        for build in own["builds"]
    ] == [(256, ["wide"]), (64, ["narrow"])]
    assert (unique["name"], unique["kind"], unique["backward"]) == ("scale", "unique", False)
    assert (unique["predicted_builds"], unique["needed_kernel_builds"]) == (2, 2)
    assert [build["kernels"][0]["name"] for build in unique["builds"]] == [
        "scale(factor=2.0)",
        "scale(factor=3.0)",
    ]


def test_table(folder: Path) -> None:
    lines = output(str(folder)).splitlines()
    assert re.split(r"\s\s+", lines[0])[:3] == ["module", "kernels", "options"]
    assert lines[1].split()[0] == "program"
    assert "2 modules: 4 builds with 6 kernel builds over an empty cache, 2 beyond the needed." in lines


@pytest.mark.usefixtures("folder")
def test_dot() -> None:
    text = output("--output-format", "dot", "program.py")
    assert text.startswith("digraph modules {")
    assert r'label="program\n2 builds, 4 kernel builds, 2 beyond the needed"' in text
    assert text.count("{") == text.count("}") == 1


class Page(HTMLParser):
    """The classes and titles of a page, and what it would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[tuple[str, str]] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if (given.get("class") or "").startswith("cell") and given.get("title"):
            self.cells.append((given["class"] or "", given["title"] or ""))
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href")]
        assert tag != "script"


def test_html(folder: Path) -> None:
    output("--output-format", "html", "--output-file", "modules.html")
    page = Page()
    page.feed((folder / "modules.html").read_text(encoding="utf-8"))

    assert page.fetched == ["data:,"]
    assert len(page.cells) == 6
    wasted = [title for kind, title in page.cells if "wasted" in kind]
    assert len(wasted) == 2
    assert all("never launched" in title for title in wasted)


def test_nothing_to_show(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("print()\n")
    assert output(str(tmp_path)) == "No Warp modules found.\n"
    assert json.loads(output("--output-format", "json", str(tmp_path))) == []


def test_tests_are_left_out(folder: Path) -> None:
    (folder / "program.py").rename(folder / "test_program.py")
    assert json.loads(output("--output-format", "json", str(folder))) == []
