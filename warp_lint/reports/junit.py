"""JUnit's XML: each finding is a test that failed."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING

from warp_lint.findings import Finding
from warp_lint.reports.snippet import visible

if TYPE_CHECKING:
    from warp_lint.result import Result

_PACKAGE = "org.warp-lint"


def render(result: Result, *, closing: bool) -> Iterator[str]:  # noqa: ARG001 - XML has no closing line
    """The lines of the report."""
    root = ElementTree.Element("testsuites", {"name": "warp-lint", **_counts(len(result.findings))})
    for path, of_file in groupby(result.findings, key=lambda finding: finding.location.path):
        _add_file(root, path, list(of_file))
    if not result.findings:
        # A report without a test counts as one that failed.
        root.set("tests", "1")
        suite = ElementTree.SubElement(root, "testsuite", {"name": "warp-lint", **_counts(0), "tests": "1"})
        ElementTree.SubElement(suite, "testcase", {"name": "No findings", "classname": "warp-lint"})
    ElementTree.indent(root, " " * 4)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield ElementTree.tostring(root, encoding="unicode")


def _counts(failures: int) -> Mapping[str, str]:
    return {"tests": str(failures), "skipped": "0", "failures": str(failures), "errors": "0"}


def _add_file(root: ElementTree.Element, path: str, findings: list[Finding]) -> None:
    attributes = {"name": visible(path), **_counts(len(findings)), "package": _PACKAGE}
    suite = ElementTree.SubElement(root, "testsuite", attributes)
    for finding in findings:
        line, column = finding.location.range.start
        message = visible(finding.message)  # XML has no control characters
        test = ElementTree.SubElement(
            suite,
            "testcase",
            {
                "name": f"{_PACKAGE}.{finding.code}",
                "classname": visible(str(PurePath(path).with_suffix(""))),
                "line": str(line),
                "column": str(column),
            },
        )
        properties = ElementTree.SubElement(test, "properties")
        ElementTree.SubElement(properties, "property", {"name": "severity", "value": finding.level.value})
        failure = ElementTree.SubElement(test, "failure", {"message": message})
        failure.text = f"line {line}, col {column}, {message}"
