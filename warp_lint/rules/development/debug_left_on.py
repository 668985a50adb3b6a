from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.imports import delete_statement
from warp_lint.facts.records import Span
from warp_lint.findings import Applicability, Finding, Fix, Level, Location, Range
from warp_lint.project import Project
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.options import ConfigWrite, dictionary_entries
from warp_lint.project.values import Constant, External, Values
from warp_lint.rules.base import Rule
from warp_lint.warp_api import DEBUG_SETTINGS, DebugSetting, WarpName


class DebugLeftOn(Rule):
    """A setting for debugging is on for every run.

    ## What it does
    Reports settings of `wp.config`, and module options, that are meant for debugging and are set without a
    condition: `mode = "debug"`, `verify_fp`, `verify_cuda`, `print_launches`,
    `verify_autograd_array_access`, debug logging, `lineinfo`, `compile_time_trace`. Tests may set them.

    ## Why is this bad
    Each costs something at every start or launch: `verify_fp` doubles the build,
    `verify_autograd_array_access` makes Warp skip its cache so that every process builds again.

    ## Example
    ```python
    wp.config.verify_fp = True
    ```

    ## Use instead
    ```python
    wp.config.verify_fp = args.debug
    ```

    ## Fix safety
    The fix deletes the statement. It is unsafe: the author may want the checks.
    """

    code = "WRP801"
    name = "debug-left-on"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for config in project.config_writes:
            setting = self._setting(config.name, config.values, project)
            if setting is None or self._is_taken_back(config, project):
                continue
            if not self._is_conditional(config.file, config.place, config.span, project):
                what = f"wp.config.{config.name}"
                fix = self._fix(config.file, config.span.start, project)
                yield self._finding(setting, what, config.location, None, fix)
        for write in project.option_writes:
            setting = self._setting(write.name, write.values, project)
            if setting is not None and not self._is_conditional(write.file, write.place, write.span, project):
                yield self._finding(
                    setting, f'module option "{write.name}"', write.entry_location, write.suppression_range
                )

        for kernel in project.kernels.values():
            yield from self._check_kernel(kernel, project)

    def _is_taken_back(self, config: ConfigWrite, project: Project) -> bool:
        """Whether the same scope sets the attribute again further down."""
        return any(
            other.name == config.name
            and (other.place.file, other.place.scope) == (config.place.file, config.place.scope)
            and other.place.order > config.place.order
            for other in project.config_writes
        )

    def _check_kernel(self, kernel: KernelDefinition, project: Project) -> Iterator[Finding]:
        argument = kernel.argument("module_options")
        if argument is None or self._is_conditional(kernel.file, kernel.place, kernel.span, project):
            return
        entries = dictionary_entries(argument.value, kernel.file, kernel.place, project.evaluator)
        for name, values, span in entries:
            setting = self._setting(name, values, project)
            if setting is not None:
                location = kernel.file.facts.location(span) if span is not None else kernel.location
                yield self._finding(setting, f'module option "{name}"', location, kernel.suppression_range)

    def _setting(self, name: str, values: Values, project: Project) -> DebugSetting | None:
        for setting in DEBUG_SETTINGS:
            is_there = setting.name == name and setting.exists_in(project.settings.target_version)
            if is_there and len(values) == 1 and _is_value(values, setting):
                return setting
        return None

    def _is_conditional(self, file: ProjectFile, place: Place, span: Span, project: Project) -> bool:
        """Whether a flag, the environment or a test decides about the setting."""
        return project.is_test(file) or project.conditions.decide_about(
            file, place.scope, place.block, span.start
        )

    def _fix(self, file: ProjectFile, offset: int, project: Project) -> Fix | None:
        edits = delete_statement(file, offset, project)
        return Fix("Delete the statement", Applicability.UNSAFE, edits) if edits is not None else None

    def _finding(
        self,
        setting: DebugSetting,
        what: str,
        location: Location,
        suppression_range: Range | None,
        fix: Fix | None = None,
    ) -> Finding:
        value = f"wp.{setting.value.dotted}" if isinstance(setting.value, WarpName) else repr(setting.value)
        return self.finding(
            location,
            f"{what} is left at {value}: it {setting.cost}",
            suppression_range=suppression_range,
            fix=fix,
        )


def _is_value(values: Values, setting: DebugSetting) -> bool:
    match values[0]:
        case Constant(value=value):
            return not isinstance(setting.value, WarpName) and value == setting.value
        case External(name=name):
            return isinstance(setting.value, WarpName) and name == f"warp.{setting.value.dotted}"
        case _:
            return False
