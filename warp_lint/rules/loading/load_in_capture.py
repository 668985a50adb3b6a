from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.events import Context, Event
from warp_lint.project.kernels import ModuleKey
from warp_lint.rules.base import Rule


class LoadInCapture(Rule):
    """A module is loaded for the first time while a CUDA graph is captured.

    ## What it does
    Reports launches and loads under `wp.ScopedCapture`, also in functions that are called there, of modules
    that nothing loads before in the same flow.

    ## Why is this bad
    Building and loading a module is no part of the graph, but it happens in the middle of its capture: the
    capture takes as long as the build, and before CUDA 12.3 a module cannot be loaded while one is recorded.

    ## Example
    ```python
    with wp.ScopedCapture() as capture:
        wp.launch(step, dim=n, inputs=[x])
    ```

    ## Use instead
    ```python
    wp.load_module(device="cuda:0")
    with wp.ScopedCapture() as capture:
        wp.launch(step, dim=n, inputs=[x])
    ```

    ## Fix safety
    There is no fix: where the load belongs depends on what else is captured.

    ## Evidence
    A graph can be captured only on a machine with a GPU.
    """

    code = "WRP601"
    name = "load-in-capture"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        reported = set()
        for file, _, events, at_import in project.timeline.flows():
            loaded = {event.module for event in at_import if event.is_load}
            for event in events:
                if not event.is_load or event.module is None:
                    continue
                # What is captured here, not in a function that leads here or that this leads to.
                if Context.CAPTURE not in project.timeline.contexts(file, event.block):
                    continue
                if event.module in loaded:
                    continue
                if project.timeline.load_before(event.module, event, events, file) is not None:
                    continue
                loaded.add(event.module)
                # Many captures lead to one launch; the kernel that it runs may be one of many of that name.
                key = (_described(event.module, project), event.location)
                if key not in reported:
                    reported.add(key)
                    yield self._finding(event, event.module, project)

    def _finding(self, event: Event, module: ModuleKey, project: Project) -> Finding:
        described = _described(module, project)
        return self.finding(
            event.location,
            f"{described} is first loaded while a graph is captured, by {event.description}",
            related=[Related(f"through {step.name}", step.location) for step in event.steps],
        )


def _described(module: ModuleKey, project: Project) -> str:
    return project.modules[module].description if module in project.modules else "every module"
