from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.arguments import change_arguments
from warp_lint.findings import Applicability, Edit, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.preloads import PRELOADS, Preload
from warp_lint.project.values import Values, constant, only_constant
from warp_lint.rules.base import Rule
from warp_lint.source import SourceError

_SAFE_SINCE = (1, 17)


class ParallelCpuPreload(Rule):
    """Modules for the CPU are loaded by several workers, which an older Warp does not bear.

    ## What it does
    Reports, for targets before Warp 1.17, preloads of several modules with more than one worker, by
    `max_workers` or `wp.config.load_module_max_workers`, where the CPU is one of the devices. A call that
    names no device loads for all of them, the CPU among them.

    ## Why is this bad
    Before Warp 1.17 the compiler for the CPU is not safe to use from several threads: now and then a module
    fails to load, or the process ends.

    ## Example
    ```python
    wp.force_load(device="cpu", modules=[fluid, contacts], max_workers=4)
    ```

    ## Use instead
    ```python
    wp.force_load(device="cpu", modules=[fluid, contacts], max_workers=1)
    ```

    ## Fix safety
    The fix sets `max_workers` to 1, and is safe: the same is built, in turn.

    ## Evidence
    The installed Warp loads one module for the CPU at a time, whatever is asked for.
    """

    code = "WRP603"
    name = "parallel-cpu-preload"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        version = project.settings.target_version
        if not (1, 11) <= version < _SAFE_SINCE:
            return
        configured = _configured_workers(project)
        for preload in project.preloads:
            if preload.name not in PRELOADS or not _loads_several_for_cpu(preload):
                continue
            given = preload.argument("max_workers")
            workers = configured if given is None else _number(given)
            if workers is None or workers <= 1:
                continue
            if not project.version_checks.decide_about(
                preload.file, preload.call.scope, preload.call.block, preload.call.span.start
            ):
                shown = ".".join(map(str, version))
                yield self.finding(
                    preload.location,
                    f"{workers} workers load modules for the CPU, which may fail before Warp 1.17; "
                    f"the target is {shown}",
                    suppression_range=preload.suppression_range,
                    fix=_fix(preload, project),
                )


def _loads_several_for_cpu(preload: Preload) -> bool:
    is_recursive = preload.name == "load_module" and preload.argument("recursive") == (constant(True),)
    several = preload.loads_everything or is_recursive or len(set(preload.modules)) > 1
    return several and preload.is_for_cpu_too and not preload.arguments.open


def _configured_workers(project: Project) -> int | None:
    """The number that ``load_module_max_workers`` is set to; None where nothing sets it, or to another."""
    writes = [write for write in project.config_writes if write.name == "load_module_max_workers"]
    numbers = {_number(write.values) for write in writes}
    return numbers.pop() if len(numbers) == 1 else None


def _number(values: Values) -> int | None:
    found = only_constant(values)
    return found.value if found is not None and isinstance(found.value, int) else None


def _fix(preload: Preload, project: Project) -> Fix | None:
    span = preload.call.span
    try:
        text = project.source(preload.file).text[slice(*span)]
    except SourceError:
        return None
    is_by_keyword = any(argument.keyword == "max_workers" for argument in preload.call.arguments)
    if preload.argument("max_workers") is not None and not is_by_keyword:
        return None
    replacement = change_arguments(text, {"max_workers": "1"})
    if replacement is None:
        return None
    edit = Edit(preload.file.facts.path, span.start, span.end, replacement)
    return Fix("Load with one worker", Applicability.SAFE, (edit,))
