"""Writes to module options and to ``wp.config``, in whatever form they are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warp_lint.facts import values as fact
from warp_lint.facts.records import Argument, BindingFact, BindingKind, CallFact, Span
from warp_lint.findings import Location, Range
from warp_lint.project.callers import Callers, CallSite
from warp_lint.project.evaluation import Evaluator, Place
from warp_lint.project.files import ProjectFile, target_leaves
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind, named_module
from warp_lint.project.values import (
    UNKNOWN,
    Constant,
    Dictionary,
    Environment,
    External,
    Kernel,
    ModuleOf,
    OptionsOf,
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
    """Whether the write makes Warp look again: ``set_module_options`` does, the dict alone does not."""
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
    value: fact.Expression
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

    def of_values(self, values: Values, file: ProjectFile) -> ModuleKey | None:
        """The one module that a ``module`` argument stands for; None when it is not known."""
        keys = {self._of_value(value, file) for value in values}
        return keys.pop() if len(keys) == 1 else None

    def _of_value(self, value: object, file: ProjectFile) -> ModuleKey | None:
        match value:
            case Constant(value=None):
                return self.own(file)
            case Constant(value=str(name)):
                return named_module(name, file, self._evaluator)
            case ModuleOf(kernel=Kernel() as kernel) if kernel in self._kernels:
                return self._kernels[kernel].module
            case ModuleOf(kernel=None, name=name):
                return named_module(name, file, self._evaluator)
            case PythonModule(file=python_file):
                return ModuleKey(ModuleKind.OWN, file=python_file)
            case _:
                return None


class OptionWrites:
    """Every option write of the project.

    ``writes`` are those whose module and option are known, in the order of files and text. ``open_modules``
    are the modules that also get options which are not known, and ``open_files`` the files that set options
    of a module that is not known. ``read_modules`` are those whose options some code asks for.
    ``forwarded`` are the writes by functions that are passed the module or the options: each stands where
    the outermost function is called.
    """

    def __init__(self, evaluator: Evaluator, modules: WarpModules, callers: Callers) -> None:
        self._evaluator = evaluator
        self._modules = modules
        self._callers = callers
        self.forwarded: list[OptionWrite] = []
        self.writes: list[OptionWrite] = []
        self.open_modules: set[ModuleKey] = set()
        self.open_files: set[int] = set()
        self.read_modules: set[ModuleKey] = set()
        for file in evaluator.files:
            for index, call in enumerate(file.facts.calls):
                self._add_call(file, index, call)
            for binding in file.facts.bindings:
                if binding.kind is BindingKind.ASSIGN:
                    self._add_binding(file, binding)
            self.read_modules.update(self._read(file))
        self.writes.sort(key=lambda write: (write.file.facts.path, write.span))

    def _add_call(self, file: ProjectFile, index: int, call: CallFact) -> None:
        place = self._evaluator.place_of(file.index, call)
        if External("warp.set_module_options") in self._evaluator.callee(file.index, index):
            arguments = self._evaluator.arguments(call, place, {})
            given = arguments.get(1, "module") or (constant(None),)
            module = self._modules.of_values(given, file)
            self._add_dictionary(module, _argument(call, 0, "options"), file, place, call, index)
            self._add_forwarded(CallSite(file.index, index), file, place)
        elif isinstance(call.function, fact.Attribute) and call.function.attribute == "update":
            # wp.get_module_options().update({...})
            for value in self._evaluator.evaluate(call.function.base, place, {}):
                if isinstance(value, OptionsOf):
                    module = self._of(value, file)
                    self._add_dictionary(module, _argument(call, 0, ""), file, place, call, -1)

    def _add_dictionary(
        self,
        module: ModuleKey | None,
        given: Argument | None,
        file: ProjectFile,
        place: Place,
        call: CallFact,
        index: int,
    ) -> None:
        if module is None or given is None:
            self.open_files.add(file.index)
            return
        entries = list(dictionary_entries(given.value, file, place, self._evaluator))
        for name, values, span in entries:
            if not name:
                self.open_modules.add(module)
                continue
            entry_span = span or call.span
            self.writes.append(
                OptionWrite(
                    module,
                    name,
                    values,
                    place,
                    file,
                    call.span,
                    entry_span,
                    call.statement_span,
                    index >= 0,
                    index,
                )
            )

    def _add_forwarded(self, inner: CallSite, file: ProjectFile, place: Place) -> None:
        """What a call writes when the function around it is passed the module or the options."""
        call = self._callers.call(inner)
        given = _argument(call, 0, "options")
        function = file.function_of(call.scope)
        if function is None or given is None:
            return
        asked = self._callers.parameters_in(inner, [item.value for item in call.arguments], function)
        for way in self._callers.bindings(file.index, function, asked=asked) if asked else ():
            outer = self._callers.call(way.path[-1])
            at, outer_file = self._callers.place(way.path[-1]), self._callers.file(way.path[-1])
            arguments = self._evaluator.arguments(call, place, way.environment)
            module = self._modules.of_values(arguments.get(1, "module") or (constant(None),), file)
            entries = dictionary_entries(given.value, file, place, self._evaluator, way.environment)
            for name, values, _ in entries if module is not None else ():
                if name and module is not None:
                    spans = (outer.span, outer.span, outer.statement_span)
                    self.forwarded.append(OptionWrite(module, name, values, at, outer_file, *spans, True, -1))

    def _add_binding(self, file: ProjectFile, binding: BindingFact) -> None:
        """``wp.get_module_options()[k] = v`` and ``module.options[k] = v``."""
        match binding.target:
            case fact.Subscript(
                base=fact.CallReference() | fact.Name() | fact.Attribute() as base, index=index
            ):
                pass
            case _:
                return
        place = Place(file.index, binding.scope, binding.block, binding.order)
        for value in self._evaluator.evaluate(base, place, {}):
            if not isinstance(value, OptionsOf):
                if isinstance(base, fact.Attribute) and base.attribute == "options":
                    self.open_files.add(file.index)
                continue
            module = self._of(value, file)
            key = only_constant(self._evaluator.evaluate(index, place, {}))
            if module is None:
                self.open_files.add(file.index)
            elif key is None or not isinstance(key.value, str):
                self.open_modules.add(module)
            else:
                values = self._evaluator.evaluate(binding.value, place, {})
                span = binding.span
                self.writes.append(
                    OptionWrite(module, key.value, values, place, file, span, span, span, False, -1)
                )

    def _read(self, file: ProjectFile) -> Iterator[ModuleKey]:
        """The modules that a file gets, or the options of, to do more with them than to write an option."""
        without_reading = set(self._calls_without_reading(file))
        for index in range(len(file.facts.calls)):
            if index in without_reading or not _GETTERS & set(self._evaluator.callee(file.index, index)):
                continue
            for value in self._evaluator.evaluate_call(file.index, index):
                options = OptionsOf(value) if isinstance(value, ModuleOf) else value
                module = self._of(options, file) if isinstance(options, OptionsOf) else None
                if module is not None:
                    yield module

    def _calls_without_reading(self, file: ProjectFile) -> Iterator[int]:
        """The calls whose value only an option is written to, or another attribute is taken of."""
        for binding in file.facts.bindings:
            for _, target in target_leaves(binding.target):
                if isinstance(target, fact.Subscript):
                    yield from _calls_of_options(target.base)
        for index, call in enumerate(file.facts.calls):
            match call.function:
                case fact.Attribute(base=base, attribute="update"):
                    yield from _calls_of_options(base)
                case fact.Attribute(base=fact.CallReference(index=base_call)):
                    yield from () if self._gives_options(file, base_call) else (base_call,)
            if External("warp.set_module_options") in self._evaluator.callee(file.index, index):
                for argument in call.arguments:
                    yield from _calls_of_options(argument.value)

    def _gives_options(self, file: ProjectFile, call: int) -> bool:
        return External("warp.get_module_options") in self._evaluator.callee(file.index, call)

    def _of(self, options: OptionsOf, file: ProjectFile) -> ModuleKey | None:
        if options.module is None:
            return self._modules.own(file)
        return self._modules.of_values((options.module,), file)


def dictionary_entries(
    expression: fact.Expression,
    file: ProjectFile,
    place: Place,
    evaluator: Evaluator,
    environment: Environment | None = None,
) -> Iterator[tuple[str, Values, Span | None]]:
    """The options that a dict gives, with the place of each where the dict is written out.

    An empty name stands for entries that are not known.
    """
    environment = environment or {}
    if isinstance(expression, fact.Mapping):
        for item in expression.items:
            span = Span(item.start, item.end)
            if item.key is None:
                inner = dictionary_entries(item.value, file, place, evaluator, environment)
                yield from ((name, values, span) for name, values, _ in inner)
                continue
            key = only_constant(evaluator.evaluate(item.key, place, environment))
            known = key is not None and isinstance(key.value, str)
            yield (
                str(key.value) if key is not None and known else "",
                evaluator.evaluate(item.value, place, environment),
                span,
            )
        return
    for value in evaluator.evaluate(expression, place, environment):
        if not isinstance(value, Dictionary):
            yield "", (UNKNOWN,), None
            continue
        for name_, values in value.items:
            if isinstance(name_, str) and not name_.startswith("\0"):
                yield name_, values, None
        if value.open:
            yield "", (UNKNOWN,), None


_GETTERS = frozenset({External("warp.get_module"), External("warp.get_module_options")})


def _calls_of_options(expression: fact.Expression) -> Iterator[int]:
    """The call in ``wp.get_module_options()`` or ``wp.get_module(name).options``."""
    match expression:
        case fact.CallReference(index=index):
            yield index
        case fact.Attribute(base=fact.CallReference(index=index), attribute="options"):
            yield index


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
                    value = binding.value if simple else fact.Opaque()
                    values = evaluator.evaluate(value, place, {})
                    kind = "assign" if binding.kind is BindingKind.ASSIGN else "with"
                    writes.append(
                        ConfigWrite(target.attribute, value, values, place, file, binding.span, kind)
                    )
        for index, call in enumerate(file.facts.calls):
            if External("builtins.setattr") in evaluator.callee(file.index, index):
                place = evaluator.place_of(file.index, call)
                arguments = evaluator.arguments(call, place, {})
                name = only_constant(arguments.get(1, "name"))
                is_config = arguments.get(0, "object") == (External("warp.config"),)
                if is_config and name is not None and isinstance(name.value, str):
                    given = arguments.get(2, "value") or (UNKNOWN,)
                    value = call.arguments[-1].value
                    writes.append(ConfigWrite(name.value, value, given, place, file, call.span, "setattr"))
    return sorted(writes, key=lambda write: (write.file.facts.path, write.span))
