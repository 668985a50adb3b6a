"""The server as an editor meets it: another process, spoken to by a client of the protocol."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

from warp_lint.facts.extract import extract
from warp_lint.facts.records import FileFacts
from warp_lint.findings import Position
from warp_lint.language_server.linting import Linting
from warp_lint.language_server.positions import Positions
from warp_lint.reports.rule_page import markdown
from warp_lint.rules import all_rules
from warp_lint.run import fix_trees
from warp_lint.source import Source
from warp_lint.trees import SettingsLookup, find_trees

SECONDS = 30
"""How long an answer may take on a busy machine."""

KERNELS = """\
import warp as wp


@wp.kernel(enable_backward=False)
def scale(x: wp.array(dtype=float)):
    x[wp.tid()] *= 2.0


@wp.kernel(enable_backward=False)
def shift(x: wp.array(dtype=float)):
    x[wp.tid()] += 2.0
"""
LAUNCHES = """\
import warp as wp

from kernels import scale, shift


def run(x):
    "🚀"; wp.launch(scale, dim=8, inputs=[x])
    "🚀"; wp.launch(shift, dim=8, inputs=[x], block_dim=64)
"""
GOOD_LAUNCHES = LAUNCHES.replace(", block_dim=64", "")


class Editor:
    """An editor with a server of its own."""

    def __init__(self) -> None:
        self._client = LanguageClient("editor", "1")
        self._published: dict[str, asyncio.Queue[types.PublishDiagnosticsParams]] = defaultdict(asyncio.Queue)
        self.messages: list[str] = []

        def published(params: types.PublishDiagnosticsParams) -> None:
            self._published[params.uri].put_nowait(params)

        def told(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)

        self._client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)
        self._client.feature(types.WINDOW_SHOW_MESSAGE)(told)

    async def start(self) -> None:
        await self._client.start_io(sys.executable, "-m", "warp_lint", "server")
        params = types.InitializeParams(capabilities=types.ClientCapabilities(), root_uri=Path.cwd().as_uri())
        await self._client.initialize_async(params)
        self._client.initialized(types.InitializedParams())

    async def stop(self) -> None:
        await self._client.shutdown_async(None)
        self._client.exit(None)
        await self._client.stop()  # type: ignore[no-untyped-call]

    def open(self, name: str, text: str) -> None:
        document = types.TextDocumentItem(uri(name), types.LanguageKind.Python, 1, text)
        self._client.text_document_did_open(types.DidOpenTextDocumentParams(document))

    def change(self, name: str, text: str, version: int) -> None:
        document = types.VersionedTextDocumentIdentifier(version, uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self._client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def save(self, name: str) -> None:
        document = types.TextDocumentIdentifier(uri(name))
        self._client.text_document_did_save(types.DidSaveTextDocumentParams(document))

    def close(self, name: str) -> None:
        document = types.TextDocumentIdentifier(uri(name))
        self._client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    async def diagnostics(self, name: str, version: int | None = None) -> Sequence[types.Diagnostic]:
        """The next diagnostics of a file, of a version where one is given."""
        while True:
            params = await asyncio.wait_for(self._published[uri(name)].get(), SECONDS)
            if version in (None, params.version):
                return list(params.diagnostics)

    async def actions(
        self, name: str, place: types.Range, only: Sequence[types.CodeActionKind] | None = None
    ) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri(name)), place, context)
        actions = await self._client.text_document_code_action_async(params) or ()
        return [action for action in actions if isinstance(action, types.CodeAction)]

    async def resolved(self, action: types.CodeAction) -> types.CodeAction:
        return await self._client.code_action_resolve_async(action)

    async def hover(self, name: str, position: types.Position) -> str:
        document = types.TextDocumentIdentifier(uri(name))
        answer = await self._client.text_document_hover_async(types.HoverParams(document, position))
        return answer.contents.value if answer and isinstance(answer.contents, types.MarkupContent) else ""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project with the kernels, as the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("[tool.warp-lint]\n")
    Path("kernels.py").write_text(KERNELS)


def uri(name: str) -> str:
    return from_fs_path(str(Path(name).absolute())) or ""


def converse(scenario: Callable[[Editor], Awaitable[None]]) -> None:
    async def conversation() -> None:
        editor = Editor()
        await editor.start()
        try:
            await scenario(editor)
        finally:
            await editor.stop()

    asyncio.run(conversation())


def edited(text: str, action: types.CodeAction, name: str) -> str:
    """What an action makes of the text of a file."""
    assert action.edit is not None
    assert action.edit.changes is not None
    source, positions = Source.from_bytes("/a.py", text.encode()), Positions()
    for edit in sorted(action.edit.changes[uri(name)], key=lambda edit: edit.range.start, reverse=True):
        start, end = (positions.offset(source, place) for place in (edit.range.start, edit.range.end))
        text = text[:start] + edit.new_text + text[end:]
    return text


def codes(diagnostics: Iterable[types.Diagnostic]) -> list[object]:
    return [diagnostic.code for diagnostic in diagnostics]


def test_diagnostics_follow_the_text() -> None:
    async def scenario(editor: Editor) -> None:
        Path("launches.py").write_text("")
        editor.open("launches.py", LAUNCHES)
        (diagnostic,) = await editor.diagnostics("launches.py")
        assert (diagnostic.code, diagnostic.source) == ("WRP201", "warp-lint")
        assert diagnostic.severity == types.DiagnosticSeverity.Warning
        # the rocket is two code units of UTF-16
        assert diagnostic.range == types.Range(types.Position(7, 10), types.Position(7, 59))
        assert diagnostic.related_information is not None
        (related,) = diagnostic.related_information
        assert related.location.uri == uri("launches.py")
        assert related.location.range.start == types.Position(6, 10)

        editor.change("launches.py", GOOD_LAUNCHES, 2)
        assert await editor.diagnostics("launches.py", 2) == []

        # What another open file says counts too, saved or not.
        editor.change("launches.py", LAUNCHES, 3)
        assert codes(await editor.diagnostics("launches.py", 3)) == ["WRP201"]
        editor.open("kernels.py", KERNELS.replace("(enable_backward", '(module="unique", enable_backward'))
        await editor.diagnostics("kernels.py")
        assert await editor.diagnostics("launches.py", 3) == []
        editor.close("kernels.py")
        assert codes(await editor.diagnostics("launches.py", 3)) == ["WRP201"]

        editor.close("launches.py")
        assert await editor.diagnostics("launches.py") == []

    converse(scenario)


def test_actions_do_what_the_command_line_does() -> None:
    text = LAUNCHES.replace('"🚀"; ', "").replace("from kernels import scale, shift\n", KERNELS[17:])

    async def scenario(editor: Editor) -> None:
        editor.open("app.py", text)
        (diagnostic,) = await editor.diagnostics("app.py")
        fix, suppress, fix_all = await editor.actions("app.py", diagnostic.range)

        assert fix.title == "WRP201: Give shift a module of its own"
        assert (fix.kind, fix.is_preferred) == (types.CodeActionKind.QuickFix, True)
        assert edited(text, fix, "app.py") == made_by_fixes(text)

        assert suppress.title == "WRP201: Suppress with a comment"
        commented = text.replace("block_dim=64)", "block_dim=64)  # warp-lint: ignore[WRP201]")
        assert edited(text, suppress, "app.py") == commented

        assert (fix_all.kind, fix_all.edit) == ("source.fixAll.warp-lint", None)
        assert edited(text, await editor.resolved(fix_all), "app.py") == made_by_fixes(text)

        (only,) = await editor.actions("app.py", diagnostic.range, [types.CodeActionKind.SourceFixAll])
        assert only.kind == "source.fixAll.warp-lint"
        top = types.Range(types.Position(0, 0), types.Position(0, 0))
        assert [action.kind for action in await editor.actions("app.py", top)] == ["source.fixAll.warp-lint"]

        assert await editor.hover("app.py", diagnostic.range.start) == markdown(all_rules()["WRP201"])
        assert await editor.hover("app.py", types.Position(0, 0)) == ""

        # A text that has changed since is linted before anything is offered for it.
        editor.change("app.py", f"\n\n{text}", 2)
        start = types.Position(diagnostic.range.start.line + 2, 5)
        fix, *_ = await editor.actions("app.py", types.Range(start, start))
        assert edited(f"\n\n{text}", fix, "app.py") == f"\n\n{made_by_fixes(text)}"

    converse(scenario)


def made_by_fixes(text: str) -> str:
    texts = {str(Path("app.py").absolute()): text.encode()}
    trees = find_trees(texts, SettingsLookup(), in_memory=texts)
    ((change,),) = fix_trees(trees, unsafe=False, texts=texts).changes
    return change.after.decode()


def test_unsafe_fixes_are_marked_and_settings_are_followed() -> None:
    async def scenario(editor: Editor) -> None:
        editor.open("launches.py", LAUNCHES)
        (diagnostic,) = await editor.diagnostics("launches.py")
        titles = [action.title for action in await editor.actions("launches.py", diagnostic.range)]
        assert titles[0].endswith(" (unsafe)")
        assert "warp-lint: Make all safe fixes" not in titles

        Path("pyproject.toml").write_text('[tool.warp-lint]\nignore = ["WRP201"]\n')
        editor.save("launches.py")
        assert await editor.diagnostics("launches.py") == []

        Path("pyproject.toml").write_text('[tool.warp-lint]\nselct = ["WRP201"]\n')
        editor.save("launches.py")
        await editor.diagnostics("launches.py")
        (message,) = editor.messages
        assert message.endswith("unknown key `selct` (did you mean `select`?)")

    Path("pyproject.toml").write_text('[tool.warp-lint]\nextend-unsafe-fixes = ["WRP201"]\n')
    converse(scenario)


def test_keystroke_parses_the_file_that_it_changes_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    extracted: Counter[str] = Counter()

    def extract_and_count(source: Source) -> FileFacts:
        extracted[Path(source.path).name] += 1
        return extract(source)

    monkeypatch.setattr("warp_lint.extraction.extract", extract_and_count)
    linting, path = Linting(), str(Path("launches.py").absolute())
    for text in (LAUNCHES, LAUNCHES + "\n", LAUNCHES + "\n\n"):
        linting.lint({path: text.encode()})
    assert extracted == {"kernels.py": 1, "launches.py": 3}


@pytest.mark.parametrize(
    ("encoding", "character"),
    [(None, 6), ("utf-16", 6), ("utf-8", 9), ("utf-32", 5)],
)
def test_columns_are_counted_in_the_units_of_the_editor(encoding: str | None, character: int) -> None:
    source, positions = Source.from_bytes("/a.py", "\r\n'é🚀' x".encode()), Positions(encoding)
    here = types.Position(1, character)
    assert positions.position(source, Position(2, 6)) == here
    assert positions.offset(source, here) == source.text.index("x")
    assert positions.offset(source, types.Position(1, 99)) == len(source.text)
    assert positions.offset(source, types.Position(9, 0)) == len(source.text)
