from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from warp_lint.facts.records import BlockFact, BlockKind
from warp_lint.facts.values import Constant
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.files import ProjectFile
from warp_lint.rules.base import Rule

_PRELOADS = ("load_module", "force_load", "compile_aot_module", "load_aot_module")


class SwallowedPreloadError(Rule):
    """The error of a preload is swallowed.

    ## What it does
    Reports `wp.load_module`, `wp.force_load` and the ahead-of-time functions in a `try` one of whose
    handlers does nothing: no call, no `raise`, no assignment, no `return` of anything. There is one finding
    for each `try`, however many preloads stand in it.

    ## Why is this bad
    A preload that fails has preloaded nothing: a wrong name, a kernel that does not compile. The program
    goes on, slowly, and fails at the first launch instead, where the cause is hard to see.

    ## Example
    ```python
    try:
        wp.load_module("app.kernels")
    except Exception:
        pass
    ```

    ## Use instead
    ```python
    wp.load_module("app.kernels")
    ```

    ## Fix safety
    There is no fix: only the author knows what shall happen on an error.
    """

    code = "WRP606"
    name = "swallowed-preload-error"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        in_try: dict[tuple[int, int], list[CallSite]] = defaultdict(list)
        handlers: dict[tuple[int, int], BlockFact] = {}
        for site in sorted(project.calls_of(*_PRELOADS)):
            handler = self._silent_handler(project.files[site.file], project.call(site).block)
            if handler is not None:
                key = (site.file, handler.group)
                in_try[key].append(site)
                handlers[key] = handler
        for key, sites in in_try.items():
            yield self._finding(sites, handlers[key], project)

    def _silent_handler(self, file: ProjectFile, block: int) -> BlockFact | None:
        """The first handler that does nothing, of the ``try`` statements around a block."""
        for outer in file.block_ancestors(block):
            fact = file.facts.blocks[outer]
            if fact.kind is not BlockKind.TRY:
                continue
            for index, other in enumerate(file.facts.blocks):
                is_handler = other.group == fact.group and other.kind is BlockKind.EXCEPT
                if is_handler and self._does_nothing(file, index, other):
                    return other
        return None

    def _does_nothing(self, file: ProjectFile, index: int, handler: BlockFact) -> bool:
        if handler.leaves in ("raise", "exit"):
            return False
        blocks = [fact.block for fact in file.facts.calls]
        blocks += [fact.block for fact in file.facts.bindings]
        blocks += [fact.block for fact in file.facts.returns if fact.value != Constant(None)]
        return not any(index in file.block_ancestors(block) for block in blocks)

    def _finding(self, sites: list[CallSite], handler: BlockFact, project: Project) -> Finding:
        file = project.files[sites[0].file]
        first, *others = [project.call(site) for site in sites]
        return self.finding(
            file.facts.location(first.span),
            "an error of this preload is swallowed: nothing is preloaded then, and nobody is told",
            suppression_range=file.facts.location(first.statement_span).range,
            related=[
                *(Related("another preload in this try", file.facts.location(call.span)) for call in others),
                Related("swallowed here", file.facts.location(handler.span)),
            ],
        )
