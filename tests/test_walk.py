"""The walk shows visitors what LibCST's own visit shows them, in the order of the text."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import libcst
import pytest

from warp_lint.facts.parsing import TOO_DEEP, ParseFailure
from warp_lint.facts.positions import measure
from warp_lint.facts.walk import CHILD_FIELDS, walk

Event = tuple[str, int]

SYNTAX = {
    "names and literals": "a; 1; 1.0; 1j; 'b'; 'c' 'd'; ...\n",
    "attributes, calls, subscripts": "a.b(c, *d, e=f, **g)[h, i:j:k, l:, *m].n\n",
    "operators": "a + b * -c; not d and e or f; g < h in i is not j\n",
    "conditional expression": "a if b else c\n",
    "walrus": "(a := b)\n",
    "lambda": "lambda a, /, b=c, *d, e=f, **g: h\n",
    "star in a lambda": "lambda *, a: b\n",
    "collections": "(a, *b); [c, *d]; {e, *f}; {g: h, **i}; ()\n",
    "comprehensions": "[a for b in c if d if e for f in g]; {h for i in j}; (k for l in m)\n",
    "unpacking comprehensions": "{**a for b in c}; [*d for e in f]\n",
    "lazy imports": "lazy import a, b.c as d\nlazy from e.f import g, h as i\n",
    "mapping comprehension": "{a: b async for c in d}\n",
    "generator argument": "a(b for c in d)\n",
    "formatted strings": "f'a{b}c{d!r:e{f}g}'; f'{h=}'\n",
    "template strings": "t'a{b}c{d!r:e{f}g}'\n",
    "await": "async def a():\n  await b\n  return await c(d)\n",
    "yield": "def a():\n  yield\n  b = yield c\n  yield from d\n",
    "assignments": "a = b = c; d: e; f: g = h; i += j; k[l], m.n = o\n",
    "simple statements": "del a, b; assert c, d; raise e from f; pass\n",
    "imports": "import a, b.c as d; from e.f import g, h as i; from . import j; from k import *\n",
    "scope statements": "def a():\n  global b, c\n  nonlocal d, e\n  return f\n",
    "loops": "for a, b in c:\n  break\nelse:\n  d\nwhile e:\n  continue\nelse: f\n",
    "branches": "if a: b\nelif c:\n  d\nelif e: f\nelse:\n  g\n",
    "try": "try: a\nexcept b as c:\n  d\nexcept (e, f): g\nexcept: h\nelse: i\nfinally: j\n",
    "try with groups": "try: a\nexcept* b as c:\n  d\n",
    "with": "with a as b, c, d() as (e, f):\n  g\n",
    "with in brackets": "with (a as b, c): d\n",
    "function": "@a\n@b(c)\ndef d(e, f: g, /, h: i = j, *k: l, m: n = o, **p: q) -> r:\n  's'\n  t\n",
    "class": "@a\nclass b(c, *d, e=f, **g):\n  h = i\n  def j(self): k\n",
    "match": (
        "match a:\n case 1 | None | b.c: d\n case [e, *f, _] | (g, h) | [*_] if i: j\n"
        " case {'k': l, 'm': n, **o}: p\n case q(r, s=t) as u: v\n case (-1): w\n case 'x' 'y': z\n"
    ),
    "type parameters": "def a[b: c, *d, **e](f: b) -> g: h\nclass i[j = k](l): m\ntype n[o, *p = q] = r\n",
}


def _recorder(names: list[str], *refused: type[libcst.CSTNode]) -> type[libcst.CSTVisitor]:
    """A class of visitors that record the calls of these methods, and refuse to go below some."""

    def record(name: str) -> Callable[[Any, libcst.CSTNode], bool]:
        def method(self: Any, node: libcst.CSTNode) -> bool:
            self.events.append((name, id(node)))
            return not isinstance(node, refused)

        return method

    def start(self: Any) -> None:
        libcst.CSTVisitor.__init__(self)
        self.events = []

    return type(
        "Recorder", (libcst.CSTVisitor,), {"__init__": start, **{name: record(name) for name in names}}
    )


NODE_METHODS = [f"{when}_{kind}" for kind in CHILD_FIELDS for when in ("visit", "leave")]
ATTRIBUTE_METHODS = [
    f"{when}_{kind}_{field}"
    for kind, fields in CHILD_FIELDS.items()
    for field in fields
    for when in ("visit", "leave")
    if field != "format_spec"  # for which LibCST has no calls where it is None
]

Everything = _recorder(NODE_METHODS)
WithAttributes = _recorder(NODE_METHODS + ATTRIBUTE_METHODS)
NoCalls = _recorder(NODE_METHODS + ATTRIBUTE_METHODS, libcst.Call)
NoBodies = _recorder(NODE_METHODS, libcst.IndentedBlock, libcst.Attribute)
Calls = _recorder(["visit_Call", "leave_Call"])
Leaving = _recorder(["leave_Name", "leave_FunctionDef"])
Nothing = _recorder([])
NoModule = _recorder(NODE_METHODS, libcst.Module)

RECORDERS = [Everything, WithAttributes, NoCalls, NoBodies, Calls, Leaving, Nothing, NoModule]


MODULES = [argparse, ast, dataclasses]

TEXTS = SYNTAX | {module.__name__: inspect.getsource(module) for module in MODULES}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_shows_what_libcst_shows(text: str) -> None:
    module = libcst.parse_module(text)
    together = [recorder() for recorder in RECORDERS]
    walk(module, together)
    for recorder, walked in zip(RECORDERS, together, strict=True):
        visitor, alone = recorder(), recorder()
        module.visit(visitor)
        walk(module, [alone])
        assert _events(alone) == _events(visitor)
        assert _events(walked) == _events(visitor)


def _events(recorder: Any) -> list[Event]:
    events: list[Event] = recorder.events
    return events


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_goes_by_the_order_of_the_text(text: str) -> None:
    module = libcst.parse_module(text)
    positions = measure(module, text)

    class Leaves(libcst.CSTVisitor):
        def __init__(self) -> None:
            super().__init__()
            self.starts: list[int] = []

        def visit_Name(self, node: libcst.Name) -> None:
            self.starts.append(positions.span(node).start)

        def visit_Integer(self, node: libcst.Integer) -> None:
            self.starts.append(positions.span(node).start)

        def visit_SimpleString(self, node: libcst.SimpleString) -> None:
            self.starts.append(positions.span(node).start)

    leaves = Leaves()
    walk(module, [leaves])
    assert leaves.starts
    assert leaves.starts == sorted(leaves.starts)


def test_every_syntax_is_tried() -> None:
    kinds = {type(node).__name__ for text in SYNTAX.values() for node in _below(libcst.parse_module(text))}
    assert kinds >= set(CHILD_FIELDS)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_leaves_out_only_what_says_nothing_more(text: str) -> None:
    """A node that is left out has no node below it but blanks."""
    for node in _below(libcst.parse_module(text)):
        if type(node).__name__ not in CHILD_FIELDS:
            assert not any(type(child).__name__ in CHILD_FIELDS for child in _below(node))


def _below(node: libcst.CSTNode) -> Iterator[libcst.CSTNode]:
    yield node
    for child in node.children:
        yield from _below(child)


def test_calls_visitors_in_their_order() -> None:
    calls: list[tuple[str, str]] = []

    class Named(libcst.CSTVisitor):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def visit_Name(self, node: libcst.Name) -> None:
            calls.append((self.name, f"visit {node.value}"))

        def leave_Name(self, original_node: libcst.Name) -> None:
            calls.append((self.name, f"leave {original_node.value}"))

    walk(libcst.parse_module("a + b"), [Named("first"), Named("second")])
    assert calls == [
        (name, f"{what} {of}") for of in "ab" for what in ("visit", "leave") for name in ("first", "second")
    ]


def test_a_visitor_that_refuses_hides_nothing_from_others() -> None:
    class Refusing(libcst.CSTVisitor):
        def visit_FunctionDef(self, node: libcst.FunctionDef) -> bool:
            return node.name.value != "f"

        def visit_Name(self, node: libcst.Name) -> None:
            assert node.value != "hidden"

    everything = Everything()
    walk(
        libcst.parse_module("def f():\n  hidden\ndef g():\n  def f(): hidden\n  a\nb\n"),
        [Refusing(), everything],
    )
    assert sum(name == "visit_Name" for name, _ in _events(everything)) == 7


def test_needs_no_recursion_for_deep_trees() -> None:
    everything = Everything()
    walk(libcst.parse_module("x" + " + x" * 1_000), [everything])
    assert sum(name == "leave_Name" for name, _ in _events(everything)) == 1_001


def test_methods_that_recurse_too_deeply_fail_the_file() -> None:
    class Recursing(libcst.CSTVisitor):
        def visit_Name(self, node: libcst.Name) -> None:
            self.visit_Name(node)

    with pytest.raises(ParseFailure, match=TOO_DEEP):
        walk(libcst.parse_module("x"), [Recursing()])


def test_goes_through_nodes_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of a later LibCST are."""
    text = "def f(a, b=c): return (a + b) * c\n"
    module = libcst.parse_module(text)
    known, unknown = Leaving(), Leaving()
    walk(module, [known])
    for kind in ("FunctionDef", "Param", "BinaryOperation", "Return"):
        monkeypatch.delitem(CHILD_FIELDS, kind)
    walk(module, [unknown])
    assert _events(unknown) == _events(known)
