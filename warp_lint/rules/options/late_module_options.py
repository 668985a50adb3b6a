from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.options import move_to_top
from warp_lint.findings import Applicability, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.late_options import LateWrite
from warp_lint.project.options import OptionWrite
from warp_lint.rules.base import Rule


class LateModuleOptions(Rule):
    """Options of a module change after it was loaded.

    ## What it does
    Reports `wp.set_module_options`, and writes into the dict of `wp.get_module_options()`, that come after
    something loaded the module in the same flow: the script, the function, or what they call.

    ## Why is this bad
    The module was built with the old options. `set_module_options` makes Warp build all of its kernels again
    at the next launch; a write into the dict changes nothing at all, without a word.

    ## Example
    ```python
    wp.launch(step, dim=n, inputs=[x])
    wp.set_module_options({"fast_math": True})
    wp.launch(step, dim=n, inputs=[x])
    ```

    ## Use instead
    ```python
    wp.set_module_options({"fast_math": True})


    @wp.kernel
    def step(x: wp.array(dtype=float)): ...
    ```

    ## Fix safety
    The fix moves the call to module scope above the first kernel when its value is constant. It is safe when
    the module has only this call, otherwise unsafe.
    """

    code = "WRP301"
    name = "late-module-options"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for late in project.late_writes:
            yield self._finding(late, project)

    def _fix(self, write: OptionWrite, project: Project) -> Fix | None:
        edits = move_to_top(write, project)
        if edits is None:
            return None
        calls = {(item.file.index, item.span) for item in project.modules[write.module].writes}
        applicability = Applicability.SAFE if len(calls) == 1 else Applicability.UNSAFE
        return Fix("Set the option above the kernels", applicability, edits)

    def _finding(self, late: LateWrite, project: Project) -> Finding:
        write, load = late.write, late.load
        module = project.modules[write.module]
        count = len(module.kernels)
        effect = f"all its {count} kernels are built again" if count > 1 else "it is built again"
        if not write.is_marking:
            effect = "the change is ignored"
        steps = (*load.steps, *late.event.steps)
        return self.finding(
            write.location,
            f'option "{write.name}" of module "{module.name}" changes after the module was loaded: {effect}',
            suppression_range=write.suppression_range,
            related=[
                Related(f"loaded by {load.description}", load.location),
                *(Related(f"through {step.name}", step.location) for step in steps),
            ],
            fix=self._fix(write, project),
        )
