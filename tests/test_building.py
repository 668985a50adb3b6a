"""The law of building: the facts of a tree built from `ast` are those of the tree that LibCST parses."""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import libcst
import msgspec
import pytest

from tests.test_positions import ODD
from tests.test_walk import SYNTAX
from tests.wild.corpora import CORPORA, Corpus, fetch
from warp_lint.facts.building import build
from warp_lint.facts.extract import facts_of, parsed
from warp_lint.facts.parsing import ParseFailure
from warp_lint.source import Source, SourceError

FIXTURES = Path(__file__).parent.parent / "fixtures"

WARP = """\
import warp as wp
@wp.kernel(enable_backward=False, module=f"{__name__}.x")
def step(x: wp.array(dtype=float), *, n: wp.int32 = 1):
    "docstring"
    i, j = wp.tid(); x[i] += wp.static(N)(-1.5, 1e999, 0xFFFFFFFFFFFFFFFFFFFF, 'a' 'b')
@wp.kernel
def count(x: wp.array(dtype=float), y: wp.array(dtype=int)):
    for k in range(x.shape[0]): y[k] = wp.int32(x.shape[1])
for kernel, block in ((step, 64), (other, 0x80)):
    wp.launch(kernel, dim=n, inputs=[*a, -1], block_dim=block, **{"device": d})
with wp.Tape() as tape, wp.ScopedCapture(): tape.backward()
wp.config.mode = wp.config.verify_fp = not True
"""


def assert_law(source: Source) -> bool:
    """Whether there was something to compare."""
    built = build(source)
    if built is None:
        return False
    facts = msgspec.json.encode(facts_of(source, *built))
    assert facts == msgspec.json.encode(facts_of(source, *parsed(source))), source.path
    return True


def read(path: Path) -> Source | None:
    try:
        return Source.read(str(path))
    except SourceError:
        return None


def python_files(root: Path) -> list[Path]:
    return sorted(root.rglob("*.py"))


def drawn(files: list[Path], number: int) -> Iterator[Source]:
    for path in random.Random(0).sample(files, min(number, len(files))):
        if (source := read(path)) is not None:
            yield source


@pytest.mark.parametrize("text", [WARP, *SYNTAX.values(), *ODD.values()], ids=["Warp", *SYNTAX, *ODD])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_law_on_syntax(text: str, newline: str) -> None:
    source = Source.from_bytes("syntax.py", text.replace("\n", newline).encode())
    try:
        libcst.parse_module(source.text)
    except libcst.ParserSyntaxError:
        assert build(source) is None
    else:
        assert_law(source)


def test_law_on_fixtures() -> None:
    sources = [source for path in python_files(FIXTURES) if (source := read(path))]
    compared = 0
    for source in sources:
        try:
            compared += assert_law(source)
        except ParseFailure:
            assert "WRP903" in source.path
    assert compared >= 0.95 * len(sources)


def test_law_on_the_standard_library() -> None:
    files = [path for path in python_files(Path(sysconfig.get_path("stdlib"))) if "lib2to3" not in path.parts]
    assert sum(assert_law(source) for source in drawn(files, 60)) >= 50


@pytest.mark.wild
@pytest.mark.parametrize("corpus", CORPORA, ids=[corpus.name for corpus in CORPORA])
def test_law_on_real_packages(corpus: Corpus) -> None:
    sources = list(drawn(python_files(fetch(corpus)), 3))
    assert sum(assert_law(source) for source in sources) == len(sources)


@pytest.mark.release
@pytest.mark.parametrize("corpus", CORPORA, ids=[corpus.name for corpus in CORPORA])
def test_law_on_every_file_of_real_packages(corpus: Corpus) -> None:
    files = python_files(fetch(corpus))
    assert sum(assert_law(source) for source in drawn(files, len(files))) >= 0.99 * len(files)
