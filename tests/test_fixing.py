"""The fix engine, on findings made by hand.

How files are written is in `test_replacing`, what the command line makes of it in `test_fix_options`.
"""

from __future__ import annotations

import itertools
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warp_lint.findings import Applicability, Edit, Finding, Fix, Level, Location, Position, Range
from warp_lint.fixing import MOST_ROUNDS, Unsettled, fix
from warp_lint.source import Source
from warp_lint.splicing import Change, Harm, spliced

SAFE, UNSAFE, DISPLAY = Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY


def finding(code: str, *edits: Edit, applicability: Applicability = SAFE) -> Finding:
    """A finding whose fix makes some edits; where it stands does not matter here, but for the path."""
    start = Position(1, 1)
    return Finding(
        code=code,
        name=code.lower(),
        level=Level.WARNING,
        message=f"{edits[0].replacement!r} is missing",
        location=Location(edits[0].path, Range(start, start)),
        fix=Fix("Do it", applicability, edits),
    )


def replace(text: str, old: str, new: str, path: str = "a.py") -> Edit:
    """The edit that replaces the only ``old`` in a text."""
    assert text.count(old) == 1
    return Edit(path, text.index(old), text.index(old) + len(old), new)


def insert(text: str, new: str, *, before: str, path: str = "a.py") -> Edit:
    """The edit that inserts before the only ``before`` in a text."""
    start = replace(text, before, "").start
    return Edit(path, start, start, new)


Rule = Callable[[Mapping[str, Source]], Iterator[Finding]]


def pattern(
    code: str,
    regex: str,
    replacement: str | Callable[[re.Match[str]], str],
    applicability: Applicability = SAFE,
) -> Rule:
    """A rule that finds a regular expression and replaces it."""

    def rule(sources: Mapping[str, Source]) -> Iterator[Finding]:
        for source in sources.values():
            for match in re.finditer(regex, source.text, re.MULTILINE):
                made = match.expand(replacement) if isinstance(replacement, str) else replacement(match)
                yield finding(code, Edit(source.path, *match.span(), made), applicability=applicability)

    return rule


def once(*findings: Finding) -> Rule:
    """A rule with these findings on the files as they are at first."""
    first: dict[str, bytes] = {}

    def rule(sources: Mapping[str, Source]) -> Iterator[Finding]:
        first.update({path: source.data for path, source in sources.items() if path not in first})
        if all(source.data == first[path] for path, source in sources.items()):
            yield from findings

    return rule


def while_there(text: str, old: str, new: str) -> Rule:
    """A rule that wants ``old`` replaced for as long as the file begins with ``text``."""

    def rule(sources: Mapping[str, Source]) -> Iterator[Finding]:
        if sources["a.py"].text.startswith(text):
            yield finding("X", replace(text, old, new))

    return rule


class Outcome(NamedTuple):
    text: str
    """What became of the first file."""
    files: dict[str, bytes]
    fixed: list[str]
    """The codes, in order."""
    refused: list[tuple[str, str]]
    """Codes and reasons."""
    unsettled: tuple[Unsettled, ...]
    runs: int
    """How often the files were linted."""
    changes: tuple[tuple[Change, ...], ...]


def fixed(files: str | bytes | dict[str, str], *rules: Rule, **options: Any) -> Outcome:
    """What the fixes of rules make of files, or of a single one named ``a.py``."""
    texts = files if isinstance(files, dict) else {"a.py": files}
    on_disk = {path: text.encode() if isinstance(text, str) else text for path, text in texts.items()}
    runs = 0

    def lint(texts: Mapping[str, bytes]) -> SimpleNamespace:
        nonlocal runs
        runs += 1
        sources = {path: Source.from_bytes(path, texts.get(path, data)) for path, data in on_disk.items()}
        return SimpleNamespace(
            findings=[finding for rule in rules for finding in rule(sources)], sources=sources
        )

    outcome = fix(lint, **{"unsafe": False, **options})
    after = on_disk | {change.path: change.after for group in outcome.changes for change in group}
    return Outcome(
        text=Source.from_bytes("a.py", next(iter(after.values()))).text,
        files=after,
        fixed=[finding.code for finding in outcome.fixed],
        refused=[(refusal.finding.code, refusal.reason) for refusal in outcome.refused],
        unsettled=outcome.unsettled,
        runs=runs,
        changes=outcome.changes,
    )


class TestRounds:
    def test_fixes_apart_from_each_other_are_made_at_once(self) -> None:
        rules = (pattern("B", r"\bb\b", "beta"), pattern("A", r"\ba\b", "alpha"))
        outcome = fixed("a = 1; b = 2; a = 3\n", *rules)
        assert outcome.text == "alpha = 1; beta = 2; alpha = 3\n"
        assert outcome.fixed == ["A", "B", "A"]
        assert outcome.runs == 2

    def test_nothing_to_fix_changes_nothing(self) -> None:
        outcome = fixed("a = 1\n", pattern("B", "b", "beta"))
        assert (outcome.changes, outcome.fixed, outcome.runs) == ((), [], 1)

    def test_order_of_the_findings_makes_no_difference(self) -> None:
        edits = [Edit("a.py", 0, 1, "x"), Edit("a.py", 1, 2, "y"), Edit("a.py", 0, 2, "z")]
        edits += [Edit("a.py", 4, 5, "2"), Edit("a.py", 5, 5, "3")]
        findings = [finding(f"R{number}", edit) for number, edit in enumerate(edits)]
        outcomes = {fixed("ab = 1\n", once(*order)).text for order in itertools.permutations(findings)}
        assert outcomes == {"xb =21\n"}

    def test_equal_edits_are_one(self) -> None:
        text = "a = 1\nb = 2\n"
        needed = insert(text, "import c\n", before="a")
        findings = [
            finding("A", needed, replace(text, "1", "3")),
            finding("B", needed, replace(text, "2", "4")),
            finding("C", needed),
        ]
        outcome = fixed(text, once(*findings))
        assert outcome.text == "import c\na = 3\nb = 4\n"
        assert sorted(outcome.fixed) == ["A", "B", "C"]

    def test_equal_edit_does_not_hide_that_another_one_overlaps(self) -> None:
        text = "a = 1\nb = 2\n"
        shared = replace(text, "a = 1", "c = 1")
        findings = [finding("A", shared), finding("B", shared, Edit("a.py", 4, 7, "d"))]
        outcome = fixed(text, once(*findings))
        assert (outcome.text, outcome.fixed) == ("c = 1\nb = 2\n", ["A"])

    @pytest.mark.parametrize(
        ("first", "second", "result", "runs"),
        [
            pytest.param(("ab", "x"), ("bc", "y"), "xc = 1\n", 2, id="overlapping"),
            pytest.param(("abc", "xbx"), ("b", "y"), "xyx = 1\n", 3, id="one in the other"),
            pytest.param(("a", "x"), ("b", "y"), "xyc = 1\n", 3, id="touching"),
            pytest.param(("^(?=ab)", "x"), ("^(?=x?ab)", "y"), "yxabc = 1\n", 3, id="at the same place"),
            pytest.param(("a", "x"), ("(?<=[ax])(?=b)", "y"), "xybc = 1\n", 3, id="insertion at the end"),
        ],
    )
    def test_fix_that_touches_one_before_waits_a_round(
        self, first: tuple[str, str], second: tuple[str, str], result: str, runs: int
    ) -> None:
        outcome = fixed("abc = 1\n", pattern("B", *second), pattern("A", *first))
        assert (outcome.text, outcome.runs) == (result, runs)

    def test_rounds_go_on_until_nothing_is_left(self) -> None:
        outcome = fixed(f"n = {MOST_ROUNDS}\n", countdown("A"))
        assert outcome.text == "n = 0\n"
        assert outcome.fixed == ["A"] * MOST_ROUNDS
        assert outcome.unsettled == ()

    def test_rule_that_goes_on_for_too_long_is_left_out_and_others_are_not(self) -> None:
        text = f"n = {MOST_ROUNDS + 1}\nb = 1\n"
        outcome = fixed(text, countdown("A"), pattern("B", r"\bb\b", "beta"))
        assert outcome.text == f"n = {MOST_ROUNDS + 1}\nbeta = 1\n"
        assert outcome.fixed == ["B"]
        assert outcome.unsettled == (Unsettled("a.py", "A"),)

    def test_rules_that_undo_each_other_are_left_out_and_others_are_not(self) -> None:
        rules = (pattern("A", "x", "y"), pattern("B", "y", "x"), pattern("C", r"\bb\b", "beta"))
        outcome = fixed({"a.py": "x = 1; b = 2\n", "c.py": "b = 3\n"}, *rules)
        assert outcome.files == {"a.py": b"x = 1; beta = 2\n", "c.py": b"beta = 3\n"}
        assert outcome.unsettled == (Unsettled("a.py", "A"), Unsettled("a.py", "B"))

    def test_fix_that_does_not_remove_its_finding_is_left_out(self) -> None:
        outcome = fixed("a = 1\n", pattern("A", "^(?=a)", "b = 2\n"))
        assert outcome.text == "a = 1\n"
        assert outcome.unsettled == (Unsettled("a.py", "A"),)

    def test_what_was_fixed_is_found_and_fixed_no_more(self) -> None:
        rules = (pattern("A", r"\bab\b", "abc"), pattern("B", r"\babc\b", "abcd"), pattern("C", r"1\b", "2"))
        outcome = fixed("ab = 1\n", *rules)
        assert fixed(outcome.text, *rules).changes == ()


def countdown(code: str) -> Rule:
    return pattern(code, r"(?<=n = )[1-9]\d*", lambda number: str(int(number[0]) - 1))


class TestChoice:
    RULES = (
        pattern("A", r"\ba\b", "alpha"),
        pattern("B", r"\bb\b", "beta", UNSAFE),
        pattern("C", r"\bc\b", "gamma", DISPLAY),
    )

    def test_only_safe_fixes_are_made(self) -> None:
        assert fixed("a, b, c = 1\n", *self.RULES).text == "alpha, b, c = 1\n"

    def test_unsafe_ones_when_asked_and_those_for_display_never(self) -> None:
        assert fixed("a, b, c = 1\n", *self.RULES, unsafe=True).text == "alpha, beta, c = 1\n"

    def test_fix_without_edits_is_none(self) -> None:
        empty = Finding(
            code="A",
            name="a",
            level=Level.WARNING,
            message="found",
            location=Location("a.py", Range(Position(1, 1), Position(1, 1))),
            fix=Fix("Do it", SAFE, ()),
        )
        assert fixed("a = 1\n", lambda _sources: iter([empty])).fixed == []

    def test_texts_count_instead_of_files(self) -> None:
        outcome = fixed("a = 1\n", *self.RULES, texts={"a.py": b"x = a\n"})
        assert outcome.changes == ((Change("a.py", b"x = a\n", b"x = alpha\n"),),)


class TestSeveralFiles:
    FILES = {"a.py": "a = 1\n", "b.py": "b = 1\n", "c.py": "c = 1\n"}  # noqa: RUF012

    def test_files_that_one_fix_changes_belong_together(self) -> None:
        both = finding("A", Edit("a.py", 4, 5, "2"), Edit("b.py", 4, 5, "2"))
        outcome = fixed(self.FILES, once(both, finding("C", Edit("c.py", 4, 5, "2"))))
        assert [[change.path for change in group] for group in outcome.changes] == [
            ["a.py", "b.py"],
            ["c.py"],
        ]

    def test_files_belong_together_through_others_and_over_rounds(self) -> None:
        def rule(sources: Mapping[str, Source]) -> Iterator[Finding]:
            if "1" in sources["a.py"].text:
                yield finding("A", Edit("a.py", 4, 5, "2"), Edit("b.py", 4, 5, "2"))
            elif "1" in sources["c.py"].text:
                yield finding("C", Edit("b.py", 4, 5, "3"), Edit("c.py", 4, 5, "3"))

        (group,) = fixed(self.FILES, rule).changes
        assert [change.after for change in group] == [b"a = 2\n", b"b = 3\n", b"c = 3\n"]

    def test_fix_is_made_in_all_of_its_files_or_in_none(self) -> None:
        both = finding("A", Edit("a.py", 4, 5, "2"), Edit("b.py", 4, 5, "("))
        outcome = fixed(self.FILES, once(both, finding("B", Edit("b.py", 0, 1, "x"))))
        assert outcome.files["a.py"] == b"a = 1\n"
        assert outcome.files["b.py"] == b"x = 1\n"

    def test_fix_waits_when_an_edit_in_any_of_its_files_does(self) -> None:
        def rule(sources: Mapping[str, Source]) -> Iterator[Finding]:
            if sources["b.py"].text == "b = 1\n":
                yield finding("A", Edit("b.py", 4, 5, "2"))
                yield finding("C", Edit("b.py", 0, 5, "d = 4"), Edit("c.py", 4, 5, "4"))

        outcome = fixed(self.FILES, rule)
        assert outcome.files == {"a.py": b"a = 1\n", "b.py": b"d = 4\n", "c.py": b"c = 4\n"}

    def test_definition_moves_to_another_file_comments_and_all(self) -> None:
        moved = "# what it is\nb = 1\n"
        files = {"a.py": moved, "b.py": "c = 1\n"}
        move = finding("A", Edit("a.py", 0, len(moved), ""), Edit("b.py", 0, 0, moved))
        assert fixed(files, once(move)).files == {"a.py": b"", "b.py": b"# what it is\nb = 1\nc = 1\n"}

    def test_reason_to_keep_a_file_keeps_the_others_of_the_fix_too(self) -> None:
        both = finding("A", Edit("a.py", 4, 5, "2"), Edit("b.py", 4, 5, "2"))
        outcome = fixed(
            self.FILES,
            pattern("C", r"\bc\b", "gamma"),
            lambda _sources: iter([both]),
            reason_to_keep=lambda path: "would change b" if path == "b.py" else None,
        )
        assert outcome.files == {"a.py": b"a = 1\n", "b.py": b"b = 1\n", "c.py": b"gamma = 1\n"}
        assert outcome.refused == [("A", "would change b")]

    def test_file_that_was_not_read_is_not_changed(self) -> None:
        both = finding("A", Edit("a.py", 4, 5, "2"), Edit("d.py", 4, 5, "2"))
        outcome = fixed(self.FILES, lambda _sources: iter([both]))
        assert outcome.changes == ()
        assert outcome.refused == [("A", "would change d.py, which cannot be read")]


class TestHarm:
    """A fix that does harm is refused, with all its edits, and the others are made."""

    @pytest.mark.parametrize(
        ("text", "edit", "reason"),
        [
            pytest.param("b = 1\n", ("1", "("), "would leave no valid Python", id="no syntax"),
            pytest.param(
                "from __future__ import annotations\n",
                ("from", "b = 1\nfrom"),
                "from __future__ imports must occur at the beginning of the file",
                id="not importable",
            ),
            pytest.param("b = 1\n", ("1", "1\nreturn"), "would leave no valid Python: 'return'", id="return"),
            pytest.param("b = (  # why\n    1)\n", ("(  # why\n    1)", "1"), "`# why`", id="comment"),
            pytest.param("b = 1  # why\n", ("b = 1  # why", ""), "`# why`", id="its own comment"),
            pytest.param("b = 1  # why\n", ("  # why", "; c = 2"), None, id="just a comment"),
            pytest.param("b = '# why'\n", ("'# why'", "1"), None, id="no comment"),
            pytest.param("b = 1\n# why\nc = 2\n", ("# why", "# because"), None, id="change of a comment"),
            pytest.param("b = 1  # why\n", (" why", ""), None, id="part of a comment"),
            pytest.param("# why\n\n# not\nb = 1\n", ("# why\n\n# not\n", ""), None, id="only comments"),
            pytest.param(
                "b = 1\n# why\nc = 2\n", ("1\n# why\nc = 2", "2"), "`# why`", id="and code around it"
            ),
            pytest.param("b = 1  # why\n", ("b = 1  # why", "# why\nc = 2"), None, id="comment that moves"),
            pytest.param("b = 1  # why\n", ("b = 1  #", "#"), None, id="comment that is left"),
            pytest.param("b = 1 # why\nc = 2 # why\n", ("b = 1 # why\n", ""), "`# why`", id="one of two"),
        ],
    )
    def test_single_edit(self, text: str, edit: tuple[str, str], reason: str | None) -> None:
        outcome = fixed(f"{text}a = 1\n", while_there(text, *edit), pattern("A", r"^a\b", "alpha"))
        assert outcome.text == f"{text.replace(*edit) if reason is None else text}alpha = 1\n"
        assert [code for code, _ in outcome.refused] == ([] if reason is None else ["X"])
        assert all(reason is not None and reason in said for _, said in outcome.refused)

    @pytest.mark.parametrize(
        ("inserted", "is_made"),
        [
            pytest.param("  # noqa: E402", True, id="another comment"),
            pytest.param("\nc = 2", True, id="a line"),
            pytest.param("; c = 2", False, id="code, which would be part of the comment"),
        ],
    )
    def test_insertion_behind_a_comment(self, inserted: str, is_made: bool) -> None:
        text = "b = 1  # why\n"
        outcome = fixed(text, once(finding("X", Edit("a.py", len(text) - 1, len(text) - 1, inserted))))
        assert outcome.text == (f"b = 1  # why{inserted}\n" if is_made else text)

    def test_insertion_before_a_comment_does_not_make_it_fair_game(self) -> None:
        text = "# why\nb = 1\n"
        edits = (Edit("a.py", 0, 0, "c = 2\n"), replace(text, "# why\nb = 1", "b = 1"))
        assert fixed(text, once(finding("X", *edits))).changes == ()

    def test_harm_that_only_two_fixes_do_together(self) -> None:
        """The first is made, the second never, since it would do harm alone by then."""
        text = "def f():\n    one()\n\n    two()\n"
        outcome = fixed(text, pattern("B", "    two..\n", ""), pattern("A", "    one..\n", ""))
        assert outcome.text == "def f():\n\n    two()\n"
        assert [code for code, _ in outcome.refused] == ["B"]

    @pytest.mark.parametrize("bad", [{0}, {4}, {8}, {1, 2, 7}, set(range(9))], ids=str)
    def test_only_those_are_refused_that_do_harm(self, bad: set[int]) -> None:
        text = "".join(f"a{number} = 1\n" for number in range(9))
        outcome = fixed(
            text, pattern("X", r"^a(\d)", lambda name: "(" if int(name[1]) in bad else f"b{name[1]}")
        )
        assert outcome.text == "".join(
            f"{'a' if number in bad else 'b'}{number} = 1\n" for number in range(9)
        )
        assert len(outcome.refused) == len(bad)

    def test_fix_that_is_refused_keeps_none_waiting(self) -> None:
        outcome = fixed("b = 1\n", pattern("A", "^b = 1", "("), pattern("B", "1", "3"))
        assert (outcome.text, outcome.fixed) == ("b = 3\n", ["B"])

    def test_harm_in_one_file_keeps_no_other_from_being_fixed(self) -> None:
        files = {"a.py": "a = 1\n", "b.py": "a = (1)\n"}
        assert fixed(files, pattern("A", "1(?=\n)", "2"), pattern("B", r"\(1", "2")).files == {
            "a.py": b"a = 2\n",
            "b.py": b"a = (1)\n",
        }

    @pytest.mark.parametrize(
        "edits",
        [
            pytest.param([(0, 3, "x"), (2, 5, "y")], id="overlap each other"),
            pytest.param([(5, 100, "x")], id="end behind the file"),
            pytest.param([(3, 2, "x")], id="end before they start"),
            pytest.param([(-1, 2, "x")], id="start before the file"),
        ],
    )
    def test_edits_that_make_no_sense(self, edits: list[tuple[int, int, str]]) -> None:
        wrong = finding("X", *(Edit("a.py", *edit) for edit in edits))
        outcome = fixed("a = 1; b = 2\n", lambda _sources: iter([wrong]))
        assert outcome.changes == ()
        assert outcome.refused == [("X", "has edits that overlap, or lie outside of the file")]

    def test_file_that_is_no_python_is_not_touched(self) -> None:
        outcome = fixed("a = (\nb = 1\n", pattern("B", r"\bb\b", "c"))
        assert outcome.changes == ()
        assert "would leave no valid Python" in outcome.refused[0][1]

    def test_syntax_that_only_newer_pythons_know_is_fixed(self) -> None:
        text = 'type Pair[T] = tuple[T, T]\ngreeting = t"hello"\nb = 1  # kept\n'
        assert fixed(text, pattern("B", r"\bb\b", "c")).text == text.replace("b = 1", "c = 1")

    def test_file_whose_comments_cannot_be_told_is_not_touched(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As with newer syntax: LibCST knows it, the running Python does not."""

        def fail(_readline: object) -> Iterator[tokenize.TokenInfo]:
            raise tokenize.TokenError("EOF in multi-line string", (1, 1))

        monkeypatch.setattr(tokenize, "generate_tokens", fail)
        outcome = fixed("b = 1\n", pattern("B", r"\bb\b", "c"))
        assert outcome.changes == ()
        assert "comments cannot be told: EOF in multi-line string" in outcome.refused[0][1]


class TestSplicing:
    def source(self, text: str, encoding: str = "utf-8", cookie: str = "") -> Source:
        return Source.from_bytes("a.py", f"{cookie}{text}".encode(encoding))

    @pytest.mark.parametrize(
        ("before", "edit", "after"),
        [
            pytest.param(b"", (0, 0, "a\n"), b"a\n", id="empty file"),
            pytest.param(b"a\n", (0, 2, ""), b"", id="everything"),
            pytest.param(b"a", (1, 1, "\nb"), b"a\nb", id="end without a line end"),
            pytest.param(b"a\r\nb\r\n", (3, 3, "c\n"), b"a\r\nc\r\nb\r\n", id="CRLF"),
            pytest.param(b"a\rb\r", (2, 2, "c\nd\n"), b"a\rc\rd\rb\r", id="CR"),
            pytest.param(b"a\nb\n", (2, 2, "c\r\n"), b"a\nc\nb\n", id="LF"),
            pytest.param(b"a\nb\r\nc\r\n", (2, 2, "x\n"), b"a\nx\r\nb\r\nc\r\n", id="what most lines have"),
            pytest.param(
                b"f(\na,\r\n b,\n)\r\n\r\n",
                (0, 12, "f(\na,\n b,\n c,\n)"),
                b"f(\na,\r\n b,\n c,\r\n)\r\n\r\n",
                id="lines that stay as they are",
            ),
            pytest.param(b"\xef\xbb\xbfa\n", (0, 0, "b\n"), b"\xef\xbb\xbfb\na\n", id="BOM"),
            pytest.param("é𝔘 = 1\n".encode(), (5, 6, "ü"), "é𝔘 = ü\n".encode(), id="non-ASCII"),
            pytest.param(
                b"# coding: latin-1\na = '\xe9'; b\n",
                (27, 28, "ü"),
                b"# coding: latin-1\na = '\xe9'; \xfc\n",
                id="latin-1",
            ),
            pytest.param(b"a\x0cb\x1cc\n", (2, 3, "d"), b"a\x0cd\x1cc\n", id="other control characters"),
        ],
    )
    def test_bytes(self, before: bytes, edit: tuple[int, int, str], after: bytes) -> None:
        result = spliced(Source.from_bytes("a.py", before), [Edit("a.py", *edit)])
        assert result.data == after

    def test_edits_at_one_place_and_touching_ones_are_made_in_order(self) -> None:
        edits = [Edit("a.py", 1, 2, "z"), Edit("a.py", 1, 1, "y"), Edit("a.py", 0, 1, "x")]
        assert spliced(self.source("abc"), edits).text == "xyzc"

    def test_character_that_the_encoding_lacks(self) -> None:
        source = self.source("# coding: latin-1\na = 1\n")
        with pytest.raises(Harm, match="needs the character '界', which iso-8859-1 does not have"):
            spliced(source, [Edit("a.py", len(source.text) - 2, len(source.text) - 1, "界")])

    @pytest.mark.parametrize(
        ("edit", "harm"),
        [
            pytest.param((0, 0, "a = 1\nb = 2\n"), "would make the file unreadable", id="declaration moves"),
            pytest.param((0, 18, ""), "would make the file unreadable", id="declaration goes"),
            pytest.param((10, 17, "cp1251"), "would change what the bytes of the file mean", id="another"),
        ],
    )
    def test_encoding_stays_declared(self, edit: tuple[int, int, str], harm: str) -> None:
        source = Source.from_bytes("a.py", b"# coding: latin-1\na = '\xe9'\n")
        with pytest.raises(Harm, match=harm):
            spliced(source, [Edit("a.py", *edit)])

    def test_bytes_of_an_encoding_with_states_are_not_mixed_up(self) -> None:
        """Each piece of the text is encoded apart from the others, or the edit is refused."""
        text = "# coding: iso-2022-jp\na = '日本語'  # 日本\n"
        source = Source.from_bytes("a.py", text.encode("iso-2022-jp"))
        for start in range(len(text)):
            try:
                result = spliced(source, [Edit("a.py", start, start + 1, "界")])
            except Harm:
                continue
            assert result.text == f"{text[:start]}界{text[start + 1 :]}"

    @given(
        pieces=st.lists(
            st.tuples(
                st.text("ab \n\u00e9\u754c\U0001f642", max_size=6), st.text("xy\u00fc\u672c", max_size=3)
            ),
            min_size=1,
            max_size=8,
        ),
        line_end=st.sampled_from(["\n", "\r\n", "\r"]),
        has_bom=st.booleans(),
    )
    def test_any_edits(self, pieces: list[tuple[str, str]], line_end: str, has_bom: bool) -> None:
        """Every other piece of a text is replaced; the others, and the BOM, stay as they are."""
        kept = [piece.replace("\n", line_end) for piece, _ in pieces]
        text = "|".join(kept)
        source = Source.from_bytes("a.py", text.encode("utf-8-sig" if has_bom else "utf-8"))
        bars = [index for index, character in enumerate(text) if character == "|"]
        edits = [Edit("a.py", bar, bar + 1, new) for bar, (_, new) in zip(bars, pieces, strict=False)]
        result = spliced(source, edits)
        expected = "".join(
            part for piece, (_, new) in zip(kept, pieces, strict=True) for part in (piece, new)
        )
        expected = expected[: len(expected) - len(pieces[-1][1])]
        assert result.data == expected.encode("utf-8-sig" if has_bom else "utf-8")
