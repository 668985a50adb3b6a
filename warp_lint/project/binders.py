"""What gives a name its value, and which of several such places counts at another place."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from warp_lint.facts.records import BindingFact, ImportFact, Parameter

if TYPE_CHECKING:
    from warp_lint.project.files import ProjectFile


class BinderKind(str, enum.Enum):
    PARAMETER = "parameter"
    IMPORT = "import"
    DEFINITION = "definition"
    BINDING = "binding"


class Binder(NamedTuple):
    """One place that binds a name. ``fact`` is the parameter, the import, the index of the function's or
    class's scope, or the binding; ``path`` says which part of the bound value the name gets."""

    kind: BinderKind
    order: int
    block: int
    fact: Parameter | ImportFact | int | BindingFact
    path: tuple[int, ...] = ()


def reaching(binders: list[Binder], file: ProjectFile, block: int, order: int) -> list[Binder]:
    """The binders whose value a name can have at a place of the same scope.

    The last one on every way to the place counts; in a loop those further down, and the one that the place
    is in, count as well, since the body may have run before.
    """
    around = file.block_ancestors(block)
    before = [binder for binder in binders if binder.order < order and file.may_reach(binder.block, block)]
    for index in range(len(before) - 1, -1, -1):
        if before[index].block in around:
            before = before[index:]
            break
    loop = file.loop_of(block)
    if loop is None or (before and loop in file.block_ancestors(before[0].block)):
        return before
    return before + [
        binder for binder in binders if binder.order >= order and loop in file.block_ancestors(binder.block)
    ]
