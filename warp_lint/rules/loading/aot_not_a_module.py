from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.names import write_meant_name
from warp_lint.findings import Finding, Level
from warp_lint.project import Project
from warp_lint.project.preloads import AHEAD_OF_TIME
from warp_lint.rules.base import Rule


class AotNotAModule(Rule):
    """A build ahead of time names something that is no module.

    ## What it does
    Reports strings in `wp.compile_aot_module` and `wp.load_aot_module` that begin like a module of the
    project, are nearly one's name, or are the name of a kernel or a file, while no module is called so. Names
    of other packages, which the linter does not see, and computed names are left alone.

    ## Why is this bad
    Warp creates an empty module of that name and finds nothing to compile in it, or no file to load: both
    calls raise, at the earliest when the build runs.

    ## Example
    ```python
    @wp.kernel
    def blur(x: wp.array(dtype=float)): ...


    wp.compile_aot_module("blur", device="cuda:0")
    ```

    ## Use instead
    ```python
    @wp.kernel
    def blur(x: wp.array(dtype=float)): ...


    wp.compile_aot_module(__name__, device="cuda:0")
    ```

    ## Fix safety
    The fix writes `__name__`, or the nearest name. It is unsafe: another module may be meant.
    """

    code = "WRP614"
    name = "aot-not-a-module"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        for preload in project.preloads:
            given = preload.plain("module") if preload.name in AHEAD_OF_TIME else None
            if not isinstance(given, str) or preload.expects_error:
                continue
            wrong = project.module_names.fault(given, preload.file)
            if wrong is None:
                continue
            what = (
                "there is nothing to compile" if preload.name == "compile_aot_module" else "there is no file"
            )
            yield self.finding(
                preload.location,
                f'no module is called "{wrong.name}": {what}',
                suppression_range=preload.suppression_range,
                fix=write_meant_name(wrong, preload.written("module"), preload.file, project),
            )
