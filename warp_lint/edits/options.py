"""Edits that set a module option at the top of a file, take a late one there, or remove a setting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warp_lint.edits.dictionaries import change_entries
from warp_lint.edits.import_order import ImportPlace
from warp_lint.edits.imports import delete_statement
from warp_lint.edits.statements import statements_of
from warp_lint.facts.records import CallFact, ImportFact
from warp_lint.findings import Edit
from warp_lint.project import Project
from warp_lint.project.evaluation import names_in
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.project.lasting_settings import LastingSetting
from warp_lint.project.options import ConfigWrite, OptionWrite
from warp_lint.project.values import External
from warp_lint.source import SourceError


def set_at_top(file: ProjectFile, name: str, value: str, project: Project) -> Edit | None:
    """Set an option of a file's own module: in the call at module level that sets others, else in a new call
    behind the imports. None when the file has no place for it or does not import Warp at its top."""
    try:
        source = project.source(file)
    except SourceError:
        return None
    for call in _calls_at_top(file, project):
        span = call.arguments[0].value_span
        entries = change_entries(source.text[slice(*span)], {name: value})
        if entries is not None:
            return Edit(file.facts.path, span.start, span.end, entries)
    warp = warp_name(file)
    return (
        _insert_at_top(file, f'{warp}.set_module_options({{"{name}": {value}}})', project) if warp else None
    )


def move_to_top(write: OptionWrite, project: Project) -> tuple[Edit, ...] | None:
    """Move the statement of an option write behind the imports of its file.

    None where that could change more than the time: the value is not written out, a condition decides about
    the statement, or the module is not the file's own.
    """
    file = write.file
    if write.module != ModuleKey(ModuleKind.OWN, file=file.index) or write.place.scope == 0:
        return None
    if project.conditions.decide_about(file, write.place.scope, write.place.block, write.span.start):
        return None
    return _move(_line(file, write.statement_span.start, _names_read(write), project), file, project)


def move_config_to_top(config: ConfigWrite, project: Project) -> tuple[Edit, ...] | None:
    """Move an assignment to ``wp.config`` at module level behind the imports of its file.

    None where that could change more than the time: the value is not written out, or a condition decides
    about the statement.
    """
    return _move(_config_line(config, project), config.file, project)


def remove_setting(setting: LastingSetting, project: Project) -> tuple[Edit, ...] | None:
    """Delete the statement that makes a setting, or its entry where the statement makes others too.

    None where the statement does more, and for the ``module_options=`` of a kernel.
    """
    source = setting.source
    if isinstance(source, KernelDefinition):
        return None
    if isinstance(source, ConfigWrite) or _is_only_entry(source, project):
        return delete_statement(setting.file, source.span.start, project)
    if source.call < 0:
        return None
    call = setting.file.facts.calls[source.call]
    span = next(argument.value_span for argument in call.arguments if argument.keyword in (None, "options"))
    try:
        text = project.source(setting.file).text[slice(*span)]
    except SourceError:
        return None
    entries = change_entries(text, {setting.name: None})
    if entries is None or entries == text:
        return None
    return (Edit(setting.file.facts.path, span.start, span.end, entries),)


def _is_only_entry(write: OptionWrite, project: Project) -> bool:
    """Whether a statement sets nothing but the one option."""
    here = (write.file.index, write.span)
    return write.module not in project.options.open_modules and all(
        other is write or (other.file.index, other.span) != here for other in project.option_writes
    )


def move_config_above_import(config: ConfigWrite, offset: int, project: Project) -> tuple[Edit, ...] | None:
    """Move an assignment to ``wp.config`` at module level above the import at an offset.

    ``import warp as wp`` goes along when it stands below, and imports that are below code then are excused
    where a linter of the project would report them. None where an import or the value is written in another
    way, or a condition decides about the assignment.
    """
    file = config.file
    line = _config_line(config, project)
    if line is None:
        return None
    statements = statements_of(project.source(file))
    place = ImportPlace.above(offset, statements)
    warp = next(imported for imported in file.facts.imports if _is_warp(imported))
    if place is None:
        return None
    warp_edits = place.bring(warp.span.start, line.removal.start)
    excuses = place.excuses() if project.settings.reports_late_import(file.facts.path) else ()
    if warp_edits is None or excuses is None:
        return None
    brought, removals = warp_edits
    return (place.insertion(brought, line.text), *removals, *excuses, line.removal)


class _Line(NamedTuple):
    """A statement on a line of its own, and the edit that takes the line out."""

    text: str
    removal: Edit


def _config_line(config: ConfigWrite, project: Project) -> _Line | None:
    file = config.file
    is_plain = config.place.scope == 0 and config.place.block == file.facts.scopes[0].body_block
    if config.kind != "assign" or not is_plain:
        return None
    names: set[str] = set()
    for binding in file.facts.bindings:
        if binding.span == config.span:
            names |= set(names_in(binding.target, file)) | set(names_in(binding.value, file))
    return _line(file, config.span.start, names, project)


def _move(line: _Line | None, file: ProjectFile, project: Project) -> tuple[Edit, ...] | None:
    """Move a line behind the imports."""
    insertion = _insert_at_top(file, line.text, project) if line is not None else None
    return (insertion, line.removal) if line is not None and insertion is not None else None


def _line(file: ProjectFile, offset: int, names: set[str], project: Project) -> _Line | None:
    """The statement at an offset, if it stands on one line alone and reads nothing but Warp."""
    try:
        source = project.source(file)
    except SourceError:
        return None
    statements = statements_of(source)
    statement = statements.at(offset)
    warp = warp_name(file)
    if statement is None or not warp or names != {warp}:
        return None
    line_end = source.line_end(source.position(statement.end).line)
    line_start = source.line_starts[source.position(statement.start).line - 1]
    is_alone = not source.text[line_start : statement.start].strip()
    behind = source.text[statement.end : line_end].strip()
    if not is_alone or (behind and not behind.startswith("#")) or len(statement.siblings) == 1:
        return None
    text = source.text[statement.start : line_end].rstrip()
    if "\n" in text:
        return None
    end = statements.next_line(line_end)
    start = statements.with_blank_lines_above(line_start, end)
    if line_end == len(source.text) and start > 0:
        # The last line goes with the line end before it: the file ends as it did.
        start = source.line_end(source.position(start).line - 1)
    return _Line(text, Edit(file.facts.path, start, end, ""))


def _insert_at_top(file: ProjectFile, statement: str, project: Project) -> Edit | None:
    source = project.source(file)
    offset = statements_of(source).after_imports()
    if offset is None:
        return None
    newline = source.newline
    return Edit(file.facts.path, offset, offset, f"{newline}{statement}{newline}")


def _calls_at_top(file: ProjectFile, project: Project) -> Iterator[CallFact]:
    """The calls that set options of the file's own module at module level, on no condition."""
    for index in file.calls_by_scope.get(0, ()):
        call = file.facts.calls[index]
        if External("warp.set_module_options") not in project.evaluator.callee(file.index, index):
            continue
        is_simple = len(call.arguments) == 1 and call.arguments[0].keyword in (None, "options")
        if is_simple and call.block == file.facts.scopes[0].body_block:
            yield call


def warp_name(file: ProjectFile) -> str:
    """What the file calls Warp at module level; empty when it does not."""
    return next((imported.bound_name for imported in file.facts.imports if _is_warp(imported)), "")


def _is_warp(imported: ImportFact) -> bool:
    return imported.scope == 0 and imported.module == "warp" and imported.name is None


def _names_read(write: OptionWrite) -> set[str]:
    """The names that the statement of an option write reads."""
    file = write.file
    names: set[str] = set()
    if write.call >= 0:
        call = file.facts.calls[write.call]
        names |= set(names_in(call.function, file))
        for argument in call.arguments:
            names |= set(names_in(argument.value, file))
    else:
        for binding in file.facts.bindings:
            if binding.span == write.span:
                names |= set(names_in(binding.target, file)) | set(names_in(binding.value, file))
    return names
