"""The plugin of flake8 in the real python-lsp-server, which hands flake8 each text on standard input."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pylsp_jsonrpc.endpoint import Endpoint  # type: ignore[import-untyped]
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter  # type: ignore[import-untyped]

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
    wp.launch(scale, dim=8, inputs=[x])
    wp.launch(shift, dim=8, inputs=[x], block_dim=64)
"""


class Editor:
    """Speaks to the server as an editor would."""

    def __init__(self, server: subprocess.Popen[bytes]) -> None:
        self._published: queue.Queue[dict[str, Any]] = queue.Queue()
        handlers = {"textDocument/publishDiagnostics": self._published.put}
        self._server = Endpoint(handlers, JsonRpcStreamWriter(server.stdin).write)
        reader = JsonRpcStreamReader(server.stdout)
        threading.Thread(target=reader.listen, args=[self._server.consume], daemon=True).start()

    def ask(self, method: str, **params: Any) -> Any:
        return self._server.request(method, params).result(SECONDS)

    def tell(self, method: str, **params: Any) -> None:
        self._server.notify(method, params)

    def diagnostics(self) -> list[dict[str, Any]]:
        """The next diagnostics that are ours."""
        diagnostics = self._published.get(timeout=SECONDS)["diagnostics"]
        return [diagnostic for diagnostic in diagnostics if diagnostic["code"].startswith("WRP")]


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    (tmp_path / "pyproject.toml").write_text("[tool.warp-lint]\n")
    (tmp_path / "kernels.py").write_text(KERNELS)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    server = subprocess.Popen(
        [sys.executable, "-m", "pylsp"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    editor = Editor(server)
    try:
        editor.ask("initialize", processId=os.getpid(), rootUri=tmp_path.as_uri(), capabilities={})
        editor.tell("initialized")
        yield editor
    finally:
        server.kill()
        server.wait()


def test_diagnostics_follow_the_text(editor: Editor, tmp_path: Path) -> None:
    plugins = {
        name: {"enabled": name == "flake8"} for name in ("flake8", "mccabe", "pycodestyle", "pyflakes")
    }
    editor.tell("workspace/didChangeConfiguration", settings={"pylsp": {"plugins": plugins}})
    document = {"uri": (tmp_path / "launches.py").as_uri(), "version": 1}
    editor.tell("textDocument/didOpen", textDocument={**document, "languageId": "python", "text": LAUNCHES})
    (diagnostic,) = editor.diagnostics()
    assert (diagnostic["source"], diagnostic["code"]) == ("flake8", "WRP201")
    assert diagnostic["range"]["start"] == {"line": 7, "character": 4}
    assert 'module "kernels" is built 2 times' in diagnostic["message"]

    good = [{"text": LAUNCHES.replace(", block_dim=64", "")}]
    editor.tell("textDocument/didChange", textDocument={**document, "version": 2}, contentChanges=good)
    assert editor.diagnostics() == []
