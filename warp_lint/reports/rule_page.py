"""The documentation of a rule: for ``warp-lint rule`` and for ``docs/rules``."""

from __future__ import annotations

from typing import Any

from warp_lint.rules.base import Rule


def markdown(rule: Rule) -> str:
    """The whole page."""
    state = "on" if rule.default else "off"
    return f"# {rule.name} ({rule.code})\n\nLevel: {rule.level.value}. Default: {state}.\n\n{rule.page()}\n"


def summary(rule: Rule) -> str:
    """What the rule finds, in one sentence: the first paragraph of its docstring."""
    return " ".join(rule.page().split("\n\n", 1)[0].split())


def as_json(rule: Rule) -> dict[str, Any]:
    """The page as a JSON object, with ruff's keys where ruff has them."""
    return {
        "name": rule.name,
        "code": rule.code,
        "level": rule.level.value,
        "default": rule.default,
        "summary": summary(rule),
        "explanation": rule.page(),
    }
