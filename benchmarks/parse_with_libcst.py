"""What any linter built on LibCST takes at least: parse the files that mention Warp, and nothing more."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from pathlib import Path

import libcst

from warp_lint.source import concerns_warp

if __name__ == "__main__":
    gc.disable()
    for path in sorted(Path(sys.argv[1]).rglob("*.py")):
        data = path.read_bytes()
        if concerns_warp(data):
            with suppress(libcst.ParserSyntaxError, UnicodeDecodeError, RecursionError):
                libcst.parse_module(data)
