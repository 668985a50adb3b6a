from __future__ import annotations

import re
from collections.abc import Iterator

from warp_lint.findings import Applicability, Edit, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.preloads import Preload
from warp_lint.rules.base import Rule
from warp_lint.source import SourceError

_DEVICE = re.compile(r"cpu|cuda(:\d+)?")


class DeviceAsModule(Rule):
    """A device stands where the module belongs.

    ## What it does
    Reports `wp.load_module("cuda:0")`, unless the project has a module of that name.

    ## Why is this bad
    The first argument is the module. Warp looks for a module that is called like the device, finds none, and
    raises `RuntimeError`; `wp.force_load`, whose first argument is the device, has taught many the wrong
    order.

    ## Example
    ```python
    wp.load_module("cuda:0")
    ```

    ## Use instead
    ```python
    wp.load_module(device="cuda:0")
    ```

    ## Fix safety
    The fix names the argument, and is safe: as it is, the call only raises.
    """

    code = "WRP605"
    name = "device-as-module"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        for preload in project.preloads:
            name = preload.plain("module") if preload.name == "load_module" else None
            if not isinstance(name, str) or not _DEVICE.fullmatch(name) or preload.expects_error:
                continue
            if project.evaluator.modules.find(name, preload.file) is not None:
                continue
            yield self.finding(
                preload.location,
                f'"{name}" is taken for the name of a module: the call raises RuntimeError',
                suppression_range=preload.suppression_range,
                fix=_fix(preload, project),
            )


def _fix(preload: Preload, project: Project) -> Fix | None:
    """Name the argument, where that keeps what the others stand for and it has no parentheses of its own."""
    first, *others = preload.call.arguments
    if first.keyword is not None or any(argument.keyword in (None, "*", "device") for argument in others):
        return None
    start = first.value_span.start
    try:
        before = project.source(preload.file).text[preload.call.span.start : start]
    except SourceError:
        return None
    if before.count("(") - before.count(")") != 1:
        return None
    edit = Edit(preload.file.facts.path, start, start, "device=")
    return Fix("Pass it as the device", Applicability.SAFE, (edit,))
