"""Writes what the documentation says about the rules from the rules themselves.

``python docs/generate.py`` writes ``docs/rules/*.md`` and the table in the README;
``tests/test_catalogue.py`` fails when they are stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from warp_lint.reports.rule_page import markdown, summary
from warp_lint.rules import all_rules

ROOT = Path(__file__).resolve().parent.parent
RULE_PAGES = ROOT / "docs" / "rules"
README = ROOT / "README.md"
TABLE_BEGIN = "<!-- rules: written by docs/generate.py -->\n"
TABLE_END = "<!-- end of rules -->\n"


def generated() -> Mapping[Path, str]:
    """Every generated file with the text it should have."""
    pages = {RULE_PAGES / f"{rule.name}.md": markdown(rule) for rule in all_rules().values()}
    return {**pages, README: _with_table(README.read_text(encoding="utf-8"))}


def _with_table(readme: str) -> str:
    before, rest = readme.split(TABLE_BEGIN)
    _, after = rest.split(TABLE_END)
    return f"{before}{TABLE_BEGIN}{_table()}{TABLE_END}{after}"


def _table() -> str:
    rows = ["| code | name | finds | level | default |", "|---|---|---|---|---|"]
    for rule in all_rules().values():
        finds = summary(rule).rstrip(".").replace("|", "\\|")
        state = "on" if rule.default else "off"
        name = f"[{rule.name}](docs/rules/{rule.name}.md)"
        rows.append(f"| {rule.code} | {name} | {finds} | {rule.level.value} | {state} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Write every generated file, and remove the pages of rules that are gone."""
    texts = generated()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    for page in RULE_PAGES.glob("*.md"):
        if page not in texts:
            page.unlink()


if __name__ == "__main__":
    main()
