from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import Binding
from warp_lint.project.evaluation import Place
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.values import (
    Collection,
    ParameterValue,
    Symbol,
    Unknown,
    Values,
    constant,
)
from warp_lint.rules.base import Rule

_ARGUMENT = "module"


class UniqueDefaultFactory(Rule):
    """A factory makes a unique module for each of a few kernels that are known at import.

    ## What it does
    Reports a function that takes the `module` of the kernel it makes, with `"unique"` as the default, when
    every call in the project leaves it at that, stands at the top level of a file and passes values that are
    written in the code. In a library, others may call the function with anything.

    ## Why is this bad
    A unique module for each call keeps later kernels from rebuilding earlier ones. Where all of them are
    made while the program is imported, nothing has been loaded yet: one module holds them all, and is built,
    stored and loaded once.

    ## Example
    ```python
    def make_scale(factor, module="unique"):
        @wp.kernel(module=module)
        def scale(x: wp.array(dtype=float)):
            x[wp.tid()] *= factor

        return scale


    double, triple = make_scale(2.0), make_scale(3.0)
    ```

    ## Use instead
    ```python
    double, triple = make_scale(2.0, module=None), make_scale(3.0, module=None)
    ```

    ## Fix safety
    There is no fix: kernels that are rarely used are better off alone, and only the author knows which.
    """

    code = "WRP503"
    name = "unique-default-factory"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        for kernel in project.kernels.values():
            factory = kernel.file.function_of(kernel.place.scope)
            if factory is None or project.is_library(kernel.file):
                continue
            takes_module = (ParameterValue(kernel.file.index, factory, _ARGUMENT),)
            if kernel.creation.arguments.keyword("module") != takes_module:
                continue
            if project.callers.default(takes_module[0]) != (constant("unique"),):
                continue
            made = list(project.callers.bindings(kernel.file.index, factory))
            if len(made) > 1 and self._are_fixed(made, kernel, factory, project):
                yield self._finding(made, kernel, factory, project)

    def _are_fixed(
        self, made: list[Binding], kernel: KernelDefinition, factory: int, project: Project
    ) -> bool:
        """Whether all kernels are made at import, in modules of their own, from what stands in the code."""
        if any(project.callers.mentions(kernel.file.index, factory)):
            return False
        for binding in made:
            site = binding.path[0]
            file, call = project.files[site.file], project.call(site)
            if file.outermost_function_of(call.scope) is not None or file.is_main_guarded(call.block):
                return False
            given = binding.environment[kernel.file.index, factory]
            if given[_ARGUMENT] != (constant("unique"),) or not all(map(_is_known, given.values())):
                return False
        return not self._is_loaded_before(made, project)

    def _is_loaded_before(self, made: list[Binding], project: Project) -> bool:
        """Whether something is launched at import before the last kernel is made."""
        for binding in made:
            site = binding.path[0]
            file, call = project.files[site.file], project.call(site)
            place = Place(site.file, call.scope, call.block, call.order)
            events = project.timeline.at_import(file)
            if any(event.is_load and event.order < place.order for event in events):
                return True
        return False

    def _finding(
        self, made: list[Binding], kernel: KernelDefinition, factory: int, project: Project
    ) -> Finding:
        name = kernel.file.facts.scopes[factory].qualified_name
        sites = list(dict.fromkeys(binding.path[0] for binding in made))
        return self.finding(
            kernel.location,
            f"{len(made)} modules are built where one would do: "
            f"{name}() makes all its kernels at import, and each is alone in its module",
            suppression_range=kernel.suppression_range,
            related=[
                Related("made here", project.files[site.file].facts.location(project.call(site).span))
                for site in sites
            ],
        )


def _is_known(values: Values) -> bool:
    return len(values) == 1 and not any(
        isinstance(value, Unknown | Symbol | ParameterValue)
        or (isinstance(value, Collection) and not all(map(_is_known, value.items)))
        for value in values
    )
