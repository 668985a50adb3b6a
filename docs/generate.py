"""Writes what the documentation says about the rules from the rules themselves.

``python docs/generate.py`` writes ``docs/rules/*.md``, and the table of rules and the example in the README;
``tests/test_catalogue.py`` fails when they are stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from warp_lint.reports import render
from warp_lint.reports.rule_page import markdown, summary
from warp_lint.rules import all_rules
from warp_lint.run import lint
from warp_lint.settings import Settings
from warp_lint.trees import SettingsLookup

ROOT = Path(__file__).resolve().parent.parent
RULE_PAGES = ROOT / "docs" / "rules"
README = ROOT / "README.md"
EXAMPLE = ROOT / "docs" / "example"


def generated() -> Mapping[Path, str]:
    """Every generated file with the text it should have."""
    pages = {RULE_PAGES / f"{rule.name}.md": markdown(rule) for rule in all_rules().values()}
    readme = README.read_text(encoding="utf-8")
    for title, text in (("example", _example()), ("rules", _table())):
        readme = _with_part(readme, title, text)
    return {**pages, README: readme}


def _with_part(readme: str, title: str, text: str) -> str:
    begin, end = f"<!-- {title}: written by docs/generate.py -->\n", f"<!-- end of {title} -->\n"
    before, rest = readme.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}{text}{end}{after}"


def _example() -> str:
    """What ``warp-lint docs/example`` says on a terminal."""
    result = lint([str(EXAMPLE)], SettingsLookup(Settings(str(ROOT))))
    output = "\n".join(click.unstyle(line) for line in render("full", result, closing=True))
    return f"```text\n{output.replace(f'{ROOT}/', '')}\n```\n"


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
