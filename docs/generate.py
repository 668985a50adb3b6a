"""Writes what the documentation says about the rules from the rules themselves.

``python docs/generate.py`` writes ``docs/rules/*.md``, their index ``docs/rules.md``, and in the README the
table of rules and the example; ``tests/test_catalogue.py`` fails when they are stale. What the pages say
beyond the docstrings comes from ``docs/evidence.md`` and ``docs/related.toml``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from warp_lint.reports import render
from warp_lint.reports.rule_page import markdown, summary
from warp_lint.rules import all_rules
from warp_lint.rules.base import Rule
from warp_lint.run import lint
from warp_lint.settings import Settings
from warp_lint.trees import SettingsLookup

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
RULE_PAGES = ROOT / "docs" / "rules"
README = ROOT / "README.md"
EXAMPLE = ROOT / "docs" / "example"
INDEX = ROOT / "docs" / "rules.md"
EVIDENCE = ROOT / "docs" / "evidence.md"
RELATED = tomllib.loads((ROOT / "docs" / "related.toml").read_text(encoding="utf-8"))

_COLUMNS = 10
"""Bars in a row of the evidence of a rule."""
_MEASURED = "On Warp itself, before → after the fix; [all figures](../evidence.md)."
_MEASURES = (
    "| program | device | shown | builds | kernels | source | links | warm builds |\n"
    "|---|---|---|---|---|---|---|---|"
)


def generated() -> Mapping[Path, str]:
    """Every generated file with the text it should have."""
    pages = {RULE_PAGES / f"{rule.name}.md": _page(rule) for rule in all_rules().values()}
    readme = README.read_text(encoding="utf-8")
    for title, text in (("example", _example()), ("rules", _table())):
        readme = _with_part(readme, title, text)
    return {**pages, INDEX: _index(), README: readme}


def _page(rule: Rule) -> str:
    """A rule's own page, and what was measured, which settings it follows, and who reported the like."""
    related = RELATED.get(rule.code, {})
    page = markdown(rule)
    if rows := _measured(rule.code):
        page += f"\n## Measured\n{_MEASURED}\n\n{_MEASURES}\n{rows}"
    if settings := related.get("settings"):
        page += "\n## Settings\n" + "".join(f"- `{name}`\n" for name in settings)
    if reports := related.get("reports"):
        page += "\n## Related reports\n" + "".join(f"- {report}\n" for report in reports)
    return page


def _measured(code: str) -> str:
    """The rows of the evidence that are about a rule, without its code."""
    lines = EVIDENCE.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith(f"| {code} |") and line.count("|") == _COLUMNS]
    return "".join(f"{line.replace(f'| {code} ', '', 1)}\n" for line in rows)


def _index() -> str:
    """All rules by their families, which are the folders of ``warp_lint/rules``."""
    families: dict[str, list[Rule]] = {}
    for rule in all_rules().values():
        families.setdefault(type(rule).__module__.split(".")[-2], []).append(rule)
    text = "# Rules\n\nBy what they are about, which is also the folder in `warp_lint/rules`.\n"
    for family, rules in families.items():
        text += f"\n## {family.capitalize()}\n\n"
        for rule in rules:
            off = "" if rule.default else " (off by default)"
            text += f"- [{rule.code} {rule.name}](rules/{rule.name}.md){off}: {summary(rule)}\n"
    return text


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
