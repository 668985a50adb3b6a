"""Measure, and print what stands in ``docs/performance.md``.

``python -m benchmarks`` lints the Warp corpora. ``--corpus NAME`` (several times) chooses others of those in
``tests/wild/corpora.py``, ``--monorepo`` puts them among 10,000 files that do not concern Warp, ``--growth``
lints made-up programs of growing size, ``--skip NAME`` leaves a tool out, ``--tools DIRECTORY`` says where
others are: flake8 loads every plugin that is installed beside it, ours and TorchFix's too.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpora import WARP, lay_out, lay_out_monorepo, made_up
from benchmarks.measuring import Cost, cost, median
from benchmarks.tools import ENVIRONMENT, Tool, tools

_MEBIBYTE = 1 << 20


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", action="append", metavar="NAME")
    parser.add_argument("--monorepo", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip", action="append", default=[], metavar="NAME")
    parser.add_argument("--tools", action="append", default=[], metavar="DIRECTORY")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        if options.growth:
            print(*_growth(Path(directory), options.rounds), sep="\n")
            return
        tree = Path(directory, "tree")
        tree.mkdir()
        if options.monorepo:
            lay_out_monorepo(tree)
        else:
            lay_out(tuple(options.corpus or WARP), tree)
        files = sorted(tree.rglob("*.py"))
        lines = {file: file.read_bytes().count(b"\n") for file in files}
        # an ordinary file of about a thousand lines is the one that somebody edits
        changed = min(files, key=lambda file: abs(lines[file] - 1000)).relative_to(tree)
        print(f"{len(files)} files, {sum(lines.values())} lines; changed is {changed}\n")
        chosen = [tool for tool in tools(str(changed), options.tools) if tool.name not in options.skip]
        print(*_table(_compared(chosen, tree, options.rounds)), sep="\n")


def _compared(chosen: list[Tool], tree: Path, rounds: int) -> dict[str, Cost]:
    """The medians of all tools, which take turns, so that a slow minute is one for all of them."""
    costs: dict[str, list[Cost]] = defaultdict(list)
    for _ in range(rounds):
        for tool in chosen:
            tool.before(tree)
            costs[tool.name].append(cost(tool.command, tree, ENVIRONMENT))
            print(f"{tool.name}: {costs[tool.name][-1]}", file=sys.stderr, flush=True)
    return {name: median(of_tool) for name, of_tool in costs.items()}


def _table(costs: dict[str, Cost]) -> Iterator[str]:
    own = costs["warp-lint, cold, one process"]
    yield "| | CPU s | wall s | peak MiB | CPU, cold run = 1 |"
    yield "|---|---|---|---|---|"
    for name, (cpu, wall, memory) in costs.items():
        yield f"| {name} | {cpu:.2f} | {wall:.2f} | {memory / _MEBIBYTE:.0f} | {cpu / own.cpu:.3f} |"


def _growth(directory: Path, rounds: int) -> Iterator[str]:
    yield "| | sizes | CPU s | exponent |"
    yield "|---|---|---|---|"
    (tool,) = [tool for tool in tools("") if tool.name == "warp-lint, cold, one process"]
    start = _time(tool, made_up(directory / "empty", files=0), rounds)
    for what, sizes in (
        ("files", (100, 200, 400, 800)),
        ("kernels", (250, 500, 1000, 2000)),
        ("findings", (100, 200, 400, 800)),
    ):
        trees = [made_up(directory / f"{what}{size}", **{what: size}) for size in sizes]
        times = [_time(tool, tree, rounds) - start for tree in trees]
        exponent = _slope([math.log(size) for size in sizes], [math.log(time) for time in times])
        shown = ", ".join(f"{time:.2f}" for time in times)
        yield f"| {what} | {', '.join(map(str, sizes))} | {shown} | {exponent:.2f} |"


def _time(tool: Tool, tree: Path, rounds: int) -> float:
    return median(cost(tool.command, tree, ENVIRONMENT) for _ in range(rounds)).cpu


def _slope(x: list[float], y: list[float]) -> float:
    """That of the line that fits best."""
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - middle_x) ** 2 for a in x)


if __name__ == "__main__":
    main()
