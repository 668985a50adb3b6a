from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.events import Event, EventKind
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import ModuleKey
from warp_lint.project.options import ConfigWrite
from warp_lint.project.values import Constant, Values, constant
from warp_lint.rules.base import Rule
from warp_lint.warp_api import CONFIG_ATTRIBUTES, ReadTime, WarpName, find


class ConfigAfterLoad(Rule):
    """A `wp.config` attribute is set after the modules that would read it were loaded.

    ## What it does
    Reports assignments to attributes that Warp resolves at the first load of a module (`mode`,
    `optimization_level`, `verify_fp`, `enable_mathdx_gemm`, …) that come after a load in the same flow, when
    a module that was loaded before is launched again afterwards.

    ## Why is this bad
    The assignment is ignored for modules that are loaded, until something else marks them as modified: a
    later definition, overload or option then builds them again with it, to everyone's surprise.

    ## Example
    ```python
    wp.launch(step, dim=n, inputs=[x])
    wp.config.mode = "debug"
    wp.launch(step, dim=n, inputs=[x])
    ```

    ## Use instead
    ```python
    wp.config.mode = "debug"
    wp.launch(step, dim=n, inputs=[x])
    wp.launch(step, dim=n, inputs=[x])
    ```

    ## Fix safety
    There is no fix: what was launched before may be meant to run without the setting.
    """

    code = "WRP303"
    name = "config-after-load"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        reported = set()
        for file, _, events, at_import in project.timeline.flows():
            for event in events:
                config = event.config
                if event.kind is not EventKind.SET_CONFIG or config is None or event.location in reported:
                    continue
                if not self._is_read_at_load(config, project) or not self._changes(
                    event, config, events, file, project
                ):
                    continue
                load = self._load_before(event, events, at_import, file, project)
                if load is not None:
                    reported.add(event.location)
                    yield self._finding(event, config, load)

    def _is_read_at_load(self, config: ConfigWrite, project: Project) -> bool:
        attribute = find(CONFIG_ATTRIBUTES, config.name, project.settings.target_version)
        return attribute is not None and attribute.read is ReadTime.FIRST_LOAD

    def _changes(
        self,
        event: Event,
        config: ConfigWrite,
        events: tuple[Event, ...],
        file: ProjectFile,
        project: Project,
    ) -> bool:
        """Whether the attribute is known to get another value than it has."""
        if not all(isinstance(value, Constant) for value in config.values):
            return False
        return config.values != self._value_before(event, config, events, file, project)

    def _value_before(
        self,
        event: Event,
        config: ConfigWrite,
        events: tuple[Event, ...],
        file: ProjectFile,
        project: Project,
    ) -> Values:
        for other in reversed(events):
            is_same = other.config is not None and other.config.name == config.name
            if is_same and project.timeline.precedes(file, other, event.block, event.order):
                assert other.config is not None
                return other.config.values
        attribute = find(CONFIG_ATTRIBUTES, config.name, project.settings.target_version)
        if attribute is None or isinstance(attribute.default, WarpName):
            return ()
        return (constant(attribute.default),)

    def _load_before(
        self,
        event: Event,
        events: tuple[Event, ...],
        at_import: list[Event],
        file: ProjectFile,
        project: Project,
    ) -> Event | None:
        """A load before the assignment of a module that is launched after it."""
        for load in (*at_import, *events):
            if not load.is_load or load.module is None or load.was_judged_with(event):
                continue
            is_before = load in at_import or project.timeline.precedes(file, load, event.block, event.order)
            if is_before and self._is_launched_unchanged(load.module, event, events, file):
                return load
        return None

    def _is_launched_unchanged(
        self, module: ModuleKey, event: Event, events: tuple[Event, ...], file: ProjectFile
    ) -> bool:
        """Whether the module is launched after the assignment before anything marks it as modified."""
        for later in events:
            if later.module != module or later.order <= event.order:
                continue
            if later.kind is EventKind.LAUNCH:
                return file.may_reach(event.block, later.block)
            if later.kind in (EventKind.DEFINE, EventKind.OVERLOAD, EventKind.SET_OPTION):
                return False
        return False

    def _finding(self, event: Event, config: ConfigWrite, load: Event) -> Finding:
        steps = (*load.steps, *event.steps)
        return self.finding(
            config.location,
            f"wp.config.{config.name} is set after modules were loaded: they keep the old value "
            "until something else has them built again",
            suppression_range=config.file.facts.location(config.span).range,
            related=[
                Related(f"loaded by {load.description}", load.location),
                *(Related(f"through {step.name}", step.location) for step in steps),
            ],
        )
