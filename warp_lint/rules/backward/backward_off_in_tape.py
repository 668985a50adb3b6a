from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts import values as fact
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.differentiation import passes_gradients
from warp_lint.project.evaluation import names_in, parts_in
from warp_lint.project.events import Context, Event, EventKind
from warp_lint.project.files import ProjectFile, target_names
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.values import External, Instance, constant
from warp_lint.rules.base import Rule

_MOST_STEPS = 3
"""Further away from the tape, a kernel without backward code is likely to be one on purpose."""


class BackwardOffInTape(Rule):
    """A kernel without backward code is launched under a tape that goes backward.

    ## What it does
    Reports launches, also those in functions that are called, under a recording `wp.Tape` whose `backward`
    is called, of kernels whose backward code is turned off on the decorator or for the module. A kernel that
    reads no array of floats has no gradient to pass on, and a launch that is behind a question for
    `requires_grad` has been thought of.

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
                if off is None or not passes_gradients(kernel) or not self._records(event, project):
                    continue
                if not self._is_guarded(event, project) and self._goes_backward(file, project):
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

    def _is_guarded(self, event: Event, project: Project) -> bool:
        """Whether the launch, or a call that leads to it, is behind a question for gradients."""
        sites = [event.site, *(step.site for step in event.steps)]
        return any(self._asks_before(site, project) for site in sites if site is not None)

    def _asks_before(self, site: CallSite, project: Project) -> bool:
        file = project.files[site.file]
        call = project.call(site)
        tests = list(project.conditions.tests(file, call.block, call.span.start))
        if any(_asks_for_gradients(test, file) for test in tests):
            return True
        names = {name for test in tests for name in names_in(test, file)}
        # wanted = x.requires_grad or y.requires_grad
        return any(
            binding.scope == call.scope
            and not names.isdisjoint(name for _, name in target_names(binding.target))
            and _asks_for_gradients(binding.value, file)
            for binding in file.facts.bindings
        )

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


def _asks_for_gradients(expression: fact.Expression, file: ProjectFile) -> bool:
    """Whether an expression reads ``requires_grad``, as an attribute, a name, or with ``getattr``."""
    return any(
        part in (fact.Name("requires_grad"), fact.Constant("requires_grad"))
        or (isinstance(part, fact.Attribute) and part.attribute == "requires_grad")
        for part in parts_in(expression, file)
    )
