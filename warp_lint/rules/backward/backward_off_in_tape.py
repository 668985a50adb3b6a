from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts import values as fact
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.differentiation import is_integer_only
from warp_lint.project.events import Context, Event, EventKind
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.values import External, Instance, constant
from warp_lint.rules.base import Rule

_MOST_STEPS = 3
"""Further away from the tape, a kernel without backward code is likely to be one on purpose."""


class BackwardOffInTape(Rule):
    """A kernel without backward code is launched under a tape that goes backward.

    ## What it does
    Reports launches, also those in functions that are called, under a recording `wp.Tape` whose `backward`
    is called, of kernels whose backward code is turned off on the decorator or for the module.

    ## Why is this bad
    The tape cannot go through the kernel: all gradients behind it are zero. Warp raises nothing; a line in
    the log is all there is.

    ## Example
    ```python
    @wp.kernel(enable_backward=False)
    def loss(x: wp.array(dtype=float), out: wp.array(dtype=float)): ...


    with wp.Tape() as tape:
        wp.launch(loss, dim=n, inputs=[x], outputs=[out])
    tape.backward(out)
    ```

    ## Use instead
    ```python
    @wp.kernel
    def loss(x: wp.array(dtype=float), out: wp.array(dtype=float)): ...


    with wp.Tape() as tape:
        wp.launch(loss, dim=n, inputs=[x], outputs=[out])
    tape.backward(out)
    ```

    ## Fix safety
    There is no fix: either the kernel needs its backward code, or the launch `record_tape=False`.
    """

    code = "WRP402"
    name = "backward-off-in-tape"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        reported = set()
        for file, _, events, _ in project.timeline.flows():
            for event in events:
                if event.kind is not EventKind.LAUNCH or Context.TAPE not in event.contexts:
                    continue
                if event.kernel is None or event.site is None or event.location in reported:
                    continue
                if len(event.steps) > _MOST_STEPS:
                    continue
                kernel = project.kernels[event.kernel]
                off = self._turned_off(kernel, project)
                if off is None or is_integer_only(kernel) or not self._records(event, project):
                    continue
                if self._goes_backward(file, project):
                    reported.add(event.location)
                    yield self._finding(event, kernel, off, project)

    def _turned_off(self, kernel: KernelDefinition, project: Project) -> Related | None:
        """What turns the kernel's backward code off; None when nothing surely does."""
        given = kernel.options.get("enable_backward")
        if given is not None:
            if given == (constant(False),):
                return Related("backward is turned off here", kernel.location)
            return None
        writes = [write for write in project.modules[kernel.module].writes if write.name == "enable_backward"]
        if writes and all(write.values == (constant(False),) for write in writes):
            return Related("backward is turned off for the module here", writes[0].location)
        return None

    def _records(self, event: Event, project: Project) -> bool:
        """Whether the launch is recorded: ``record_tape=False`` keeps it off the tape."""
        assert event.site is not None
        call = project.call(event.site)
        place = project.evaluator.place_of(event.site.file, call)
        given = project.evaluator.arguments(call, place, {}).get(9, "record_tape")
        return given is None or given == (constant(True),)

    def _goes_backward(self, file: ProjectFile, project: Project) -> bool:
        """Whether the file calls the ``backward`` of some tape."""
        for index, call in enumerate(file.facts.calls):
            if not isinstance(call.function, fact.Attribute) or call.function.attribute != "backward":
                continue
            if External("warp.Tape().backward") in project.evaluator.callee(file.index, index):
                return True
            place = project.evaluator.place_of(file.index, call)
            for value in project.evaluator.evaluate(call.function.base, place, {}):
                if isinstance(value, Instance) and project.differentiation.is_tape(value.of):
                    return True
        return False

    def _finding(self, event: Event, kernel: KernelDefinition, off: Related, project: Project) -> Finding:
        assert event.site is not None
        facts = project.files[event.site.file].facts
        return self.finding(
            event.location,
            f'gradients stop at kernel "{kernel.name}": it is launched under a tape, '
            "and its backward code is turned off",
            suppression_range=facts.location(project.call(event.site).statement_span).range,
            related=[off, *(Related(f"through {step.name}", step.location) for step in event.steps)],
        )
