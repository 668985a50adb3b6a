"""The modules as a table for a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from warp_lint.reports.modules.rows import ModuleRow
from warp_lint.reports.wording import counted, shown_path

_WIDE = 200
"""Columns where the output is no terminal."""


def render(rows: Sequence[ModuleRow]) -> Iterator[str]:
    if not rows:
        yield "No Warp modules found."
        return
    table = Table(box=None, pad_edge=False, header_style="bold", row_styles=("", "dim"))
    for heading in ("module", "kernels", "options", "block_dim", "backward", "first loaded by"):
        table.add_column(heading, overflow="fold")
    for heading in ("builds", "needed", "kernel builds", "needed"):
        table.add_column(heading, justify="right")
    for row in rows:
        about = "" if row.exact else "~"
        table.add_row(
            _name(row),
            _kernels(row),
            ", ".join(f"{name}={value}" for name, value in row.options.items()),
            ", ".join(map(str, row.block_dims)),
            ("on" if row.backward else "off") + (", used" if row.backward_used else ""),
            row.loaded_by or "",
            f"{about}{row.predicted_builds}",
            str(row.needed_builds),
            f"{about}{row.predicted_kernel_builds}",
            str(row.needed_kernel_builds),
        )
    console = Console(width=None if sys.stdout.isatty() else _WIDE)
    with console.capture() as capture:
        console.print(table)
    yield from capture.get().splitlines()
    yield ""
    builds, kernel_builds = sum(row.predicted_builds for row in rows), _sum_kernel_builds(rows)
    wasted = sum(max(row.waste, 0) for row in rows)
    yield (
        f"{counted(len(rows), 'module')}: {counted(builds, 'build')} with "
        f"{counted(kernel_builds, 'kernel build')} over an empty cache, {wasted} beyond the needed."
    )
    if not all(row.exact for row in rows):
        yield "~ not exact: something that decides is known only when the program runs."


def _sum_kernel_builds(rows: Sequence[ModuleRow]) -> int:
    return sum(row.predicted_kernel_builds for row in rows)


def _name(row: ModuleRow) -> str:
    name = row.name if row.kind in ("own", "named") else f"{row.name} ({row.kind})"
    return name if row.file is None else f"{name}\n  {shown_path(row.file)}"


def _kernels(row: ModuleRow) -> str:
    generic = [kernel for kernel in row.kernels if kernel.generic]
    text = str(len(row.kernels))
    if generic:
        overloads = sum(kernel.overloads for kernel in generic)
        text += f" ({len(generic)} generic, {counted(overloads, 'overload')})"
    return text
