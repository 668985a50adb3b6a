from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level, Range, Related
from warp_lint.project import Project
from warp_lint.project.events import Event, EventKind
from warp_lint.project.kernels import ModuleKind
from warp_lint.rules.base import Rule


class LateDefinition(Rule):
    """A kernel or overload joins a module that is already loaded.

    ## What it does
    Reports kernels defined, and overloads declared, at module level after something loaded their module: a
    launch or a `wp.load_module` further up, or one that an import brings along.

    ## Why is this bad
    The module was built without the newcomer. The next launch builds it again, with all of its kernels.

    ## Example
    ```python
    wp.load_module()


    @wp.kernel
    def step(x: wp.array(dtype=float)): ...
    ```

    ## Use instead
    ```python
    @wp.kernel
    def step(x: wp.array(dtype=float)): ...


    wp.load_module()
    ```

    ## Fix safety
    There is no fix: what stands between the load and the definition may have its reasons.
    """

    code = "WRP103"
    name = "late-definition"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        reported = set()
        for file, scope, events, _ in project.timeline.flows():
            if scope != 0:
                continue  # what functions define is another rule's
            for event in events:
                module = event.module
                if module is None or module.kind not in (ModuleKind.OWN, ModuleKind.NAMED):
                    continue
                if event.location in reported or not self._is_at_module_level(event, project):
                    continue
                load = project.timeline.load_before(module, event, events, file)
                if load is not None and load.came_through_import and module.file == file.index:
                    continue  # a cycle: nobody launches what a file has not defined yet
                if load is not None:
                    reported.add(event.location)
                    yield self._finding(event, load, project)

    def _is_at_module_level(self, event: Event, project: Project) -> bool:
        """Whether a definition or overload stands at module level itself."""
        match event.kind:
            case EventKind.DEFINE if event.kernel is not None:
                return project.kernels[event.kernel].outermost_function is None
            case EventKind.OVERLOAD if event.site is not None:
                file = project.files[event.site.file]
                return file.outermost_function_of(project.call(event.site).scope) is None
            case _:
                return False

    def _finding(self, event: Event, load: Event, project: Project) -> Finding:
        assert event.module is not None
        module = project.modules[event.module]
        steps = (*load.steps, *event.steps)
        return self.finding(
            event.location,
            f'module "{module.name}" is built again: {event.description} comes after it was loaded',
            suppression_range=self._suppression_range(event, project),
            related=[
                Related(f"loaded by {load.description}", load.location),
                *(Related(f"through {step.name}", step.location) for step in steps),
            ],
        )

    def _suppression_range(self, event: Event, project: Project) -> Range | None:
        if event.kind is EventKind.DEFINE and event.kernel is not None:
            return project.kernels[event.kernel].suppression_range
        if event.site is not None:
            facts = project.files[event.site.file].facts
            return facts.location(project.call(event.site).statement_span).range
        return None
