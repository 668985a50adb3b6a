from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from warp_lint.edits.arguments import change_arguments
from warp_lint.findings import Applicability, Edit, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.preloads import PRELOADS, Preload
from warp_lint.project.values import constant
from warp_lint.rules.base import Rule
from warp_lint.source import SourceError

_WORKERS_SINCE = (1, 11)
_CPU_SAFE_SINCE = (1, 17)


class SerialPreload(Rule):
    """Several modules are preloaded one after another.

    ## What it does
    Reports a preload of several modules, or with `recursive=True`, that gives no `max_workers`, and
    `wp.load_module` called for one module after another. It says nothing when
    `wp.config.load_module_max_workers` is set, or when only the CPU is preloaded.

    ## Why is this bad
    Modules do not depend on each other, and NVRTC compiles several at once. Unless workers are asked for,
    Warp builds them in turn, on one core.

    ## Example
    ```python
    wp.force_load(device="cuda:0", modules=[fluid, contacts])
    ```

    ## Use instead
    ```python
    wp.force_load(device="cuda:0", modules=[fluid, contacts], max_workers=4)
    ```

    ## Fix safety
    The fix adds `max_workers=4`. It is unsafe: more cores and memory are in use at once. Several calls of
    `wp.load_module` are left to the author: one `wp.force_load` takes their place.
    """

    code = "WRP602"
    name = "serial-preload"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        if project.settings.target_version < _WORKERS_SINCE or _sets_workers(project):
            return
        one_by_one: dict[tuple[int, int], list[Preload]] = defaultdict(list)
        for preload in project.preloads:
            if preload.name not in PRELOADS or not preload.leaves_out("max_workers"):
                continue
            if preload.is_for_cpu_alone or project.is_test(preload.file):
                continue
            if preload.name == "load_module" and preload.argument("recursive") is None:
                turns = _modules_of_turns(preload, project)
                if turns > 1:
                    yield self._finding_of_loop(preload, turns)
                else:
                    one_by_one[preload.site.file, preload.call.scope].append(preload)
            elif len(set(preload.modules)) > 1 or _is_recursive(preload):
                yield self._finding_of_call(preload, project)
        for preloads in one_by_one.values():
            yield from self._check_calls(preloads)

    def _finding_of_call(self, preload: Preload, project: Project) -> Finding:
        what = (
            "a module and those below it"
            if _is_recursive(preload)
            else f"{len(set(preload.modules))} modules"
        )
        return self.finding(
            preload.location,
            f"{what} are built one after another: max_workers builds several at once",
            suppression_range=preload.suppression_range,
            fix=_fix(preload, project),
        )

    def _finding_of_loop(self, preload: Preload, count: int) -> Finding:
        return self.finding(
            preload.location,
            f"{count} modules are built one after another: one wp.force_load with max_workers builds several "
            "at once",
            suppression_range=preload.suppression_range,
        )

    def _check_calls(self, preloads: list[Preload]) -> Iterator[Finding]:
        """Calls of ``load_module`` in one scope, of which each loads another module."""
        first, *others = preloads
        later = [
            preload
            for preload in others
            if preload.modules
            and preload.modules != first.modules
            and preload.devices == first.devices
            and preload.file.may_reach(first.call.block, preload.call.block)
        ]
        if first.modules and later:
            count = len({preload.modules for preload in (first, *later)})
            yield self.finding(
                first.location,
                f"{count} modules are built one after another: one wp.force_load with max_workers builds "
                "several at once",
                suppression_range=first.suppression_range,
                related=[Related("then this", preload.location) for preload in later[:3]],
            )


def _modules_of_turns(preload: Preload, project: Project) -> int:
    """How many modules the turns of the loops around a ``load_module`` load; 1 where they are not known."""
    argument = preload.written("module")
    if argument is None:
        return 1
    evaluator = project.evaluator
    modules = {
        project.warp_modules.of_values(
            evaluator.evaluate(argument.value, preload.place, environment), preload.file
        )
        for environment in evaluator.iterations(preload.place, [argument.value], {})
    }
    return len(modules) if None not in modules else 1


def _is_recursive(preload: Preload) -> bool:
    return preload.name == "load_module" and preload.argument("recursive") == (constant(True),)


def _sets_workers(project: Project) -> bool:
    return any(write.name == "load_module_max_workers" for write in project.config_writes)


def _fix(preload: Preload, project: Project) -> Fix | None:
    if preload.is_for_cpu_too and project.settings.target_version < _CPU_SAFE_SINCE:
        return None
    span = preload.call.span
    try:
        text = project.source(preload.file).text[slice(*span)]
    except SourceError:
        return None
    replacement = change_arguments(text, {"max_workers": "4"})
    if replacement is None:
        return None
    edit = Edit(preload.file.facts.path, span.start, span.end, replacement)
    return Fix("Build with four workers", Applicability.UNSAFE, (edit,))
