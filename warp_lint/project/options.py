"""Writes to module options and to ``wp.config``, in whatever form they are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warp_lint.facts import values as fact
from warp_lint.facts.records import Argument, BindingFact, BindingKind, CallFact, Span
from warp_lint.findings import Location, Range
from warp_lint.project.evaluation import Evaluator, Place
from warp_lint.project.files import ProjectFile, target_leaves
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.project.values import (
    UNKNOWN,
    Constant,
    Dictionary,
    External,
    ExternalResult,
    Kernel,
    ModuleOf,
    PythonModule,
    Values,
    constant,
    only_constant,
)


class OptionWrite(NamedTuple):
    """One option of one module that gets a value."""

    module: ModuleKey
    name: str
    values: Values
    place: Place
    file: ProjectFile
    span: Span
    """The call or assignment."""
    entry_span: Span
    """The entry of the dict, where it is a display; else the call or assignment."""
    statement_span: Span
    is_marking: bool
    """Whether the write makes Warp look again: ``set_module_options`` does, writing into the dict does not."""
    call: int
    """The index of the ``set_module_options`` call; -1 for other forms."""

    @property
    def location(self) -> Location:
        return self.file.facts.location(self.span)

    @property
    def entry_location(self) -> Location:
        return self.file.facts.location(self.entry_span)

    @property
    def suppression_range(self) -> Range:
        return self.file.facts.location(self.statement_span).range


class ConfigWrite(NamedTuple):
    """One attribute of ``wp.config`` that gets a value."""

    name: str
    values: Values
    place: Place
    file: ProjectFile
    span: Span
    kind: str
    """``assign``, ``with`` (a loop or pattern target), or ``setattr``."""

    @property
    def location(self) -> Location:
        return self.file.facts.location(self.span)


class WarpModules:
    """Tells which Warp module a name, an object or a file stands for."""

    def __init__(self, evaluator: Evaluator, kernels: dict[Kernel, KernelDefinition]) -> None:
        self._evaluator = evaluator
        self._kernels = kernels

    def own(self, file: ProjectFile) -> ModuleKey:
        """The module of a Python file."""
        return ModuleKey(ModuleKind.OWN, file=file.index)

    def named(self, name: str, file: ProjectFile) -> ModuleKey:
        """The module with a name, as code in ``file`` says it: a file's own module, or a named one."""
        if name == file.dotted_name:
            return self.own(file)
        found = self._evaluator.modules.find(name, file)
        if found is not None:
            return ModuleKey(ModuleKind.OWN, file=found)
        return ModuleKey(ModuleKind.NAMED, name=name)

    def of_values(self, values: Values, file: ProjectFile) -> ModuleKey | None:
        """The one module that a ``module`` argument stands for; None when it is not known."""
        keys = {self._of_value(value, file) for value in values}
        return keys.pop() if len(keys) == 1 else None

    def _of_value(self, value: object, file: ProjectFile) -> ModuleKey | None:
        match value:
            case Constant(value=None):
                return self.own(file)
            case Constant(value=str(name)):
                return self.named(name, file)
            case ModuleOf(kernel=Kernel() as kernel) if kernel in self._kernels:
                return self._kernels[kernel].module
            case ModuleOf(kernel=None, name=name):
                return self.named(name, file)
            case PythonModule(file=python_file):
                return ModuleKey(ModuleKind.OWN, file=python_file)
            case _:
                return None


def find_option_writes(evaluator: Evaluator, modules: WarpModules) -> list[OptionWrite]:
    """Every option write of the project whose module is known, in the order of files and text."""
    writes: list[OptionWrite] = []
    for file in evaluator.files:
        for index, call in enumerate(file.facts.calls):
            for value in evaluator.callee(file.index, index):
                match value:
                    case External(name="warp.set_module_options"):
                        writes += _of_call(call, index, file, evaluator, modules)
                    case External(name="warp.get_module_options().update"):
                        writes += _of_update(call, file, evaluator, modules)
        for binding in file.facts.bindings:
            if binding.kind is BindingKind.ASSIGN:
                writes += _of_binding(binding, file, evaluator, modules)
    return sorted(writes, key=lambda write: (write.file.facts.path, write.span))


def _of_call(
    call: CallFact, index: int, file: ProjectFile, evaluator: Evaluator, modules: WarpModules
) -> Iterator[OptionWrite]:
    place = evaluator.place_of(file.index, call)
    arguments = evaluator.arguments(call, place, {})
    module = modules.of_values(arguments.get(1, "module") or (constant(None),), file)
    given = _argument(call, 0, "options")
    if module is None or given is None:
        return
    for name, values, span in _entries(given, file, place, evaluator):
        yield OptionWrite(
            module, name, values, place, file, call.span, span or call.span, call.statement_span, True, index
        )


def _of_update(
    call: CallFact, file: ProjectFile, evaluator: Evaluator, modules: WarpModules
) -> Iterator[OptionWrite]:
    place = evaluator.place_of(file.index, call)
    given = _argument(call, 0, "")
    if given is not None:
        for name, values, span in _entries(given, file, place, evaluator):
            yield OptionWrite(
                modules.own(file),
                name,
                values,
                place,
                file,
                call.span,
                span or call.span,
                call.statement_span,
                False,
                -1,
            )


def _of_binding(
    binding: BindingFact, file: ProjectFile, evaluator: Evaluator, modules: WarpModules
) -> Iterator[OptionWrite]:
    """``wp.get_module_options()[k] = v`` and ``module.options[k] = v``."""
    match binding.target:
        case fact.Subscript(base=fact.CallReference() | fact.Name() | fact.Attribute() as base, index=index):
            pass
        case _:
            return
    place = Place(file.index, binding.scope, binding.block, binding.order)
    module: ModuleKey | None = None
    match base:
        case fact.Attribute(base=owner, attribute="options"):
            module = modules.of_values(evaluator.evaluate(owner, place, {}), file)
        case fact.CallReference() | fact.Name():
            if evaluator.evaluate(base, place, {}) == (ExternalResult("warp.get_module_options"),):
                module = modules.own(file)
    key = only_constant(evaluator.evaluate(index, place, {}))
    if module is not None and key is not None and isinstance(key.value, str):
        values = evaluator.evaluate(binding.value, place, {})
        yield OptionWrite(
            module, key.value, values, place, file, binding.span, binding.span, binding.span, False, -1
        )


def _entries(
    argument: Argument, file: ProjectFile, place: Place, evaluator: Evaluator
) -> Iterator[tuple[str, Values, Span | None]]:
    """The options that a dict gives, with the place of each where the dict is written out."""
    if isinstance(argument.value, fact.Mapping):
        for item in argument.value.items:
            if item.key is None:
                inner = Argument(item.value, None, argument.span, argument.value_span)
                for name, values, _ in _entries(inner, file, place, evaluator):
                    yield name, values, Span(item.start, item.end)
                continue
            key = only_constant(evaluator.evaluate(item.key, place, {}))
            if key is not None and isinstance(key.value, str):
                yield key.value, evaluator.evaluate(item.value, place, {}), Span(item.start, item.end)
        return
    for value in evaluator.evaluate(argument.value, place, {}):
        if isinstance(value, Dictionary):
            for name_, values in value.items:
                if isinstance(name_, str) and not name_.startswith("\0"):
                    yield name_, values, None


def _argument(call: CallFact, position: int, name: str) -> Argument | None:
    for number, argument in enumerate(call.arguments):
        if argument.keyword == name or (argument.keyword is None and number == position):
            return argument
    return None


def find_config_writes(evaluator: Evaluator) -> list[ConfigWrite]:
    """Every assignment to an attribute of ``wp.config``, in the order of files and text."""
    writes: list[ConfigWrite] = []
    for file in evaluator.files:
        for binding in file.facts.bindings:
            place = Place(file.index, binding.scope, binding.block, binding.order)
            for path, target in target_leaves(binding.target):
                if isinstance(target, fact.Attribute) and evaluator.evaluate(target.base, place, {}) == (
                    External("warp.config"),
                ):
                    simple = binding.kind is BindingKind.ASSIGN and not path
                    values = evaluator.evaluate(binding.value, place, {}) if simple else (UNKNOWN,)
                    kind = "assign" if binding.kind is BindingKind.ASSIGN else "with"
                    writes.append(ConfigWrite(target.attribute, values, place, file, binding.span, kind))
        for index, call in enumerate(file.facts.calls):
            if External("builtins.setattr") in evaluator.callee(file.index, index):
                place = evaluator.place_of(file.index, call)
                arguments = evaluator.arguments(call, place, {})
                name = only_constant(arguments.get(1, "name"))
                is_config = arguments.get(0, "object") == (External("warp.config"),)
                if is_config and name is not None and isinstance(name.value, str):
                    given = arguments.get(2, "value") or (UNKNOWN,)
                    writes.append(ConfigWrite(name.value, given, place, file, call.span, "setattr"))
    return sorted(writes, key=lambda write: (write.file.facts.path, write.span))
