"""Runs a program of Warp as ``__main__`` and prints what its output does not show.

That is the outcome of each test, and at the end a digest of what every launch left in its arrays.
"""

from __future__ import annotations

import functools
import hashlib
import runpy
import sys
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def run(name: str, arguments: Sequence[str]) -> None:
    """Run the program of this name, which stands beside the script that was started."""
    path = Path(sys.argv[0]).with_name(name)
    sys.argv = [str(path), *arguments]
    _print_outcomes()
    digest = hashlib.blake2b(digest_size=16)
    _watch_launches(digest)
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        print("arrays:", digest.hexdigest())


def _print_outcomes() -> None:
    for name in ("addSuccess", "addFailure", "addError", "addSkip"):
        _print_outcome(name)


def _print_outcome(name: str) -> None:
    original = getattr(unittest.TextTestResult, name)

    @functools.wraps(original)
    def note(result: unittest.TestResult, test: unittest.TestCase, *details: Any) -> None:
        print(test.id(), name.removeprefix("add"))
        original(result, test, *details)

    setattr(unittest.TextTestResult, name, note)


def _watch_launches(digest: Any) -> None:
    import warp
    from warp._src import context
    from warp._src.codegen import Struct

    wp: Any = warp
    original = context.launch

    @functools.wraps(original)
    def launch(kernel: Any, *arguments: Any, **keywords: Any) -> Any:
        result = original(kernel, *arguments, **keywords)
        for argument in (*keywords.get("inputs", ()), *keywords.get("outputs", ())):
            # addresses, in structs and handles, are new in every process
            if (
                isinstance(argument, wp.array)
                and argument.dtype is not wp.uint64
                and not isinstance(argument.dtype, Struct)
            ):
                digest.update(argument.numpy().tobytes())
        return result

    context.launch = wp.launch = launch
