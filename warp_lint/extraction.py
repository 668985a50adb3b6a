"""Extracting the facts of many files, in several processes where there is enough to do.

LibCST and `ast` hold the interpreter lock, so threads would wait for each other.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from warp_lint.facts.encoding import decoded, encoded
from warp_lint.facts.extract import extract
from warp_lint.facts.records import FileFacts
from warp_lint.source import Source

Finish: TypeAlias = Callable[[], FileFacts]
"""Gives the facts of a file; raises `warp_lint.facts.parsing.ParseFailure`."""

_WORTH_A_PROCESS = 250_000
"""Bytes of source that take about as long as starting a process and talking to it."""


def available_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def extraction(jobs: int, size: int) -> Iterator[Callable[[Source], Finish]]:
    """Gives a function that begins with a file, and in turn gives what waits for its facts.

    ``jobs`` is the most processes to use, ``size`` how many bytes all the files have. At the end, also after
    Ctrl-C, what was not begun is left, and the processes are gone.
    """
    processes = min(jobs, size // _WORTH_A_PROCESS)
    if processes < 2:
        yield lambda source: lambda: extract(source)
        return
    # Imported here: most runs do without.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # A fork has everything imported already. Elsewhere than on Linux it is not safe.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    executor = ProcessPoolExecutor(processes, context, initializer=_leave_interrupts)

    def begin(source: Source) -> Finish:
        future = executor.submit(_extract, source.path, source.data)

        def finish() -> FileFacts:
            try:
                found = future.result()
            except BrokenProcessPool:  # something killed a process
                found = b""
            # What cannot be told in bytes is left to this process, too.
            return decoded(found) or extract(source)

        return finish

    try:
        yield begin
    finally:
        executor.shutdown(cancel_futures=True)


def _leave_interrupts() -> None:
    """Ctrl-C reaches every process of a terminal: the one that began the others ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _extract(path: str, data: bytes) -> bytes:
    return encoded(extract(Source.from_bytes(path, data)))
