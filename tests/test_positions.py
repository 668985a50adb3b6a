"""Every node stands where LibCST's provider and Python's own tree say it stands, however odd the file is."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import ModuleType

import libcst
import pytest
from libcst.metadata import CodePosition, MetadataWrapper, PositionProvider

from warp_lint.facts.parsing import TOO_DEEP, ParseFailure, parse
from warp_lint.facts.positions import measure
from warp_lint.facts.records import Span

ODD = {
    "nothing": "",
    "blank": "\n",
    "no last line break": "x = f(a)",
    "no last line break after a comment": "x  # y",
    "blanks at the end": "x\n   ",
    "blank lines around": "\n\n  \nx\n\n\n",
    "tabs": "if x:\n\ty = f(\t1,\t2)\n\tif z:\n\t\tpass\n",
    "carriage returns and line feeds": "if x:\r\n  y(\r\n    1,\r\n    2)\r\n",
    "carriage returns": "if x:\r  y\r  z(1,\r2)\r#\rw\r\r\n",
    "mixed line ends": "a\r\nb\nc\rd\r\n'''\r\n\n\r'''\re\n",
    "wide characters": "é = 'é☃𝄞'; ö = f(é, '𝄞', b)  # ☃\né\n",
    "continued lines": "x = \\\n  1 + \\\r\n  f \\\n (a)\nassert x, \\\n y\n",
    "semicolons": "a; b ;c;\nif x: d; e\nclass A: f = 1; g: int\n",
    "parentheses": "((a)) = (f)((b), *(c), d=(e)); ((a.b)).c[(0)]; (lambda: (x))\n",
    "parentheses over lines": "x = (  # y\n  (a)\n  # z\n  + b\n)\n",
    "tuples": "a, = (), (1,), (1, 2), 1\nfor x, y in a, b: pass\n",
    "strings side by side": "x = 'a' \"b\" '''c\nd'''\ny = ('a'\n  'b')\n",
    "formatted strings": "x = f'{a}{b!r:>{c}} {f(d)=}' f\"{{}}\" rf'''\n{e}'''\ny\n",
    "decorators": "@a\n# x\n\n@b.c(1) # y\nasync def f(): pass\n@(d)\nclass A: pass\n",
    "decorators in a class": "class A:\n\n  @a\n\n  @b\n  def f(self): pass\n\n  x = 1\n",
    "parameters": "def f(a, /, b: int=1, *c: int, d=(2), **e) -> x[y]: return\ndef g(*, a): yield\n",
    "lambda parameters": "x = lambda a, b=1, *c, d, **e: a ; y = lambda: 0\n",
    "imports": "import a.b, c as d\nfrom . import e\nfrom ..f.g import (h, i as j,)\nfrom k import *\nx\n",
    "compound statements": (
        "try:\n  a\nexcept b as c: d\nelse:\n  e\nfinally: f\n"
        "while g:\n  h\nelse: i\nfor j in k:\n  l\nelse:\n  m\nwith n as o, p: q\n"
        "if r: s\nelif t:\n  u\nelse:\n  if v: w\n"
    ),
    "match": (
        "match a:\n  case [b, *_, 1 | 2] if c: d\n  case {'e': f, **g}:\n    h\n"
        "  case A(i, j=k) as l: pass\n  case x.y: pass\n"
    ),
    "comprehensions": (
        "x = [a for b in c if d if e for f in g], {h: i for j in k}\n"
        "y = {l for m in n}, (o for p in q), r(s for t in u)\n"
    ),
    "operators": "x = not a < b <= (c) in d is not e or -f ** ~g if h else await_ @ i\nx **= 1\nx: int = 1\n",
    "slices": "a[b:c:d, ::, e:, :f, ...]\n",
    "keywords as statements": "def f():\n  global a, b\n  return\n  yield\n  raise a from b\n  del c, (d)\n",
    "comment at the wrong indentation": "if x:\n    y\n  # z\n    w\n# v\n    u\n",
    "docstring": "'''a\n\tb'''\n'c'\n",
}

DROPPING = {
    "form feed": "\fx = f(a)\n",
    "form feeds and blanks": "\f \f\fx\n\f\n\fy\n",
    "form feed in a block": "if a:\n    x\n\f    y\n\f    z(b)\n",
    "form feed before a definition": "def f():\n  x\n\f\n\fdef g():\n  y\n",
    "form feed before a decorator": "\f@a\n\f@b\n\fdef f(): pass\n",
    "form feed before else": "if a:\n  x\n\felse:\n  y\n",
    "form feed in a line": "x = \f1;\fy\n",
    "continued blank line": "\\\n\\\nx = 1\n",
    "continued blank line in a block": "if a:\n  xx\n  \\\n  yy\n",
    "carriage return at the end": "x = f(a)\r",
    "carriage return after a comment": "x  # y\r",
    "carriage return after a block": "if a:\r\n  x\r\n\r",
    "blank lines and blanks at the end": "x\n\n \n",
    "all": "\f\\\nx = 1\r\n\fif y:\r  z(a)\r",
}

_UNPLACED_KINDS = """
    AsName BitInvert Comment CompFor CompIf ComparisonTarget EmptyLine FormattedStringExpression
    FormattedStringText ImportStar Index LeftCurlyBrace LeftParen LeftSquareBracket Minus Module Newline Not
    ParamSlash ParamStar Parameters ParenthesizedWhitespace Plus RightCurlyBrace RightParen RightSquareBracket
    SimpleWhitespace Slice TrailingWhitespace
"""
UNPLACED = frozenset(_UNPLACED_KINDS.split())

MODULES = [argparse, ast, dataclasses]

FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "carriage returns and line feeds": lambda text: text.replace("\n", "\r\n"),
    "carriage returns": lambda text: text.replace("\n", "\r"),
    "form feeds": lambda text: re.sub(r"(?m)^(?=(?:def|class|import|from|if) )", "\f", text),
    "no last line break": str.rstrip,
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_texts_as_libcst_says(text: str) -> None:
    _compare_with_libcst(text)


@pytest.mark.parametrize("text", [*ODD.values(), *DROPPING.values()], ids=[*ODD, *DROPPING])
def test_odd_texts_as_python_says(text: str) -> None:
    _compare_with_python(text)


@pytest.mark.parametrize("form", ["as it is", "carriage returns and line feeds"])
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_standard_library_as_libcst_says(module: ModuleType, form: str) -> None:
    _compare_with_libcst(FORMS[form](inspect.getsource(module)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_standard_library_as_python_says(module: ModuleType, form: str) -> None:
    _compare_with_python(FORMS[form](inspect.getsource(module)))


def _compare_with_libcst(text: str) -> None:
    module = parse(text)
    assert module.code == text  # else the provider would tell the places in another text
    positions = measure(module, text)
    line_starts = _line_starts(text)

    def offset(place: CodePosition) -> int:
        return line_starts[place.line - 1] + place.column

    expected = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    for node, places in expected.items():
        if type(node).__name__ not in UNPLACED:
            assert positions.span(node) == (offset(places.start), offset(places.end)), type(node).__name__


def _compare_with_python(text: str) -> None:
    module = parse(text)
    positions = measure(module, text)
    spans: dict[type[ast.AST], set[Span]] = {ast.Name: set(), ast.Call: set(), ast.stmt: set()}
    for node in _below(module):
        match node:
            case libcst.Name() | libcst.Integer() | libcst.SimpleString():
                span = positions.span(node)
                assert text[span.start : span.end] == node.value
                spans[ast.Name].add(span)
            case libcst.Call():
                spans[ast.Call].add(positions.span(node))
            case libcst.BaseSmallStatement() | libcst.BaseCompoundStatement():
                spans[ast.stmt].add(positions.span(node))
    line_starts = _line_starts(text)
    lines = [text[start:end].encode() for start, end in pairwise([*line_starts, len(text)])]

    def offset(line: int, column: int) -> int:
        return line_starts[line - 1] + len(lines[line - 1][:column].decode())

    for known in _outside_formatted_strings(ast.parse(text)):
        for kind, ours in spans.items():
            if isinstance(known, kind):
                assert isinstance(known, (ast.expr, ast.stmt))
                assert known.end_lineno is not None
                assert known.end_col_offset is not None
                start = offset(known.lineno, known.col_offset)
                assert (start, offset(known.end_lineno, known.end_col_offset)) in ours, ast.dump(known)


def _below(node: libcst.CSTNode) -> Iterator[libcst.CSTNode]:
    yield node
    for child in node.children:
        yield from _below(child)


def _outside_formatted_strings(node: ast.AST) -> Iterator[ast.AST]:
    """Python before 3.12 does not know places in formatted strings."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.JoinedStr):
            yield from _outside_formatted_strings(child)


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\f \fx = 1\n", [(3, 8)]),
        ("x\n\fy\n\f\n\f\fz", [(0, 1), (3, 4), (9, 10)]),
        ("if a:\n    x\n\f    y\n", [(0, 18), (10, 11), (17, 18)]),
        ("\\\n\\\nx\n", [(4, 5)]),
        ("x\n\n \n", [(0, 1)]),
        ("x\r", [(0, 1)]),
        ("x # y\r", [(0, 1)]),
        ("x\r\n\r", [(0, 1)]),
        ("x\r\n\fy\r", [(0, 1), (4, 5)]),
    ],
)
def test_statements_keep_their_place_where_libcst_drops_text(
    text: str, expected: list[tuple[int, int]]
) -> None:
    module = parse(text)
    assert module.code != text
    positions = measure(module, text)
    statements = [node for node in _below(module) if isinstance(node, (libcst.BaseSmallStatement, libcst.If))]
    assert [positions.span(statement) for statement in statements] == expected


@pytest.mark.parametrize("text", ["y = 1\n", "x = 1\ny", "x = 1", "x = 1\n\f#", "x  = 1\n", ""])
def test_tells_no_place_in_another_text(text: str) -> None:
    with pytest.raises(ParseFailure, match="differs"):
        measure(libcst.parse_module("x = 1\n#\n"), text)


def test_tells_no_place_of_a_node_of_another_tree() -> None:
    module, other = parse("x\n"), parse("x\n")
    with pytest.raises(KeyError):
        measure(module, "x\n").span(other.body[0])


def test_refuses_a_tree_that_is_too_deep() -> None:
    text = "x" + " + x" * 1_000
    with pytest.raises(ParseFailure, match=TOO_DEEP):
        measure(libcst.parse_module(text), text)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("((a))", libcst.Name, "a"),
        ("x = (1, 2)", libcst.Tuple, "1, 2"),
        ("x = (a for b in c)", libcst.GeneratorExp, "a for b in c"),
        ("x = [a]", libcst.List, "[a]"),
        ("f((a), b)", libcst.Arg, "(a)"),
        ("f(*a , b)", libcst.Arg, "*a"),
        ("(f)((a)) ; b", libcst.Call, "(f)((a))"),
        ("(f)((a)) ; b", libcst.Expr, "(f)((a))"),
        ("@f(1)  # x\ndef g(): pass", libcst.Decorator, "@f(1)"),
        ("@f\n@g\nasync def h():\n  a\n  b;  # x\n", libcst.FunctionDef, "async def h():\n  a\n  b"),
        ("def f(*a: int): pass", libcst.Param, "*a"),
        ("with a as b, c: pass", libcst.WithItem, "a as b"),
        ("if a: b\nelif c: d\n", libcst.If, "if a: b\nelif c: d"),
        ("import a.b as c, d", libcst.ImportAlias, "a.b as c"),
    ],
)
def test_what_a_span_covers(text: str, kind: type[libcst.CSTNode], expected: str) -> None:
    module = parse(text)
    node = next(node for node in _below(module) if isinstance(node, kind))
    span = measure(module, text).span(node)
    assert text[span.start : span.end] == expected
