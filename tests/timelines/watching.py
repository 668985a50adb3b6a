"""Runs many programs on Warp, each in a fork of one process that has Warp ready, and tells what was built.

The programs share one kernel cache, so that the same module is compiled once for all of them. What a program
would build with a cache of its own is what it builds or finds there, each hash once.

``python -m tests.timelines.watching FOLDER…`` runs the ``main.py`` of each folder, on every way
through its branches, and prints as JSON, for each, the modules in the order of their builds.
"""

from __future__ import annotations

import itertools
import json
import os
import runpy
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import warp
from warp._src import context, logger

from tests.proofs.recorder.recording import (
    HEADERS_FOLDER,
    Recorder,
    send_messages_to_stderr,
    share_precompiled_headers,
)
from tests.timelines.programs import FLAGS


def builds_of(folder: Path, recorder: Recorder) -> dict[str, Any]:
    """What a run of a program builds, or the error that ended it, told by a fork of this process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        outcome: dict[str, Any] = {"error": ""}
        try:
            os.chdir(folder)
            sys.path.insert(0, str(folder))
            runpy.run_path(str(folder / "main.py"), run_name="__main__")
        except BaseException:
            outcome["error"] = traceback.format_exc()
        events = recorder.events
        loads = [(build.module, build.hash) for build in events.builds]
        loads += [(load.module, load.hash) for load in events.cache_loads]
        hashes = dict.fromkeys(loads)
        outcome["builds"] = [module for module, _ in hashes]
        with os.fdopen(write, "w") as stream:
            json.dump(outcome, stream)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"error": "the process ended without a word", "builds": []}


def main() -> None:
    send_messages_to_stderr(logger)
    with tempfile.TemporaryDirectory(prefix="warp_timelines_") as cache:
        headers = Path(cache) / "headers"
        headers.mkdir()
        os.environ[HEADERS_FOLDER] = str(headers)
        share_precompiled_headers(context.Runtime)
        warp.config.kernel_cache_dir = f"{cache}/kernels"
        recorder = Recorder(Path(cache) / "events.json")
        recorder.watch_config(warp.config)
        recorder.watch_context(context)
        warp.launch = context.launch
        warp.get_device("cpu")  # what all forks need is made before them
        _warm_up(Path(cache))
        outcomes = {}
        for folder in sys.argv[1:]:
            runs = []
            text = (Path(folder) / "main.py").read_text()
            flags = [flag for flag in FLAGS if flag in text]
            for values in itertools.product((False, True), repeat=len(flags)):
                for flag, value in zip(flags, values, strict=True):
                    os.environ.pop(flag, None)
                    if value:
                        os.environ[flag] = "1"
                runs.append(builds_of(Path(folder).resolve(), recorder))
            outcomes[folder] = runs
        json.dump(outcomes, sys.stdout)


def _warm_up(folder: Path) -> None:
    """Make the precompiled header, which all runs share."""
    (folder / "main.py").write_text(
        "import warp as wp\n@wp.kernel\ndef first(x: wp.array(dtype=float)):\n    x[wp.tid()] = 1.0\n"
        "wp.launch(first, dim=1, inputs=[wp.zeros(1, dtype=float, device='cpu')], device='cpu')\n"
    )
    recorder = Recorder(folder / "events.json")
    outcome = builds_of(folder, recorder)
    assert not outcome["error"], outcome["error"]


if __name__ == "__main__":
    main()
