from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.moves import move_to_module_scope
from warp_lint.findings import Applicability, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.creation import is_created_at_import_only
from warp_lint.project.kernels import KernelDefinition, ModuleKind
from warp_lint.rules.base import Rule


class CaptureFreeKernel(Rule):
    """A nested kernel uses nothing of the function around it.

    ## What it does
    Reports kernels defined in a function whose body, annotations and decorators read no name of an
    enclosing function. Such a kernel can stand at module level.

    ## Why is this bad
    Every call of the function creates the kernel again: it is parsed and hashed each time, and a call after
    the first launch has Warp look at the whole module once more. At module level it is made once, at import.

    ## Example
    ```python
    def advance(state, dt):
        @wp.kernel
        def integrate(x: wp.array(dtype=float), v: wp.array(dtype=float), dt: float):
            i = wp.tid()
            x[i] = x[i] + v[i] * dt

        wp.launch(integrate, dim=state.count, inputs=[state.x, state.v, dt])
    ```

    ## Use instead
    ```python
    @wp.kernel
    def integrate(x: wp.array(dtype=float), v: wp.array(dtype=float), dt: float):
        i = wp.tid()
        x[i] = x[i] + v[i] * dt


    def advance(state, dt):
        wp.launch(integrate, dim=state.count, inputs=[state.x, state.v, dt])
    ```

    ## Fix safety
    The fix moves the kernel to module scope with its comments. It is unsafe: the kernel is then created when
    the file is imported, and its name becomes part of the module.
    """

    code = "WRP102"
    name = "capture-free-kernel"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        for kernel in project.kernels.values():
            if self.applies_to(kernel, project):
                function = kernel.file.function_of(kernel.place.scope) or 0
                where = kernel.file.facts.scopes[function].qualified_name
                yield self.finding(
                    kernel.location,
                    f'kernel "{kernel.name}" is created by each call of {where}() but uses nothing of it',
                    suppression_range=kernel.suppression_range,
                    fix=self.fix(kernel, project),
                )

    def applies_to(self, kernel: KernelDefinition, project: Project) -> bool:
        """Whether the kernel is made in a function and uses nothing of it."""
        function = kernel.outermost_function
        if function is None or kernel.module.kind is ModuleKind.ISOLATED:
            return False
        if kernel.enclosing_names or kernel.device_code is None:
            return False
        if kernel.file.expects_error(kernel.place.block):
            return False  # a test of what cannot be made
        # A factory that import alone calls may make one kernel for each set of overloads.
        is_harmless = is_created_at_import_only(kernel, function, project)
        return not (is_harmless and self._is_overloaded(kernel, project))

    def fix(self, kernel: KernelDefinition, project: Project) -> Fix | None:
        """Move the kernel to module scope; None where something stands in the way."""
        edits = move_to_module_scope(kernel, project)
        if edits is None:
            return None
        return Fix(f'Move "{kernel.name}" to module scope', Applicability.UNSAFE, edits)

    def _is_overloaded(self, kernel: KernelDefinition, project: Project) -> bool:
        return any(
            kernel.kernel in project.evaluator.evaluate_call(site.file, site.call)
            for site in project.calls_of("overload")
        )
