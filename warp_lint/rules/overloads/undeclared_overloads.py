from __future__ import annotations

from collections.abc import Iterator

import msgspec

from warp_lint.edits.overloads import declare
from warp_lint.findings import Applicability, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.overloads import Signature, TypedLaunch
from warp_lint.rules.base import Rule


class UndeclaredOverloads(Rule):
    """A generic kernel is launched with several combinations of types that are not declared.

    ## What it does
    Reports, for a generic kernel that the project launches with two or more combinations of argument types,
    the first launch of each combination after the first that no `wp.overload` declares. It says nothing
    about launches whose types cannot be read.

    ## Why is this bad
    Each new combination adds an instance to the module, and the module is built again with all it has: with
    three combinations launched in turn it is built three times. A module of its own does not help: that one
    is built three times then. Declared ahead, all combinations are one build.

    An instance that does not compile fails its whole module, so combinations that may not compile are better
    off in modules of their own.

    ## Example
    ```python
    wp.launch(scale, dim=n, inputs=[wp.zeros(n, dtype=wp.float32), 2.0])
    wp.launch(scale, dim=n, inputs=[wp.zeros(n, dtype=wp.float64), wp.float64(2.0)])
    ```

    ## Use instead
    ```python
    wp.overload(scale, [wp.array(dtype=wp.float32), wp.float32])
    wp.overload(scale, [wp.array(dtype=wp.float64), wp.float64])
    ```

    ## Fix safety
    The fix declares the combinations that are seen behind the kernel. It is unsafe: all of them are built
    then, also in a run that launches only one.
    """

    code = "WRP111"
    name = "undeclared-overloads"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        reported = set()
        for kernel in project.kernels.values():
            for finding in self._check_kernel(kernel, project) if kernel.is_generic else ():
                if (finding.location, finding.message) not in reported:
                    reported.add((finding.location, finding.message))
                    yield finding

    def _check_kernel(self, kernel: KernelDefinition, project: Project) -> Iterator[Finding]:
        launches = [
            launch
            for launch in project.overloads.launches(kernel.kernel) or ()
            if launch.signatures is not None and len(launch.signatures) == 1
        ]
        declarations = project.overloads.declared.get(kernel.kernel, [])
        if any(declaration.signature is None for declaration in declarations):
            return
        declared = {declaration.signature for declaration in declarations}
        first: dict[Signature, TypedLaunch] = {}
        for launch in sorted(launches, key=lambda launch: launch.site):
            assert launch.signatures is not None
            (signature,) = launch.signatures
            first.setdefault(signature, launch)
        if len(first) < 2:
            return
        initial = next(iter(first.values()))
        edit = declare(kernel, [signature for signature in first if signature not in declared], project)
        fix = None
        if edit is not None:
            title = f'Declare the overloads of "{kernel.name}"'
            fix = Fix(title, Applicability.UNSAFE, (edit,))
        for signature, launch in list(first.items())[1:]:
            if signature not in declared:
                finding = self._finding(signature, launch, initial, len(first), kernel, project)
                yield msgspec.structs.replace(finding, fix=fix)

    def _finding(
        self,
        signature: Signature,
        launch: TypedLaunch,
        initial: TypedLaunch,
        count: int,
        kernel: KernelDefinition,
        project: Project,
    ) -> Finding:
        facts = project.files[launch.site.file].facts
        call = project.call(launch.site)
        module = project.modules[kernel.module].name
        return self.finding(
            facts.location(call.span),
            f'module "{module}" is built again for "{kernel.name}" with ({", ".join(signature)}), '
            f"one of {count} combinations of types: no overload declares it",
            suppression_range=facts.location(call.statement_span).range,
            related=[
                Related("the generic kernel", kernel.location),
                Related(
                    "first launched here",
                    project.files[initial.site.file].facts.location(project.call(initial.site).span),
                ),
            ],
        )
