"""The modules as one page to look at: a box for each, as large as its builds; what is wasted is hatched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from warp_lint.reports.modules.rows import BuildRow, BuiltKernel, ModuleRow, Use
from warp_lint.reports.wording import counted, shown_path

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2430; --quiet: #6a7482; --line: #d5dae1;
  --used: #2f7d6b; --wasted: #d9653b; --card: #f7f8fa; }
@media (prefers-color-scheme: dark) { :root { --paper: #12161c; --ink: #e3e8ee; --quiet: #93a0af;
  --line: #2e3742; --used: #4fb39b; --wasted: #f08a5d; --card: #1a2028; } }
body { margin: 2rem; background: var(--paper); color: var(--ink); font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0; }
p.sum { color: var(--quiet); margin: .3rem 0 1rem; }
ul.legend { display: flex; gap: 1.5rem; list-style: none; margin: 0 0 1.5rem; padding: 0;
  color: var(--quiet); }
ul.legend li { display: flex; align-items: center; gap: .5rem; }
main { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }
section { border: 1px solid var(--line); border-radius: 8px; background: var(--card); padding: .8rem 1rem;
  max-width: 100%; box-sizing: border-box; }
section.waste { border-color: var(--wasted); }
h2 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
.about { color: var(--quiet); font-size: 12px; margin: .1rem 0 .6rem; max-width: 36rem;
  overflow-wrap: anywhere; }
.build { display: flex; align-items: center; gap: .6rem; margin: 2px 0; }
.build .variant { width: 6.5rem; flex: none; color: var(--quiet); font-size: 12px; text-align: right;
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.cells { display: flex; flex-wrap: wrap; gap: 2px; max-width: 46rem; }
.cell { width: 16px; height: 16px; border-radius: 3px; background: var(--used); flex: none; }
.cell.wasted { background: repeating-linear-gradient(45deg, var(--wasted) 0 2px, transparent 2px 5px);
  box-shadow: inset 0 0 0 1px var(--wasted); }
.cell:hover { outline: 2px solid var(--ink); }
"""


def render(rows: Sequence[ModuleRow]) -> Iterator[str]:
    """One self-contained page, without scripts and without anything from elsewhere."""
    builds = sum(row.predicted_builds for row in rows)
    kernel_builds = sum(row.predicted_kernel_builds for row in rows)
    wasted = sum(max(row.waste, 0) for row in rows)
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width">'
    yield '<link rel="icon" href="data:,">\n<title>Warp modules</title>'
    yield f"<style>{_STYLE}</style>\n</head>\n<body>"
    yield "<h1>Warp modules</h1>"
    yield (
        f'<p class="sum">{counted(len(rows), "module")}, {counted(builds, "build")} over an empty cache, '
        f"{counted(kernel_builds, 'kernel build')}, {wasted} of them beyond the needed.</p>"
    )
    yield '<ul class="legend"><li><span class="cell"></span> a kernel, built for a launch</li>'
    yield '<li><span class="cell wasted"></span> never launched so, or built again</li></ul>\n<main>'
    for row in rows:
        yield from _section(row)
    yield "</main>\n</body>\n</html>"


def _section(row: ModuleRow) -> Iterator[str]:
    yield f"<section{' class=waste' if row.waste > 0 else ''}>"
    yield f"<h2>{escape(row.name)}</h2>"
    yield f'<div class="about">{"<br>".join(map(escape, _about(row)))}</div>'
    launches = _launches(row)
    for build in row.builds:
        yield from _build(build, launches)
    yield "</section>"


def _about(row: ModuleRow) -> Iterator[str]:
    place = shown_path(row.file) if row.file is not None else "a name of its own"
    yield f"{row.kind}, {place}"
    about = "" if row.exact else "about "
    yield (
        f"{about}{counted(row.predicted_builds, 'build')} ({row.needed_builds} needed), "
        f"{counted(row.predicted_kernel_builds, 'kernel build')} ({row.needed_kernel_builds} needed)"
    )
    if row.options:
        yield ", ".join(f"{name}={value}" for name, value in row.options.items())
    yield f"backward {'on' if row.backward else 'off'}{', used' if row.backward_used else ''}"
    if row.loaded_by is not None:
        yield f"first loaded by {row.loaded_by}"
    if not row.builds:
        yield "never loaded: " + ", ".join(kernel.name for kernel in row.kernels)


def _launches(row: ModuleRow) -> str:
    return ", ".join(map(str, row.block_dims)) or "none that are known"


def _build(build: BuildRow, launches: str) -> Iterator[str]:
    variant = f"{build.device} {build.block_dim}"
    yield f'<div class="build"><span class="variant" title="{escape(variant)}">{escape(variant)}</span>'
    yield '<div class="cells">'
    for kernel in build.kernels:
        yield _cell(kernel, build, launches)
    yield "</div></div>"


def _cell(kernel: BuiltKernel, build: BuildRow, launches: str) -> str:
    text = f"{kernel.name}: {kernel.use.value} with block_dim {build.block_dim} (launched: {launches})"
    state = "" if kernel.use is Use.NEEDED else " wasted"
    return f'<span class="cell{state}" title="{escape(text)}"></span>'
