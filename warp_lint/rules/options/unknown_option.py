from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from warp_lint.facts.records import Span
from warp_lint.findings import Applicability, Edit, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.options import dictionary_entries
from warp_lint.project.version_checks import is_checked_around
from warp_lint.rules.base import Rule
from warp_lint.source import SourceError
from warp_lint.warp_api import (
    CONFIG_ATTRIBUTES,
    MODULE_OPTIONS,
    OptionEffect,
    Version,
    Versioned,
    find,
    history,
)


class UnknownOption(Rule):
    """An option or configuration attribute that the target Warp does not have.

    ## What it does
    Reports module options and `wp.config` attributes that are misspelled, were removed, came later than the
    Warp that the project targets, or that Warp overwrites or ignores where they are set. What stands under
    `assertRaises` or `pytest.raises` is a test of just that, and left alone.

    ## Why is this bad
    Warp accepts any name without a word. The setting has no effect; a bogus module option after the first
    load even builds the module again.

    ## Example
    ```python
    wp.set_module_options({"fast_mth": True})
    wp.config.quiet = True
    ```

    ## Use instead
    ```python
    wp.set_module_options({"fast_math": True})
    wp.config.log_level = wp.LOG_WARNING
    ```

    ## Fix safety
    The fix writes the nearest known name. It is unsafe: the setting takes effect then.
    """

    code = "WRP307"
    name = "unknown-option"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        version = project.settings.target_version
        for write in project.option_writes:
            fault = _fault_of_option(write.name, version)
            if fault is not None and not is_checked_around(write.file, write.place.block):
                yield self._finding(fault, write.file, write.entry_span, write.statement_span, project)
        for config in project.config_writes:
            fault = _fault_of_config(config.name, version)
            if fault is not None and not is_checked_around(config.file, config.place.block):
                yield self._finding(fault, config.file, config.span, config.span, project)
        for kernel in project.kernels.values():
            yield from self._check_kernel(kernel, project)

    def _check_kernel(self, kernel: KernelDefinition, project: Project) -> Iterator[Finding]:
        """``module_options=`` takes only what a module lists, and raises on anything else."""
        argument = kernel.argument("module_options")
        if argument is None or kernel.file.expects_error(kernel.place.block):
            return
        version = project.settings.target_version
        entries = dictionary_entries(argument.value, kernel.file, kernel.place, project.evaluator)
        for name, _, span in entries:
            fault = _fault_of_option(name, version) if name else None
            option = find(MODULE_OPTIONS, name, version)
            if fault is not None and option is None:
                why = fault.message.replace(" and has no effect", "").replace(" has no effect", " comes not")
                fault = fault._replace(message=f"module_options= raises ValueError: {why}")
            elif option is not None and not option.documented:
                why = f'"{name}" is an argument of wp.kernel'
                fault = _Fault(name, f"module_options= raises ValueError: {why}")
            if fault is not None:
                header = kernel.scope.header_span if kernel.call is None else kernel.call.statement_span
                yield self._finding(fault, kernel.file, span or kernel.span, header, project)

    def _finding(
        self, fault: _Fault, file: ProjectFile, span: Span, statement: Span, project: Project
    ) -> Finding:
        is_unpinned = not project.settings.warp_requirements and project.settings.target == "auto"
        # A Warp that is newer than these tables may have a name that they do not know.
        may_be_new = fault.is_unknown and not fault.nearest and is_unpinned
        return self.finding(
            file.facts.location(span),
            fault.message,
            suppression_range=file.facts.location(statement).range,
            level=Level.INFO if may_be_new else self.level,
            fix=_fix(fault, file, span, project),
        )


class _Fault(NamedTuple):
    """What is wrong with setting a name, in one line, and the known name that is nearest to it."""

    name: str
    message: str
    nearest: str = ""
    is_unknown: bool = False


def _fix(fault: _Fault, file: ProjectFile, span: Span, project: Project) -> Fix | None:
    """Write the nearest name in place of the wrong one, where that is written out just once."""
    if not fault.nearest:
        return None
    try:
        text = project.source(file).text[slice(*span)]
    except SourceError:
        return None
    found = [match.start() for match in re.finditer(rf"\b{re.escape(fault.name)}\b", text)]
    if len(found) != 1:
        return None
    start = span.start + found[0]
    edit = Edit(file.facts.path, start, start + len(fault.name), fault.nearest)
    return Fix(f'Write "{fault.nearest}"', Applicability.UNSAFE, (edit,))


def _fault_of_option(name: str, version: Version) -> _Fault | None:
    """What is wrong with setting a module option; None when nothing is."""
    option = find(MODULE_OPTIONS, name, version)
    if option is None:
        known = history(MODULE_OPTIONS, name)
        if known:
            return _other_version("module option", name, known, version)
        message = f'module option "{name}" is unknown to Warp and has no effect'
        return _unknown(name, message, MODULE_OPTIONS, version)
    match option.effect:
        case OptionEffect.OVERWRITTEN:
            return _Fault(
                name, f'module option "{name}" has no effect: Warp overwrites it with wp.config.{name}'
            )
        case OptionEffect.IGNORED:
            return _Fault(
                name,
                f'module option "{name}" has no effect: it is an argument of wp.kernel; '
                f'the module option is "default_{name}"',
            )
        case _:
            return None


def _fault_of_config(name: str, version: Version) -> _Fault | None:
    """What is wrong with assigning an attribute of ``wp.config``; None when nothing is."""
    if name.startswith("_") or find(CONFIG_ATTRIBUTES, name, version) is not None:
        return None
    known = history(CONFIG_ATTRIBUTES, name)
    if known:
        return _other_version("wp.config attribute", name, known, version)
    if find(MODULE_OPTIONS, name, version) is not None:
        return _Fault(
            name,
            f'wp.config has no attribute "{name}": it is a module option, set with wp.set_module_options',
        )
    message = f'wp.config has no attribute "{name}": assigning it has no effect'
    return _unknown(name, message, CONFIG_ATTRIBUTES, version)


def _unknown(name: str, message: str, table: Sequence[Versioned], version: Version) -> _Fault:
    names = [item.name for item in table if item.exists_in(version)]
    nearest = next(iter(difflib.get_close_matches(name, names, 1)), "")
    hint = f'; did you mean "{nearest}"' if nearest else ""
    return _Fault(name, message + hint, nearest, is_unknown=True)


def _other_version(what: str, name: str, known: Sequence[Versioned], version: Version) -> _Fault:
    since, until = known[0].since, known[-1].until
    if until is not None and until <= version:
        return _Fault(name, f'{what} "{name}" is gone since Warp {_shown(until)} and has no effect')
    return _Fault(
        name, f'{what} "{name}" has no effect before Warp {_shown(since)}; the target is {_shown(version)}'
    )


def _shown(version: Version) -> str:
    return ".".join(map(str, version))
