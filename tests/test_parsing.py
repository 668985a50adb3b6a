"""Whatever the text is, parsing gives a tree or a `ParseFailure`: no other error, no crash, no long wait."""

from __future__ import annotations

import ast
import multiprocessing
import os
import pickle
import threading
import warnings
from bisect import bisect_left
from collections.abc import Callable
from typing import NoReturn

import libcst
import pytest

from warp_lint.facts.nesting import LIMIT, deepest
from warp_lint.facts.parsing import TOO_DEEP, ParseFailure, parse
from warp_lint.facts.positions import measure

DEEP: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "(" * n + "x" + ")" * n,
    "parentheses over lines": lambda n: "(\n" * n + "x" + ")\n" * n,
    "open parentheses": lambda n: "(" * n,
    "open brackets": lambda n: "[" * n,
    "open braces": lambda n: "{" * n,
    "open calls": lambda n: "f(" * n,
    "tuples": lambda n: "(" * n + "x" + ",)" * n,
    "lists": lambda n: "[" * n + "]" * n,
    "dicts": lambda n: "{1: " * n + "x" + "}" * n,
    "sets": lambda n: "{" * n + "x" + "}" * n,
    "double stars in dicts": lambda n: "{**" * n + "x" + "}" * n,
    "calls in calls": lambda n: "f(" * n + "x" + ")" * n,
    "keyword arguments": lambda n: "f(a=" * n + "x" + ")" * n,
    "starred arguments": lambda n: "f(*" * n + "x" + ")" * n,
    "second arguments": lambda n: "f(a, " * n + "x" + ")" * n,
    "calls and lists": lambda n: "f([" * n + "x" + "])" * n,
    "calls and dicts": lambda n: "f({'a': " * n + "x" + "})" * n,
    "subscripts in subscripts": lambda n: "f[" * n + "x" + "]" * n,
    "slices in slices": lambda n: "f[1:" * n + "x" + "]" * n,
    "assigned subscripts": lambda n: "f[" * n + "x" + "]" * n + " = 1",
    "annotations": lambda n: "x: " + "f[" * n + "x" + "]" * n,
    "comprehensions": lambda n: "[" * n + "x" + " for x in y]" * n,
    "iterated comprehensions": lambda n: "[x for x in " * n + "x" + "]" * n,
    "loops of a comprehension": lambda n: "[x " + "for x in y " * n + "]",
    "conditions of a comprehension": lambda n: "[x for x in y " + "if x " * n + "]",
    "walrus": lambda n: "(a := " * n + "x" + ")" * n,
    "yields": lambda n: "def f():\n x = " + "(yield " * n + "x" + ")" * n,
    "awaits": lambda n: "async def f():\n x = " + "(await " * n + "x" + ")" * n,
    "lambdas": lambda n: "lambda: " * n + "x",
    "lambdas as defaults": lambda n: "lambda a=" * n + "x" + ": 0" * n,
    "lambdas as second defaults": lambda n: "lambda a, b=" * n + "x" + ": 0" * n,
    "conditional expressions": lambda n: "x if y else " * n + "z",
    "bracketed conditional expressions": lambda n: "(x if y else " * n + "z" + ")" * n,
    "conditions of conditional expressions": lambda n: "x if (" * n + "y" + ") else z" * n,
    "and": lambda n: " and ".join(["x"] * n),
    "or over lines": lambda n: "(" + "\n or ".join(["x"] * n) + ")",
    "plus": lambda n: " + ".join(["x"] * n),
    "plus in brackets": lambda n: "(" + "\n + ".join(["x"] * n) + ")",
    "power": lambda n: " ** ".join(["x"] * n),
    "continued lines": lambda n: " + \\\n".join(["x"] * n),
    "not": lambda n: "not " * n + "x",
    "minus": lambda n: "-" * n + "x",
    "minus and brackets": lambda n: "-(" * n + "x" + ")" * n,
    "attributes": lambda n: "f" + ".a" * n,
    "called calls": lambda n: "f" + "()" * n,
    "subscripted subscripts": lambda n: "f" + "[0]" * n,
    "method chains": lambda n: "f" + ".a(1)" * n,
    "strings side by side": lambda n: "'a' " * n,
    "formatted strings side by side": lambda n: "f'{a}' " * n,
    "strings in brackets": lambda n: "(" + "'a'\n" * n + ")",
    "formatted strings in formatted strings": lambda n: "f'{" * n + "x" + "}'" * n,
    "formats in formats": lambda n: "f'" + "{x:" * n + "}" * n + "'",
    "brackets in formatted strings": lambda n: "f'{" + "(" * n + "x" + ")" * n + "}'",
    "blocks": lambda n: "".join(" " * i + "if x:\n" for i in range(n)) + " " * n + "pass",
    "definitions": lambda n: "".join("\t" * i + "def f():\n" for i in range(n)) + "\t" * n + "pass",
    "elif": lambda n: "if x:\n pass\n" + "elif x:\n pass\n" * n,
    "elif in one line": lambda n: "if x: pass\n" + "elif x: pass\n" * n,
    "imported names": lambda n: "import " + ".".join("a" * n),
    "decorators": lambda n: "@" + "f(" * n + "x" + ")" * n + "\ndef f(): pass",
    "bases": lambda n: "class A(" + "f(" * n + "x" + ")" * n + "): pass",
    "with": lambda n: "with " + "(" * n + "a" + ")" * n + ": pass",
    "targets": lambda n: "for " + "(" * n + "a" + ",)" * n + " in x: pass",
    "del": lambda n: "del " + "(" * n + "a" + ")" * n,
    "del in a line": lambda n: "if x: y; del a, " + "(" * n + "a" + ")" * n,
    "sequence patterns": lambda n: "match x:\n case " + "[" * n + "1" + "]" * n + ": pass",
    "grouped patterns": lambda n: "match x:\n case " + "(" * n + "1" + ")" * n + ": pass",
    "class patterns": lambda n: "match x:\n case " + "A(" * n + "1" + ")" * n + ": pass",
    "keyword patterns": lambda n: "match x:\n case " + "A(b=" * n + "1" + ")" * n + ": pass",
    "mapping patterns": lambda n: "match x:\n case " + "{1: " * n + "a" + "}" * n + ": pass",
    "case without a blank": lambda n: "match x:\n case" + "[" * n + "1" + "]" * n + ": pass",
}

BAD = {
    "null byte": ("x = 1\ny = '\0'\n", 2, 6),
    "null byte in a comment": ("# é\0", 1, 4),
    "lone surrogate": ("x = 'é'\ny = '\ud800'", 2, 6),
    "open bracket": ("x = 1\ny = (1\n", 2, 5),
    "open bracket, carriage returns": ("x = 1\r\ry = (1\r", 3, 5),
    "open string": ("x = 'é\n", 1, 5),
    "missing block": ("if x:\npass\n", 2, 1),
    "no such character": ("x = 'é' $ 1\n", 1, 9),
    "byte order mark inside": ("x\n\ufeffy\n", 2, 1),
    "Python 2": ("print 'x'\n", 1, 1),
}

FLAT = {
    "many statements": "f(x)[0].a\n" * 5_000,
    "statements in a line": "x; " * 5_000,
    "elements": "x = [" + "a + b, " * 5_000 + "]",
    "strings of a list": "x = [" + "'a',\n" * 5_000 + "]",
    "pairs": "x = {" + "'a': f(a, b=c),\n" * 5_000 + "}",
    "lambdas of a dict": "x = {" + "1: lambda a, b: (a, b),\n" * 500 + "}",
    "arguments": "f(" + "a=1, " * 5_000 + ")",
    "fields": "x = f'''" + "{a} {b!r:>{c}}\n" * 500 + "'''",
    "handlers": "try: pass\n" + "except x: pass\n" * 2_000,
    "decorators": "@f(1)\n" * 2_000 + "def f(): pass\n",
    "cases": "match x:\n" + " case A(b=[1, {2: c}]): pass\n" * 500,
    "elif, elif, …": ("if x: pass\n" + "elif y: pass\n" * 20 + "else: pass\n") * 100,
    "blocks one after the other": "if x:\n if y:\n  if z: pass\n" * 1_000,
    "brackets in strings": "x = ['(((', \"[[[\", '''\n{{{''', r'\\(', b'((', f'{{((', f'((']\n" * 500,
    "brackets in comments": "x = 1  # (((\n# [[[\nf(\n  # {{{\n)\n" * 500,
    "names that look like words": "case = delete(lambdas)\ncases(a(b(c(d(e(f(g(h(i(j()))))))))))\n" * 100,
}


@pytest.mark.parametrize("make", DEEP.values(), ids=DEEP)
def test_refuses_what_is_too_deep(make: Callable[[int], str]) -> None:
    with pytest.raises(ParseFailure, match=TOO_DEEP):
        parse(make(1_000))


@pytest.mark.parametrize("opener", ["(", "[", "{", "f(", "not ", "lambda: ", "f'{"])
def test_refuses_what_is_deep_beyond_measure(opener: str) -> None:
    with pytest.raises(ParseFailure, match=TOO_DEEP):
        parse("x = 1\n" + opener * 200_000)


def test_tells_where_it_is_too_deep() -> None:
    with pytest.raises(ParseFailure) as caught:
        parse(
            "if x:\r\n\ty = [\r\n1]\r\n\r\n\t# y\r\n\tz = " + "[" * 1_000 + "]" * 1_000 + "\r\ny = [[]]\r\n"
        )
    assert (caught.value.line, caught.value.column) == (6, 2)


@pytest.mark.parametrize("make", DEEP.values(), ids=DEEP)
def test_does_not_refuse_what_people_write(make: Callable[[int], str]) -> None:
    assert deepest(make(5))[0] <= LIMIT


@pytest.mark.parametrize("text", FLAT.values(), ids=FLAT)
def test_long_is_not_deep(text: str) -> None:
    parse(text)


def test_what_is_just_not_too_deep_takes_little_stack_and_time() -> None:
    """In a process of its own, since a stack that ends takes the process with it."""
    process = multiprocessing.get_context("spawn").Process(target=parse_the_deepest)
    process.start()
    process.join(timeout=300)
    process.kill()
    assert process.exitcode == 0


def parse_the_deepest() -> None:
    """Read the deepest of each kind that is not refused, on the smallest stack in use."""
    threading.stack_size(1 << 20)
    for make in DEEP.values():
        accepted = bisect_left(range(1_000), True, key=lambda n: deepest(make(n + 1))[0] > LIMIT)
        thread = threading.Thread(target=_read, args=(make(accepted),))
        thread.start()
        thread.join()


def _read(text: str) -> None:
    try:
        measure(parse(text), text)
    except ParseFailure as failure:
        if failure.message == TOO_DEEP:
            os._exit(2)  # the guard let it pass, but it is


@pytest.mark.parametrize(("text", "line", "column"), BAD.values(), ids=BAD)
def test_tells_where_the_fault_is(text: str, line: int, column: int) -> None:
    with pytest.raises(ParseFailure) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("text", ["x = '\\d' 1", "x is 1 1", "(1)(2) 3"])
def test_warns_of_nothing_in_what_it_refuses(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ParseFailure):
            parse(text)


class PanicException(BaseException):
    """As the native parser's own, which is no Exception."""


@pytest.mark.parametrize(
    "error",
    [
        SyntaxError("x"),
        UnicodeError("x"),
        UnicodeDecodeError("utf-8", b"", 0, 0, "x"),
        LookupError("x"),
        KeyError("x"),
        NotImplementedError("x"),
        ValueError("x"),
        TypeError("x"),
        RecursionError("x"),
        MemoryError("x"),
        PanicException("x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_other_error_comes_out(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParseFailure):
        _parse_raising(error, monkeypatch)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupts_come_out(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(error):
        _parse_raising(error(), monkeypatch)


def _parse_raising(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def parse_module(_: str) -> NoReturn:
        raise error

    monkeypatch.setattr(libcst, "parse_module", parse_module)
    parse("x")


def test_strings_that_do_not_go_together() -> None:
    with pytest.raises(ParseFailure, match="bytes"):
        parse("x = b'' ''")


def test_syntax_that_only_libcst_refuses_is_not_called_wrong() -> None:
    text = "class A(metaclass=M, *bases): pass\n"
    ast.parse(text)
    with pytest.raises(ParseFailure, match="valid"):
        parse(text)


@pytest.mark.parametrize("text", ["", "\n", "\f", "\r", "#", " \\\n\n", "x"])
def test_reads_next_to_nothing(text: str) -> None:
    parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "type X[T: int = str] = T",
        "def f[T, *Ts, **P](x: T) -> T: pass",
        "f'{x['a']}' f'{'#'}'",
        "try: pass\nexcept* A: pass",
        "try: pass\nexcept A, B: pass",
        "t'{x}'",
    ],
)
def test_reads_syntax_newer_than_the_running_python(text: str) -> None:
    parse(text)


def test_failure_survives_a_pipe() -> None:
    failure = pickle.loads(pickle.dumps(ParseFailure("x", 2, 3)))
    assert (failure.message, failure.line, failure.column) == ("x", 2, 3)
    assert str(failure) == "2:3: x"
