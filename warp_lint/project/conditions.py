"""What runs only on a condition: behind a flag, the environment, or a failure."""

from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts.records import BlockFact, BlockKind
from warp_lint.facts.values import Expression
from warp_lint.project.callers import Callers
from warp_lint.project.files import ProjectFile

_LEAVING = ("return", "exit", "raise", "continue", "break")


class Conditions:
    """Tells whether a place runs each time its program does."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers
        self._conditional: dict[tuple[int, int], bool] = {}

    def decide_about(self, file: ProjectFile, scope: int, block: int, offset: int) -> bool:
        """Whether a condition decides about a place: a branch around it, one that leaves before it, or one
        around every call of the function that it is in. That the file is the program is no such condition."""
        if self._is_guarded(file, block) or self._is_behind_exit(file, block, offset):
            return True
        function = file.function_of(scope)
        return function is not None and self._guard_every_call(file, function)

    def tests(self, file: ProjectFile, block: int, offset: int) -> Iterator[Expression]:
        """What is asked before a place is come to: by the branches around it, and by those that may leave
        the function, or the loop that it is in, before it."""
        deciding = [file.facts.blocks[outer] for outer in file.block_ancestors(block)]
        deciding += self._exits_before(file, block, offset, _LEAVING)
        groups = {fact.group for fact in deciding if fact.kind is BlockKind.BRANCH}
        return (fact.test for fact in file.facts.blocks if fact.group in groups and fact.test is not None)

    def _is_guarded(self, file: ProjectFile, block: int) -> bool:
        return any(
            file.facts.blocks[outer].kind in (BlockKind.BRANCH, BlockKind.EXCEPT)
            and not file.is_main_block(outer)
            for outer in file.block_ancestors(block)
        )

    def _is_behind_exit(self, file: ProjectFile, block: int, offset: int) -> bool:
        """Whether a branch further up may have returned or ended the program."""
        return any(self._exits_before(file, block, offset, ("return", "exit")))

    def _exits_before(
        self, file: ProjectFile, block: int, offset: int, ways: tuple[str, ...]
    ) -> Iterator[BlockFact]:
        """The branches further up that leave the function or a loop around both in one of some ways."""
        around = file.block_ancestors(block)
        return (
            fact
            for index, fact in enumerate(file.facts.blocks)
            if fact.kind is BlockKind.BRANCH
            and fact.leaves in ways
            and fact.parent in around
            and fact.span.end <= offset
            and not file.exclude_each_other(index, block)
        )

    def _guard_every_call(self, file: ProjectFile, function: int) -> bool:
        key = (file.index, function)
        if key not in self._conditional:
            self._conditional[key] = False  # what a recursive call sees
            sites = self._callers.sites(*key)
            self._conditional[key] = bool(sites) and all(
                self.decide_about(self._callers.file(site), call.scope, call.block, call.span.start)
                for site, call in ((site, self._callers.call(site)) for site in sites)
            )
        return self._conditional[key]
