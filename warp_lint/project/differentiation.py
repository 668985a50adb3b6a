"""Which Warp modules may be differentiated: where gradients are asked for, and what that place can reach."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from warp_lint.facts import values as fact
from warp_lint.facts.records import CallFact, Parameter
from warp_lint.project.callers import Callers, CallSite
from warp_lint.project.evaluation import Evaluator, Place
from warp_lint.project.files import ProjectFile, last_name
from warp_lint.project.import_graph import ImportGraph
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.launches import Launch
from warp_lint.project.values import Class, External, Kernel, Value, Values
from warp_lint.warp_api import FUNCTIONS, GRADIENT_ARGUMENTS, Role

_DIFFERENTIATING = frozenset(
    function.name for function in FUNCTIONS if function.role is Role.DIFFERENTIATE
) - {"from_torch", "from_paddle"}
_PLAIN_BASES = frozenset(
    {"object", "ABC", "Protocol", "Enum", "IntEnum", "NamedTuple", "TestCase", "Generic"}
)
"""Classes whose methods nobody differentiates."""
_BRIDGES_WITH_GRADIENTS = ("from_torch", "from_paddle")
"""Bridges whose arrays have gradients unless they are told otherwise."""
_BRIDGES = (*_BRIDGES_WITH_GRADIENTS, "jax_kernel", "jax_callable")
_VECTOR_TYPES = ("i", "b", "s", "l", "ub", "us", "ui", "ul")
_INTEGER_TYPES = frozenset(
    {
        "int", "bool", "warp.bool", "warp.int8", "warp.uint8", "warp.int16", "warp.uint16", "warp.int32",
        "warp.uint32", "warp.int64", "warp.uint64", "builtins.int", "builtins.bool",
        *(f"warp.vec{size}{kind}" for size in (2, 3, 4) for kind in _VECTOR_TYPES),
    }
)  # fmt: skip

_PLAIN_TYPE = re.compile(r"(builtins\.)?float|warp\.(b?float|vec|mat|quat|transform|spatial_)\w*")
"""Numbers, vectors and matrices that a launch passes by value."""


class Differentiation:
    """Where the project asks for gradients, and which files that reaches."""

    def __init__(
        self,
        files: Sequence[ProjectFile],
        evaluator: Evaluator,
        imports: ImportGraph,
        callers: Callers,
        kernels: Mapping[Kernel, KernelDefinition],
        launches: Sequence[Launch],
        warp_calls: Mapping[str, Sequence[CallSite]],
    ) -> None:
        self._files = files
        self._evaluator = evaluator
        self._imports = imports
        self._callers = callers
        self._kernels = kernels
        self._launches = launches
        self._warp_calls = warp_calls

    def may_reach(self, kernel: KernelDefinition) -> bool:
        """Whether gradients are asked for in a file that can come to launch the kernel: its own file, one
        that imports it, or one that it imports."""
        reached = self._reached
        if kernel.body_file.index in reached or kernel.file.index in reached:
            return True
        return any(
            self._is_called_back(launch.site) for launch in self._launches if launch.kernel == kernel.kernel
        )

    def _is_called_back(self, site: CallSite) -> bool:
        """Whether a launch stands in a method of a class that derives from one of a file where gradients are
        asked for, or of a package of others: what calls the method may record it."""
        file = self._callers.file(site)
        for scope in file.scope_chain(self._callers.call(site).scope):
            owner = self._evaluator.class_of_method(file.index, scope) if scope > 0 else None
            if owner is None:
                continue
            bases = file.facts.scopes[owner.scope].bases
            known = self._evaluator.bases(owner)
            if len(known) < len([base for base in bases if last_name(base) not in _PLAIN_BASES]):
                return True
            if any(base.file in self._reached for base in known):
                return True
        return False

    def may_be_recorded(self, kernel: KernelDefinition) -> bool:
        """Whether a launch of the kernel stands in a function that makes a tape, or that such a function may
        come to by calls; or whether the kernel is launched where the project does not show."""
        launches = [launch for launch in self._launches if launch.kernel == kernel.kernel]
        if not launches:
            return self.may_reach(kernel)
        return any(launch.site in self._recorded_sites for launch in launches)

    @cached_property
    def _recorded_sites(self) -> frozenset[CallSite]:
        """The calls that may run under a tape."""
        functions = dict.fromkeys(
            (site.file, self._function(self._files[site.file], self._callers.call(site).scope))
            for sites in self._asking.values()
            for site in sites
        )
        calls_in: dict[tuple[int, int], list[CallSite]] = defaultdict(list)
        for file in self._files:
            for index, call in enumerate(file.facts.calls):
                calls_in[file.index, self._function(file, call.scope)].append(CallSite(file.index, index))
        pending, seen, sites = list(functions), set(functions), set()
        while pending:
            for site in calls_in[pending.pop()]:
                sites.add(site)
                for function in self._callers.functions(site):
                    key = (function.file, function.scope)
                    if key not in seen:
                        seen.add(key)
                        pending.append(key)
        return frozenset(sites)

    def _function(self, file: ProjectFile, scope: int) -> int:
        return file.function_of(scope) or 0

    @cached_property
    def _reached(self) -> frozenset[int]:
        return frozenset(
            reached
            for file in self._files
            if any(self._evidence(file))
            for reached in self._imports.reached(file.index)
        )

    def _evidence(self, file: ProjectFile) -> Iterator[object]:
        for imported in file.facts.imports:
            if imported.name in ("Tape", "gradcheck", "jacobian") and imported.module.startswith("warp"):
                yield imported
        for scope in file.facts.scopes:
            # torch.autograd.Function
            yield from (base for base in scope.bases if last_name(base) == "Function")
        yield from self._asking[file.index]
        for binding in file.facts.bindings:
            # ``array.requires_grad = True``
            is_attribute = isinstance(binding.target, fact.Attribute)
            if is_attribute and last_name(binding.target) == "requires_grad" and _is_true(binding.value):
                yield binding

    @cached_property
    def _asking(self) -> dict[int, list[CallSite]]:
        """The calls that ask for gradients, by file."""
        return {
            file.index: [
                CallSite(file.index, index)
                for index, call in enumerate(file.facts.calls)
                if self._asks(call, file.index, index)
            ]
            for file in self._files
        }

    def _asks(self, call: CallFact, file: int, index: int) -> bool:
        for argument in call.arguments:
            if argument.keyword in GRADIENT_ARGUMENTS and not _is_false(argument.value):
                return True
        return any(self._is_differentiating(value, call) for value in self._evaluator.callee(file, index))

    def _is_differentiating(self, called: Value, call: CallFact) -> bool:
        match called:
            case Class():
                return self.is_tape(called)
            case External(name=name) if name.startswith("warp."):
                short = name.removeprefix("warp.")
                if short in _DIFFERENTIATING or short.startswith("autograd."):
                    return True
                if short.endswith(_BRIDGES):
                    given = {argument.keyword: argument.value for argument in call.arguments}
                    default = fact.Constant(short.endswith(_BRIDGES_WITH_GRADIENTS))
                    asked = given.get("requires_grad", given.get("enable_backward", default))
                    return not _is_false(asked)
        return False

    def is_tape(self, of: Class) -> bool:
        """Whether a class of the project is a kind of ``wp.Tape``."""
        file = self._files[of.file]
        scope = file.facts.scopes[of.scope]
        place = Place(of.file, scope.parent, max(scope.block, 0), scope.order)
        return any(
            value == External("warp.Tape")
            or (isinstance(value, Class) and value != of and self.is_tape(value))
            for base in scope.bases
            for value in self._evaluator.evaluate(base, place, {})
        )


def passes_gradients(kernel: KernelDefinition) -> bool:
    """Whether a kernel reads something that a gradient could go back to: what is no integer, and no plain
    value, which Warp keeps no gradient of. One that only writes constants does not. (Its adjoint would set
    the gradient of what it overwrites to zero; that is no gradient that stops.)"""
    if is_integer_only(kernel):
        return False
    code = kernel.device_code
    typed = list(zip(kernel.scope.parameters, kernel.parameter_types, strict=True))
    if all(_is_struct(types) or _is_without_gradient(parameter, types) for parameter, types in typed):
        return False  # whether a float is written to some field of a struct is not told
    return code is None or any(
        parameter.name in code.parameters_read and not _is_without_gradient(parameter, types)
        for parameter, types in typed
    )


def _is_struct(types: Values) -> bool:
    return any(isinstance(value, Class) for value in types)


def _is_without_gradient(parameter: Parameter, types: Values) -> bool:
    names = [value.name if isinstance(value, External) else "" for value in types]
    if isinstance(parameter.annotation, (fact.Name, fact.Attribute)):
        return all(name in _INTEGER_TYPES or _PLAIN_TYPE.fullmatch(name) for name in names)
    return all(name in _INTEGER_TYPES for name in names)


def is_integer_only(kernel: KernelDefinition) -> bool:
    """Whether every parameter of a kernel is of an integer type: nothing in it can be differentiated."""
    names = [
        value.name if isinstance(value, External) else ""
        for values in kernel.parameter_types
        for value in values
    ]
    return bool(names) and all(name in _INTEGER_TYPES for name in names)


def _is_true(expression: fact.Expression) -> bool:
    return expression == fact.Constant(True)


def _is_false(expression: fact.Expression) -> bool:
    return expression == fact.Constant(False)
