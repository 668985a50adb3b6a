from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from warp_lint.edits.options import warp_name
from warp_lint.edits.statements import statements_of
from warp_lint.findings import Applicability, Edit, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.kernels import ModuleKey, ModuleKind
from warp_lint.project.options import ConfigWrite
from warp_lint.rules.base import Rule
from warp_lint.source import SourceError
from warp_lint.warp_api import CONFIG_ATTRIBUTES, MODULE_OPTIONS, OptionEffect, ReadTime, find


class LibraryConfig(Rule):
    """The import of a library changes how all modules of the process are built.

    ## What it does
    Reports assignments to attributes of `wp.config` that say how modules are built, where the import of a
    library module runs them. Scripts, tests, `if __name__ == "__main__":` and what a condition decides about
    are left alone.

    ## Why is this bad
    `wp.config` belongs to the program. Every module that is created after the import, of the program and of
    other libraries, takes the value over: their kernels lose their gradients, their speed or their cache,
    and which of them do depends on the order of imports.

    ## Example
    ```python
    import warp as wp

    wp.config.enable_backward = False
    ```

    ## Use instead
    ```python
    import warp as wp

    wp.set_module_options({"enable_backward": False})
    ```

    ## Fix safety
    The fix sets the option of the file's own module. It is unsafe: other files of the library, and unique
    kernels, may have relied on the configuration.
    """

    code = "WRP310"
    name = "library-config"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        version = project.settings.target_version
        for write in project.config_writes:
            attribute = find(CONFIG_ATTRIBUTES, write.name, version)
            if attribute is None or attribute.read not in (ReadTime.CREATION, ReadTime.FIRST_LOAD):
                continue
            if not project.is_imported(write.file) or not _runs_at_import(write, project):
                continue
            place = write.place
            if project.conditions.decide_about(write.file, place.scope, place.block, write.span.start):
                continue
            yield self.finding(
                write.location,
                f'the import of "{write.file.dotted_name}" sets wp.config.{write.name} for all modules of '
                "the process",
                suppression_range=write.location.range,
                fix=_fix(write, project),
            )


def _runs_at_import(write: ConfigWrite, project: Project) -> bool:
    function = write.file.function_of(write.place.scope)
    if function is not None:
        return project.callers.runs_at_import(write.file.index, function)
    return not write.file.is_main_guarded(write.place.block)


def _fix(write: ConfigWrite, project: Project) -> Fix | None:
    """Set the option of the file's own module in the same place, where it has kernels to take it."""
    file = write.file
    option = find(MODULE_OPTIONS, write.name, project.settings.target_version)
    module = project.modules.get(ModuleKey(ModuleKind.OWN, file=file.index))
    warp = warp_name(file)
    is_option = option is not None and option.documented and option.effect is OptionEffect.REAL
    if not is_option or module is None or not module.kernels or not warp:
        return None
    if write.kind != "assign" or write.place.scope != 0:
        return None
    try:
        source = project.source(file)
    except SourceError:
        return None
    statement = statements_of(source).at(write.span.start)
    if statement is None:
        return None
    value = _value(source.text[statement.start : statement.end])
    if value is None:
        return None
    text = f'{warp}.set_module_options({{"{write.name}": {value}}})'
    edit = Edit(file.facts.path, statement.start, statement.end, text)
    return Fix("Set the option of the file's own module", Applicability.UNSAFE, (edit,))


def _value(statement: str) -> str | None:
    """The text of what an assignment to one target assigns."""
    try:
        parsed = cst.parse_statement(statement)
    except cst.ParserSyntaxError:
        return None
    match parsed:
        case cst.SimpleStatementLine(body=[cst.Assign(targets=[_], value=value)]):
            return cst.Module([]).code_for_node(value)
        case _:
            return None
