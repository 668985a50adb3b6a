from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.events import Event, EventKind
from warp_lint.project.files import ProjectFile
from warp_lint.project.options import ConfigWrite
from warp_lint.rules.base import Rule
from warp_lint.warp_api import CONFIG_ATTRIBUTES, ReadTime, find


class ScopedConfig(Rule):
    """A `wp.config` attribute is flipped around a launch and restored.

    ## What it does
    Reports functions that set an attribute which modules copy or resolve (`enable_backward`, `mode`,
    `optimization_level`, …), launch, and set it again. Tests may do so.

    ## Why is this bad
    The attribute is not the launch's: it counts only if that launch is the first load of its module, and
    then for good. Whatever else is loaded in between takes it as well.

    ## Example
    ```python
    def run_fast(x):
        before = wp.config.mode
        wp.config.mode = "release"
        wp.launch(step, dim=n, inputs=[x])
        wp.config.mode = before
    ```

    ## Use instead
    ```python
    wp.set_module_options({"mode": "release"})


    def run_fast(x):
        wp.launch(step, dim=n, inputs=[x])
    ```

    ## Fix safety
    There is no fix: the option belongs to the module, in another place.
    """

    code = "WRP309"
    name = "scoped-config"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        reported = set()
        for file, scope, events, _ in project.timeline.flows():
            if scope == 0 or project.is_test(file):
                continue
            writes = [event for event in events if self._counts(event, project)]
            for position, event in enumerate(writes):
                later = self._restoring(event, writes[position + 1 :])
                if later is None or event.location in reported:
                    continue
                load = self._between(event, later, events, file)
                if load is not None and event.config is not None:
                    reported.add(event.location)
                    yield self._finding(event, event.config, load, later)

    def _counts(self, event: Event, project: Project) -> bool:
        if event.kind is not EventKind.SET_CONFIG or event.config is None:
            return False
        attribute = find(CONFIG_ATTRIBUTES, event.config.name, project.settings.target_version)
        return attribute is not None and attribute.read in (ReadTime.CREATION, ReadTime.FIRST_LOAD)

    def _restoring(self, event: Event, later: list[Event]) -> Event | None:
        name = event.config.name if event.config is not None else ""
        return next((other for other in later if other.config and other.config.name == name), None)

    def _between(
        self, event: Event, later: Event, events: tuple[Event, ...], file: ProjectFile
    ) -> Event | None:
        for other in events:
            is_between = event.order < other.order < later.order
            if other.is_load and is_between and file.may_reach(event.block, other.block):
                return other
        return None

    def _finding(self, event: Event, config: ConfigWrite, load: Event, later: Event) -> Finding:
        return self.finding(
            event.location,
            f"wp.config.{config.name} is set around {load.description} and set back: it counts only if that "
            "is the module's first load, and for good then",
            suppression_range=config.file.facts.location(config.span).range,
            related=[
                Related("what it is meant for", load.location),
                Related("set back here", later.location),
            ],
        )
