"""Findings and fixes in the words of the protocol."""

from __future__ import annotations

import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator

from lsprotocol import types
from pygls.uris import from_fs_path

from warp_lint.findings import Applicability, Edit, Finding, Level, Location
from warp_lint.language_server.positions import Positions
from warp_lint.result import Result
from warp_lint.splicing import in_style_of
from warp_lint.suppressing import NOT_SUPPRESSED, edits_to_suppress

SOURCE = "warp-lint"
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.{SOURCE}"

_SEVERITIES = {
    Level.ERROR: types.DiagnosticSeverity.Error,
    Level.WARNING: types.DiagnosticSeverity.Warning,
    Level.INFO: types.DiagnosticSeverity.Information,
}


def uri_of(path: str) -> str:
    """How the protocol calls a file."""
    return from_fs_path(path) or ""


class Translation:
    """Says in the protocol's words what one run gave."""

    def __init__(self, result: Result, positions: Positions) -> None:
        self._result = result
        self._positions = positions

    def diagnostic(self, finding: Finding) -> types.Diagnostic:
        """A finding, with its related places as links."""
        return types.Diagnostic(
            range=self._location(finding.location).range,
            message=finding.message,
            severity=_SEVERITIES[finding.level],
            code=finding.code,
            source=SOURCE,
            related_information=[
                types.DiagnosticRelatedInformation(self._location(related.location), related.message)
                for related in finding.related
            ],
        )

    def actions(self, finding: Finding) -> Iterator[types.CodeAction]:
        """What can be done about a finding: its fix, if it may be made, and a comment."""
        fix = finding.fix
        if fix is not None and fix.edits and fix.applicability is not Applicability.DISPLAY:
            is_safe = fix.applicability is Applicability.SAFE
            yield types.CodeAction(
                title=f"{finding.code}: {fix.title}{'' if is_safe else ' (unsafe)'}",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[self.diagnostic(finding)],
                is_preferred=is_safe,
                edit=self._edit(fix.edits),
            )
        source = self._result.sources.get(finding.location.path)
        if source is not None and finding.code not in NOT_SUPPRESSED:
            try:
                edits = list(edits_to_suppress([finding], source))
            except (tokenize.TokenError, SyntaxError):
                return  # the file is being written
            yield types.CodeAction(
                title=f"{finding.code}: Suppress with a comment",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[self.diagnostic(finding)],
                edit=self._edit(edits),
            )

    def _edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        changes: dict[str, list[types.TextEdit]] = defaultdict(list)
        for edit in edits:
            source = self._result.sources[edit.path]
            place = self._positions.range_between(source, edit.start, edit.end)
            changes[uri_of(edit.path)].append(types.TextEdit(place, in_style_of(source, edit)))
        return types.WorkspaceEdit(changes=dict(changes))

    def _location(self, location: Location) -> types.Location:
        source = self._result.sources.get(location.path)
        return types.Location(uri_of(location.path), self._positions.range(source, location.range))
