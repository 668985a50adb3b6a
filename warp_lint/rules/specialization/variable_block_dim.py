from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from warp_lint.facts import values as fact
from warp_lint.facts.records import BindingFact, BindingKind, CallFact, Parameter
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition, ModuleKind
from warp_lint.project.launches import Launch
from warp_lint.project.modules import WarpModule
from warp_lint.project.values import (
    Constant,
    External,
    Function,
    Instance,
    Kernel,
    Method,
    Symbol,
    Value,
)
from warp_lint.rules.base import Rule

_POSITION = 12
"""Of ``block_dim`` among the arguments of ``wp.launch``."""
_INTEGERS = frozenset({"int", "int32", "int64", "uint32", "uint64"})
"""Types of Python, Warp and NumPy that a number is made one of by calling them."""
_DEEPEST = 5
"""Names that stand for names that are followed."""


class VariableBlockDim(Rule):
    """A kernel that shares its module is launched with a computed block dimension.

    ## What it does
    Reports launches whose `block_dim` is computed while the program runs, when the kernel's module has other
    kernels that are not always launched with the same value. A choice between constants, or a value looked up
    under a constant name, is the matter of mixed-block-dim; a global name that is bound once has one value.

    ## Why is this bad
    On CUDA a module is built once for each block dimension, with all of its kernels. What varies for one
    kernel builds the others again and again, although nobody launches them so.

    ## Example
    ```python
    wp.launch(reduce_rows, dim=n, inputs=[x], block_dim=next_power_of_two(columns))
    ```

    ## Use instead
    ```python
    @wp.kernel(module="unique")
    def reduce_rows(x: wp.array2d(dtype=float)): ...
    ```

    Only as many block dimensions as are needed, such as the powers of two, keep the number of builds small.

    ## Fix safety
    There is no fix: how many values there are, the code does not say.
    """

    code = "WRP202"
    name = "variable-block-dim"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        if "cuda" not in {device.partition(":")[0] for device in project.settings.devices}:
            return
        for module in project.modules.values():
            if module.key.kind not in (ModuleKind.OWN, ModuleKind.NAMED):
                continue
            seen = set()
            for launch in module.launches:
                if launch.site in seen or self._is_known(launch) or not self._is_computed_at(launch, project):
                    continue
                others = self._others(launch, module, project)
                if others:
                    seen.add(launch.site)
                    yield self._finding(launch, others, module, project)

    def _others(self, launch: Launch, module: WarpModule, project: Project) -> list[KernelDefinition]:
        """The kernels that are built with that of a launch, and not always launched with the same value."""
        value = _origin(launch, project)
        launched: dict[Kernel, set[object]] = defaultdict(set)
        for other in module.launches:
            if not other.cpu_only:
                launched[other.kernel].add(_origin(other, project))
        return [
            kernel
            for kernel in module.kernels
            if kernel.kernel != launch.kernel
            and (
                not kernel.is_generic
                or kernel.kernel in launched
                or kernel.kernel in project.overloads.declared
            )
            and (value is None or launched.get(kernel.kernel) != {value})
        ]

    def _is_known(self, launch: Launch) -> bool:
        # Symbols are told apart, and counted, by mixed-block-dim.
        is_counted = isinstance(launch.block_dim, Constant | Symbol)
        return is_counted or launch.cpu_only or not launch.is_sure

    def _is_computed_at(self, launch: Launch, project: Project) -> bool:
        file, call = project.files[launch.site.file], project.call(launch.site)
        given = _given(call, _POSITION, "block_dim")
        place = project.evaluator.place_of(file.index, call)
        return given is not None and self._is_computed(given, file, place, project, _DEEPEST)

    def _is_computed(
        self, expression: fact.Expression, file: ProjectFile, place: Place, project: Project, depth: int
    ) -> bool:
        """Whether a value comes from a call or from arithmetic, and not just from elsewhere."""
        if depth == 0:
            return False
        match expression:
            case fact.CallReference(index=index) if stand_in := self._stand_in(index, file, project):
                return self._is_computed(stand_in, file, place, project, depth)
            case fact.CallReference() | fact.Operation():
                return not all(
                    isinstance(value, Constant) for value in project.evaluator.evaluate(expression, place, {})
                )
            case fact.Conditional(body=body, orelse=orelse):
                return any(self._is_computed(one, file, place, project, depth) for one in (body, orelse))
            case fact.Name(id=name):
                return any(
                    self._is_bound_to_computed(binder.fact, scope, file, project, depth - 1)
                    for scope in file.scope_chain(place.scope)
                    for binder in file.binders.get(scope, {}).get(name, ())
                )
            case fact.Attribute(attribute=attribute):
                return any(
                    self._is_bound_to_computed(binding, binding.scope, file, project, depth - 1)
                    for binding, path, _ in file.attribute_bindings.get(attribute, ())
                    if not path
                )
            case _:
                return False

    def _stand_in(self, index: int, file: ProjectFile, project: Project) -> fact.Expression | None:
        """What a call gives as it is, but for its type: the number that is cast, or what a lookup gives
        without an entry."""
        call = file.facts.calls[index]
        given = [argument.value for argument in call.arguments if argument.keyword is None]
        functions = project.evaluator.callee(file.index, index)
        if len(given) == 1 and functions and all(_is_integer_type(function) for function in functions):
            return given[0]
        if isinstance(call.function, fact.Attribute) and call.function.attribute == "get" and len(given) == 2:
            return given[1] if not any(isinstance(one, Function | Method) for one in functions) else None
        return None

    def _is_bound_to_computed(
        self, binder: object, scope: int, file: ProjectFile, project: Project, depth: int
    ) -> bool:
        match binder:
            case BindingFact(kind=BindingKind.AUGMENTED):
                return True
            case BindingFact(kind=BindingKind.ASSIGN) as binding:
                if _is_bound_once(binding, scope, file):
                    return False
                place = Place(file.index, binding.scope, binding.block, binding.order)
                return self._is_computed(binding.value, file, place, project, depth)
            case Parameter(name=name):
                return self._is_computed_by_caller(name, scope, file, project, depth)
            case _:
                return False

    def _is_computed_by_caller(
        self, name: str, scope: int, file: ProjectFile, project: Project, depth: int
    ) -> bool:
        parameters = [parameter.name for parameter in file.facts.scopes[scope].parameters]
        is_method = project.evaluator.class_of_method(file.index, scope) is not None
        position = parameters.index(name) - is_method
        for site in project.callers.sites(file.index, scope):
            call = project.call(site)
            given = _given(call, position, name)
            place = project.evaluator.place_of(site.file, call)
            if given is not None and self._is_computed(
                given, project.files[site.file], place, project, depth
            ):
                return True
        return False

    def _finding(
        self, launch: Launch, others: list[KernelDefinition], module: WarpModule, project: Project
    ) -> Finding:
        facts, call = project.files[launch.site.file].facts, project.call(launch.site)
        name = project.kernels[launch.kernel].name
        kernels = "another kernel" if len(others) == 1 else f"{len(others)} other kernels"
        return self.finding(
            facts.location(call.span),
            f'module "{module.name}" is built again with {kernels} for each block_dim that is computed '
            f'for "{name}"',
            suppression_range=facts.location(call.statement_span).range,
            related=[Related("the kernel could be unique", project.kernels[launch.kernel].location)],
        )


def _given(call: CallFact, position: int, keyword: str) -> fact.Expression | None:
    for index, argument in enumerate(call.arguments):
        if argument.keyword == keyword or (argument.keyword is None and index == position):
            return argument.value
    return None


def _is_integer_type(value: Value) -> bool:
    return isinstance(value, External) and value.name.rpartition(".")[2] in _INTEGERS


def _is_bound_once(binding: BindingFact, scope: int, file: ProjectFile) -> bool:
    """Whether a binding is the only one of a global name: it has one value while the program runs."""
    name = binding.target
    return scope == 0 and isinstance(name, fact.Name) and len(file.binders[0].get(name.id, ())) == 1


def _origin(launch: Launch, project: Project) -> object | None:
    """What the block dimension of a launch is read from: launches with the same have the same value. None
    where that is not just one name or attribute."""
    file, call = project.files[launch.site.file], project.call(launch.site)
    match _given(call, _POSITION, "block_dim"):
        case fact.Name(id=name):
            for scope in file.scope_chain(call.scope):
                binders = file.binders.get(scope, {}).get(name)
                if binders:
                    is_own = len(binders) == 1 and isinstance(binders[0].fact, BindingFact)
                    return (file.index, scope, name) if is_own else None
            return None
        case fact.Attribute(base=base, attribute=attribute):
            place = project.evaluator.place_of(file.index, call)
            match project.evaluator.evaluate(base, place, {}):
                case (Instance() as owner,):
                    return owner, attribute
        case _:
            pass
    return None
