from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.imports import delete_statement
from warp_lint.findings import Applicability, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.environment import EnvironmentWrite
from warp_lint.project.values import only_constant
from warp_lint.rules.base import Rule


class DriverCacheOff(Rule):
    """The code cache of the CUDA driver is switched off.

    ## What it does
    Reports `CUDA_CACHE_DISABLE` set to anything but 0 from code, through `os.environ` or `os.putenv`, where
    no condition decides about it. Tests may set it.

    ## Why is this bad
    Where a module was built as PTX, the driver compiles it for the device and keeps the result. Without its
    cache that happens again in every process, although Warp finds the module in its own cache. Every other
    library in the process, and every child process, goes without the cache as well.

    ## Example
    ```python
    import os

    import warp as wp

    os.environ["CUDA_CACHE_DISABLE"] = "1"
    wp.init()
    ```

    ## Use instead
    ```python
    import warp as wp

    wp.init()
    ```

    ## Fix safety
    The fix deletes the statement. It is unsafe: a measurement may want the cold driver.

    ## Evidence
    Only the driver of a real GPU compiles PTX; without one there is nothing to count.
    """

    code = "WRP704"
    name = "driver-cache-off"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for write in project.environment_writes:
            if write.name != "CUDA_CACHE_DISABLE" or not _switches_off(write):
                continue
            place = write.place
            is_chosen = project.is_test(write.file) or project.conditions.decide_about(
                write.file, place.scope, place.block, write.span.start
            )
            if not is_chosen:
                yield self.finding(
                    write.location,
                    "the driver's cache is off: what is built as PTX is compiled again in every process",
                    suppression_range=write.suppression_range,
                    fix=self._fix(write, project),
                )

    def _fix(self, write: EnvironmentWrite, project: Project) -> Fix | None:
        others = [
            other
            for other in project.environment_writes
            if (other.file, other.span) == (write.file, write.span)
        ]
        edits = delete_statement(write.file, write.span.start, project) if len(others) == 1 else None
        return Fix("Delete the statement", Applicability.UNSAFE, edits) if edits is not None else None


def _switches_off(write: EnvironmentWrite) -> bool:
    value = only_constant(write.values)
    return value is not None and isinstance(value.value, str) and value.value not in ("", "0")
