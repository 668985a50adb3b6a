"""The kernels of the project: where each is made, what for, and the Warp module it joins."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from heapq import heappop, heappush
from typing import NamedTuple

from warp_lint.facts import values as fact
from warp_lint.facts.records import Argument, CallFact, DeviceCode, ImportFact, ScopeFact, ScopeKind, Span
from warp_lint.findings import Location, Range
from warp_lint.project.evaluation import Evaluator, KernelCreation, Place, names_in
from warp_lint.project.files import ProjectFile
from warp_lint.project.values import (
    UNKNOWN,
    Constant,
    Dictionary,
    External,
    Function,
    Kernel,
    KernelDecorator,
    Method,
    ModuleOf,
    PlainValue,
    Symbol,
    Values,
    constant,
    only_constant,
)

_GENERIC_TYPES = frozenset({"typing.Any", "warp.Scalar", "warp.Float", "warp.Int", "typing.TypeVar"})


class ModuleKind(str, enum.Enum):
    OWN = "own"
    """The module of a Python file: plain ``@wp.kernel`` joins it."""
    NAMED = "named"
    UNIQUE = "unique"
    ISOLATED = "isolated"
    """Made by a wrapper that gives each kernel a module of its own, which inherits the file's options."""
    COMPUTED = "computed"
    """A named module whose name is put together when the program runs."""
    UNKNOWN = "unknown"


class ModuleKey(NamedTuple):
    """Which module it is: ``file`` for own modules, ``name`` for named ones, ``kernel`` for the others."""

    kind: ModuleKind
    file: int = -1
    name: str = ""
    kernel: Kernel | None = None


def named_module(name: str, file: ProjectFile, evaluator: Evaluator) -> ModuleKey:
    """The module with a name, as code in ``file`` says it: the own module of some file, or a named one."""
    if name == file.module_name:
        return ModuleKey(ModuleKind.OWN, file=file.index)
    found = evaluator.modules.find_warp_module(name, file)
    if found is not None:
        return ModuleKey(ModuleKind.OWN, file=found)
    return ModuleKey(ModuleKind.NAMED, name=name)


class KernelDefinition:
    """A kernel and the place that makes it."""

    def __init__(self, creation: KernelCreation, evaluator: Evaluator) -> None:
        self.kernel = creation.kernel
        self.creation = creation
        self.file: ProjectFile = evaluator.files[creation.place.file]
        self.body_file: ProjectFile = evaluator.files[creation.kernel.file]
        self._evaluator = evaluator

    @property
    def scope(self) -> ScopeFact:
        """The function that is the kernel's body."""
        return self.body_file.facts.scopes[self.kernel.scope]

    @property
    def place(self) -> Place:
        """Where and when the kernel is made."""
        return self.creation.place

    @cached_property
    def name(self) -> str:
        """Its name in Warp; where that is computed, the name of its function."""
        given = only_constant(self.creation.arguments.keyword("name"))
        return given.value if given is not None and isinstance(given.value, str) else self.scope.name

    @property
    def is_name_known(self) -> bool:
        given = self.creation.arguments.keyword("name")
        return given is None or only_constant(given) is not None

    @property
    def call(self) -> CallFact | None:
        """The call that made the kernel, where it was no decorator."""
        return self.file.facts.calls[self.creation.call] if self.creation.call >= 0 else None

    def argument(self, keyword: str) -> Argument | None:
        """A keyword argument as it is written at the place that makes the kernel; None where a wrapper or
        nobody gives it."""
        call = self.call
        if call is None:
            expression = self.scope.decorators[self.creation.decorator].expression
            if not isinstance(expression, fact.CallReference):
                return None
            call = self.file.facts.calls[expression.index]
        elif isinstance(call.function, fact.CallReference):
            # wp.kernel(...)(function)
            call = self.file.facts.calls[call.function.index]
        for argument in call.arguments:
            if argument.keyword == keyword:
                return argument
        return None

    @cached_property
    def span(self) -> Span:
        """The decorator with its ``@``, or the call."""
        if self.call is not None:
            return self.call.span
        return self.scope.decorators[self.creation.decorator].span

    @cached_property
    def location(self) -> Location:
        return self.file.facts.location(self.span)

    @cached_property
    def suppression_range(self) -> Range:
        """All of the definition's header, or the statement of the call."""
        span = self.call.statement_span if self.call is not None else self.scope.header_span
        return self.file.facts.location(span).range

    @property
    def outermost_function(self) -> int | None:
        """The outermost function that the kernel is made in; None when it is made at import."""
        return self.file.outermost_function_of(self.place.scope)

    @cached_property
    def device_code(self) -> DeviceCode | None:
        for code in self.body_file.facts.device_code:
            if code.scope == self.kernel.scope:
                return code
        return None

    @cached_property
    def module(self) -> ModuleKey:
        if self.creation.wrapper:
            return ModuleKey(ModuleKind.ISOLATED, kernel=self.kernel)
        given = self.creation.arguments.keyword("module")
        if given is None or given == (constant(None),):
            if self.creation.arguments.open:
                return ModuleKey(ModuleKind.UNKNOWN, kernel=self.kernel)
            return ModuleKey(ModuleKind.OWN, file=self.body_file.index)
        return self.module_of(given)

    def module_of(self, given: Values) -> ModuleKey:
        """The module that the ``module`` argument names."""
        match given:
            case (Constant(value="unique"),):
                return ModuleKey(ModuleKind.UNIQUE, kernel=self.kernel)
            case (Constant(value=str(name)),) | (ModuleOf(kernel=None, name=name),):
                return named_module(name, self.body_file, self._evaluator)
            case (Symbol(),):
                return ModuleKey(ModuleKind.COMPUTED, kernel=self.kernel)
            case _:
                return ModuleKey(ModuleKind.UNKNOWN, kernel=self.kernel)

    @cached_property
    def options(self) -> dict[str, Values]:
        """The module options that the kernel is given by its own decorator."""
        found: dict[str, Values] = {}
        match self.creation.arguments.keyword("module_options"):
            case (Dictionary(items=items),):
                found.update((key, values) for key, values in items if isinstance(key, str))
        for name, values in self.creation.arguments.keywords:
            if name not in ("module", "module_options", "name"):
                found[name] = values
        return found

    def option(self, name: str) -> PlainValue | None:
        """The constant that the decorator gives an option; None when it gives none or no constant."""
        found = only_constant(self.options.get(name))
        return found.value if found is not None else None

    @cached_property
    def parameter_types(self) -> list[Values]:
        """What the types of the parameters are made of: for an array, its item type."""
        scope = self.scope
        place = Place(self.body_file.index, scope.parent, max(scope.block, 0), scope.order)
        found: list[Values] = []
        for parameter in scope.parameters:
            types = list(self._item_types(parameter.annotation)) if parameter.annotation is not None else []
            found += [self._evaluator.evaluate(item, place, {}) for item in types] or [(UNKNOWN,)]
        return found

    def _item_types(self, annotation: fact.Expression) -> Iterator[fact.Expression]:
        match annotation:
            case fact.CallReference(index=index):
                for argument in self.body_file.facts.calls[index].arguments:
                    if argument.keyword in (None, "dtype"):
                        yield argument.value
                        return
            case fact.Subscript(index=fact.Sequence(items=(first, *_))) | fact.Subscript(index=first):
                yield first
            case _:
                yield annotation

    @cached_property
    def is_generic(self) -> bool:
        """Whether Warp builds the kernel only for the argument types that it is launched with."""
        return any(self._is_generic_type(name) for name in self._annotation_names())

    def _annotation_names(self) -> Iterator[fact.Expression]:
        for parameter in self.scope.parameters:
            if parameter.annotation is not None:
                yield from self._names(parameter.annotation)

    def _names(self, annotation: fact.Expression) -> Iterator[fact.Expression]:
        """The names and attributes that an annotation is made of."""
        match annotation:
            case fact.Name() | fact.Attribute():
                yield annotation
            case fact.CallReference(index=index):
                call = self.body_file.facts.calls[index]
                for argument in call.arguments:
                    yield from self._names(argument.value)
            case fact.Subscript(base=base, index=index):
                yield from self._names(base)
                yield from self._names(index)
            case fact.Sequence(items=items) | fact.Operation(operands=items):
                for item in items:
                    yield from self._names(item)

    def _is_generic_type(self, reference: fact.Expression) -> bool:
        scope = self.scope
        place = Place(self.body_file.index, scope.parent, max(scope.block, 0), scope.order)
        for value in self._evaluator.evaluate(reference, place, {}):
            if isinstance(value, External) and value.name in _GENERIC_TYPES:
                return True
            if getattr(value, "name", "") == "typing.TypeVar":
                return True
        return False

    @cached_property
    def enclosing_names(self) -> frozenset[str]:
        """The names of functions around the kernel that its body, annotations or decorators read."""
        file = self.body_file
        code = self.device_code
        names = set(code.names) if code is not None else set()
        for decorator in self.scope.decorators:
            names |= set(names_in(decorator.expression, file))
        call = self.call
        if call is not None and self.file is file:
            for argument in call.arguments:
                names |= set(names_in(argument.value, file))
            names.discard(self.scope.name)
        found = set()
        for scope in file.scope_chain(self.scope.parent):
            if file.facts.scopes[scope].kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA):
                found |= names & set(file.binders.get(scope, ()))
        return frozenset(found)

    @cached_property
    def is_always_the_same(self) -> bool:
        """Whether every run of the functions around the kernel makes the same one, which Warp has no need to
        build again: of their names it reads at most what they import, and its types are fixed."""
        if self.is_generic or self.device_code is None or self.file is not self.body_file:
            return False
        return all(
            isinstance(binder.fact, ImportFact)
            for scope in self.file.scope_chain(self.scope.parent)
            if self.file.facts.scopes[scope].kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA)
            for name in self.enclosing_names & self.file.binders.get(scope, {}).keys()
            for binder in self.file.binders[scope][name]
        )

    @cached_property
    def captured_parameters(self) -> frozenset[str]:
        """The names read by the kernel that depend on a parameter of a function around it."""
        file = self.body_file
        varying: set[str] = set()
        scopes = [
            scope
            for scope in file.scope_chain(self.scope.parent)
            if file.facts.scopes[scope].kind is ScopeKind.FUNCTION
        ]
        for scope in scopes:
            varying |= {parameter.name for parameter in file.facts.scopes[scope].parameters}
        # A local that is computed from a parameter varies with it.
        for _ in range(3):
            for binding in file.facts.bindings:
                if binding.scope in scopes and varying & set(names_in(binding.value, file)):
                    varying |= set(names_in(binding.target, file))
        for scope in scopes:
            for name in file.binders.get(scope, ()):
                if (
                    name in self.enclosing_names
                    and name not in varying
                    and self._is_varying_function(scope, name, varying)
                ):
                    varying.add(name)
        return self.enclosing_names & varying

    def _is_varying_function(self, scope: int, name: str, varying: set[str]) -> bool:
        """Whether a local device function reads something that varies."""
        file = self.body_file
        return any(
            file.facts.scopes[code.scope].name == name
            and file.facts.scopes[code.scope].parent == scope
            and bool(varying & set(code.names))
            for code in file.facts.device_code
        )


def find_kernels(evaluator: Evaluator) -> dict[Kernel, KernelDefinition]:
    """Every kernel of the project: those made by decorators, and those made by calls."""
    for file in evaluator.files:
        for index, scope in enumerate(file.facts.scopes):
            if scope.kind is ScopeKind.FUNCTION and scope.decorators:
                evaluator.definition(file.index, index, {})
    for site in _making_calls(evaluator):
        evaluator.evaluate_call_in_loops(*site)
    creations = sorted(evaluator.creations.values(), key=lambda creation: creation.place)
    return {creation.kernel: KernelDefinition(creation, evaluator) for creation in creations}


def _making_calls(evaluator: Evaluator) -> Iterator[tuple[int, int]]:
    """The calls that can make a kernel: of ``wp.kernel``, and of functions that hand their parameter on."""
    calls_of: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    making: list[tuple[int, int, int]] = []
    """A heap of the calls that make kernels, by the round of searching that finds them."""
    for file in evaluator.files:
        for index, call in enumerate(file.facts.calls):
            if call.context == "decorator":
                continue
            for function in evaluator.callee(file.index, index):
                match function:
                    case External(name="warp.kernel") | KernelDecorator():
                        heappush(making, (0, file.index, index))
                    case Function(file=of, scope=scope) | Method(function=Function(file=of, scope=scope)):
                        calls_of[of, scope].append((file.index, index))
    found: dict[tuple[int, int], None] = {}
    makers: set[tuple[int, int]] = set()
    while making:
        turn, number, index = heappop(making)
        if (number, index) in found:
            continue
        found[number, index] = None
        file = evaluator.files[number]
        for scope in file.scope_chain(file.facts.calls[index].scope):
            maker = (number, scope)
            if scope and maker not in makers:
                makers.add(maker)
                for site in calls_of[maker]:
                    heappush(making, (turn if site > (number, index) else turn + 1, *site))
    yield from found
