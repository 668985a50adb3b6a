from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from warp_lint.edits.kernels import edit_kernel
from warp_lint.findings import Applicability, Edit, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.companions import companions, is_plain
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.project.values import Values
from warp_lint.rules.base import Rule


class NeedlessUnique(Rule):
    """Kernels that are always used together have a module each.

    ## What it does
    Reports kernels at the top level of a file that are all `module="unique"`, although the same function
    always launches them, with one block dimension and the same options. Kernels that are generic, use tiles,
    have options of their own, come from a factory, are launched only under a condition, or are imported
    without the others are taken to be apart on purpose; so are all where the file's own module has options,
    kernels that functions add to it, or another block dimension. Launches that are there to fail,
    as under `assertRaises`, do not count.

    ## Why is this bad
    Each module is generated, compiled, stored and loaded by itself. Sixteen small kernels took 1.7 seconds of
    NVRTC in one module and 3.3 in sixteen. Unique modules pay where kernels change or are used separately.

    ## Example
    ```python
    @wp.kernel(module="unique")
    def predict(x: wp.array(dtype=float)): ...


    @wp.kernel(module="unique")
    def correct(x: wp.array(dtype=float)): ...
    ```

    ## Use instead
    ```python
    @wp.kernel
    def predict(x: wp.array(dtype=float)): ...


    @wp.kernel
    def correct(x: wp.array(dtype=float)): ...
    ```

    ## Fix safety
    The fix removes `module="unique"` from the kernels. It is unsafe: while kernels are being edited, each one
    alone is built faster than all of them.
    """

    code = "WRP501"
    name = "needless-unique"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        alike: dict[tuple[int, tuple[tuple[str, Values], ...]], list[KernelDefinition]] = defaultdict(list)
        for kernel in project.kernels.values():
            if kernel.module.kind is ModuleKind.UNIQUE and self._might_share(kernel, project):
                options = tuple(sorted(kernel.options.items(), key=lambda item: item[0]))
                alike[kernel.file.index, options].append(kernel)
        for kernels in alike.values():
            for group in companions(kernels, project):
                if self._fits_own_module(group, project):
                    yield self._finding(group, project)

    def _might_share(self, kernel: KernelDefinition, project: Project) -> bool:
        has_options = kernel.creation.arguments.keyword("module_options") is not None
        return (
            not has_options
            and is_plain(kernel, project)
            and not self._is_imported(kernel.scope.name, kernel.file, project)
        )

    def _is_imported(self, name: str, file: ProjectFile, project: Project) -> bool:
        return any(
            imported.name == name and file.index in project.imports.targets(imported, other)
            for other in project.files
            for imported in other.facts.imports
        )

    def _fits_own_module(self, group: list[KernelDefinition], project: Project) -> bool:
        """Whether the kernels would find in the module of their file what they have now."""
        key = ModuleKey(ModuleKind.OWN, file=group[0].file.index)
        module = project.modules.get(key)
        if module is None:
            return True
        if module.writes or key in project.options.open_modules:
            return False
        if any(kernel.outermost_function is not None for kernel in module.kernels):
            return False
        kernel = group[0].kernel
        block_dims = {launch.block_dim for launch in project.launches if launch.kernel == kernel}
        return {launch.block_dim for launch in module.launches} <= block_dims

    def _finding(self, group: list[KernelDefinition], project: Project) -> Finding:
        first, *others = group
        names = ", ".join(f'"{kernel.name}"' for kernel in group)
        return self.finding(
            first.location,
            f"{len(group)} modules are built where one would do: {names} are always launched together",
            suppression_range=first.suppression_range,
            related=[
                Related(f'"{kernel.name}" has a module of its own, too', kernel.location) for kernel in others
            ],
            fix=self._fix(group, project),
        )

    def _fix(self, group: list[KernelDefinition], project: Project) -> Fix | None:
        edits: list[Edit] = []
        for kernel in group:
            edit = edit_kernel(kernel, {"module": None}, {}, project)
            if edit is None:
                return None
            text = edit.replacement.removesuffix("()")
            edits.append(msgspec.structs.replace(edit, replacement=text))
        return Fix("Build them as one module", Applicability.UNSAFE, tuple(edits))
