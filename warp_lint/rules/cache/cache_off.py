from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.options import remove_setting
from warp_lint.findings import Applicability, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.values import constant
from warp_lint.rules.base import Rule


class CacheOff(Rule):
    """The kernel cache is switched off for every run.

    ## What it does
    Reports `wp.config.cache_kernels = False` where no condition decides about it. Behind a flag, an
    environment variable or a debug switch, and in tests, it may stand.

    ## Why is this bad
    Warp keeps what it has built on disk and finds it again by the hash of the module, so there is nothing
    to be gained from building anew. Without the cache every process builds every module that it loads, each
    time. It is set while somebody hunts a stale binary, and then it is forgotten.

    ## Example
    ```python
    import warp as wp

    wp.config.cache_kernels = False
    ```

    ## Use instead
    ```python
    import os

    import warp as wp

    if os.environ.get("REBUILD_KERNELS"):
        wp.config.cache_kernels = False
    ```

    ## Fix safety
    The fix deletes the statement. It is unsafe: somebody may rely on fresh builds.
    """

    code = "WRP702"
    name = "cache-off"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for setting in project.lasting_settings:
            is_off = setting.is_config and setting.values == (constant(False),)
            if setting.name != "cache_kernels" or not is_off:
                continue
            edits = remove_setting(setting, project)
            yield self.finding(
                setting.location,
                "the kernel cache is off: every process builds all of its modules again",
                suppression_range=setting.suppression_range,
                fix=Fix("Leave the cache on", Applicability.UNSAFE, edits) if edits is not None else None,
            )
