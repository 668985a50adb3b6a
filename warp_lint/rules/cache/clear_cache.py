from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts import values as fact
from warp_lint.facts.records import BlockKind
from warp_lint.findings import Finding, Level
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.files import ProjectFile
from warp_lint.rules.base import Rule


class ClearCache(Rule):
    """The kernel cache is cleared on a way that goes on to load modules.

    ## What it does
    Reports `wp.clear_kernel_cache()` and `wp.clear_lto_cache()` that run at import, in tests, or before
    something loads modules. A function that only clears, and a call under a flag or in a branch of a
    command line, are left alone.

    ## Why is this bad
    Every start builds everything again, for every other program that shares the cache too.

    ## Example
    ```python
    if __name__ == "__main__":
        wp.clear_kernel_cache()
        main()
    ```

    ## Use instead
    ```python
    if __name__ == "__main__":
        main()
    ```

    ## Fix safety
    The fix deletes the statement. It is unsafe: somebody may have wanted the fresh build.
    """

    code = "WRP701"
    name = "clear-cache"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for site in sorted(project.calls_of("clear_kernel_cache", "clear_lto_cache", "build.clear_kernel_cache")):
            file = project.files[site.file]
            call = project.call(site)
            if self._is_guarded(file, call.block) or not self._goes_on(site, project):
                continue
            what = "kernel cache" if "kernel" in _called_name(call.function) else "cache of linked code"
            yield self.finding(
                file.facts.location(call.span),
                f"the {what} is cleared on every run: all modules are built again",
                suppression_range=file.facts.location(call.statement_span).range,
            )

    def _is_guarded(self, file: ProjectFile, block: int) -> bool:
        """Whether a condition decides about the call; that the file is the program is none."""
        return any(
            file.facts.blocks[outer].kind in (BlockKind.BRANCH, BlockKind.EXCEPT)
            and not file.is_main_block(outer)
            for outer in file.block_ancestors(block)
        )

    def _goes_on(self, site: CallSite, project: Project) -> bool:
        """Whether something may be loaded after the call."""
        file = project.files[site.file]
        call = project.call(site)
        function = file.function_of(call.scope)
        if function is None or project.is_test(file):
            return True
        events = project.timeline.events(file.index, function)
        if any(load.order > call.order for load in events.loads):
            return True
        callers = project.callers.sites(file.index, function)
        return any(self._goes_on_after(caller, project) for caller in callers)

    def _goes_on_after(self, site: CallSite, project: Project) -> bool:
        """Whether a call of a function that clears is unconditional and something runs behind it."""
        file = project.files[site.file]
        call = project.call(site)
        if self._is_guarded(file, call.block):
            return False
        if file.function_of(call.scope) is None:
            return True
        return any(
            load.order > call.order for load in project.timeline.events(file.index, call.scope).loads
        )


def _called_name(function: fact.Expression) -> str:
    match function:
        case fact.Attribute(attribute=name) | fact.Name(id=name):
            return name
        case _:
            return ""
