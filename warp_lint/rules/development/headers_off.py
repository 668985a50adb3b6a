from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.options import remove_setting
from warp_lint.findings import Applicability, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.values import constant
from warp_lint.rules.base import Rule
from warp_lint.warp_api import CONFIG_ATTRIBUTES, find


class HeadersOff(Rule):
    """Precompiled headers are switched off for every run.

    ## What it does
    Reports `wp.config.use_precompiled_headers = False` where no condition decides about it. Tests may set it.

    ## Why is this bad
    Warp's own header is far longer than most modules. With the setting on, it is compiled once for a set of
    flags and then reused by every module; without it, each module compiles it again.

    ## Example
    ```python
    wp.config.use_precompiled_headers = False
    ```

    ## Use instead
    ```python
    if args.no_precompiled_headers:
        wp.config.use_precompiled_headers = False
    ```

    ## Fix safety
    The fix deletes the statement. It is unsafe: the compiler may have had trouble with the header, which
    is the one reason to switch it off.
    """

    code = "WRP804"
    name = "headers-off"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        if find(CONFIG_ATTRIBUTES, "use_precompiled_headers", project.settings.target_version) is None:
            return
        for setting in project.lasting_settings:
            is_off = setting.is_config and setting.values == (constant(False),)
            if setting.name != "use_precompiled_headers" or not is_off:
                continue
            edits = remove_setting(setting, project)
            yield self.finding(
                setting.location,
                "precompiled headers are off: each module compiles Warp's header again",
                suppression_range=setting.suppression_range,
                fix=Fix("Delete the setting", Applicability.UNSAFE, edits) if edits is not None else None,
            )
