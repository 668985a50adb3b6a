"""The depth that is told before the parse is the depth that the parse meets."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import typing
from types import ModuleType

import libcst
import pytest

from tests.test_parsing import DEEP
from warp_lint.facts.nesting import LIMIT, deepest
from warp_lint.facts.walk import CHILD_FIELDS

DEEP_LINE = "x = " + "[" * 100 + "]" * 100

HIDDEN = {
    "string": "'{}'",
    "triple string": '"""\n{}\n"""',
    "triple string with quotes": "'''\n'' {} \\''' '\n'''",
    "bytes": "b'{}'",
    "raw string": r"r'\{}\\'",
    "escaped quote": r"'\'{}'",
    "continued string": "'\\\n{}'",
    "string continued with a carriage return": "'\\\r\n{}'",
    "comment": "# ' {}",
    "comment in brackets": "(\n# ' {}\n)",
    "comment after a line end of another kind": "x\r# ' {}\r",
    "formatted string": "f'{}'",
    "formatted string with a field": "f'{{x}} {}'",
    "formatted string with an escape": r"f'{{x}} \'{}'",
    "formatted string with a named character": r"f'{{x}} \N{{EN DASH}} {}'",
    "raw formatted string": r"rf'{{x}} \{}'",
    "triple formatted string": 'f"""{{x}}" {}\n"" """',
    "template string": "t'{{x}}{}'",
    "string in a field": "f'{{x}}{{\"{}\"}}'",
    "string with the same quotes in a field": "f'{{x['{}']}}'",
    "comment in a field": "f'''{{\nx # ' {}\n}}'''",
    "format": "f'{{x:{}}}'",
    "doubled braces": "f'{{{{}}}}{{{{{{x}}}}}}'",
    "after a keyword": "x = y if'{}'else z",
}
"""Where brackets, here written ``{}``, are none."""

MODULES = [argparse, ast, dataclasses, inspect, typing]


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_sees_no_brackets_in_strings_and_comments(text: str) -> None:
    for bracket in "([)]":
        hidden = text.format(bracket * 200)
        libcst.parse_module(hidden)
        assert deepest(hidden)[0] <= LIMIT


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_sees_the_brackets_after_strings_and_comments(text: str) -> None:
    hidden = text.format(")") + "\n"
    depth, place = deepest(hidden + DEEP_LINE)
    assert depth > LIMIT
    assert place == len(hidden)


@pytest.mark.parametrize(
    "text", ["f'{{x.{}}}'", "f'''{{x:{{{}}}}}'''", "f'{{{{{{{}}}}}}}'", "(lambda x={}: 0)", "(lambda: {})"]
)
def test_sees_the_brackets_in_fields_and_parameters(text: str) -> None:
    assert deepest(text.format("a" + "[" * 100 + "]" * 100))[0] > LIMIT


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_no_tree_is_deeper_than_told(module: ModuleType) -> None:
    text = inspect.getsource(module)
    assert _depth(libcst.parse_module(text)) <= deepest(text)[0] + 6


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("count", [2, 7])
def test_no_tree_of_these_is_deeper_than_told(kind: str, count: int) -> None:
    text = DEEP[kind](count)
    try:
        module = libcst.parse_module(text)
    except libcst.ParserSyntaxError:
        assert kind.startswith("open ")
    else:
        assert _depth(module) <= deepest(text)[0] + 6


def _depth(node: libcst.CSTNode) -> int:
    """How many nodes are below each other, of those that say something. Six of them are above the first that
    adds to the depth: the module, a line, its expression and the like."""
    greatest = 0
    stack: list[tuple[libcst.CSTNode, int]] = [(node, 0)]
    while stack:
        node, depth = stack.pop()
        greatest = max(greatest, depth)
        for field in CHILD_FIELDS.get(type(node).__name__, ()):
            children = getattr(node, field)
            for child in children if isinstance(children, (tuple, list)) else (children,):
                if isinstance(child, libcst.CSTNode):
                    stack.append((child, depth + 1))
    return greatest
