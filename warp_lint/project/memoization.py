"""Whether a function remembers what it made: by a decorator, or by a table that it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warp_lint.facts import values as fact
from warp_lint.facts.records import BlockFact, BlockKind
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile, last_name
from warp_lint.project.values import External, Function

if TYPE_CHECKING:
    from warp_lint.project import Project

_MEMOIZERS = ("cache", "memo")


def is_memoized(file: ProjectFile, scope: int, project: Project) -> bool:
    """Whether calling the function again may give what it gave before."""
    return memoizer(file, scope, project) is not None or _keeps_table(file, scope)


def memoizer(file: ProjectFile, scope: int, project: Project) -> fact.Expression | None:
    """The decorator that memoizes a function: one of ``functools``, or one of the project or elsewhere whose
    name says so or whose body keeps a table."""
    function = file.facts.scopes[scope]
    place = Place(file.index, function.parent, max(function.block, 0), function.order)
    for decorator in function.decorators:
        expression = decorator.expression
        while isinstance(expression, fact.CallReference):
            expression = file.facts.calls[expression.index].function
        if any(word in last_name(expression).lower() for word in _MEMOIZERS):
            return decorator.expression
        for value in project.evaluator.evaluate(expression, place, {}):
            if isinstance(value, External) and value.name in ("functools.cache", "functools.lru_cache"):
                return decorator.expression
            if isinstance(value, Function) and _keeps_table_inside(project.files[value.file], value.scope):
                return decorator.expression
    return None


def is_guarded_by_absence(file: ProjectFile, block: int) -> bool:
    """Whether a block runs only when something is not there yet: ``if self.kernel is None``, ``if key not in
    table``, ``if not hasattr(…)``, or the handler of a ``KeyError``."""
    return any(_asks_for_absence(file.facts.blocks[outer]) for outer in file.block_ancestors(block))


def _asks_for_absence(block: BlockFact) -> bool:
    if block.kind is BlockKind.EXCEPT:
        return last_name(block.test) in ("KeyError", "AttributeError")
    if block.kind is not BlockKind.BRANCH:
        return False
    match block.test:
        case fact.Operation(operator="is", operands=(_, fact.Constant(value=None))):
            return True
        case fact.Operation(operator="not in" | "not"):
            return True
        case _:
            return False


def _keeps_table(file: ProjectFile, scope: int) -> bool:
    """Whether the function stores into something that outlives it."""
    own = set(file.binders.get(scope, ()))
    for bindings in file.item_bindings.values():
        for binding, target in bindings:
            if binding.scope != scope:
                continue
            base = target.base
            if isinstance(base, fact.Attribute) or (isinstance(base, fact.Name) and base.id not in own):
                return True
    return False


def _keeps_table_inside(file: ProjectFile, scope: int) -> bool:
    """Whether a function, or one defined in it, stores into a table that is not its own."""
    inside = [index for index in range(len(file.facts.scopes)) if scope in file.scope_chain(index)]
    return any(_keeps_table(file, index) for index in inside)
