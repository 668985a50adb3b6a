from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.options import remove_setting
from warp_lint.findings import Applicability, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.values import Values, only_constant
from warp_lint.rules.base import Rule

_USUAL_LEVEL = 2
"""From here on the compiler does what running code needs."""


class LowOptimization(Rule):
    """Kernels are compiled with less optimization in every run.

    ## What it does
    Reports an `optimization_level` of 0 or 1, in `wp.config` or as a module option, where no condition
    decides about it. Tests may set it.

    ## Why is this bad
    Every launch runs slower code. On CUDA nothing is gained for it: where it was measured, a build at level 0
    took longer than one at the usual level, 1.10 against 0.84 seconds. On the CPU builds do become faster,
    which may be worth it for a test run, but hardly for every run.

    ## Example
    ```python
    wp.config.optimization_level = 0
    ```

    ## Use instead
    ```python
    if args.quick_build:
        wp.config.optimization_level = 0
    ```

    ## Fix safety
    The fix deletes the statement, or the entry where it sets other options too. It is unsafe: the build on
    the CPU takes longer then.
    """

    code = "WRP802"
    name = "low-optimization"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        if project.settings.target_version < (1, 11):
            return  # there is no such setting
        for setting in project.lasting_settings:
            level = _level(setting.values)
            if setting.name != "optimization_level" or level is None or level >= _USUAL_LEVEL:
                continue
            edits = remove_setting(setting, project)
            yield self.finding(
                setting.location,
                f"{setting.shown} is left at {level}: every launch runs slower code, and CUDA builds "
                "are no faster",
                suppression_range=setting.suppression_range,
                fix=Fix("Delete the setting", Applicability.UNSAFE, edits) if edits is not None else None,
            )


def _level(values: Values) -> int | None:
    found = only_constant(values)
    if found is None or not isinstance(found.value, int) or isinstance(found.value, bool):
        return None
    return found.value
