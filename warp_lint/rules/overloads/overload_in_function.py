from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.overloads import move_behind_kernel
from warp_lint.facts.values import Expression
from warp_lint.findings import Applicability, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.creation import is_made_with_kernel
from warp_lint.project.events import Event, EventKind
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import ModuleKind
from warp_lint.project.memoization import is_memoized
from warp_lint.project.overloads import Declaration
from warp_lint.rules.base import Rule


class OverloadInFunction(Rule):
    """An overload is declared in a function after the module was loaded.

    ## What it does
    Reports `wp.overload` in a function, also in one that it calls, where a load of the kernel's module comes
    before it in the same flow, and no declaration at module level has the same signature.

    An overload that a function declares behind the unique kernel that it makes is not reported, where what
    decides about the overload decides about the kernel, too, by its name or by what it captures: another
    overload is of another module then.

    ## Why is this bad
    A new overload adds an instance to a module that is built already: the next launch builds it again.

    ## Example
    ```python
    def run(x):
        wp.launch(clear, dim=n, inputs=[x])
        wp.overload(scale, [wp.array(dtype=wp.float64), wp.float64])
        wp.launch(scale, dim=n, inputs=[x, wp.float64(2.0)])
    ```

    ## Use instead
    ```python
    wp.overload(scale, [wp.array(dtype=wp.float64), wp.float64])


    def run(x):
        wp.launch(clear, dim=n, inputs=[x])
        wp.launch(scale, dim=n, inputs=[x, wp.float64(2.0)])
    ```

    ## Fix safety
    The fix moves the statement behind the kernel, where its types are written out. It is unsafe: the overload
    is built in every run then.
    """

    code = "WRP113"
    name = "overload-in-function"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        reported = set()
        for file, _, events, at_import in project.timeline.flows():
            for event in events:
                if event.kind is not EventKind.OVERLOAD or event.location in reported:
                    continue
                module = event.module
                if module is None or module.kind is ModuleKind.UNKNOWN or not self._is_new(event, project):
                    continue
                if self._is_remembered(event, events, file, project):
                    continue
                before = [load for load in at_import if load.loads(module)]
                load = before[0] if before else project.timeline.load_before(module, event, events, file)
                if load is not None:
                    reported.add(event.location)
                    yield self._finding(event, load, project)

    def _is_new(self, event: Event, project: Project) -> bool:
        """Whether the call stands in a function and adds a signature that none at module level has."""
        assert event.site is not None
        assert event.kernel is not None
        file = project.files[event.site.file]
        call = project.call(event.site)
        if file.outermost_function_of(call.scope) is None or file.expects_error(call.block):
            return False
        if is_made_with_kernel(event.site, project.kernels[event.kernel], project):
            return False
        declarations = project.overloads.declared.get(event.kernel, [])
        here = {item.signature for item in declarations if item.site == event.site}
        at_top = {item.signature for item in declarations if _is_at_module_level(item)}
        # What cannot be read may be the same.
        is_readable = bool(here) and None not in here | at_top
        return bool(here - at_top) if is_readable else not at_top

    def _is_remembered(
        self, event: Event, events: tuple[Event, ...], file: ProjectFile, project: Project
    ) -> bool:
        """Whether a memoized function declares the overload, and was called with the same arguments before in
        the same flow: that call counts then."""
        assert event.origin is not None
        declaring = project.files[event.origin.file]
        function = declaring.function_of(event.origin.scope)
        if function is None or not is_memoized(declaring, function, project):
            return False
        return any(
            earlier.kind is event.kind
            and earlier.location == event.location
            and _last_arguments(earlier, project) == _last_arguments(event, project)
            and project.timeline.comes_before(earlier, event, file)
            for earlier in events
        )

    def _finding(self, event: Event, load: Event, project: Project) -> Finding:
        assert event.site is not None
        assert event.module is not None
        facts = project.files[event.site.file].facts
        steps = (*load.steps, *event.steps)
        return self.finding(
            event.location,
            f'module "{project.modules[event.module].name}" is built again: {event.description} '
            "comes after it was loaded",
            suppression_range=facts.location(project.call(event.site).statement_span).range,
            related=[
                Related(f"loaded by {load.description}", load.location),
                *(Related(f"through {step.name}", step.location) for step in steps),
            ],
            fix=self._fix(event, project),
        )

    def _fix(self, event: Event, project: Project) -> Fix | None:
        assert event.site is not None
        assert event.kernel is not None
        edits = move_behind_kernel(project.kernels[event.kernel], event.site, project)
        return Fix("Move the overload to module scope", Applicability.UNSAFE, edits) if edits else None


def _is_at_module_level(declaration: Declaration) -> bool:
    return declaration.file.outermost_function_of(declaration.place.scope) is None


def _last_arguments(event: Event, project: Project) -> list[tuple[str | None, Expression]]:
    """What the function that an event stands in is called with."""
    site = event.steps[-1].site if event.steps else None
    arguments = project.call(site).arguments if site is not None else ()
    return [(argument.keyword, argument.value) for argument in arguments]
