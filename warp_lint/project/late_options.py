"""Option writes that come after a load of their module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from warp_lint.facts.records import Span
from warp_lint.project.events import Event, EventKind
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import ModuleKind
from warp_lint.project.options import OptionWrite
from warp_lint.project.values import Constant, Values, constant, only_constant
from warp_lint.warp_api import MODULE_OPTIONS, WarpName, find

if TYPE_CHECKING:
    from warp_lint.project import Project


class LateWrite(NamedTuple):
    """An option write, and the load that it comes after in some flow."""

    write: OptionWrite
    event: Event
    load: Event


def find_late_writes(project: Project) -> list[LateWrite]:
    """The option writes that come after a load of their module and change the option, each once."""
    found: dict[tuple[int, Span], LateWrite] = {}
    for file, _, events, at_import in project.timeline.flows():
        for event in events:
            if event.kind is not EventKind.SET_OPTION or event.write is None:
                continue
            load = _load_before(event, event.write, events, at_import, file, project)
            if load is not None and _changes(event, load, event.write, events, at_import, file, project):
                key = (event.write.file.index, event.write.entry_span)
                found.setdefault(key, LateWrite(event.write, event, load))
    return list(found.values())


def _load_before(
    event: Event,
    write: OptionWrite,
    events: tuple[Event, ...],
    at_import: list[Event],
    file: ProjectFile,
    project: Project,
) -> Event | None:
    for earlier in at_import:
        if earlier.loads(write.module):
            return earlier
    found = project.timeline.load_before(write.module, event, events, file)
    if found is not None and not (_is_of_its_own_file(write) and found.came_through_import):
        return found
    # In a loop that sets another value in each turn, the load of one turn precedes the write of the next.
    # A unique kernel that the loop makes is a new one in each turn.
    loop = file.loop_of(event.block)
    varies = only_constant(write.values) is None and write.module.kind is not ModuleKind.UNIQUE
    if loop is None or not varies:
        return None
    for other in events:
        is_judged_elsewhere = other.was_judged_with(event)
        if (
            other.loads(write.module)
            and not is_judged_elsewhere
            and loop in file.block_ancestors(other.block)
        ):
            return other
    return None


def _is_of_its_own_file(write: OptionWrite) -> bool:
    """Whether a file sets an option of its own module at its top level: that runs once, before anybody can
    launch what the file defines."""
    return write.place.scope == 0 and write.module.file == write.file.index


def _changes(
    event: Event,
    load: Event,
    write: OptionWrite,
    events: tuple[Event, ...],
    at_import: list[Event],
    file: ProjectFile,
    project: Project,
) -> bool:
    """Whether the option gets another value than it may have had when the module was loaded."""
    if not all(isinstance(value, Constant) for value in write.values) or _is_of_the_maker(write, project):
        return False
    return any(
        write.values != values
        for values in _values_before(event, load, write, events, at_import, file, project)
    )


def _is_of_the_maker(write: OptionWrite, project: Project) -> bool:
    """Whether the function that makes the kernels of a module sets the option first: no kernel is launched
    without it, and the next call sets what is set."""
    module = project.modules.get(write.module)
    return module is not None and all(
        (kernel.place.file, kernel.place.scope) == (write.place.file, write.place.scope)
        and kernel.place.scope > 0
        and kernel.place.order > write.place.order
        and write.place.block in kernel.file.block_ancestors(kernel.place.block)
        for kernel in module.kernels
    )


def _values_before(
    event: Event,
    load: Event,
    write: OptionWrite,
    events: tuple[Event, ...],
    at_import: list[Event],
    file: ProjectFile,
    project: Project,
) -> Iterator[Values]:
    """What the option may be set to before a write, on the ways that lead through the load."""
    for earlier in reversed(events):
        if (
            earlier.write is not None
            and earlier.sets_same_option(event)
            and project.timeline.comes_before(earlier, event, file)
            and not project.timeline.exclude_each_other(earlier, load)
        ):
            yield earlier.write.values
            if project.timeline.is_certain(earlier, event) or project.timeline.is_certain(earlier, load):
                return
    for earlier in reversed(at_import):
        if earlier.write is not None and earlier.sets_same_option(event):
            yield earlier.write.values
            return
    yield _value_at_start(write, project)


def _value_at_start(write: OptionWrite, project: Project) -> Values:
    """What the file of the module sets the option to, or the default."""
    module = project.modules.get(write.module)
    at_import = [
        other
        for other in (module.writes if module is not None else ())
        if other.name == write.name
        and other.place.scope == 0
        and other != write
        and (write.module.kind is not ModuleKind.OWN or other.file.index == write.module.file)
    ]
    if at_import:
        return at_import[-1].values
    option = find(MODULE_OPTIONS, write.name)
    if option is None or isinstance(option.default, WarpName):
        return ()
    return (constant(option.default),)
