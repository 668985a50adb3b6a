"""What the plugin costs flake8 where there is no Warp: the ratio of processor times with and without it.

``python benchmarks/flake8_without_warp.py [PATHS…]``; by default some packages of the standard library. Exits
with 1 when the median ratio is more than it may be.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import sysconfig
from pathlib import Path

MOST = 1.05
ROUNDS = 3

PROGRAM = """
import os, resource, sys
if sys.argv.pop(1) == "without":
    from flake8.plugins import finder
    plugins = finder._find_importlib_plugins
    finder._find_importlib_plugins = lambda: (one for one in plugins() if one.entry_point.name != "WRP")
from flake8.main import cli
cli.main(["-j1", "--isolated", "--output-file", os.devnull, *sys.argv[1:]])
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime)
"""


def seconds(plugin: str, paths: list[str]) -> float:
    """Processor seconds of a run of flake8."""
    command = [sys.executable, "-c", PROGRAM, plugin, *paths]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> int:
    """Measure in turns, so that what else the machine does counts for both."""
    library = Path(sysconfig.get_path("stdlib"))
    paths = sys.argv[1:] or [str(library / name) for name in ("email", "json")]
    ratios = []
    for _ in range(ROUNDS):
        without = seconds("without", paths)
        ratios.append(seconds("with", paths) / without)
        print(f"{ratios[-1]:.3f}", flush=True)
    median = statistics.median(ratios)
    print(f"median {median:.3f}, at most {MOST}")
    return 0 if median <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
