from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from warp_lint.facts import values as fact
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.companions import companions, is_plain
from warp_lint.project.expressions import parts_beside_calls
from warp_lint.project.files import ProjectFile, last_name
from warp_lint.project.kernels import KernelDefinition, ModuleKind
from warp_lint.project.modules import WarpModule
from warp_lint.project.values import Values
from warp_lint.rules.base import Rule

_Options = tuple[tuple[str, Values], ...]


class FragmentedModules(Rule):
    """Named modules hold one kernel each, and the kernels are used together.

    ## What it does
    Reports modules with names of their own that hold a single kernel, where the same function always launches
    these kernels with one block dimension and the same options. Modules that are preloaded or compiled by
    name, that a variable holds which is read for more than `module=`, or whose kernels are launched only
    under a condition, are left alone.

    ## Why is this bad
    Each module is generated, compiled, stored and loaded by itself: several small ones take longer than one
    that holds all their kernels.

    ## Example
    ```python
    @wp.kernel(module="app.predict")
    def predict(x: wp.array(dtype=float)): ...


    @wp.kernel(module="app.correct")
    def correct(x: wp.array(dtype=float)): ...
    ```

    ## Use instead
    ```python
    @wp.kernel(module="app.solver")
    def predict(x: wp.array(dtype=float)): ...


    @wp.kernel(module="app.solver")
    def correct(x: wp.array(dtype=float)): ...
    ```

    ## Fix safety
    There is no fix: somebody gave the modules their names.
    """

    code = "WRP502"
    name = "fragmented-modules"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        singles = [module for module in project.modules.values() if self._is_single(module, project)]
        # A variable that gives a kernel its module may be read for something else, too.
        variables = {_variable(module.kernels[0]) for module in singles} - {""}
        read = {name for file in project.files for name in _read_in(file, variables)} if variables else set()
        alike: dict[tuple[_Options, _Options], list[KernelDefinition]] = defaultdict(list)
        for module in singles:
            kernel = module.kernels[0]
            if _variable(kernel) not in read:
                written = tuple(sorted({(write.name, write.values) for write in module.writes}, key=str))
                alike[written, tuple(sorted(kernel.options.items(), key=str))].append(kernel)
        for kernels in alike.values():
            for group in companions(kernels, project):
                yield self._finding(group, project)

    def _is_single(self, module: WarpModule, project: Project) -> bool:
        if module.key.kind is not ModuleKind.NAMED or len(module.kernels) != 1:
            return False
        if module.key in project.preloaded_modules or module.key in project.options.open_modules:
            return False
        return is_plain(module.kernels[0], project)

    def _finding(self, group: list[KernelDefinition], project: Project) -> Finding:
        first, *others = group
        names = ", ".join(f'"{project.modules[kernel.module].name}"' for kernel in group)
        return self.finding(
            first.location,
            f"{len(group)} modules of one kernel each are built where one would do: "
            f"the kernels of {names} are always launched together",
            suppression_range=first.suppression_range,
            related=[Related(f'all of module "{kernel.module.name}"', kernel.location) for kernel in others],
        )


def _variable(kernel: KernelDefinition) -> str:
    """The name of the variable or attribute that gives a kernel its module; empty where there is none."""
    argument = kernel.argument("module")
    return last_name(argument.value) if argument is not None else ""


def _read_in(file: ProjectFile, names: set[str]) -> Iterator[str]:
    """Which of some names are those of variables or attributes that a file reads anywhere but in
    ``module=``."""
    facts = file.facts
    expressions = [call.function for call in facts.calls]
    for call in facts.calls:
        expressions += [argument.value for argument in call.arguments if argument.keyword != "module"]
    expressions += [binding.value for binding in facts.bindings]
    expressions += [returned.value for returned in facts.returns]
    expressions += [block.test for block in facts.blocks if block.test is not None]
    yield from (imported.name for imported in facts.imports if imported.name in names)
    for part in parts_beside_calls(expressions):
        if isinstance(part, fact.Opaque):
            yield from names.intersection(part.names)
        elif (name := last_name(part)) in names:
            yield name
