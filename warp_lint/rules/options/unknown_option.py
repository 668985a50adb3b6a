from __future__ import annotations

import difflib
from collections.abc import Iterator

from warp_lint.facts.records import BlockKind
from warp_lint.facts.values import Attribute, Expression, Operation
from warp_lint.findings import Finding, Level, Location, Range
from warp_lint.project import Project
from warp_lint.project.evaluation import names_in
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.options import dictionary_entries
from warp_lint.rules.base import Rule
from warp_lint.warp_api import (
    CONFIG_ATTRIBUTES,
    MODULE_OPTIONS,
    Named,
    OptionEffect,
    Version,
    find,
    history,
)


class UnknownOption(Rule):
    """An option or configuration attribute that the target Warp does not have.

    ## What it does
    Reports module options and `wp.config` attributes that are misspelled, were removed, came later than the
    Warp that the project targets, or that Warp overwrites or ignores where they are set.

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
            why = _fault_of_option(write.name, version)
            if why and not _is_guarded(write.file, write.place.block):
                yield self._finding(why, write.entry_location, write.suppression_range, write.name, project)
        for config in project.config_writes:
            why = _fault_of_config(config.name, version)
            if why and not _is_guarded(config.file, config.place.block):
                yield self._finding(why, config.location, None, config.name, project)
        for kernel in project.kernels.values():
            yield from self._check_kernel(kernel, project)

    def _check_kernel(self, kernel: KernelDefinition, project: Project) -> Iterator[Finding]:
        """``module_options=`` takes only what a module lists, and raises on anything else."""
        argument = kernel.argument("module_options")
        if argument is None:
            return
        version = project.settings.target_version
        entries = dictionary_entries(argument.value, kernel.file, kernel.place, project.evaluator)
        for name, _, span in entries:
            option = find(MODULE_OPTIONS, name, version)
            why = _fault_of_option(name, version) if name else ""
            if option is not None and not option.documented and not why:
                why = f'module_options= does not take "{name}" and raises: it is an argument of wp.kernel'
            if why:
                location = kernel.file.facts.location(span) if span is not None else kernel.location
                yield self._finding(why, location, kernel.suppression_range, name, project)

    def _finding(
        self, why: str, location: Location, suppression_range: Range | None, name: str, project: Project
    ) -> Finding:
        unpinned = not project.settings.warp_requirements and project.settings.target == "auto"
        is_unknown = not history(MODULE_OPTIONS, name) and not history(CONFIG_ATTRIBUTES, name)
        near = difflib.get_close_matches(name, [item.name for item in (*MODULE_OPTIONS, *CONFIG_ATTRIBUTES)], 1)
        is_typo = bool(near)
        return self.finding(
            location,
            why,
            suppression_range=suppression_range,
            level=Level.INFO if is_unknown and unpinned and not is_typo else self.level,
        )


def _is_guarded(file: ProjectFile, block: int) -> bool:
    """Whether the program asks first what its Warp has."""
    blocks = [file.facts.blocks[outer] for outer in file.block_ancestors(block)]
    groups = {fact_.group for fact_ in blocks}
    tests = [fact_.test for fact_ in file.facts.blocks if fact_.group in groups and fact_.test is not None]
    if any(fact_.kind is BlockKind.TRY for fact_ in blocks):
        return True
    asks = {"hasattr", "Version", "parse", "getattr"}
    return any(
        asks & set(names_in(test, file)) or _mentions_version(test) or _is_membership(test) for test in tests
    )


def _mentions_version(test: Expression) -> bool:
    match test:
        case Attribute(attribute=attribute):
            return attribute in ("version", "__version__")
        case Operation(operands=operands):
            return any(_mentions_version(operand) for operand in operands)
        case _:
            return False


def _is_membership(test: Expression) -> bool:
    return isinstance(test, Operation) and test.operator in ("in", "not in")


def _fault_of_option(name: str, version: Version) -> str:
    """What is wrong with setting a module option, in one line; empty when nothing is."""
    if name.startswith("\0"):
        return ""
    option = find(MODULE_OPTIONS, name, version)
    if option is None:
        known = history(MODULE_OPTIONS, name)
        if known:
            return _other_version("module option", name, known[0].since, known[-1].until, version)
        return f'module option "{name}" is unknown to Warp and has no effect{_hint(name, MODULE_OPTIONS)}'
    match option.effect:
        case OptionEffect.OVERWRITTEN:
            return f'module option "{name}" has no effect: Warp overwrites it with wp.config.{name}'
        case OptionEffect.IGNORED:
            return (
                f'module option "{name}" has no effect: it is an argument of wp.kernel; '
                f'the module option is "default_{name}"'
            )
        case _:
            return ""


def _fault_of_config(name: str, version: Version) -> str:
    """What is wrong with assigning an attribute of ``wp.config``, in one line; empty when nothing is."""
    if name.startswith("_") or find(CONFIG_ATTRIBUTES, name, version) is not None:
        return ""
    known = history(CONFIG_ATTRIBUTES, name)
    if known:
        return _other_version("wp.config attribute", name, known[0].since, known[-1].until, version)
    if find(MODULE_OPTIONS, name, version) is not None:
        return f'wp.config has no attribute "{name}": it is a module option, set with wp.set_module_options'
    return f'wp.config has no attribute "{name}": assigning it has no effect{_hint(name, CONFIG_ATTRIBUTES)}'


def _other_version(what: str, name: str, since: Version, until: Version | None, version: Version) -> str:
    if until is not None and until <= version:
        return f'{what} "{name}" is gone since Warp {_shown(until)} and has no effect'
    return f'{what} "{name}" has no effect before Warp {_shown(since)}; the target is {_shown(version)}'


def _hint(name: str, table: tuple[Named, ...]) -> str:
    near = difflib.get_close_matches(name, [item.name for item in table], 1)
    return f'; did you mean "{near[0]}"' if near else ""


def _shown(version: Version) -> str:
    return ".".join(map(str, version))
