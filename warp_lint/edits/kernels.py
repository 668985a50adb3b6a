"""Edits of the decorator or call that makes a kernel: another module, other options."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from warp_lint.edits.arguments import change_arguments
from warp_lint.edits.dictionaries import change_entries, display
from warp_lint.facts import values as fact
from warp_lint.facts.records import Span
from warp_lint.findings import Applicability, Edit, Fix
from warp_lint.project import Project
from warp_lint.project.evaluation import Place
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.options import OptionWrite
from warp_lint.project.tiles import links_backward_tiles
from warp_lint.project.values import Constant, External, Values
from warp_lint.source import SourceError
from warp_lint.warp_api import (
    CONFIG_ATTRIBUTES,
    FUNCTIONS,
    MODULE_OPTIONS,
    OptionEffect,
    ReadTime,
    find,
)

MODULE_OPTIONS_SINCE = (1, 13)


class CarriedOptions(NamedTuple):
    """Options that a kernel is given by its own decorator: as arguments, and in ``module_options``."""

    arguments: dict[str, str]
    module_options: dict[str, str]
    lost: tuple[str, ...]
    """The names of those that cannot be given so."""


def isolate(kernel: KernelDefinition, project: Project) -> Fix | None:
    """Give a kernel a module of its own, with the options that its present module has.

    The fix is safe when every option could be carried over. None when the kernel is not made by
    ``wp.kernel`` itself in a form that can be edited.
    """
    carried = carry_options(kernel, options_to_carry(kernel, project), project)
    lost = carried.lost
    if kernel.module in project.options.open_modules:
        lost = (*lost, "options that are not known")
    edit = edit_kernel(kernel, {"module": '"unique"', **carried.arguments}, carried.module_options, project)
    if edit is None:
        return None
    title = f'Give "{kernel.name}" a module of its own'
    if lost:
        title += f", without {', '.join(lost)}"
    elif carried.arguments or carried.module_options:
        title += " with the options of its file"
    is_safe = not lost and not _depends_on_module(kernel, project)
    return Fix(title, Applicability.SAFE if is_safe else Applicability.UNSAFE, (edit,))


def _depends_on_module(kernel: KernelDefinition, project: Project) -> bool:
    """Whether the kernel's file asks for modules by name, or sets configuration that modules copy when they
    are made: another module may then be another answer, or have other options."""
    if not _ASKING.isdisjoint(kernel.file.called_names):
        return True
    version = project.settings.target_version
    return any(
        write.file is kernel.file
        and (attribute := find(CONFIG_ATTRIBUTES, write.name, version)) is not None
        and attribute.read is ReadTime.CREATION
        for write in project.config_writes
    )


_ASKING = frozenset({"get_module", "get_module_hash", "hash_module"})


def options_to_carry(kernel: KernelDefinition, project: Project) -> list[OptionWrite]:
    """The options of the kernel's present module that it does not set itself, of each the write that decides.

    That is the last one, unless a function, which may be called later, writes another value.
    """
    module = project.modules.get(kernel.module)
    own = set(kernel.options)
    if "grid_stride" in own:
        own.add("default_grid_stride")
    at_import: dict[str, OptionWrite] = {}
    in_functions: dict[str, list[OptionWrite]] = defaultdict(list)
    for write in module.writes if module is not None else ():
        if write.place.scope == 0:
            at_import[write.name] = write
        else:
            in_functions[write.name].append(write)
    deciding = []
    for name in dict.fromkeys((*at_import, *in_functions)):
        writes = [*filter(None, [at_import.get(name)]), *in_functions[name]]
        if name not in own and not all(project.is_default(write, kernel.file) for write in writes):
            agree = all(write.values == writes[0].values for write in writes)
            deciding.append(writes[0] if agree else writes[-1])
    return deciding


def carry_options(
    kernel: KernelDefinition, writes: list[OptionWrite], project: Project, *, is_unique: bool = True
) -> CarriedOptions:
    """How a kernel can be given options that are written elsewhere."""
    arguments: dict[str, str] = {}
    module_options: dict[str, str] = {}
    lost: list[str] = []
    version = project.settings.target_version
    has_module_options = is_unique and version >= MODULE_OPTIONS_SINCE
    for write in writes:
        option = find(MODULE_OPTIONS, write.name, version)
        if option is None or option.effect is not OptionEffect.REAL:
            continue  # without effect where it is as well
        text = _text(write.values)
        is_certain = write.place.scope == 0 and not project.conditions.decide_about(
            write.file, write.place.scope, write.place.block, write.span.start
        )
        if text is None or not is_certain:
            lost.append(write.name)
        elif (
            write.name == "enable_backward"
            and not (has_module_options and links_backward_tiles(kernel, project))
        ) or (not option.documented and write.name in _KERNEL_ARGUMENTS):
            arguments[write.name] = text
        elif has_module_options and option.documented:
            module_options[write.name] = text
        else:
            lost.append(write.name)
    return CarriedOptions(arguments, module_options, tuple(lost))


def edit_kernel(
    kernel: KernelDefinition,
    arguments: Mapping[str, str | None],
    module_options: Mapping[str, str],
    project: Project,
) -> Edit | None:
    """The edit that gives a kernel other arguments and further module options.

    None when it is made by a wrapper, or in a form that cannot be edited.
    """
    span = _kernel_call_span(kernel, project)
    if span is None:
        return None
    try:
        source = project.source(kernel.file)
    except SourceError:
        return None
    changes = dict(arguments)
    if module_options:
        given = kernel.argument("module_options")
        entries: str | None = display(module_options)
        if given is not None:
            entries = change_entries(source.text[slice(*given.value_span)], module_options)
        if entries is None:
            return None
        changes["module_options"] = entries
    replacement = change_arguments(source.text[slice(*span)], changes)
    if replacement is None:
        return None
    return Edit(kernel.file.facts.path, span.start, span.end, replacement)


_KERNEL_ARGUMENTS = frozenset(
    parameter.name for function in FUNCTIONS if function.name == "kernel" for parameter in function.parameters
)


def _kernel_call_span(kernel: KernelDefinition, project: Project) -> Span | None:
    """Where ``wp.kernel``, or its call with arguments, stands; None when a wrapper makes the kernel."""
    file = kernel.file
    call = kernel.call
    place = kernel.place
    if call is not None:
        if isinstance(call.function, fact.CallReference):
            # wp.kernel(...)(function)
            call = file.facts.calls[call.function.index]
        return call.span if _is_kernel(call.function, place, project) else None
    decorator = kernel.scope.decorators[kernel.creation.decorator]
    expression = decorator.expression
    if isinstance(expression, fact.CallReference):
        call = file.facts.calls[expression.index]
        return call.span if _is_kernel(call.function, place, project) else None
    if not _is_kernel(expression, place, project):
        return None
    text = project.source(file).text
    start = decorator.span.start + 1
    while text[start] in " \t\\\r\n":
        start += 1
    return Span(start, decorator.span.end)


def _is_kernel(function: fact.Expression, place: Place, project: Project) -> bool:
    return project.evaluator.evaluate(function, place, {}) == (External("warp.kernel"),)


def _text(values: Values) -> str | None:
    """How to write an option's value at the kernel's decorator; None when it is no constant there."""
    match values:
        case (Constant(value=str(text)),):
            return json.dumps(text)
        case (Constant(value=value),):
            return repr(value)
        case _:
            return None
