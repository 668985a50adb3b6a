"""What functions read from the scopes around them, and which of it may change from one call to the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from warp_lint.facts.records import BindingFact, BindingKind, ImportFact, Parameter, ScopeKind
from warp_lint.project.binders import Binder
from warp_lint.project.evaluation import Place, names_in
from warp_lint.project.files import ProjectFile
from warp_lint.project.values import ParameterValue, only_constant

if TYPE_CHECKING:
    from warp_lint.project import Project

_LOCAL_SCOPES = (ScopeKind.FUNCTION, ScopeKind.LAMBDA, ScopeKind.COMPREHENSION)


def free_names(file: ProjectFile, scope: int) -> list[str]:
    """The names that a function reads and does not bind, in the order of the text."""
    for code in file.facts.device_code:
        if code.scope == scope:
            return list(code.names)
    inside = {index for index in range(len(file.facts.scopes)) if scope in file.scope_chain(index)}
    expressions = [
        *((item.order, item.value) for item in file.facts.returns if item.scope in inside),
        *((item.order, item.value) for item in file.facts.bindings if item.scope in inside),
        *((item.order, item.function) for item in file.facts.calls if item.scope in inside),
        *(
            (item.order, argument.value)
            for item in file.facts.calls
            if item.scope in inside
            for argument in item.arguments
        ),
    ]
    read = (
        name for _, item in sorted(expressions, key=lambda item: item[0]) for name in names_in(item, file)
    )
    bound = {name for index in inside for name in file.binders.get(index, ())}
    return [name for name in dict.fromkeys(read) if name not in bound]


def changing_captures(file: ProjectFile, scope: int, block: int, project: Project) -> list[str]:
    """The locals of functions around a function, and the variables of the loops around ``block``, that it
    reads and that may have another value the next time."""
    return [
        name for name in free_names(file, scope) if any(_changing_binders(name, file, scope, block, project))
    ]


def _changing_binders(
    name: str, file: ProjectFile, scope: int, block: int, project: Project
) -> Iterator[Binder]:
    for outer in file.scope_chain(file.facts.scopes[scope].parent):
        kind = file.facts.scopes[outer].kind
        binders = file.binders[outer].get(name) if outer in file.binders else None
        if not binders or kind is ScopeKind.CLASS:
            continue
        for binder in binders:
            if kind in _LOCAL_SCOPES:
                is_changing = _may_change(binder, file, outer, project)
            else:
                is_changing = _is_variable_of_loop(binder, file, block)
            if is_changing:
                yield binder
        return


def _may_change(
    binder: Binder, file: ProjectFile, scope: int, project: Project, seen: tuple[Binder, ...] = ()
) -> bool:
    """Whether a name that is bound so has another value in another call: a parameter, the variable of a loop,
    or what is computed from such."""
    match binder.fact:
        case Parameter(name=name):
            callers = project.callers.sites(file.index, scope)
            given = project.callers.resolve((ParameterValue(file.index, scope, name),))
            return not callers or only_constant(given) is None
        case BindingFact(kind=BindingKind.ASSIGN) as binding if not binder.path:
            place = Place(file.index, binding.scope, binding.block, binding.order)
            if binder in seen or only_constant(project.evaluator.evaluate(binding.value, place, {})):
                return False
            return any(
                _may_change(read, file, scope, project, (*seen, binder))
                for name in names_in(binding.value, file)
                for read in file.binders[scope].get(name, ())
            )
        case BindingFact():
            return True
        case ImportFact() | int():
            return False


def _is_variable_of_loop(binder: Binder, file: ProjectFile, block: int) -> bool:
    """Whether a name is the variable of a loop around a block."""
    return isinstance(binder.fact, BindingFact) and is_variable_of(binder.fact, file, file.loop_of(block))


def is_variable_of(binding: BindingFact, file: ProjectFile, loop: int | None) -> bool:
    """Whether a binding is that of the variable of a loop, or of one of the loops around it."""
    if loop is None or binding.kind is not BindingKind.LOOP:
        return False
    around = (file.facts.blocks[block] for block in file.block_ancestors(loop))
    return any(outer.target == binding.target and outer.test == binding.value for outer in around)
