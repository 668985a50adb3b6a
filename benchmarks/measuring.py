"""What a command takes."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """Seconds and bytes; ``cpu`` and ``memory`` are those of all processes, and of the largest one."""

    cpu: float
    wall: float
    memory: int


def cost(command: Sequence[str], directory: Path, environment: Mapping[str, str] | None = None) -> Cost:
    """What a command takes that is run in a directory; its exit status and output do not matter."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=directory,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss * 1024)


def median(costs: Iterable[Cost]) -> Cost:
    """The median of each figure."""
    cpu, wall, memory = zip(*costs, strict=True)
    return Cost(statistics.median(cpu), statistics.median(wall), int(statistics.median(memory)))
