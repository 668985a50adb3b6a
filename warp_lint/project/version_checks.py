"""Places that a program only comes to after it has asked what its Warp has."""

from __future__ import annotations

from warp_lint.facts.records import BindingFact, BlockFact, BlockKind, ImportFact
from warp_lint.facts.values import (
    Attribute,
    CallReference,
    Comprehension,
    Expression,
    Name,
    Operation,
    Sequence,
    Subscript,
)
from warp_lint.project.callers import Callers
from warp_lint.project.evaluation import names_in
from warp_lint.project.files import ProjectFile

_DEEPEST = 4
_ASKING = frozenset({"hasattr", "Version", "parse", "getattr"})


class VersionChecks:
    """Tells whether a check of Warp's version, or of what it offers, decides about a place."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers

    def decide_about(
        self, file: ProjectFile, scope: int, block: int, offset: int, depth: int = _DEEPEST
    ) -> bool:
        """Whether a check stands around a place, leaves before it, or stands around every call of the
        function that it is in."""
        if is_checked_around(file, block) or self._is_behind_exit(file, block, offset):
            return True
        function = file.function_of(scope)
        if function is None or depth == 0:
            return False
        sites = self._callers.sites(file.index, function)
        return bool(sites) and all(
            self.decide_about(self._callers.file(site), call.scope, call.block, call.span.start, depth - 1)
            for site, call in ((site, self._callers.call(site)) for site in sites)
        )

    def _is_behind_exit(self, file: ProjectFile, block: int, offset: int) -> bool:
        around = file.block_ancestors(block)
        return any(
            fact.kind is BlockKind.BRANCH
            and fact.leaves
            and fact.parent in around
            and fact.span.end <= offset
            and _asks(fact, file)
            for fact in file.facts.blocks
        )


def is_checked_around(file: ProjectFile, block: int) -> bool:
    """Whether a branch around a block asks what Warp has, or a ``try`` or a test bears that it has it not."""
    if file.expects_error(block):
        return True
    blocks = [file.facts.blocks[outer] for outer in file.block_ancestors(block)]
    if any(fact.kind in (BlockKind.TRY, BlockKind.EXCEPT) for fact in blocks):
        return True
    groups = {fact.group for fact in blocks}
    return any(fact.group in groups and _asks(fact, file) for fact in file.facts.blocks)


def _asks(fact: BlockFact, file: ProjectFile) -> bool:
    return fact.test is not None and _asks_in(fact.test, file, follow=True)


def _asks_in(test: Expression, file: ProjectFile, *, follow: bool) -> bool:
    if not _ASKING.isdisjoint(names_in(test, file)) or _mentions_version(test, file) or _is_membership(test):
        return True
    return follow and any(_is_check(name, file) for name in names_in(test, file))


def _is_check(name: str, file: ProjectFile) -> bool:
    """Whether a name of the module stands for the answer: it is bound to a check, under one, or imported as
    a constant from where that may be."""
    for binder in file.binders.get(0, {}).get(name, ()):
        match binder.fact:
            case BindingFact(value=value):
                if _asks_in(value, file, follow=False) or is_checked_around(file, binder.block):
                    return True
            case ImportFact():
                if name.isupper():
                    return True
    return False


def _mentions_version(test: Expression, file: ProjectFile) -> bool:
    match test:
        case Attribute(base=base, attribute=attribute):
            return attribute in ("version", "__version__") or _mentions_version(base, file)
        case Operation(operands=items) | Sequence(items=items):
            return any(_mentions_version(item, file) for item in items)
        case Subscript(base=base):
            return _mentions_version(base, file)
        case CallReference(index=index):
            call = file.facts.calls[index]
            return _mentions_version(call.function, file) or any(
                _mentions_version(argument.value, file) for argument in call.arguments
            )
        case Comprehension(scope=scope):
            loops = file.loop_bindings.get(scope, ())
            return any(_mentions_version(loop.value, file) for loop in loops)
        case Name(id=name):
            return name.lower().endswith("warp_version")
        case _:
            return False


def _is_membership(test: Expression) -> bool:
    return isinstance(test, Operation) and test.operator in ("in", "not in")
