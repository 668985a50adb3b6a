from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level
from warp_lint.project import Project
from warp_lint.project.values import constant
from warp_lint.rules.base import Rule


class IdlePreloadWorkers(Rule):
    """Workers for preloading are configured, and nothing is preloaded.

    ## What it does
    Reports `wp.config.load_module_max_workers` where no file of the project calls `wp.load_module` or
    `wp.force_load`.

    ## Why is this bad
    The workers serve explicit loads only. A module that is loaded by its first launch is built by the
    launching thread, one module after another: the setting has no effect.

    ## Example
    ```python
    wp.config.load_module_max_workers = 8
    run()
    ```

    ## Use instead
    ```python
    wp.config.load_module_max_workers = 8
    wp.force_load(device="cuda:0", modules=[fluid, contacts])
    run()
    ```

    ## Fix safety
    There is no fix: either the setting goes, or a load comes.
    """

    code = "WRP607"
    name = "idle-preload-workers"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        if any(project.calls_of("load_module", "force_load")):
            return
        for config in project.config_writes:
            if config.name != "load_module_max_workers" or config.values in (
                (constant(0),),
                (constant(None),),
            ):
                continue
            if project.is_library(config.file):
                continue  # the program that uses the library may load
            yield self.finding(
                config.location,
                "load_module_max_workers has no effect: nothing in the project loads modules explicitly",
                suppression_range=config.file.facts.location(config.span).range,
            )
