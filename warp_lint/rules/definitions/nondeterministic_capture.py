from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Certainty, Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.nondeterminism import Origin
from warp_lint.rules.base import Rule


class NondeterministicCapture(Rule):
    """A kernel holds a value that is another one in every process.

    ## What it does
    Reports random numbers, times, process and object ids, names of temporary files and values from the
    environment that come to a kernel as a constant: through a global name, through what a function around the
    kernel was called with, or in `wp.static`. Random numbers are left alone where the file seeds them.

    ## Why is this bad
    Constants are part of the code that is built. No process finds in the cache what another one has left
    there: the whole module is built again at every start, and the cache only grows. A value from the
    environment does so whenever it changes, which is only worth knowing: its level is information.

    ## Example
    ```python
    SEED = random.randrange(1 << 30)


    @wp.kernel
    def scatter(x: wp.array(dtype=float)):
        state = wp.rand_init(SEED, wp.tid())
        x[wp.tid()] = wp.randf(state)
    ```

    ## Use instead
    ```python
    @wp.kernel
    def scatter(x: wp.array(dtype=float), seed: int):
        state = wp.rand_init(seed, wp.tid())
        x[wp.tid()] = wp.randf(state)
    ```

    ## Fix safety
    There is no fix: every launch has to pass the value.
    """

    code = "WRP106"
    name = "nondeterministic-capture"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        holders: dict[Origin, list[KernelDefinition]] = {}
        for kernel in project.kernels.values():
            if not project.is_test(kernel.file):
                for origin in project.nondeterminism.origins(kernel):
                    if not project.is_test(project.files[origin.file]):
                        holders.setdefault(origin, []).append(kernel)
        for origin, kernels in holders.items():
            yield self._finding(origin, kernels, project)

    def _finding(self, origin: Origin, kernels: list[KernelDefinition], project: Project) -> Finding:
        first = kernels[0]
        module = project.modules[first.module]
        varies = (
            "depends on the environment" if origin.of_environment else "is another value in every process"
        )
        when = "for each value" if origin.of_environment else "at every start"
        facts = project.files[origin.file].facts
        return self.finding(
            origin.location,
            f'{origin.name}() {varies}, and kernel "{first.name}" holds it as a constant: '
            f'module "{module.name}" is built again {when}',
            suppression_range=facts.location(origin.suppression_span).range,
            related=[Related(f'held by kernel "{kernel.name}"', kernel.location) for kernel in kernels],
            # Who sets the variable mostly sets it once for good.
            level=Level.INFO if origin.of_environment else None,
            certainty=Certainty.LIKELY if origin.of_environment else Certainty.CERTAIN,
        )
