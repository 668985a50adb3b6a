from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.kernels import MODULE_OPTIONS_SINCE, edit_kernel
from warp_lint.findings import Applicability, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.kernels import KernelDefinition, ModuleKind
from warp_lint.project.values import Dictionary, Values
from warp_lint.rules.base import Rule

_SHARED = (ModuleKind.OWN, ModuleKind.NAMED, ModuleKind.COMPUTED)


class ModuleOptionsNeedUnique(Rule):
    """A kernel brings options for a module that it shares with others.

    ## What it does
    Reports `module_options=` of a kernel that does not have `module="unique"`.

    ## Why is this bad
    Options belong to a whole module, and Warp lets a kernel set them only when the module is its own: the
    definition raises `ValueError`.

    ## Example
    ```python
    @wp.kernel(module_options={"fast_math": True})
    def decay(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = wp.exp(-x[i])
    ```

    ## Use instead
    ```python
    @wp.kernel(module="unique", module_options={"fast_math": True})
    def decay(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = wp.exp(-x[i])
    ```

    For all kernels of a file, `wp.set_module_options({"fast_math": True})` above them does the same.

    ## Fix safety
    The fix makes the module unique. It is unsafe: the options may be meant for the whole file.
    """

    code = "WRP311"
    name = "module-options-need-unique"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        if project.settings.target_version < MODULE_OPTIONS_SINCE:
            return
        for kernel in project.kernels.values():
            given = kernel.creation.arguments.keyword("module_options")
            if given is None or not _is_dictionary(given) or kernel.module.kind not in _SHARED:
                continue
            if not kernel.file.expects_error(kernel.place.block):
                yield self.finding(
                    kernel.location,
                    f'module_options of "{kernel.name}" raises ValueError: its module is not unique',
                    suppression_range=kernel.suppression_range,
                    fix=_fix(kernel, project),
                )


def _is_dictionary(values: Values) -> bool:
    return all(isinstance(value, Dictionary) for value in values)


def _fix(kernel: KernelDefinition, project: Project) -> Fix | None:
    edit = edit_kernel(kernel, {"module": '"unique"'}, {}, project)
    return Fix("Make the module unique", Applicability.UNSAFE, (edit,)) if edit is not None else None
