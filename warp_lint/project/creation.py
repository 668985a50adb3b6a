"""When kernels that functions create come into being."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from warp_lint.facts.records import BindingFact, Parameter
from warp_lint.project.callers import CallSite
from warp_lint.project.evaluation import names_in
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition, ModuleKind
from warp_lint.project.modules import WarpModule
from warp_lint.project.values import Class

if TYPE_CHECKING:
    from warp_lint.project import Project


def is_created_at_import_only(kernel: KernelDefinition, function: int, project: Project) -> bool:
    """Whether the outermost function around a kernel runs only while files are imported, before anything of
    the kernel's module is loaded."""
    if _follows_load(kernel, project):
        return False
    pending, seen = [(kernel.file.index, function)], {(kernel.file.index, function)}
    while pending:
        file, scope = pending.pop()
        sites = project.callers.sites(file, scope)
        if not sites or any(project.callers.mentions(file, scope)):
            return False
        for site in sites:
            if _is_after_load(site, kernel, project):
                return False
            called_from = project.files[site.file]
            is_direct = (file, scope) == (kernel.file.index, function)
            if not is_direct and called_from.is_main_guarded(project.call(site).block):
                # What the program does is no import, and not all of its loads are seen.
                return False
            outer = called_from.outermost_function_of(project.call(site).scope)
            if outer is not None and (site.file, outer) not in seen:
                seen.add((site.file, outer))
                pending.append((site.file, outer))
    return True


def constructor_around(kernel: KernelDefinition, function: int, project: Project) -> Class | None:
    """The class whose ``__new__`` or ``__init__`` every way to a kernel starts in, before anything of the
    kernel's module is loaded; None where there is another way, or a load on the way."""
    if _follows_load(kernel, project):
        return None
    pending, seen = [(kernel.file.index, function)], {(kernel.file.index, function)}
    found: set[Class] = set()
    while pending:
        file, scope = pending.pop()
        owner = project.evaluator.class_of_method(file, scope)
        if owner is not None and project.files[file].facts.scopes[scope].name in ("__new__", "__init__"):
            found.add(owner)
            continue
        sites = project.callers.sites(file, scope)
        if not sites or any(project.callers.mentions(file, scope)):
            return None
        for site in sites:
            called_from = project.files[site.file]
            outer = called_from.outermost_function_of(project.call(site).scope)
            if outer is None or _is_after_load(site, kernel, project):
                return None
            if (site.file, outer) not in seen:
                seen.add((site.file, outer))
                pending.append((site.file, outer))
    return found.pop() if len(found) == 1 else None


def is_launched_by(owner: Class, module: WarpModule, project: Project) -> bool:
    """Whether all launches of a module's kernels, those of tests aside, stand in a class."""
    sites = [launch.path[-1] if launch.path else launch.site for launch in module.launches]
    sites = [site for site in sites if not project.is_test(project.files[site.file])]
    return bool(sites) and all(
        site.file == owner.file
        and owner.scope in project.files[site.file].scope_chain(project.call(site).scope)
        for site in sites
    )


def is_made_with_kernel(site: CallSite, kernel: KernelDefinition, project: Project) -> bool:
    """Whether an overload belongs to the making of its kernel: it follows in the same run of a function,
    nothing loads the module between them, and wherever the overload is another, so is the module."""
    file, call, place = project.files[site.file], project.call(site), kernel.place
    if kernel.module.kind is not ModuleKind.UNIQUE or (place.file, place.scope) != (site.file, call.scope):
        return False
    if call.order < place.order or any(
        load.loads(kernel.module) and place.order < load.order < call.order
        for load in project.timeline.events(place.file, place.scope)
    ):
        return False
    read = {name for argument in call.arguments for name in names_in(argument.value, file)}
    decisive = _parameters_behind(read - {kernel.scope.name}, file, call.scope)
    return decisive <= _parameters_behind(kernel.enclosing_names, file, call.scope)


def _parameters_behind(names: Iterable[str], file: ProjectFile, scope: int) -> set[str]:
    """The parameters of the functions around a place that names there depend on."""
    found: set[str] = set()
    pending, seen = set(names), set[str]()
    while pending:
        name = pending.pop()
        seen.add(name)
        for outer in file.scope_chain(scope):
            if outer == 0 or name not in file.binders.get(outer, {}):
                continue
            for binder in file.binders[outer][name]:
                match binder.fact:
                    case Parameter():
                        found.add(name)
                    case BindingFact(value=value):
                        pending |= set(names_in(value, file)) - seen
                    case int(inner):
                        pending |= _free_names(inner, file) - seen
            break
    return found


def _free_names(function: int, file: ProjectFile) -> set[str]:
    """The names that a function or class reads of what is around it."""
    facts = file.facts
    inside = {index for index in range(len(facts.scopes)) if function in file.scope_chain(index)}
    names = {name for code in facts.device_code if code.scope in inside for name in code.names}
    read = [returned.value for returned in facts.returns if returned.scope in inside]
    read += [binding.value for binding in facts.bindings if binding.scope in inside]
    for call in facts.calls:
        if call.scope in inside:
            read += [call.function, *(argument.value for argument in call.arguments)]
    names |= {name for expression in read for name in names_in(expression, file)}
    return names - {name for scope in inside for name in file.binders.get(scope, ())}


def _follows_load(kernel: KernelDefinition, project: Project) -> bool:
    """Whether the function that defines the kernel loads its module before."""
    place = kernel.place
    return any(
        load.loads(kernel.module) and project.timeline.precedes(kernel.file, load, place.block, place.order)
        for load in project.timeline.events(place.file, place.scope)
    )


def _is_after_load(site: CallSite, kernel: KernelDefinition, project: Project) -> bool:
    """Whether the module may be loaded before the call, or by an earlier turn of a loop around it."""
    file = project.files[site.file]
    call = project.call(site)
    scope = file.function_of(call.scope) or 0
    loop = file.loop_of(call.block)
    for load in project.timeline.events(file.index, scope):
        if not load.loads(kernel.module):
            continue
        if project.timeline.precedes(file, load, call.block, call.order):
            return True
        if loop is not None and loop in file.block_ancestors(load.block):
            return True
    return False
