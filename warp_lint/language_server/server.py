"""The server: what editors tell it, and what it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from warp_lint import __version__
from warp_lint.language_server.linting import Linting, findings_between
from warp_lint.language_server.positions import Positions
from warp_lint.language_server.translation import FIX_ALL, SOURCE, Translation
from warp_lint.notebook import SUFFIX
from warp_lint.reports.rule_page import markdown
from warp_lint.result import Problem, Result
from warp_lint.rules import all_rules
from warp_lint.settings import SettingsError
from warp_lint.source import Source, SourceError, encoded

SECONDS_OF_SILENCE = 0.2
"""How long nobody may have typed before it is linted."""

# To pygls a parameter of a type that the server has would be the server.
_TextChange: TypeAlias = (
    types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams | types.DidCloseTextDocumentParams
)
_FileChange: TypeAlias = types.DidSaveTextDocumentParams | types.DidChangeWatchedFilesParams

_WATCHED = (
    "**/*.py",
    "**/*.pyi",
    "**/*.ipynb",
    "**/pyproject.toml",
    "**/warp-lint.toml",
    "**/.warp-lint.toml",
)


class WarpLintServer(LanguageServer):
    """Lints what is open in an editor, each file with the project that it belongs to."""

    def __init__(self) -> None:
        # Whole texts: what the protocol calls a line is not what pygls splits texts into.
        super().__init__(SOURCE, __version__, types.TextDocumentSyncKind.Full)
        self._linting = Linting()
        self._lock = asyncio.Lock()
        self._version = 0
        self._linted_version = -1
        self._result = Result((), (), (), {})
        self._complaint = ""
        self._published: set[str] = set()

    def changed(self, *, files: bool = False) -> None:
        """Take note that a text, or with ``files`` that which files there are, may have changed."""
        self._version += 1
        if files:
            self._linting.forget_files()

    async def lint_when_silent(self) -> None:
        """Lint, unless something changes within a moment."""
        version = self._version
        await asyncio.sleep(SECONDS_OF_SILENCE)
        if version == self._version:
            await self.up_to_date()

    async def up_to_date(self) -> Result:
        """What is found in the texts as they are now; the editor is told, too."""
        async with self._lock:
            while self._linted_version != self._version:
                version = self._version
                self._result = await asyncio.to_thread(self._lint, self.texts())
                self._linted_version = version
                self._publish()
            return self._result

    async def fix_all(self, path: str) -> types.WorkspaceEdit | None:
        """What the safe fixes make of an open file; None where there is nothing to fix."""
        async with self._lock:
            try:
                change = await asyncio.to_thread(self._linting.fixed, path, self.texts())
            except SettingsError:
                return None
        if change is None:
            return None
        before = Source.from_bytes(path, change.before)
        after = Source.from_bytes(path, change.after)
        edit = types.TextEdit(self.positions.range_between(before, 0, len(before.text)), after.text)
        return types.WorkspaceEdit(changes={self.open_files()[path]: [edit]})

    def source(self, uri: str) -> Source | None:
        """An open file as the editor has it; None where it is none of ours."""
        path = to_fs_path(uri)
        try:
            return Source.from_bytes(path, self.texts()[path]) if path else None
        except (KeyError, SourceError):
            return None

    def open_files(self) -> dict[str, str]:
        """The paths that are open, and how the editor calls each."""
        uris = [uri for uri in self.workspace.text_documents if uri.startswith("file:")]
        paths = {path: uri for uri in uris if (path := to_fs_path(uri))}
        # The text of a notebook is JSON, in which the protocol counts other lines than we do.
        return {path: uri for path, uri in paths.items() if not path.endswith(SUFFIX)}

    def texts(self) -> dict[str, bytes]:
        """The contents of the files that are open, by path."""
        documents = self.workspace.text_documents
        return {path: encoded(documents[uri].source) for path, uri in self.open_files().items()}

    @property
    def positions(self) -> Positions:
        """How the editor counts."""
        return Positions(self.workspace.position_encoding)

    @property
    def translation(self) -> Translation:
        """The last result in the protocol's words."""
        return Translation(self._result, self.positions)

    def _lint(self, texts: dict[str, bytes]) -> Result:
        try:
            return self._linting.lint(texts)
        except SettingsError as error:
            return Result((), (), (Problem(str(error)),), {})

    def _publish(self) -> None:
        """Tell the editor what was found in what is open, and that nothing is known of what was."""
        self._complain("\n".join(problem.message for problem in self._result.problems))
        open_files, translation = self.open_files(), self.translation
        diagnostics: dict[str, list[types.Diagnostic]] = {uri: [] for uri in open_files.values()}
        for finding in self._result.findings:
            if finding.location.path in open_files:
                diagnostics[open_files[finding.location.path]].append(translation.diagnostic(finding))
        for uri in self._published - diagnostics.keys():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        for uri, of_file in diagnostics.items():
            version = self.workspace.text_documents[uri].version
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, of_file, version))
        self._published = set(diagnostics)

    def _complain(self, complaint: str) -> None:
        """Say once what is wrong with the settings or the linter."""
        if complaint and complaint != self._complaint:
            message = types.ShowMessageParams(types.MessageType.Error, f"{SOURCE}: {complaint}")
            self.window_show_message(message)
        self._complaint = complaint


def create_server() -> WarpLintServer:
    """A server that has not been started."""
    server = WarpLintServer()

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        await _watch_files(server)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def text_changed(_: _TextChange) -> None:
        server.changed()
        await server.lint_when_silent()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def files_changed(_: _FileChange) -> None:
        server.changed(files=True)
        await server.lint_when_silent()

    kinds = [types.CodeActionKind.QuickFix, FIX_ALL]
    options = types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        result = await server.up_to_date()
        source = server.source(params.text_document.uri)
        if source is None:
            return []
        start, end = (
            server.positions.offset(source, place) for place in (params.range.start, params.range.end)
        )
        touched = findings_between(result, source, start, end)
        offered = [action for finding in touched for action in server.translation.actions(finding)]
        if any(
            finding.location.path == source.path and result.can_fix(finding) for finding in result.findings
        ):
            title = "warp-lint: Make all safe fixes"
            offered.append(types.CodeAction(title, FIX_ALL, data=source.path))
        return [action for action in offered if _is_wanted(action, params.context.only)]

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        if action.kind == FIX_ALL and isinstance(action.data, str):
            action.edit = await server.fix_all(action.data)
        return action

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def explanation(params: types.HoverParams) -> types.Hover | None:
        result = await server.up_to_date()
        source = server.source(params.text_document.uri)
        if source is None:
            return None
        offset = server.positions.offset(source, params.position)
        codes = {finding.code for finding in findings_between(result, source, offset, offset)}
        pages = [markdown(all_rules()[code]) for code in sorted(codes) if code in all_rules()]
        if not pages:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(pages)))

    return server


def _is_wanted(action: types.CodeAction, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether an action is of one of the kinds that are asked for, or of a kind below it."""
    if only is None:
        return True
    kind = str(getattr(action.kind, "value", action.kind))
    wanted = [str(getattr(one, "value", one)) for one in only]
    return any(kind == one or kind.startswith(f"{one}.") for one in wanted)


async def _watch_files(server: WarpLintServer) -> None:
    """Ask the editor to tell of files that change outside of it, if it can."""
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if watching and watching.dynamic_registration:
        watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
        registration = types.Registration(
            "watched-files",
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
            types.DidChangeWatchedFilesRegistrationOptions(watchers),
        )
        await server.client_register_capability_async(types.RegistrationParams([registration]))
