"""Rules, fixtures, pages, the README's table and the changelog speak of the same rules."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from docs.generate import README, RELATED, RULE_PAGES, generated
from warp_lint import rules, settings
from warp_lint.rules import all_rules
from warp_lint.rules.base import Rule

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
SECTIONS = ["What it does", "Why is this bad", "Example", "Use instead", "Fix safety"]
RULES = [pytest.param(rule, id=rule.code) for rule in all_rules().values()]

IDENTITIES = {(rule.code, rule.name) for rule in all_rules().values()}


def test_there_are_rules() -> None:
    assert len(all_rules()) >= 16


def test_every_file_of_a_family_holds_one_rule() -> None:
    folder = Path(rules.__path__[0])
    files = {path for path in folder.glob("*/*.py") if path.name != "__init__.py"}
    sources = [Path(inspect.getfile(type(rule))) for rule in all_rules().values()]
    assert sorted(sources) == sorted(files)


def test_fixtures() -> None:
    folders = {(code, name) for code, _, name in (path.name.partition("-") for path in FIXTURES.iterdir())}
    assert folders == IDENTITIES


def test_rule_pages() -> None:
    headings = [page.read_text(encoding="utf-8").split("\n")[0] for page in RULE_PAGES.glob("*.md")]
    assert sorted(headings) == sorted(f"# {name} ({code})" for code, name in IDENTITIES)


def test_related_table_names_rules_and_settings_that_exist() -> None:
    assert set(RELATED) <= set(all_rules())
    for related in RELATED.values():
        assert set(related) <= {"settings", "reports"}
        assert set(related.get("settings", ())) <= set(settings._READERS)


def test_readme() -> None:
    rows = re.findall(r"^\| (WRP\d+) \| \[([a-z-]+)\]", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(IDENTITIES)


def test_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert set(re.findall(r"(WRP\d+)\s+([a-z-]+)", text)) == IDENTITIES


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in generated()])
def test_generated_documentation_is_fresh(path: Path) -> None:
    """`python docs/generate.py` writes it."""
    assert path.read_text(encoding="utf-8") == generated()[path]


@pytest.mark.parametrize("rule", RULES)
def test_file_is_named_after_the_rule(rule: Rule) -> None:
    assert Path(inspect.getfile(type(rule))).stem == rule.name.replace("-", "_")


@pytest.mark.parametrize("rule", RULES)
def test_page_has_every_section_in_order(rule: Rule) -> None:
    summary, *rest = re.split(r"^## (.*)$", rule.page(), flags=re.MULTILINE)
    titles = [title for title in rest[::2] if title != "Evidence"]
    assert titles == SECTIONS
    assert all(text.strip() for text in (summary, *rest[1::2]))
    assert summary.strip().endswith("."), "the first paragraph is one sentence"


@pytest.mark.parametrize("rule", RULES)
def test_rule_is_silent_at_least_as_often_as_it_fires(rule: Rule) -> None:
    folder = FIXTURES / f"{rule.code}-{rule.name}"
    silent, fires = (list(folder.glob(f"{kind}*")) for kind in ("silent", "fires"))
    assert len(silent) >= len(fires) > 0
