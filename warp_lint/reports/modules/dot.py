"""The modules as a graph for Graphviz: which kernels share a module, and who loads it first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warp_lint.reports.modules.rows import ModuleRow
from warp_lint.reports.wording import shown_path


def render(rows: Sequence[ModuleRow]) -> Iterator[str]:
    yield "digraph modules {"
    yield "  rankdir=LR;"
    yield '  node [fontname="sans-serif"];'
    for number, row in enumerate(rows):
        builds = f"{row.predicted_builds} builds, {row.predicted_kernel_builds} kernel builds"
        wasted = f", {row.waste} beyond the needed" if row.waste > 0 else ""
        colour = ", style=filled, fillcolor=lightsalmon" if row.waste > 0 else ""
        label = _quoted(f"{row.name}\n{builds}{wasted}")
        yield f"  m{number} [shape=box, label={label}{colour}];"
        if row.file is not None:
            yield f"  {_quoted(shown_path(row.file))} -> m{number};"
        for position, kernel in enumerate(row.kernels):
            yield f"  m{number}k{position} [shape=ellipse, label={_quoted(kernel.name)}];"
            yield f"  m{number} -> m{number}k{position};"
        if row.loaded_by is not None:
            yield f"  {_quoted(row.loaded_by)} [shape=plaintext];"
            yield f"  {_quoted(row.loaded_by)} -> m{number} [style=dashed];"
    yield "}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
