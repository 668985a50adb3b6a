from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level
from warp_lint.project import Project
from warp_lint.project.values import constant
from warp_lint.rules.base import Rule


class LoadEverything(Rule):
    """Every module of the process is built at once.

    ## What it does
    Reports `wp.force_load()` that names no modules, and `wp.capture_begin` and `wp.ScopedCapture` with
    `force_module_load=True`. Test runners may do as they like.

    ## Why is this bad
    Warp builds every module that anything in the process has registered, whether it is launched or not. With
    `warp.fem` imported, a capture that needed 7 modules built 61, which took 39 seconds.

    ## Example
    ```python
    wp.force_load(device="cuda:0")
    ```

    ## Use instead
    ```python
    wp.load_module("app.fluid", device="cuda:0")
    wp.load_module("app.contacts", device="cuda:0")
    ```

    ## Fix safety
    There is no fix: only the author knows which modules are meant.
    """

    code = "WRP604"
    name = "load-everything"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for preload in project.preloads:
            if preload.loads_everything and not project.is_test(preload.file):
                yield self.finding(
                    preload.location,
                    "all registered modules are built, whether they are launched or not",
                    suppression_range=preload.suppression_range,
                )
        for site in sorted(project.calls_of("capture_begin", "ScopedCapture")):
            file, call = project.files[site.file], project.call(site)
            arguments = project.evaluator.arguments(call, project.evaluator.place_of(site.file, call), {})
            is_forced = arguments.get(2, "force_module_load") == (constant(True),)
            if is_forced and not project.is_test(file):
                yield self.finding(
                    file.facts.location(call.span),
                    "the capture first builds all registered modules, whether they are launched or not",
                    suppression_range=file.facts.location(call.statement_span).range,
                )
