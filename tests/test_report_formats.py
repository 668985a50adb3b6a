"""The formats that programs read: held against a schema where there is one, else against what ruff writes."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from warp_lint import reports
from warp_lint.findings import Applicability, Edit, Finding, Fix, Level, Location, Range, Related
from warp_lint.result import Problem, Result
from warp_lint.rules import all_rules
from warp_lint.source import Source

SARIF_SCHEMA = Path(__file__).with_name("schemas") / "sarif-2.1.0-rtm.4.json"
TEXT = "import os\ndef f():\n    é = 1; launch(\n        1,\n    )\n"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    """A file in the working directory."""
    monkeypatch.chdir(tmp_path)
    return Source.from_bytes(str(tmp_path / "a b.py"), TEXT.encode())


@pytest.fixture(scope="module")
def schema() -> Any:
    """The schema of SARIF 2.1.0, as the release candidate that OASIS made the standard has it."""
    return json.loads(SARIF_SCHEMA.read_text(encoding="utf-8"))


def at(source: Source, text: str) -> Location:
    start = source.text.index(text)
    return Location(source.path, Range(source.position(start), source.position(start + len(text))))


def finding(location: Location, **more: Any) -> Finding:
    """A finding of WRP101, but for what is said otherwise."""
    fields = {"code": "WRP101", "name": "kernel-in-function", "message": "a kernel is late", **more}
    return Finding(**{"level": Level.WARNING, "location": location, **fields})


def result_of(*findings: Finding, sources: Sequence[Source] = ()) -> Result:
    return Result(findings, (), (), {source.path: source for source in sources})


def rendered(output_format: str, result: Result) -> str:
    lines = reports.render(output_format, result, closing=True)
    return "".join(f"{click.unstyle(line)}\n" for line in lines)


def of_ruff(output_format: str, text: str, path: Path) -> str:
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F401,E702"]
    run = subprocess.run(
        [*command, "--output-format", output_format, path.name],
        cwd=path.parent,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return run.stdout


def test_every_format_can_be_chosen() -> None:
    for name in reports.FORMATS:
        assert isinstance(rendered(name, result_of()), str)


class TestGrouped:
    def test_findings_stand_below_their_file(self, source: Source) -> None:
        here, there = at(source, "launch"), at(source, "os")
        elsewhere = Location("/somewhere/else.py", there.range)
        assert rendered("grouped", result_of(finding(elsewhere), finding(there), finding(here))) == (
            "/somewhere/else.py:\n"
            "  1:8 WRP101 a kernel is late\n"
            "\n"
            "a b.py:\n"
            "  1:8  WRP101 a kernel is late\n"
            "  3:12 WRP101 a kernel is late\n"
            "\n"
            "Found 3 findings (3 warnings) in 2 files.\n"
        )


class TestPylint:
    def test_line_is_ruffs(self, source: Source) -> None:
        (theirs, _) = of_ruff("pylint", TEXT, Path(source.path)).splitlines()
        ours = finding(at(source, "os"), code="F401", message="`os` imported but unused")
        assert rendered("pylint", result_of(ours)) == f"{theirs}\n"


class TestJsonLines:
    def test_lines_are_the_objects_of_the_json_format(self, source: Source) -> None:
        result = result_of(finding(at(source, "os")), finding(at(source, "launch")))
        lines = rendered("json-lines", result).splitlines()
        assert list(map(json.loads, lines)) == json.loads(rendered("json", result))


class TestGithub:
    def test_commands_are_ruffs(self, source: Source) -> None:
        """But for the name of the tool."""
        theirs, _ = of_ruff("github", TEXT, Path(source.path)).splitlines()
        fix = Fix("Remove unused import: `os`", Applicability.SAFE, ())
        message = "`os` imported but unused"
        ours = finding(at(source, "os"), code="F401", message=message, level=Level.ERROR, fix=fix)
        assert rendered("github", result_of(ours)) == theirs.replace("ruff (", "warp-lint (") + "\n"

    def test_several_lines_have_no_columns(self, source: Source) -> None:
        ours = finding(at(source, "launch(\n        1,\n    )"))
        assert ",line=3,endLine=5::" in rendered("github", result_of(ours))

    def test_special_characters_are_escaped_and_related_places_listed(self, source: Source) -> None:
        odd = Location("/x,y/100%:z.py", at(source, "os").range)
        ours = finding(
            odd, message="100%", level=Level.INFO, related=(Related("first here", at(source, "launch")),)
        )
        assert rendered("github", result_of(ours)) == (
            "::notice title=warp-lint (WRP101),file=/x%2Cy/100%25%3Az.py,line=1,col=8,endLine=1,endColumn=10"
            "::/x,y/100%25:z.py:1:8: WRP101 100%25%0A  note: a b.py:3:12: first here\n"
        )


class TestGitlab:
    def test_issues_are_ruffs(self, source: Source) -> None:
        theirs = json.loads(of_ruff("gitlab", TEXT, Path(source.path)))[0]
        message = "`os` imported but unused"
        ours = finding(at(source, "os"), code="F401", message=message, level=Level.ERROR)
        (issue,) = json.loads(rendered("gitlab", result_of(ours, sources=[source])))
        assert {**issue, "fingerprint": theirs["fingerprint"]} == theirs

    def test_fingerprints_differ_and_survive_other_edits(self, source: Source) -> None:
        def fingerprints(text: str) -> list[str]:
            edited = Source.from_bytes(source.path, text.encode())
            same = finding(at(edited, "launch"))
            report = rendered("gitlab", result_of(same, same, finding(at(edited, "os")), sources=[edited]))
            return [issue["fingerprint"] for issue in json.loads(report)]

        before = fingerprints(TEXT)
        assert len(set(before)) == 3
        assert fingerprints(f"\n# further down\n{TEXT}") == before


class TestJunit:
    def test_elements_are_ruffs(self, source: Source) -> None:
        theirs = ElementTree.fromstring(of_ruff("junit", TEXT, Path(source.path)))
        result = result_of(finding(at(source, "os")), finding(at(source, "launch")))
        ours = ElementTree.fromstring(rendered("junit", result))
        assert [(one.tag, sorted(one.attrib)) for one in ours.iter()] == [
            (one.tag, sorted(one.attrib)) for one in theirs.iter()
        ]
        failures = [one.text for one in ours.iter("failure")]
        assert failures == ["line 1, col 8, a kernel is late", "line 3, col 12, a kernel is late"]

    def test_clean_run_is_one_test_that_passes(self, source: Source) -> None:
        theirs = ElementTree.fromstring(of_ruff("junit", "", Path(source.path)))
        ours = ElementTree.fromstring(rendered("junit", result_of()))
        for root in (theirs, ours):
            assert (root.get("tests"), root.get("failures")) == ("1", "0")
            assert len(list(root.iter("testcase"))) == 1

    def test_control_characters_do_not_break_the_xml(self, source: Source) -> None:
        report = rendered("junit", result_of(finding(at(source, "os"), message='\x00 \x1b <&"')))
        (failure,) = ElementTree.fromstring(report).iter("failure")
        assert failure.get("message") == '\u2400 \u241b <&"'


class TestRdjson:
    def test_diagnostic_has_what_ruffs_have_with_the_same_types(self, source: Source) -> None:
        theirs = json.loads(of_ruff("rdjson", TEXT, Path(source.path)))
        fix = Fix("Remove it", Applicability.SAFE, (Edit(source.path, 0, 10, ""),))
        ours = json.loads(rendered("rdjson", result_of(finding(at(source, "os"), fix=fix), sources=[source])))
        their_diagnostic, our_diagnostic = theirs["diagnostics"][0], ours["diagnostics"][0]
        for key in ("location", "suggestions"):
            assert our_diagnostic[key] == their_diagnostic[key]
        assert theirs.keys() == ours.keys()
        assert their_diagnostic.keys() <= our_diagnostic.keys()

    def test_columns_count_bytes(self, source: Source) -> None:
        """The format says so: a letter with an accent is two."""
        (diagnostic,) = self.diagnostics(source, finding(at(source, "launch")))
        assert diagnostic["location"]["range"] == {
            "start": {"line": 3, "column": 13},
            "end": {"line": 3, "column": 19},
        }

    def test_several_edits_are_one_suggestion(self, source: Source) -> None:
        edits = (Edit(source.path, 7, 9, "sys"), Edit(source.path, 14, 15, "g"))
        fix = Fix("Do it", Applicability.SAFE, edits)
        (diagnostic,) = self.diagnostics(source, finding(at(source, "os"), fix=fix))
        (suggestion,) = diagnostic["suggestions"]
        assert suggestion["text"] == "sys\ndef g"
        assert suggestion["range"]["end"] == {"line": 2, "column": 6}

    def test_fix_that_changes_another_file_is_left_out(self, source: Source) -> None:
        fix = Fix("Do it", Applicability.SAFE, (Edit("/other.py", 0, 1, ""),))
        (diagnostic,) = self.diagnostics(source, finding(at(source, "os"), fix=fix))
        assert diagnostic["suggestions"] == []

    def diagnostics(self, source: Source, *findings: Finding) -> list[dict[str, Any]]:
        report = json.loads(rendered("rdjson", result_of(*findings, sources=[source])))
        diagnostics: list[dict[str, Any]] = report["diagnostics"]
        return diagnostics


class TestSarif:
    def test_report_follows_the_schema(self, schema: Mapping[str, Any], source: Source) -> None:
        full = finding(
            at(source, "os"),
            related=(Related("first here", at(source, "launch")),),
            fix=Fix("Do it", Applicability.UNSAFE, (Edit(source.path, 0, 10, ""),)),
            redundant_builds=3,
        )
        unknown_rule = finding(at(source, "launch"), code="WRP099", level=Level.ERROR)
        for result in (result_of(), result_of(full, unknown_rule, sources=[source])):
            jsonschema.Draft4Validator(schema).validate(json.loads(rendered("sarif", result)))

    def test_schema_is_not_of_the_kind_that_allows_everything(self, schema: Mapping[str, Any]) -> None:
        report = json.loads(rendered("sarif", result_of()))
        report["runs"][0]["nonsense"] = 1
        assert not jsonschema.Draft4Validator(schema).is_valid(report)

    def test_result_says_what_the_finding_says(self, source: Source) -> None:
        fix = Fix("Do it", Applicability.SAFE, (Edit(source.path, 0, 10, ""),))
        ours = finding(at(source, "launch"), fix=fix, related=(Related("first here", at(source, "os")),))
        (run,) = json.loads(rendered("sarif", result_of(ours, sources=[source])))["runs"]
        (one,) = run["results"]
        rule = run["tool"]["driver"]["rules"][one["ruleIndex"]]
        assert (one["ruleId"], rule["id"], rule["name"]) == ("WRP101", "WRP101", "kernel-in-function")
        assert one["locations"][0]["physicalLocation"] == {
            "artifactLocation": {"uri": "a%20b.py", "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": 3, "startColumn": 12, "endLine": 3, "endColumn": 18},
        }
        assert run["columnKind"] == "unicodeCodePoints"
        assert one["relatedLocations"][0]["message"] == {"text": "first here"}
        (replacement,) = one["fixes"][0]["artifactChanges"][0]["replacements"]
        assert replacement["deletedRegion"] == {
            "startLine": 1,
            "startColumn": 1,
            "endLine": 2,
            "endColumn": 1,
        }

    def test_rules_are_all_described(self) -> None:
        (run,) = json.loads(rendered("sarif", result_of()))["runs"]
        rules = run["tool"]["driver"]["rules"]
        assert [rule["id"] for rule in rules] == list(all_rules())
        assert all(rule["help"]["markdown"] and rule["shortDescription"]["text"] for rule in rules)

    def test_run_that_failed_says_so(self) -> None:
        result = Result((), (), (Problem("no such file"),), {})
        (run,) = json.loads(rendered("sarif", result))["runs"]
        (invocation,) = run["invocations"]
        assert not invocation["executionSuccessful"]
        assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "no such file"
