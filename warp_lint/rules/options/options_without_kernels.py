from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.imports import delete_statement
from warp_lint.facts.records import ScopeKind
from warp_lint.facts.values import Attribute, CallReference, Expression, Name
from warp_lint.findings import Applicability, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import ModuleKind
from warp_lint.project.modules import WarpModule
from warp_lint.project.options import OptionWrite
from warp_lint.project.values import DeviceFunction, External
from warp_lint.rules.base import Rule


class OptionsWithoutKernels(Rule):
    """Options are set on a module that owns no kernel.

    ## What it does
    Reports `wp.set_module_options` on a module with no kernel of its own: a file with only functions, with
    only unique or named-module kernels, or with nothing of Warp. A module whose options the project reads
    back is left alone: there they have a reader.

    ## Why is this bad
    The call has no effect. A function is compiled with the options of the kernel that calls it, and a unique
    or named module starts from `wp.config`. The reader believes that the options hold.

    ## Example
    ```python
    wp.set_module_options({"enable_backward": False})


    @wp.func
    def square(x: float):
        return x * x
    ```

    ## Use instead
    ```python
    @wp.func
    def square(x: float):
        return x * x
    ```

    ## Fix safety
    The fix deletes the statement. It is unsafe: a file outside the project may add kernels to the module.
    """

    code = "WRP306"
    name = "options-without-kernels"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for module in project.modules.values():
            if module.kernels or module.key.kind is not ModuleKind.OWN or module.file is None:
                continue
            if module.key in project.options.read_modules or self._may_get_kernels(module.file, project):
                continue
            for writes in _by_call(module.writes).values():
                yield self._finding(module, writes, project)

    def _may_get_kernels(self, file: ProjectFile, project: Project) -> bool:
        """Whether kernels that are not seen may join the module or take its options."""
        for kernel in project.kernels.values():
            if kernel.body_file is file and kernel.module.kind in (ModuleKind.ISOLATED, ModuleKind.UNKNOWN):
                return True
        for scope in file.facts.scopes:
            for decorator in scope.decorators:
                if _is_integrand(decorator.expression, file):
                    return True
        return any(
            isinstance(value, External) and value.name in _MAKERS
            for index in range(len(file.facts.calls))
            for value in project.evaluator.callee(file.index, index)
        )

    def _fix(self, write: OptionWrite, project: Project) -> Fix | None:
        edits = delete_statement(write.file, write.span.start, project)
        return Fix("Delete the statement", Applicability.UNSAFE, edits) if edits is not None else None

    def _finding(self, module: WarpModule, writes: list[OptionWrite], project: Project) -> Finding:
        first = writes[0]
        return self.finding(
            first.location,
            f'module "{module.name}" has no kernel to take these options: {self._reason(module, project)}',
            suppression_range=first.suppression_range,
            fix=self._fix(first, project),
        )

    def _reason(self, module: WarpModule, project: Project) -> str:
        """Why the options go nowhere, by what else the file has."""
        if any(kernel.body_file is module.file for kernel in project.kernels.values()):
            return "its kernels have modules of their own"
        if module.file is not None and _has_functions(module.file, project):
            return "functions take those of the calling kernel"
        return "nothing here is compiled with them"


_MAKERS = frozenset({"warp.map", "warp.Kernel", "warp.fem.integrate", "warp.fem.interpolate"})


def _has_functions(file: ProjectFile, project: Project) -> bool:
    """Whether a file defines functions for kernels."""
    return any(
        isinstance(value, DeviceFunction)
        for index, scope in enumerate(file.facts.scopes)
        if scope.kind is ScopeKind.FUNCTION and scope.decorators
        for value in project.evaluator.definition(file.index, index, {})
    )


def _is_integrand(expression: Expression, file: ProjectFile) -> bool:
    while isinstance(expression, CallReference):
        expression = file.facts.calls[expression.index].function
    match expression:
        case Name(id=name) | Attribute(attribute=name):
            return name in ("integrand", "dynamic_kernel")
        case _:
            return False


def _by_call(writes: list[OptionWrite]) -> dict[object, list[OptionWrite]]:
    found: dict[object, list[OptionWrite]] = {}
    for write in writes:
        found.setdefault((write.file.index, write.span), []).append(write)
    return found
