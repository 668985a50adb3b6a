"""SARIF 2.1.0, which GitHub's code scanning and many other tools read."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warp_lint import __version__
from warp_lint.findings import Edit, Finding, Fix, Level, Location, Range
from warp_lint.fingerprints import fingerprint
from warp_lint.reports.pages import page_url
from warp_lint.reports.rule_page import summary
from warp_lint.rules import all_rules
from warp_lint.rules.base import Rule
from warp_lint.splicing import in_style_of

if TYPE_CHECKING:
    from warp_lint.result import Result

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}
_ROOT = "%SRCROOT%"


def render(result: Result, *, closing: bool) -> Iterator[str]:  # noqa: ARG001 - JSON has no closing line
    """The lines of the report."""
    rules = list(all_rules().values())
    driver = {"name": "warp-lint", "version": __version__, "rules": [_rule(rule) for rule in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": f"{Path.cwd().as_uri()}/"}},
        "invocations": [_invocation(result)],
        "results": [_result(finding, result, rules) for finding in result.findings],
    }
    yield json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: Rule) -> dict[str, Any]:
    url = page_url(rule.name)
    return {
        **({"helpUri": url} if url else {}),
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": summary(rule)},
        "fullDescription": {"text": summary(rule)},
        "help": {"text": rule.page(), "markdown": rule.page()},
        "defaultConfiguration": {"enabled": rule.default, "level": _LEVELS[rule.level]},
        "properties": {"problem.severity": rule.level.value, "tags": ["performance"]},
    }


def _invocation(result: Result) -> dict[str, Any]:
    return {
        "executionSuccessful": not result.problems,
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": problem.message}} for problem in result.problems
        ],
    }


def _result(finding: Finding, result: Result, rules: list[Rule]) -> dict[str, Any]:
    codes = [rule.code for rule in rules]
    properties = {"certainty": finding.certainty.value, "redundantBuilds": finding.redundant_builds}
    described: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.level],
        "message": {"text": finding.message},
        "locations": [_location(finding.location)],
        "partialFingerprints": {"warpLintContent/v1": fingerprint(finding, result.sources)},
        "properties": {key: value for key, value in properties.items() if value is not None},
    }
    if finding.code in codes:
        described["ruleIndex"] = codes.index(finding.code)
    if finding.related:
        described["relatedLocations"] = [
            {"id": number, **_location(related.location), "message": {"text": related.message}}
            for number, related in enumerate(finding.related, start=1)
        ]
    if finding.fix is not None and finding.fix.edits:
        described["fixes"] = [_fix(finding.fix, result)]
    return described


def _fix(fix: Fix, result: Result) -> dict[str, Any]:
    by_file: dict[str, list[Edit]] = defaultdict(list)
    for edit in fix.edits:
        by_file[edit.path].append(edit)
    return {
        "description": {"text": f"{fix.title} ({fix.applicability.value})"},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(path),
                "replacements": [_replacement(edit, result) for edit in edits],
            }
            for path, edits in by_file.items()
        ],
    }


def _replacement(edit: Edit, result: Result) -> dict[str, Any]:
    source = result.sources[edit.path]
    return {
        "deletedRegion": _region(Range(source.position(edit.start), source.position(edit.end))),
        "insertedContent": {"text": in_style_of(source, edit)},
    }


def _location(location: Location) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": _artifact(location.path),
            "region": _region(location.range),
        }
    }


def _artifact(path: str) -> dict[str, str]:
    """Relative to where the linter was started, as code scanning wants it; whole where it lies elsewhere."""
    uri, start = Path(path).as_uri(), f"{Path.cwd().as_uri()}/"
    if uri.startswith(start):
        return {"uri": uri.removeprefix(start), "uriBaseId": _ROOT}
    return {"uri": uri}


def _region(place: Range) -> dict[str, int]:
    return {
        "startLine": place.start.line,
        "startColumn": place.start.column,
        "endLine": place.end.line,
        "endColumn": place.end.column,
    }
