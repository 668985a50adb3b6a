from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from warp_lint.edits.hoists import Hoist
from warp_lint.findings import Applicability, Finding, Fix, Level, Location, Range, Related
from warp_lint.project import Project
from warp_lint.project.events import Event, EventKind, Step
from warp_lint.project.files import ProjectFile
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
    The fix moves the definition, with the comments above it, to just above the statement that leads to the
    first load. It is unsafe: what ran before the definition now runs after it. None is offered where a name
    that the definition uses gets its value only below the load, where options are set on the way, and where a
    condition or loop decides about the load or the definition.
    """

    code = "WRP103"
    name = "late-definition"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        flows = [flow for flow in project.timeline.flows() if flow[1] == 0]  # functions are another rule's
        reported: set[Location] = set()
        # What a file does itself is reported of it, not of those that import it.
        for is_elsewhere in (False, True):
            for file, _, events, _ in flows:
                late = {
                    event.location: (event, load)
                    for event, load in self._late(events, file, project)
                    if bool(event.steps) is is_elsewhere and event.location not in reported
                }
                reported |= late.keys()
                fixes = self._fixes(late.values(), events, file, project)
                for location, (event, load) in late.items():
                    yield self._finding(event, load, fixes.get(location), project)

    def _late(
        self, events: tuple[Event, ...], file: ProjectFile, project: Project
    ) -> Iterator[tuple[Event, Event]]:
        """What joins a module at module level after it was loaded, each with the load."""
        for event in events:
            module = event.module
            if module is None or module.kind not in (ModuleKind.OWN, ModuleKind.NAMED):
                continue
            if not self._is_at_module_level(event, project):
                continue
            load = project.timeline.load_before(module, event, events, file)
            if load is not None and load.came_through_import and module.file == file.index:
                continue  # a cycle: nobody launches what a file has not defined yet
            if load is not None:
                yield event, load

    def _fixes(
        self,
        late: Iterable[tuple[Event, Event]],
        events: tuple[Event, ...],
        file: ProjectFile,
        project: Project,
    ) -> dict[Location, Fix]:
        """The fixes by the places of what they move: all that one load comes before goes above it at once."""
        by_load: dict[tuple[Location, tuple[Step, ...]], list[tuple[Event, Event]]] = defaultdict(list)
        for event, load in late:
            by_load[load.location, load.steps].append((event, load))
        fixes: dict[Location, Fix] = {}
        for group in by_load.values():
            hoist = Hoist.above(group[0][1], events, file, project)
            moved = [event for event, _ in group if hoist is not None and hoist.add(event, project)]
            if hoist is not None and moved:
                fix = Fix(f"Move {_what(moved)} above the load", Applicability.UNSAFE, (hoist.edit(),))
                fixes |= dict.fromkeys((event.location for event in moved), fix)
        return fixes

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

    def _finding(self, event: Event, load: Event, fix: Fix | None, project: Project) -> Finding:
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
            fix=fix,
        )

    def _suppression_range(self, event: Event, project: Project) -> Range | None:
        if event.kind is EventKind.DEFINE and event.kernel is not None:
            return project.kernels[event.kernel].suppression_range
        if event.site is not None:
            facts = project.files[event.site.file].facts
            return facts.location(project.call(event.site).statement_span).range
        return None


def _what(moved: Sequence[Event]) -> str:
    """What a fix moves, in words."""
    if len(moved) == 1:
        return moved[0].description
    return f"{len(moved)} late definitions"
