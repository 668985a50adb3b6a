"""The events of one function or file, for a person to check: what happens to Warp modules, in order."""

from __future__ import annotations

import os
from collections.abc import Iterator

from warp_lint.facts.records import ScopeKind
from warp_lint.findings import Location
from warp_lint.project import Project
from warp_lint.project.events import Event, EventKind
from warp_lint.project.files import ProjectFile
from warp_lint.project.values import Constant, Symbol, Values


class UnknownPlaceError(Exception):
    """A file or function that the project does not have; the message is one line."""


def trace(project: Project, path: str, function: str) -> Iterator[str]:
    """The events of a function, by its qualified name, or of a file's top level where it is empty.

    Raises `UnknownPlaceError`.
    """
    file = next((file for file in project.files if file.facts.path == path), None)
    if file is None:
        raise UnknownPlaceError(f"{path} has nothing to do with Warp, or is not of the project")
    scope = _scope(file, function)
    events = project.timeline.events(file.index, scope)
    if scope > 0 and not project.callers.runs_at_import(file.index, scope):
        for event in project.timeline.at_import(file):
            if event.is_load:
                yield f"before: {_line(event, project, file)}"
    for event in events:
        yield _line(event, project, file)
    if (file.index, scope) in project.timeline.cut:
        yield "… (more events than are kept)"


def _scope(file: ProjectFile, function: str) -> int:
    if not function:
        return 0
    names = []
    for index, scope in enumerate(file.facts.scopes):
        if scope.kind is ScopeKind.FUNCTION:
            names.append(scope.qualified_name)
            if scope.qualified_name == function:
                return index
    known = ", ".join(names[:10]) or "none"
    raise UnknownPlaceError(f"{file.facts.path} has no function {function} (it has: {known})")


def _line(event: Event, project: Project, file: ProjectFile) -> str:
    parts = [f"{_shown(event.location)}: {event.kind.value}"]
    if event.kernel is not None:
        parts.append(f'"{project.kernels[event.kernel].name}"')
    if event.module is not None:
        known = project.modules.get(event.module)
        parts.append(f"of module {known.name if known is not None else event.module.name}")
    if event.kind is EventKind.LAUNCH:
        parts.append(f"with block_dim {_value(event.block_dim)}")
    if event.write is not None:
        parts.append(f"{event.write.name} = {_values(event.write.values)}")
    if event.config is not None:
        parts.append(f"{event.config.name} = {_values(event.config.values)}")
    if event.contexts:
        parts.append(f"under {' and '.join(sorted(context.value for context in event.contexts))}")
    if file.is_cpu_only(event.block):
        parts.append("on the CPU only")
    parts += [f"via {step.name} ({_shown(step.location)})" for step in event.steps]
    return " ".join(parts)


def _values(values: Values) -> str:
    return " or ".join(_value(value) for value in values) or "?"


def _value(value: object) -> str:
    match value:
        case Constant(value=constant):
            return repr(constant)
        case Symbol(text=text):
            return text
        case _:
            return "?"


def _shown(location: Location) -> str:
    return f"{os.path.relpath(location.path)}:{location.range.start.line}"
