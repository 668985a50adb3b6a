"""Which Warp modules may be differentiated: where gradients are asked for, and what that place can reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from warp_lint.facts import values as fact
from warp_lint.facts.records import CallFact
from warp_lint.project.callers import CallSite
from warp_lint.project.evaluation import Evaluator
from warp_lint.project.files import ProjectFile, last_name
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.values import External
from warp_lint.warp_api import FUNCTIONS, GRADIENT_ARGUMENTS, Role

_DIFFERENTIATING = frozenset(
    function.name for function in FUNCTIONS if function.role is Role.DIFFERENTIATE
) - {"from_torch", "from_paddle"}
_BRIDGES = ("from_torch", "from_paddle", "jax_kernel", "jax_callable")
_INTEGER_TYPES = frozenset(
    {
        "int", "bool", "warp.bool", "warp.int8", "warp.uint8", "warp.int16", "warp.uint16", "warp.int32",
        "warp.uint32", "warp.int64", "warp.uint64", "builtins.int", "builtins.bool",
        *(f"warp.vec{size}{kind}" for size in (2, 3, 4) for kind in ("i", "b", "s", "l", "ub", "us", "ui", "ul")),
    }
)  # fmt: skip


class Differentiation:
    """Where the project asks for gradients, and which files that reaches."""

    def __init__(
        self,
        files: Sequence[ProjectFile],
        evaluator: Evaluator,
        warp_calls: Mapping[str, Sequence[CallSite]],
    ) -> None:
        self._files = files
        self._evaluator = evaluator
        self._warp_calls = warp_calls

    def may_reach(self, kernel: KernelDefinition) -> bool:
        """Whether gradients are asked for in a file that can come to launch the kernel: its own file, one
        that imports it, or one that it imports."""
        reached = self._reached
        return kernel.body_file.index in reached or kernel.file.index in reached

    @cached_property
    def _reached(self) -> frozenset[int]:
        reached: set[int] = set()
        imports = {file.index: set(self._imported(file)) for file in self._files}
        pending = [file.index for file in self._files if any(self._evidence(file))]
        while pending:
            index = pending.pop()
            if index not in reached:
                reached.add(index)
                pending += imports[index]
        return frozenset(reached)

    def _evidence(self, file: ProjectFile) -> Iterator[object]:
        for imported in file.facts.imports:
            if imported.name in ("Tape", "gradcheck", "jacobian") and imported.module.startswith("warp"):
                yield imported
        for scope in file.facts.scopes:
            # A subclass of wp.Tape, or of torch.autograd.Function.
            yield from (base for base in scope.bases if last_name(base) in ("Tape", "Function"))
        for index, call in enumerate(file.facts.calls):
            if self._asks(call, file.index, index):
                yield call
        for binding in file.facts.bindings:
            # ``array.requires_grad = True``
            if isinstance(binding.target, fact.Attribute) and last_name(binding.target) == "requires_grad":
                if _is_true(binding.value):
                    yield binding

    def _asks(self, call: CallFact, file: int, index: int) -> bool:
        for argument in call.arguments:
            if argument.keyword in GRADIENT_ARGUMENTS and not _is_false(argument.value):
                return True
        for value in self._evaluator.callee(file, index):
            if isinstance(value, External) and value.name.startswith("warp."):
                name = value.name.removeprefix("warp.")
                if name in _DIFFERENTIATING or name.startswith("autograd."):
                    return True
                if name.endswith(_BRIDGES):
                    return not any(
                        argument.keyword in ("requires_grad", "enable_backward") and _is_false(argument.value)
                        for argument in call.arguments
                    ) and name.endswith(("from_torch", "from_paddle"))
        return False

    def _imported(self, file: ProjectFile) -> Iterator[int]:
        modules = self._evaluator.modules
        for imported in file.facts.imports:
            name = modules.imported_module(imported, file)
            names = [name] if imported.name in (None, "*") else [name, f"{name}.{imported.name}"]
            for candidate in names:
                found = modules.find(candidate, file)
                if found is not None:
                    yield found


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
