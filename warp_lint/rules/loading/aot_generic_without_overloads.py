from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.overloads import declare
from warp_lint.findings import Applicability, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.events import EventKind
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.overloads import Signature
from warp_lint.project.preloads import Preload
from warp_lint.rules.base import Rule


class AotGenericWithoutOverloads(Rule):
    """A generic kernel without overloads is left out of a build ahead of time.

    ## What it does
    Reports `wp.compile_aot_module` of a module with generic kernels for which no `wp.overload` declares an
    instance, and that nothing launches before.

    ## Why is this bad
    A generic kernel is code only for given types, and until it is launched or declared, there are none. The
    build skips it with a warning, and the program builds the module at run time after all, which the build
    was to spare it; a module of nothing else raises `RuntimeError`.

    ## Example
    ```python
    @wp.kernel
    def scale(x: wp.array(dtype=Any), factor: Any):
        i = wp.tid()
        x[i] = factor * x[i]


    wp.compile_aot_module(__name__, device="cuda:0")
    ```

    ## Use instead
    ```python
    @wp.kernel
    def scale(x: wp.array(dtype=Any), factor: Any):
        i = wp.tid()
        x[i] = factor * x[i]


    wp.overload(scale, [wp.array(dtype=wp.float32), wp.float32])
    wp.compile_aot_module(__name__, device="cuda:0")
    ```

    ## Fix safety
    The fix declares the combinations of types that the project launches. It is unsafe: others may launch
    more.
    """

    code = "WRP612"
    name = "aot-generic-without-overloads"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        if project.overloads.of_unknown_kernels:
            return  # any of them may be declared there
        for preload in project.preloads:
            if preload.name != "compile_aot_module" or len(preload.modules) != 1 or preload.expects_error:
                continue
            module = project.modules.get(preload.modules[0])
            kernels = module.kernels if module is not None else []
            skipped = [
                kernel
                for kernel in kernels
                if kernel.is_generic
                and not project.overloads.declared.get(kernel.kernel)
                and not _is_launched_before(kernel, preload, project)
            ]
            if module is not None and skipped:
                yield self._finding(preload, module.name, skipped, len(skipped) == len(kernels), project)

    def _finding(
        self,
        preload: Preload,
        module: str,
        skipped: list[KernelDefinition],
        is_all: bool,
        project: Project,
    ) -> Finding:
        names = ", ".join(f'"{kernel.name}"' for kernel in skipped[:3])
        more = f" and {len(skipped) - 3} more" if len(skipped) > 3 else ""
        effect = "there is nothing else to compile, which raises RuntimeError" if is_all else "it is skipped"
        return self.finding(
            preload.location,
            f'no overload of {names}{more} is declared in module "{module}": {effect}',
            suppression_range=preload.suppression_range,
            related=[Related(f'"{kernel.name}" is generic', kernel.location) for kernel in skipped[:3]],
            fix=_fix(skipped, project),
        )


def _is_launched_before(kernel: KernelDefinition, preload: Preload, project: Project) -> bool:
    """Whether a launch in the same flow has made an instance of the kernel by then."""
    for file, _, events, _ in project.timeline.flows():
        for compilation in events:
            if compilation.site == preload.site and any(
                event.kernel == kernel.kernel
                and event.kind is EventKind.LAUNCH
                and project.timeline.precedes(file, event, compilation.block, compilation.order)
                for event in events
            ):
                return True
    return False


def _fix(kernels: list[KernelDefinition], project: Project) -> Fix | None:
    edits = []
    for kernel in kernels:
        signatures: dict[Signature, None] = {}
        for launch in project.overloads.launches(kernel.kernel) or ():
            signatures |= dict.fromkeys(sorted(launch.signatures))
        edit = declare(kernel, signatures, project) if signatures else None
        if edit is None:
            return None
        edits.append(edit)
    return Fix("Declare the overloads that are launched", Applicability.UNSAFE, tuple(edits))
