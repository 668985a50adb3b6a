from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from warp_lint.facts.records import BlockKind
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.rules.base import Rule

_HANDLERS = (BlockKind.TRY, BlockKind.EXCEPT, BlockKind.TRY_ELSE)


class RedefinedKernel(Rule):
    """Two kernels of one module have the same name.

    ## What it does
    Reports a kernel whose name another kernel of the same module and scope already has. Branches that
    exclude each other may define the same name, and `wp.overload` is no new definition.

    ## Why is this bad
    For Python the name stands for the second kernel only; for Warp both are kernels of the module for as long
    as something refers to the first, such as a list, a recorded launch or another name. Then both are
    generated and compiled, under names that nobody can tell apart in a profile. If the first has been
    launched by then, the whole module is built a second time.

    ## Example
    ```python
    @wp.kernel
    def advance(x: wp.array(dtype=float)): ...


    solvers = [advance]


    @wp.kernel
    def advance(x: wp.array(dtype=float)): ...
    ```

    ## Use instead
    ```python
    @wp.kernel
    def advance_explicit(x: wp.array(dtype=float)): ...


    @wp.kernel
    def advance_implicit(x: wp.array(dtype=float)): ...
    ```

    ## Fix safety
    There is no fix: which of the two is meant where, only the author knows.
    """

    code = "WRP108"
    name = "redefined-kernel"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        found: dict[tuple[ModuleKey, int, str], list[KernelDefinition]] = defaultdict(list)
        for kernel in project.kernels.values():
            is_shared = kernel.module.kind in (ModuleKind.OWN, ModuleKind.NAMED)
            if is_shared and kernel.call is None and not kernel.file.expects_error(kernel.place.block):
                found[kernel.module, kernel.place.scope, kernel.name].append(kernel)
        for kernels in found.values():
            ordered = sorted(kernels, key=lambda kernel: kernel.place.order)
            for position, kernel in enumerate(ordered):
                earlier = [first for first in ordered[:position] if self._meet(first, kernel)]
                if earlier:
                    yield self._finding(earlier[-1], kernel, project)

    def _meet(self, first: KernelDefinition, second: KernelDefinition) -> bool:
        """Whether both definitions run in one flow: one stands in the other's block or in one inside it."""
        if first.file is not second.file:
            return False
        file, blocks = first.file, (first.place.block, second.place.block)
        if any(self._is_handled(file, block) for block in blocks) or not file.may_reach(*blocks):
            return False
        return blocks[0] in file.block_ancestors(blocks[1]) or blocks[1] in file.block_ancestors(blocks[0])

    def _is_handled(self, file: ProjectFile, block: int) -> bool:
        """Whether a block is part of a `try`, which picks one of its definitions."""
        return any(file.facts.blocks[outer].kind in _HANDLERS for outer in file.block_ancestors(block))

    def _finding(self, first: KernelDefinition, second: KernelDefinition, project: Project) -> Finding:
        module = project.modules[second.module]
        return self.finding(
            second.location,
            f'kernel "{second.name}" is defined again in module "{module.name}": '
            "as long as the first is in use, both are built under one name",
            suppression_range=second.suppression_range,
            related=[Related("first defined here", first.location)],
        )
