from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.events import Event, EventKind
from warp_lint.project.launches import DEFAULT_BLOCK_DIM, Launch
from warp_lint.project.modules import WarpModule
from warp_lint.project.preloads import Preload
from warp_lint.project.values import Constant, constant, only_constant
from warp_lint.rules.base import Rule

_CPU_BLOCK_DIM = 1


class AotBlockDim(Rule):
    """A build ahead of time makes a variant that no launch uses.

    ## What it does
    Reports `wp.compile_aot_module` where the block dimension that it builds for, which is the module's option
    `block_dim` or else 256, is none that the project's launches of the module use. On the CPU launches use 1.
    A build into a directory of its own, which nothing loads and no launch may follow, is made for its files.

    ## Why is this bad
    The first launch finds no variant that fits and builds the module at run time, which the build was to
    spare it. For the CPU that is what happens unless the option is set.

    ## Example
    ```python
    wp.compile_aot_module(__name__, device="cpu")
    ```

    ## Use instead
    ```python
    wp.set_module_options({"block_dim": 1})
    wp.compile_aot_module(__name__, device="cpu")
    ```

    ## Fix safety
    There is no fix: the option would count for the module's other builds, too.
    """

    code = "WRP615"
    name = "aot-block-dim"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for preload in project.preloads:
            if preload.name != "compile_aot_module" or len(preload.modules) != 1:
                continue
            module = project.modules.get(preload.modules[0])
            built = _built(module, project) if module is not None else None
            if module is None or built is None:
                continue
            launches = module.launches
            wanted = _wanted(preload, launches, project)
            if wanted and built not in wanted and _is_for_launches(preload, module, project):
                shown = ", ".join(map(str, sorted(wanted)))
                first = launches[0]
                yield self.finding(
                    preload.location,
                    f'module "{module.name}" is compiled for block_dim {built}, and launched with {shown}: '
                    "it is built again at run time",
                    suppression_range=preload.suppression_range,
                    related=[
                        Related(
                            "launched here",
                            project.files[first.site.file].facts.location(project.call(first.site).span),
                        )
                    ],
                )


def _is_for_launches(preload: Preload, module: WarpModule, project: Project) -> bool:
    """Whether launches can find what is compiled: in the kernel cache, by a load, or later in the program."""
    return (
        preload.leaves_out("module_dir")
        or any(other.name == "load_aot_module" and module.key in other.modules for other in project.preloads)
        or _may_be_launched_after(preload, module, project)
    )


def _may_be_launched_after(preload: Preload, module: WarpModule, project: Project) -> bool:
    """Whether some flow of the project compiles the module and then, perhaps, launches a kernel of it."""
    timeline = project.timeline
    for file, _, events, at_import in timeline.flows():
        launches = [
            event for event in events if event.kind is EventKind.LAUNCH and event.module == module.key
        ]
        if launches and any(_is_of(event, preload) for event in at_import):
            return True
        if any(
            _is_of(event, preload) and timeline.comes_before(event, launch, file)
            for launch in launches
            for event in events
        ):
            return True
    return False


def _is_of(event: Event, preload: Preload) -> bool:
    return event.kind is EventKind.COMPILE and event.site == preload.site


def _built(module: WarpModule, project: Project) -> int | None:
    """The block dimension that the compilation builds for; None when it is not known."""
    if module.key in project.options.open_modules:
        return None
    writes = [write for write in module.writes if write.name == "block_dim"]
    if not writes:
        return DEFAULT_BLOCK_DIM
    values = {write.values for write in writes}
    value = only_constant(values.pop()) if len(values) == 1 else None
    return value.value if value is not None and isinstance(value.value, int) else None


def _wanted(preload: Preload, launches: list[Launch], project: Project) -> set[int]:
    """The block dimensions of the launches on the device of the compilation; empty when one is not known."""
    if preload.is_for_cpu_alone:
        uses_blocks = any(
            write.name == "enable_cpu_blocks" and write.values != (constant(False),)
            for write in project.config_writes
        )
        return {_CPU_BLOCK_DIM} if launches and not uses_blocks else set()
    if preload.is_for_cpu_too and preload.argument("arch") is None:
        return set()  # the device is the current one, whatever that is
    found = set()
    for launch in launches:
        if launch.cpu_only:
            continue
        if not isinstance(launch.block_dim, Constant) or not isinstance(launch.block_dim.value, int):
            return set()
        found.add(launch.block_dim.value)
    return found
