"""Suppressions: what they cover, which are reported, and what their fix leaves."""

from __future__ import annotations

import pytest

from warp_lint.findings import Finding, Level, Location, Position, Range
from warp_lint.rules import all_rules
from warp_lint.source import Source
from warp_lint.suppressions import Suppressions

PATH = "/p/a.py"
ENABLED = frozenset(all_rules())


def finding(
    code: str, first: int, last: int | None = None, *, statement: tuple[int, int] | None = None
) -> Finding:
    """A finding on whole lines; ``statement`` are the first and last line of the statement it stands in."""
    place = Range(Position(first, 1), Position(last or first, 3))
    around = Range(Position(statement[0], 1), Position(statement[1], 3)) if statement else None
    name = all_rules()[code].name if code in all_rules() else "some-rule"
    return Finding(code, name, Level.WARNING, "m", Location(PATH, place), suppression_range=around)


def apply(text: str, *findings: Finding, enabled: frozenset[str] = ENABLED) -> list[Finding]:
    return Suppressions(Source.from_bytes(PATH, text.encode())).apply(findings, enabled)


def suppresses(text: str, one: Finding) -> bool:
    return apply(text, one, enabled=frozenset()) == []


def reports(
    text: str, *findings: Finding, enabled: frozenset[str] = ENABLED
) -> list[tuple[str, int, int, str]]:
    """Code, line, column and message of what remains."""
    return [
        (one.code, *one.location.range.start, one.message) for one in apply(text, *findings, enabled=enabled)
    ]


class TestNoqa:
    @pytest.mark.parametrize(
        ("comment", "code", "suppressed"),
        [
            # what flake8 7.5 does with these comments and codes
            ("# noqa", "WRP101", True),
            ("# NoQA", "WRP101", True),
            ("# noqa because", "WRP101", True),
            ("# noqa : E501", "WRP101", True),
            ("# noqa:  E501", "WRP101", True),
            ("# noqa: because", "WRP101", True),
            ("# noqa:WRP101", "WRP101", True),
            ("# noqa: WRP101", "WRP101", True),
            ("# NOQA: WRP101 because", "WRP101", True),
            ("# noqa: E501,WRP101", "WRP101", True),
            ("# noqa: E501, WRP101", "WRP101", True),
            ("# noqa: E501 WRP101", "WRP101", True),
            ("# noqa: E501 , ,WRP101", "WRP101", True),
            ("# noqa: WRP1", "WRP101", True),
            ("# type: ignore # noqa: WRP101", "WRP101", True),
            ("# type: ignore; # noqa: WRP101", "WRP101", True),
            ("# noqa: E501", "WRP101", False),
            ("# noqa: WRP2", "WRP101", False),
            ("# noqa: WRP1011", "WRP101", False),
            ("# noqa: wrp101", "WRP101", False),
            ("# noqa: E501 # noqa: WRP101", "WRP101", False),
            ("# noqa: E501 because WRP101", "WRP101", False),
            ("#noqa", "WRP101", False),
            ("#  noqa", "WRP101", False),
            ("# flake8: noqa", "WRP101", False),
        ],
    )
    def test_grammar_is_flake8s(self, comment: str, code: str, suppressed: bool) -> None:
        assert suppresses(f"x = 1  {comment}\n", finding(code, 1)) is suppressed

    def test_only_comments_count(self) -> None:
        assert not suppresses("x = '# noqa'\n", finding("WRP101", 1))

    def test_only_its_line(self) -> None:
        text = "x = 1\n# noqa\ny = 1  # noqa\nz = 1\n"
        assert [suppresses(text, finding("WRP101", line)) for line in (1, 2, 3, 4)] == [
            False,
            True,
            True,
            False,
        ]

    @pytest.mark.parametrize(
        "text",
        [
            'x = """\n\n"""  # noqa\n',
            "x = 1 \\\n  + 2 \\\n  + 3  # noqa\n",
            'x = (1 + """\n\n""")  # noqa\n',
            'x = f"""\n{1}\n"""  # noqa\n',
        ],
    )
    def test_joined_lines_are_one(self, text: str) -> None:
        assert all(suppresses(text, finding("WRP101", line)) for line in (1, 2, 3))

    def test_lines_in_brackets_are_several(self) -> None:
        text = "f(\n    a,  # noqa\n    b,\n)\n"
        assert [suppresses(text, finding("WRP101", line)) for line in (1, 2, 3)] == [False, True, False]

    @pytest.mark.parametrize("line", [1, 2, 3, 4])
    def test_any_line_of_the_statement(self, line: int) -> None:
        lines = ["@first", "@second(", ")", "def f(): pass"]
        lines[line - 1] += "  # noqa: WRP101"
        assert suppresses("\n".join(lines), finding("WRP101", 2, statement=(1, 4)))

    def test_every_comment_of_the_statement_counts(self) -> None:
        assert suppresses("f(\n  a,  # noqa: E501\n  b,  # noqa: WRP101\n)\n", finding("WRP101", 1, 4))

    def test_statement_that_ends_with_its_line_end(self) -> None:
        place = Range(Position(1, 1), Position(2, 1))
        one = Finding("WRP101", "n", Level.WARNING, "m", Location(PATH, place))
        assert not suppresses("x = 1\ny = 2  # noqa\n", one)

    @pytest.mark.parametrize("newline", ["\r\n", "\r"])
    def test_other_line_ends(self, newline: str) -> None:
        text = newline.join(["x = 1", "", "y = 2  # noqa", "z = 3"])
        assert [suppresses(text, finding("WRP101", line)) for line in (1, 3, 4)] == [False, True, False]

    def test_form_feeds_and_separators_end_no_line(self) -> None:
        assert suppresses("a = '\u2028'\n\x0cb = 1\nc = 1  # noqa\n", finding("WRP101", 3))


class TestFileNoqa:
    @pytest.mark.parametrize(
        ("comment", "suppressed"),
        [
            ("# flake8: noqa", True),
            ("# FLAKE8=NOQA", True),
            ("    # flake8:noqa", True),
            ("# flake8: noqa: WRP101", True),
            ("# flake8: noqa: E501,WRP1", True),
            ("# flake8: noqa: E501", False),
            ("pass  # flake8: noqa", False),
            ("# about flake8: noqa", False),
        ],
    )
    def test_grammar(self, comment: str, suppressed: bool) -> None:
        assert suppresses(f"x = 1\nif x:\n    pass\n{comment}\n", finding("WRP101", 1)) is suppressed


class TestOurs:
    @pytest.mark.parametrize(
        ("comment", "suppressed"),
        [
            ("# warp-lint: ignore", True),
            ("# warp-lint: ignore because", True),
            ("#warp-lint:ignore", True),
            ("# warp-lint: ignore[WRP901]", True),
            ("# warp-lint: ignore[unused-suppression]", True),
            ("# warp-lint: ignore[ WRP902 , WRP901 ] because", True),
            ("# type: ignore # warp-lint: ignore[WRP901]", True),
            ("# warp-lint: ignore[WRP901] # type: ignore", True),
            ("# warp-lint: ignore[WRP902]", False),
            ("# warp-lint: ignore[WRP9]", False),
            ("# warp-lint: ignore[wrp901]", False),
            ("# warp-lint: ignore[WRP901", False),
            ("# warp-lint: ignore[]", False),
            ("# warp-lint: ignored", False),
            ("# warp-lint ignore", False),
            ("# warp-lint: file-ignore", False),
        ],
    )
    def test_at_the_end_of_a_line(self, comment: str, suppressed: bool) -> None:
        assert suppresses(f"x = 1  {comment}\ny = 2\n", finding("WRP901", 1)) is suppressed
        assert not suppresses(f"x = 1  {comment}\ny = 2\n", finding("WRP901", 2))

    @pytest.mark.parametrize(
        ("text", "lines"),
        [
            ("# warp-lint: ignore\nf(\n  a,\n)\ng()\n", {1, 2, 3, 4}),
            ("# warp-lint: ignore\n# more\n\nf(\n  a)\ng()\n", {1, 2, 3, 4, 5}),
            ("h()\nif a:\n    # warp-lint: ignore\n    f()\n    g()\n", {3, 4}),
            ("if a:\n    h()\n# warp-lint: ignore\nelse:\n    g()\n", {3, 4}),
            ("# warp-lint: ignore\n@a\n@b\ndef f():\n    g()\n", {1, 2}),
            ("f(\n  # warp-lint: ignore\n  a,\n  b,\n)\n", {2, 3}),
            ("f(\n  h,\n  # warp-lint: ignore\n  a(\n    b),\n)\n", {3, 4}),
            ('# warp-lint: ignore\nf("""\n""" + \\\n  b)\ng()\n', {1, 2, 3, 4}),
            ("f()\n# warp-lint: ignore\n", {2}),
        ],
    )
    def test_on_a_line_above(self, text: str, lines: set[int]) -> None:
        assert {line for line in range(1, 8) if suppresses(text, finding("WRP101", line))} == lines

    def test_two_above_one_statement(self) -> None:
        text = "# warp-lint: ignore[WRP901]\n# warp-lint: ignore[WRP902]\nf()\n"
        assert suppresses(text, finding("WRP901", 3))
        assert suppresses(text, finding("WRP902", 3))

    @pytest.mark.parametrize(
        ("comment", "suppressed"),
        [
            ("# warp-lint: file-ignore", True),
            ("# warp-lint: file-ignore[WRP901]", True),
            ("    # warp-lint: file-ignore[unused-suppression] because", True),
            ("# warp-lint: file-ignore[WRP902]", False),
            ("pass  # warp-lint: file-ignore[WRP901]", False),
        ],
    )
    def test_file(self, comment: str, suppressed: bool) -> None:
        assert suppresses(f"x = 1\nif x:\n    pass\n{comment}\n", finding("WRP901", 1)) is suppressed

    def test_in_a_string_it_is_no_comment(self) -> None:
        text = '"""\n# warp-lint: file-ignore\n"""\nx = "# warp-lint: ignroe"\n'
        assert [one.code for one in apply(text, finding("WRP101", 4))] == ["WRP101"]


def test_a_file_that_cannot_be_read_stays_reported() -> None:
    assert not suppresses("# flake8: noqa\n# warp-lint: file-ignore\n(  # noqa\n", finding("WRP903", 3))


def test_newer_syntax_than_pythons() -> None:
    # no Python splits this into tokens, since the bracket stays open
    text = "x = (\ny = 1  # noqa: WRP101\n# warp-lint: ignore\nz = 1\n# noqa: WRP901\n# noqa: WRP999\n"
    assert [suppresses(text, finding("WRP101", line)) for line in (1, 2, 3, 4, 5)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    # what may as well stand in a string is not reported
    assert reports(text) == []


class TestUnused:
    @pytest.mark.parametrize(
        ("comment", "named"),
        [
            ("# noqa: WRP902", "`WRP902`"),
            ("# noqa: WRP902,E501,WRP903", "`WRP902`, `WRP903`"),
            ("# noqa: WRP902, WRP902", "`WRP902`, `WRP902`"),
            ("# warp-lint: ignore", "everything"),
            ("# warp-lint: ignore[syntax-error]", "`syntax-error`"),
        ],
    )
    def test_reported(self, comment: str, named: str) -> None:
        assert reports(f"x = 1  {comment}\n") == [
            ("WRP901", 1, 8, f"suppression of {named} suppresses nothing")
        ]

    @pytest.mark.parametrize(
        "comment",
        [
            "# noqa",
            "# noqa: E501",
            "# noqa: ABC101",
            # these are their own reason
            "# noqa: WRP901",
            "# noqa: WRP9",
            "# noqa: WRP902, WRP901",
            "# warp-lint: ignore[WRP902, unused-suppression]",
        ],
    )
    def test_not_reported(self, comment: str) -> None:
        assert reports(f"x = 1  {comment}\n") == []

    def test_of_a_file(self) -> None:
        text = "# flake8: noqa: WRP902\n# warp-lint: file-ignore[WRP903]\n"
        assert [line for _, line, _, _ in reports(text)] == [1, 2]
        assert reports("# flake8: noqa\n# flake8: noqa: WRP902\n") == []

    def test_used_ones_are_not_reported(self) -> None:
        one = finding("WRP902", 1)
        assert reports("x = 1  # noqa: WRP902\n", one) == []
        assert reports("x = 1  # warp-lint: ignore\n", one) == []
        assert reports("# warp-lint: file-ignore\nx = 1  # noqa: WRP902\n", finding("WRP902", 2)) == []
        assert reports("x = 1  # noqa: WRP902, WRP903\n", one) == [
            ("WRP901", 1, 8, "suppression of `WRP903` suppresses nothing")
        ]

    def test_only_of_rules_that_ran(self) -> None:
        text = "x = 1  # noqa: WRP902, WRP903\n"
        assert reports(text, enabled=frozenset({"WRP901", "WRP903"})) == [
            ("WRP901", 1, 8, "suppression of `WRP903` suppresses nothing")
        ]
        assert reports(text, enabled=frozenset({"WRP902", "WRP903"})) == []

    def test_can_be_suppressed(self) -> None:
        assert reports("# warp-lint: ignore[WRP901]\nx = 1  # noqa: WRP902\n") == []
        assert reports("# warp-lint: file-ignore\nx = 1  # noqa: WRP902\n") == []
        assert reports("x = 1  # warp-lint: ignore[WRP902]  # noqa\n") == []


class TestUnknown:
    @pytest.mark.parametrize(
        ("comment", "message"),
        [
            ("# noqa: WRP888", "`WRP888`"),
            ("# noqa: E1,WRP9011", "`WRP9011` (did you mean `WRP901`?)"),
            ("# noqa: wrp901", "`wrp901` (did you mean `WRP901`?)"),
            ("# warp-lint: ignore[WRP9]", "`WRP9` (did you mean `WRP90"),
            (
                "# warp-lint: ignore[unused-supression]",
                "`unused-supression` (did you mean `unused-suppression`?)",
            ),
            ("# warp-lint: ignore[E501]", "`E501`"),
            ("# warp-lint: ignore[xyz]", "`xyz`"),
        ],
    )
    def test_codes_and_names(self, comment: str, message: str) -> None:
        ((code, line, column, text),) = reports(f"x = 1  {comment}\n")
        assert (code, line) == ("WRP902", 1)
        assert text.startswith(f"suppression names the unknown rule {message}")
        assert f"x = 1  {comment}"[column - 1 :].startswith(message.split("`")[1])

    @pytest.mark.parametrize(
        ("comment", "quoted"),
        [
            ("# warp-lint: ignroe[WRP901]", "# warp-lint: ignroe[WRP901]"),
            ("# warp-lint: ignore[WRP901  ", "# warp-lint: ignore[WRP901"),
            ("# warp-lint: ignore[]", "# warp-lint: ignore[]"),
            ("# warp-lint: file-ignore", "# warp-lint: file-ignore"),
            ("# a # warp-lint: off # b", "# warp-lint: off"),
        ],
    )
    def test_comments_that_are_not_understood(self, comment: str, quoted: str) -> None:
        ((code, _, column, text),) = reports(f"x = 1  {comment}\n")
        assert code == "WRP902"
        assert text.startswith(f"`{quoted}` is not understood: ")
        assert column == 8 + comment.index(quoted)

    def test_can_be_suppressed(self) -> None:
        assert reports("x = 1  # noqa: WRP888, WRP902\n") == []
        assert reports("# warp-lint: ignore[WRP902]\nx = 1  # noqa: WRP888\n") == []
        assert reports("x = 1  # noqa: WRP888\n", enabled=frozenset({"WRP901"})) == []


class TestFix:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("x = 1  # noqa: WRP902\n", "x = 1\n"),
            ("x = 1  # noqa: WRP902  \r\ny = 2\r\n", "x = 1\r\ny = 2\r\n"),
            ("x = 'é𝄞'\t# noqa: WRP902", "x = 'é𝄞'"),
            ("x = 1  # noqa: WRP902, E501\n", "x = 1  # noqa: E501\n"),
            ("x = 1  # noqa: E501,WRP902,W291\n", "x = 1  # noqa: E501,W291\n"),
            ("x = 1  # noqa: E501 WRP902 because\n", "x = 1  # noqa: E501 because\n"),
            ("x = 1  # noqa: WRP902,WRP903\n", "x = 1\n"),
            ("x = 1  # noqa: WRP902 because\n", "x = 1  # because\n"),
            ("x = 1  # noqa: WRP902, because\n", "x = 1  # because\n"),
            ("x = 1  # noqa: WRP902 # type: ignore\n", "x = 1  # type: ignore\n"),
            ("x = 1  # type: ignore # noqa: WRP902\n", "x = 1  # type: ignore\n"),
            ("x = 1  # type: ignore # noqa: WRP902 because\n", "x = 1  # type: ignore # because\n"),
            ("x = 1  # warp-lint: ignore[WRP902]\n", "x = 1\n"),
            ("x = 1  # warp-lint: ignore[WRP902] because\n", "x = 1  # because\n"),
            ("if x:\n    # warp-lint: ignore\n    f()\n", "if x:\n    f()\n"),
            ("# flake8: noqa: WRP902\nx = 1\n", "x = 1\n"),
            ("x = 1\n# warp-lint: file-ignore[WRP902]", "x = 1\n"),
            ("x = 1\r# warp-lint: file-ignore[WRP902]\ry = 2\r", "x = 1\ry = 2\r"),
            ("f(\n    # warp-lint: ignore[WRP902]\n    a,\n)\n", "f(\n    a,\n)\n"),
        ],
    )
    def test_removes_what_is_unused(self, before: str, after: str) -> None:
        assert fixed(before) == after
        assert reports(after) == []

    def test_two_in_one_comment_take_two_rounds(self) -> None:
        before = "x = 1  # noqa: WRP902 # warp-lint: ignore[WRP903]\n"
        assert fixed(before) == "x = 1  # warp-lint: ignore[WRP903]\n"
        assert fixed(fixed(before)) == "x = 1\n"


def fixed(text: str) -> str:
    """The text after the first fix that is offered."""
    fix = apply(text)[0].fix
    assert fix is not None
    assert fix.applicability == "safe"
    (edit,) = fix.edits
    assert edit.path == PATH
    return text[: edit.start] + edit.replacement + text[edit.end :]
