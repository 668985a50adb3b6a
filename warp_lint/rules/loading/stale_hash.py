from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warp_lint.findings import Finding, Level, Location, Range, Related
from warp_lint.project import Project
from warp_lint.project.events import Event, EventKind
from warp_lint.project.kernels import ModuleKey
from warp_lint.project.modules import WarpModule
from warp_lint.project.values import Constant, constant
from warp_lint.rules.base import Rule


class StaleHash(Rule):
    """A binary is found by its name alone, whatever has changed since it was built.

    ## What it does
    Reports `strip_hash=True`, as a module option or as an argument of the functions for builds ahead of time,
    where the project loads the module without compiling it first in the same flow, or launches it with more
    than one block dimension. A flow that always compiles before it loads is left alone.

    ## Why is this bad
    The hash in the name of a file is how Warp knows that the file is of these kernels, these options and this
    block dimension. Without it the old file is loaded after any change of them: no error is raised, and the
    results are those of the old code, or simply wrong.

    ## Example
    ```python
    wp.set_module_options({"strip_hash": True})


    @wp.kernel
    def scale(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = 2.0 * x[i]  # an edit to 3.0 changes nothing


    wp.launch(scale, dim=n, inputs=[x])
    ```

    ## Use instead
    ```python
    @wp.kernel
    def scale(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = 2.0 * x[i]


    wp.launch(scale, dim=n, inputs=[x])
    ```

    ## Fix safety
    There is no fix: something may look for the files by these names.
    """

    code = "WRP616"
    name = "stale-hash"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        sources = list(_sources(project))
        uncompiled = _loads_without_compilation(project) if sources else {}
        reported: set[ModuleKey] = set()
        for source in sources:
            module = project.modules.get(source.module)
            if source.module in reported or module is None:
                continue
            load = uncompiled.get(source.module)
            block_dims = _block_dims(module, project)
            if load is None and len(block_dims) < 2:
                continue
            reported.add(source.module)
            if load is not None:
                what = "after any change the old binary runs"
                related = [Related(f"{load.description} compiles nothing that is there", load.location)]
            else:
                what = f"one binary serves block_dim {' and '.join(map(str, sorted(block_dims)))}"
                launch = module.launches[-1]
                location = project.files[launch.site.file].facts.location(project.call(launch.site).span)
                related = [Related("launched here", location)]
            yield self.finding(
                source.location,
                f'module "{module.name}" is found by its name alone: {what}',
                suppression_range=source.suppression_range,
                related=related,
            )


class _Source(NamedTuple):
    """What strips the hash of a module."""

    module: ModuleKey
    location: Location
    suppression_range: Range


def _sources(project: Project) -> Iterator[_Source]:
    for write in project.option_writes:
        if write.name == "strip_hash" and write.values == (constant(True),):
            yield _Source(write.module, write.entry_location, write.suppression_range)
    for name in ("load_aot_module", "compile_aot_module"):
        for preload in project.preloads:
            if preload.name == name and preload.argument("strip_hash") == (constant(True),):
                for module in preload.modules if not preload.expects_error else ():
                    yield _Source(module, preload.location, preload.suppression_range)


def _loads_without_compilation(project: Project) -> dict[ModuleKey, Event]:
    """For each module the first load that no flow compiles the module before."""
    compiled: set[tuple[ModuleKey, Location]] = set()
    loads: dict[tuple[ModuleKey, Location], Event] = {}
    for file, _, events, _ in project.timeline.flows():
        for event in events:
            if not event.is_load or event.module is None:
                continue
            key = (event.module, event.location)
            loads.setdefault(key, event)
            around = file.block_ancestors(event.block)
            if any(
                other.kind is EventKind.COMPILE
                and other.module == event.module
                and other.order < event.order
                and other.block in around
                for other in events
            ):
                compiled.add(key)
    found: dict[ModuleKey, Event] = {}
    for (module, location), event in loads.items():
        if (module, location) not in compiled:
            found.setdefault(module, event)
    return found


def _block_dims(module: WarpModule, project: Project) -> set[int]:
    """The block dimensions that are known of the module's launches, where they matter."""
    cpu_counts = any(
        write.name == "enable_cpu_blocks" and write.values == (constant(True),)
        for write in project.config_writes
    )
    return {
        launch.block_dim.value
        for launch in module.launches
        if (cpu_counts or not launch.cpu_only)
        and isinstance(launch.block_dim, Constant)
        and isinstance(launch.block_dim.value, int)
    }
