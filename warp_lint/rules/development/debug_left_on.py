from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.options import remove_setting
from warp_lint.findings import Applicability, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.lasting_settings import LastingSetting
from warp_lint.project.values import Constant, External, Values
from warp_lint.rules.base import Rule
from warp_lint.warp_api import DEBUG_SETTINGS, DebugSetting, Version, WarpName


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
    The fix deletes the statement, or the entry where it sets other options too. It is unsafe: the author may
    want the checks.
    """

    code = "WRP801"
    name = "debug-left-on"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for setting in project.lasting_settings:
            debug = _debug_setting(setting, project.settings.target_version)
            if debug is None:
                continue
            value = f"wp.{debug.value.dotted}" if isinstance(debug.value, WarpName) else repr(debug.value)
            edits = remove_setting(setting, project)
            yield self.finding(
                setting.location,
                f"{setting.shown} is left at {value}: it {debug.cost}",
                suppression_range=setting.suppression_range,
                fix=Fix("Delete the setting", Applicability.UNSAFE, edits) if edits is not None else None,
            )


def _debug_setting(setting: LastingSetting, version: Version) -> DebugSetting | None:
    for debug in DEBUG_SETTINGS:
        is_there = debug.name == setting.name and debug.exists_in(version)
        if is_there and len(setting.values) == 1 and _is_value(setting.values, debug):
            return debug
    return None


def _is_value(values: Values, setting: DebugSetting) -> bool:
    match values[0]:
        case Constant(value=value):
            return not isinstance(setting.value, WarpName) and value == setting.value
        case External(name=name):
            return isinstance(setting.value, WarpName) and name == f"warp.{setting.value.dotted}"
        case _:
            return False
