"""What names and expressions stand for, across the files of the project.

An evaluation never runs anything: it follows assignments, imports, attributes and calls of the project's
own functions as far as the code determines them, and says `UNKNOWN` where it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from math import prod
from typing import NamedTuple

from msgspec.structs import replace

from warp_lint.facts import values as fact
from warp_lint.facts.records import (
    BindingFact,
    BindingKind,
    BlockKind,
    CallFact,
    ImportFact,
    Parameter,
    ParameterKind,
    ReturnFact,
    ScopeKind,
)
from warp_lint.project.arithmetic import fold
from warp_lint.project.binders import Binder, reaching
from warp_lint.project.files import ProjectFile, PythonModules, device_of_condition, last_name, target_names
from warp_lint.project.values import (
    UNKNOWN,
    Arguments,
    Class,
    Collection,
    Constant,
    DeviceFunction,
    Dictionary,
    Environment,
    External,
    ExternalResult,
    Function,
    Instance,
    Kernel,
    KernelDecorator,
    Method,
    ModuleOf,
    OptionsOf,
    ParameterValue,
    Partial,
    PythonModule,
    Symbol,
    Unknown,
    Value,
    Values,
    constant,
    distinct,
    only_constant,
)

_DEEPEST = 30
"""Evaluations inside evaluations; beyond this everything is unknown."""
_DEEPEST_CALL = 5
"""Calls followed inside calls."""
_END = 1 << 60
"""An order after everything in a scope."""
_MOST_ITERATIONS = 64
"""Loops over longer displays are not unrolled."""
_EVALUATED = frozenset(
    {
        "warp.kernel", "warp.Kernel", "warp.func", "warp.func_native", "warp.func_grad", "warp.func_replay",
        "warp.overload", "warp.get_device", "warp.get_module", "warp.get_module_options", "warp.Module",
        "functools.partial", "builtins.getattr", "builtins.int", "builtins.min", "builtins.max",
        "builtins.enumerate",
        "builtins.zip", "builtins.range", "builtins.dict", "builtins.__import__", "importlib.import_module",
        "itertools.product",
    }
)  # fmt: skip
"""External functions whose result depends on their arguments in a way that is followed."""
_ITERABLES = frozenset(
    {"builtins.enumerate", "builtins.zip", "builtins.range", "builtins.dict", "itertools.product"}
)
_TRANSPARENT = frozenset(
    {
        "warp.constant",
        "builtins.list",
        "builtins.tuple",
        "builtins.sorted",
        "builtins.reversed",
        "builtins.set",
        "builtins.iter",
    }
)
_WARP_SUBMODULES = (
    "fem",
    "config",
    "sparse",
    "optim",
    "types",
    "utils",
    "autograd",
    "render",
    "jax",
    "torch",
)


class Place(NamedTuple):
    """Where something is evaluated: a point in the program."""

    file: int
    scope: int
    block: int
    order: int


class KernelCreation(NamedTuple):
    """How a kernel came to be: the arguments of ``wp.kernel`` and the place that made it.

    ``decorator`` is the position of the decorator in its function's list, -1 for a call; ``call`` is the
    index of the call that made it, -1 for a decorator. ``wrapper`` names the function that isolates the
    kernel when it was not ``wp.kernel`` itself.
    """

    kernel: Kernel
    arguments: Arguments
    place: Place
    decorator: int
    call: int
    wrapper: str = ""


class Evaluator:
    """Resolves names and expressions; remembers every kernel that it sees being made."""

    def __init__(
        self,
        files: Sequence[ProjectFile],
        modules: PythonModules,
        kernel_decorators: Iterable[str] = (),
    ) -> None:
        self.files = files
        self.modules = modules
        self.creations: dict[Kernel, KernelCreation] = {}
        self._kernel_decorators = frozenset(kernel_decorators)
        self._memory: dict[tuple[int, int, int, int], Values] = {}
        """By the identity of an expression, which is of one file, and the place in it."""
        self._definitions: dict[tuple[int, int], Values] = {}
        self._callees: dict[tuple[int, int], Values] = {}
        self._called: dict[tuple[Function, Arguments], Values] = {}
        self._call_depth = 0
        self._dependent: dict[tuple[int, int], bool] = {}
        self._names: dict[tuple[int, int, str], Values] = {}
        self._seen: dict[tuple[int, int, str], Values] = {}
        """Names that mean the same wherever a scope reads them, by file, scope and name."""
        self._module_attributes: dict[tuple[int, str], Values] = {}
        self._class_attributes: dict[tuple[Class, str], Values | None] = {}
        self._external_attributes: dict[tuple[str, str], Values] = {}
        self._instance_attributes: dict[tuple[Class, str], Values] = {}
        self._bases: dict[Class, list[Class]] = {}
        self._running: set[object] = set()
        self._depth = 0
        self._cuts = 0
        """How often an evaluation was given up for being recursive or too deep. What was found while this
        grew depends on who asked; what was found without is the same for all, and can be kept."""
        self._maker: tuple[Place, int, int] | None = None
        """The outermost decorator or call that is being applied: place, decorator, call."""

    def place_of(self, file: int, call: CallFact) -> Place:
        """Where a call stands."""
        return Place(file, call.scope, call.block, call.order)

    def place_of_return(self, file: int, returned: ReturnFact) -> Place:
        """Where a ``return`` or ``yield`` stands."""
        return Place(file, returned.scope, returned.block, returned.order)

    def evaluate_call(self, file: int, index: int) -> Values:
        """What a call gives."""
        call = self.files[file].facts.calls[index]
        return self._call(call, index, self.place_of(file, call), {})

    def evaluate_call_in_loops(self, file: int, index: int) -> Values:
        """What a call gives in all turns of the loops over known displays around it."""
        call = self.files[file].facts.calls[index]
        place = self.place_of(file, call)
        expressions = [call.function, *(argument.value for argument in call.arguments)]
        return distinct(
            [
                value
                for environment in self.iterations(place, expressions, {})
                for value in self._call(call, index, place, environment)
            ]
        )

    def callee(self, file: int, index: int) -> Values:
        """What a call calls."""
        found = self._callees.get((file, index))
        if found is None:
            call = self.files[file].facts.calls[index]
            found = self.evaluate(call.function, self.place_of(file, call), {})
            if self._depth == 0:
                self._callees[file, index] = found
        return found

    # Names

    def evaluate(self, expression: fact.Expression, place: Place, environment: Environment) -> Values:
        """The values that an expression can have at a place."""
        if isinstance(expression, fact.Constant):
            return (constant(expression.value),)
        if environment:
            return self._guarded((id(expression), place, id(environment)), expression, place, environment)
        known = self._known(expression, place)
        if known is not None:
            return known
        key = (id(expression), place.scope, place.block, place.order)
        found = self._memory.get(key)
        if found is None:
            cuts = self._cuts
            found = self._guarded(key, expression, place, environment)
            if self._cuts == cuts or self._depth == 0 or found != (UNKNOWN,):
                self._memory[key] = found
        return found

    def _known(self, expression: fact.Expression, place: Place) -> Values | None:
        """What a name, or an attribute of a name, stands for where that was found out before: so it is for
        nearly all there are."""
        if isinstance(expression, fact.Name):
            return self._seen.get((place.file, place.scope, expression.id))
        if isinstance(expression, fact.Attribute):
            bases = self._known(expression.base, place)
            if bases is not None and len(bases) == 1:
                base, attribute = bases[0], expression.attribute
                if isinstance(base, External):
                    return self._external_attribute(base.name, attribute)
                if isinstance(base, Instance):
                    return self._instance_attributes.get((base.of, attribute))
                if isinstance(base, ExternalResult | ParameterValue | Unknown):
                    return tuple(self._attribute(base, attribute))
        return None

    def _external_attribute(self, name: str, attribute: str) -> Values:
        known = self._external_attributes.get((name, attribute))
        if known is None:
            known = (External(_canonical(f"{name}.{attribute}")),)
            self._external_attributes[name, attribute] = known
        return known

    def _guarded(
        self, key: object, expression: fact.Expression, place: Place, environment: Environment
    ) -> Values:
        if key in self._running or self._depth > _DEEPEST:
            self._cuts += 1
            return (UNKNOWN,)
        self._running.add(key)
        self._depth += 1
        try:
            return self._evaluate(expression, place, environment)
        finally:
            self._depth -= 1
            self._running.discard(key)

    def _evaluate(self, expression: fact.Expression, place: Place, environment: Environment) -> Values:
        match expression:
            case fact.Constant(value=value):
                return (constant(value),)
            case fact.Name(id=name):
                return self.lookup(name, place, environment)
            case fact.Attribute(base=base, attribute=attribute):
                bases = self.evaluate(base, place, environment)
                return self._attributes(bases, attribute)
            case fact.CallReference(index=index):
                call = self.files[place.file].facts.calls[index]
                return self._call(call, index, self.place_of(place.file, call), environment)
            case fact.Subscript():
                return self._subscript(expression, place, environment)
            case fact.Sequence(kind=kind, items=items):
                return self._display(kind, items, place, environment)
            case fact.Mapping(items=items):
                return (self._dictionary(items, place, environment),)
            case fact.Conditional(test=test, body=body, orelse=orelse):
                return self._conditional(test, body, orelse, place, environment)
            case fact.Operation(operator=operator, operands=operands):
                return self._operation(operator, operands, place, environment)
            case fact.Lambda(scope=scope):
                return (Function(place.file, scope, environment),)
            case fact.Comprehension():
                return self._comprehension(expression, place, environment)
            case fact.FormattedString(parts=parts):
                return self._formatted(parts, place, environment)
            case _:
                return (UNKNOWN,)

    def lookup(self, name: str, place: Place, environment: Environment) -> Values:
        """The values that a name can have at a place."""
        file = self.files[place.file]
        first = True
        for scope in file.scope_chain(place.scope):
            kind = file.facts.scopes[scope].kind
            if kind is ScopeKind.CLASS and not first:
                continue
            bound = environment.get((place.file, scope))
            if bound is not None and name in bound:
                return bound[name]
            binders = file.binders[scope].get(name) if scope in file.binders else None
            if binders and not environment and self._is_settled(binders, scope, kind, file, place):
                found = self._settled(name, binders, file, scope)
                if (file.index, scope, name) in self._names:
                    self._seen[file.index, place.scope, name] = found
                return found
            if binders:
                if scope == place.scope and kind is not ScopeKind.COMPREHENSION:
                    binders = reaching(binders, file, place.block, place.order) or binders
                elif kind is ScopeKind.MODULE and self._runs_at_import(file, place):
                    # A comprehension or class body at module level sees what is bound so far.
                    outer = file.facts.scopes[place.scope]
                    binders = reaching(binders, file, max(outer.block, 0), outer.order) or binders
                elif kind in (ScopeKind.MODULE, ScopeKind.FUNCTION):
                    binders = self._at_end(binders, file, scope)
                return self._bound(binders, file, scope, environment)
            if kind is not ScopeKind.COMPREHENSION:
                first = False
        cuts = self._cuts
        found = self._global_name(name, file)
        if self._cuts == cuts and not environment:
            self._seen[file.index, place.scope, name] = found
        return found

    def _is_settled(
        self, binders: list[Binder], scope: int, kind: ScopeKind, file: ProjectFile, place: Place
    ) -> bool:
        """Whether a name means the same wherever the scope that binds it is seen from."""
        if len(binders) == 1:
            return True
        if scope == place.scope:
            return False
        if kind is ScopeKind.MODULE:
            return not self._runs_at_import(file, place)
        return kind is ScopeKind.FUNCTION

    def _settled(self, name: str, binders: list[Binder], file: ProjectFile, scope: int) -> Values:
        key = (file.index, scope, name)
        found = self._names.get(key)
        if found is None:
            cuts = self._cuts
            if len(binders) > 1:
                binders = self._at_end(binders, file, scope)
            found = self._bound(binders, file, scope, {})
            if self._cuts == cuts:
                self._names[key] = found
        return found

    def _at_end(self, binders: list[Binder], file: ProjectFile, scope: int) -> list[Binder]:
        """The binders that count for an inner function: it runs later, so what the scope binds last."""
        return reaching(binders, file, file.facts.scopes[scope].body_block, _END) or binders

    def _runs_at_import(self, file: ProjectFile, place: Place) -> bool:
        scope = file.facts.scopes[place.scope]
        return scope.parent == 0 and scope.kind in (ScopeKind.CLASS, ScopeKind.COMPREHENSION)

    def _global_name(self, name: str, file: ProjectFile) -> Values:
        if name == "__name__":
            return (constant(file.dotted_name),)
        if name == "__class__":
            return (UNKNOWN,)
        found: list[Value] = []
        for star in file.star_imports:
            module = self.modules.imported_module(star, file)
            target = self.modules.find(module, file)
            if target is not None and target != file.index:
                found += self.module_attribute(target, name)
            elif _is_warp(module):
                found.append(External(f"{_canonical(module)}.{name}"))
        if any(value != UNKNOWN for value in found):
            return distinct([value for value in found if value != UNKNOWN])
        return (External(f"builtins.{name}"),)

    def module_attribute(self, file_index: int, name: str) -> Values:
        """A global name of a file of the project, as other files see it after the import."""
        known = self._module_attributes.get((file_index, name))
        if known is not None:
            return known
        key = ("module", file_index, name)
        if key in self._running:
            self._cuts += 1
            return (UNKNOWN,)
        cuts = self._cuts
        self._running.add(key)
        try:
            found = self._module_attribute(self.files[file_index], name)
        finally:
            self._running.discard(key)
        if self._cuts == cuts:
            self._module_attributes[file_index, name] = found
        return found

    def _module_attribute(self, file: ProjectFile, name: str) -> Values:
        binders = file.binders[0].get(name) if 0 in file.binders else None
        if binders:
            binders = [b for b in binders if not file.is_main_guarded(b.block)] or binders
            return self._bound(self._at_end(binders, file, 0), file, 0, {})
        if file.is_package:
            submodule = self.modules.find(f"{file.dotted_name}.{name}", file)
            if submodule is not None:
                return (PythonModule(submodule),)
        values = self._global_name(name, file)
        return (UNKNOWN,) if values == (External(f"builtins.{name}"),) else values

    def _bound(
        self, binders: list[Binder], file: ProjectFile, scope: int, environment: Environment
    ) -> Values:
        values: list[Value] = []
        on_cuda = [binder.order for binder in binders if len(binders) > 1 and file.is_cuda_only(binder.block)]
        for binder in binders:
            # Values that never meet CUDA, where they would matter: those of a branch for the CPU, and those
            # that a branch for CUDA replaces.
            if len(binders) > 1 and file.is_cpu_only(binder.block):
                continue
            if on_cuda and binder.order < on_cuda[0]:
                continue
            values += self._value_of(binder, file, scope, environment)
        if len(binders) > 1 and any(self._feeds_itself(binder, file, scope) for binder in binders):
            # Each turn of the loop goes on from the last: the first turns do not stand for the others.
            values = [UNKNOWN, *(value for value in values if not isinstance(value, Constant))]
        return distinct(values) or (UNKNOWN,)

    def _feeds_itself(self, binder: Binder, file: ProjectFile, scope: int) -> bool:
        """Whether a loop binds a name anew from what it bound it to in an earlier turn."""
        if not isinstance(binder.fact, BindingFact) or file.loop_of(binder.block) is None:
            return False
        pending, seen = [binder.fact], {binder.fact.order}
        while pending:
            binding = pending.pop()
            names = set(names_in(binding.value, file))
            if binding.kind is BindingKind.AUGMENTED:
                names |= set(names_in(binding.target, file))
            for name in names & file.binders[scope].keys():
                for source in reaching(file.binders[scope][name], file, binding.block, binding.order):
                    if source.fact is binder.fact:
                        return True
                    if isinstance(source.fact, BindingFact) and source.order not in seen:
                        seen.add(source.order)
                        pending.append(source.fact)
        return False

    def _value_of(self, binder: Binder, file: ProjectFile, scope: int, environment: Environment) -> Values:
        match binder.fact:
            case Parameter() as parameter:
                return self._parameter(parameter, file, scope)
            case ImportFact() as imported:
                return self._imported(imported, file)
            case int(defined):
                return self.definition(file.index, defined, environment)
            case BindingFact() as binding:
                return self._binding(binding, binder.path, file, environment)

    def _parameter(self, parameter: Parameter, file: ProjectFile, scope: int) -> Values:
        owner = self.class_of_method(file.index, scope)
        function = file.facts.scopes[scope]
        if owner is not None and function.parameters and function.parameters[0] is parameter:
            decorators = {last_name(decorator.expression) for decorator in function.decorators}
            if "staticmethod" not in decorators:
                is_class = "classmethod" in decorators or function.name in ("__new__", "__init_subclass__")
                return (owner if is_class else Instance(owner),)
        return (ParameterValue(file.index, scope, parameter.name),)

    def class_of_method(self, file_index: int, scope: int) -> Class | None:
        """The class whose body holds a function directly."""
        scopes = self.files[file_index].facts.scopes
        parent = scopes[scope].parent
        if scopes[scope].kind is ScopeKind.FUNCTION and scopes[parent].kind is ScopeKind.CLASS:
            return Class(file_index, parent)
        return None

    def _imported(self, imported: ImportFact, file: ProjectFile) -> Values:
        module = self.modules.imported_module(imported, file)
        if imported.name is None:
            name = module if imported.bound_name != module.partition(".")[0] else imported.bound_name
            return (self._module(name, file),)
        if imported.name == "*":
            return (UNKNOWN,)
        if _is_warp(module) and not self._is_warps_own(file):
            return (External(f"{_canonical(module)}.{imported.name}"),)
        target = self.modules.find(module, file)
        if target is not None and not (_is_warp(module) and _is_api(imported.name)):
            submodule = self.modules.find(f"{module}.{imported.name}", file)
            if target != file.index:
                values = self.module_attribute(target, imported.name)
                if values != (UNKNOWN,):
                    return values
            return (PythonModule(submodule),) if submodule is not None else (UNKNOWN,)
        submodule = self.modules.find(f"{module}.{imported.name}", file)
        if submodule is not None and not _is_warp(module):
            return (PythonModule(submodule),)
        return (External(f"{_canonical(module)}.{imported.name}"),)

    def _module(self, name: str, file: ProjectFile) -> Value:
        if not _is_warp(name):
            target = self.modules.find(name, file)
            if target is not None:
                return PythonModule(target)
        return External(_canonical(name))

    def _is_warps_own(self, file: ProjectFile) -> bool:
        return file.dotted_name == "warp" or file.dotted_name.startswith("warp.")

    def _binding(
        self, binding: BindingFact, path: tuple[int, ...], file: ProjectFile, environment: Environment
    ) -> Values:
        place = Place(file.index, binding.scope, binding.block, binding.order)
        match binding.kind:
            case BindingKind.ASSIGN | BindingKind.WALRUS:
                values = self.evaluate(binding.value, place, environment)
            case BindingKind.LOOP:
                values = self._elements(self.evaluate(binding.value, place, environment))
            case BindingKind.WITH:
                values = self.evaluate(binding.value, place, environment)
            case BindingKind.AUGMENTED:
                return (UNKNOWN,)
            case _:
                return (UNKNOWN,)
        return self._unpack(values, path)

    def _unpack(self, values: Values, path: tuple[int, ...]) -> Values:
        for position in path:
            if position < 0:
                return (UNKNOWN,)
            values = distinct([item for value in values for item in self._part(value, position)])
        return values

    def _part(self, value: Value, position: int) -> Values:
        match value:
            case Collection(items=items) if position < len(items):
                return items[position]
            case ParameterValue():
                # Whoever binds the parameter decides what its parts are.
                return (value,)
            case _:
                return (UNKNOWN,)

    def _elements(self, values: Values) -> Values:
        """What iterating over the values gives."""
        found: list[Value] = []
        for value in values:
            match value:
                case Collection(items=items):
                    found += [alternative for item in items for alternative in item]
                case Dictionary(items=items, open=False):
                    found += [constant(key) for key, _ in items]
                case _:
                    found.append(UNKNOWN)
        return distinct(found) or (UNKNOWN,)

    # Functions and classes

    def definition(self, file_index: int, scope: int, environment: Environment) -> Values:
        """What the name of a function or class stands for once its decorators have run."""
        scopes = self.files[file_index].facts.scopes
        if scopes[scope].kind is ScopeKind.CLASS:
            return (Class(file_index, scope),)
        # A function that is not made anew by a call being followed has one value for all who ask.
        if environment and not any(
            (file_index, outer) in environment for outer in self.files[file_index].scope_chain(scope)
        ):
            environment = {}
        key = (file_index, scope)
        if not environment and key in self._definitions:
            return self._definitions[key]
        if ("definition", key) in self._running:
            self._cuts += 1
            return (Function(file_index, scope, environment),)
        self._running.add(("definition", key))
        try:
            values = self._decorated(file_index, scope, environment)
        finally:
            self._running.discard(("definition", key))
        if not environment:
            self._definitions[key] = values
        return values

    def _decorated(self, file_index: int, scope: int, environment: Environment) -> Values:
        definition = self.files[file_index].facts.scopes[scope]
        values: Values = (Function(file_index, scope, environment),)
        place = Place(file_index, definition.parent, definition.block, definition.order)
        for position in range(len(definition.decorators) - 1, -1, -1):
            expression = definition.decorators[position].expression
            maker, self._maker = self._maker, (place, position, -1)
            try:
                decorators = self.evaluate(expression, place, environment)
                result = [
                    value
                    for decorator in decorators
                    for value in self._decorate(decorator, values, expression, place)
                ]
            finally:
                self._maker = maker
            # A decorator that is not understood is taken to keep what it was given.
            values = distinct(result) or values
        return values

    def _decorate(
        self, decorator: Value, decorated: Values, expression: fact.Expression, place: Place
    ) -> Values:
        name = _configured_name(expression, self.files[place.file])
        if name in self._kernel_decorators:
            return self._make_kernels(decorated, Arguments(), -1, place, "")
        result = self.apply(decorator, Arguments((decorated,)), place, -1)
        kinds = (Kernel, KernelDecorator, DeviceFunction, Partial)
        return tuple(value for value in result if isinstance(value, kinds)) or decorated

    def attribute_of_class(self, of: Class, name: str, seen: tuple[Class, ...] = ()) -> Values | None:
        """What a class or its bases define under a name; None when nothing was found."""
        if seen:
            return self._attribute_of_class(of, name, seen)
        key = (of, name)
        if key in self._class_attributes:
            return self._class_attributes[key]
        cuts = self._cuts
        found = self._attribute_of_class(of, name, seen)
        if self._cuts == cuts:
            self._class_attributes[key] = found
        return found

    def _attribute_of_class(self, of: Class, name: str, seen: tuple[Class, ...]) -> Values | None:
        if of in seen:
            return None
        file = self.files[of.file]
        binders = file.binders[of.scope].get(name) if of.scope in file.binders else None
        if binders:
            return self._bound(binders[-1:], file, of.scope, {})
        for base in self.bases(of):
            found = self.attribute_of_class(base, name, (*seen, of))
            if found is not None:
                return found
        return None

    def bases(self, of: Class) -> list[Class]:
        """The classes of the project that a class names as its bases."""
        known = self._bases.get(of)
        if known is not None:
            return known
        cuts = self._cuts
        fact_ = self.files[of.file].facts.scopes[of.scope]
        place = Place(of.file, fact_.parent, max(fact_.block, 0), fact_.order)
        found = [
            value
            for base in fact_.bases
            for value in self.evaluate(base, place, {})
            if isinstance(value, Class) and value != of
        ]
        if self._cuts == cuts:
            self._bases[of] = found
        return found

    def _attribute_of_instance(self, of: Class, name: str) -> Values:
        known = self._instance_attributes.get((of, name))
        if known is not None:
            return known
        cuts = self._cuts
        found = self._found_on_instance(of, name)
        if self._cuts == cuts:
            self._instance_attributes[of, name] = found
        return found

    def _found_on_instance(self, of: Class, name: str) -> Values:
        found: list[Value] = []
        for owner in self._lineage(of):
            file = self.files[owner.file]
            for binding, path, target in file.attribute_bindings.get(name, ()):
                if not self._is_self_of(target.base, binding, owner):
                    continue
                values = self._binding(binding, path, file, {})
                if values == (constant(None),) or file.is_cpu_only(binding.block):
                    continue
                found += values
            if found:
                return distinct(found)
        in_class = self.attribute_of_class(of, name)
        if in_class is None:
            return (UNKNOWN,)
        return distinct([item for value in in_class for item in self._looked_up(value, Instance(of))])

    def _looked_up(self, value: Value, owner: Instance | Class) -> Values:
        """A value of a class body as seen on an instance or the class."""
        if not isinstance(value, Function):
            return (value,)
        scope = self.files[value.file].facts.scopes[value.scope]
        decorators = {last_name(decorator.expression) for decorator in scope.decorators}
        if decorators & {"property", "cached_property"}:
            return self._results(value, Arguments(((owner,),)))
        if "staticmethod" in decorators or (isinstance(owner, Class) and "classmethod" not in decorators):
            return (value,)
        return (Method(value, owner),)

    def _lineage(self, of: Class, seen: tuple[Class, ...] = ()) -> Iterator[Class]:
        if of in seen:
            return
        yield of
        for base in self.bases(of):
            yield from self._lineage(base, (*seen, of))

    def _is_self_of(self, base: fact.Expression, binding: BindingFact, owner: Class) -> bool:
        if not isinstance(base, fact.Name):
            return False
        file = self.files[owner.file]
        for scope in file.scope_chain(binding.scope):
            if file.facts.scopes[scope].parent == owner.scope:
                parameters = file.facts.scopes[scope].parameters
                return bool(parameters) and parameters[0].name == base.id
        return False

    # Attributes, items and operations

    def _attributes(self, bases: Values, attribute: str) -> Values:
        if len(bases) == 1:
            return distinct(self._attribute(bases[0], attribute))
        return distinct([item for base in bases for item in self._attribute(base, attribute)])

    def _attribute(self, base: Value, attribute: str) -> Values:
        match base:
            case External(name=name):
                return self._external_attribute(name, attribute)
            case ExternalResult(name=name):
                return (External(f"{name}().{attribute}"),)
            case PythonModule(file=file):
                if _is_warp(self.files[file].dotted_name) and _is_api(attribute):
                    return (External(f"warp.{attribute}"),)
                return self.module_attribute(file, attribute)
            case Class():
                found = self.attribute_of_class(base, attribute)
                if found is None:
                    return (UNKNOWN,)
                return distinct([item for value in found for item in self._looked_up(value, base)])
            case Instance(of=of):
                return self._attribute_of_instance(of, attribute)
            case Kernel() if attribute == "module":
                return (ModuleOf(base),)
            case ModuleOf() if attribute == "options":
                return (OptionsOf(base),)
            case _:
                return (UNKNOWN,)

    def _subscript(self, node: fact.Subscript, place: Place, environment: Environment) -> Values:
        bases = self.evaluate(node.base, place, environment)
        keys = self.evaluate(node.index, place, environment)
        found: list[Value] = []
        for base in bases:
            match base:
                case Collection(items=items):
                    found += self._item_of_collection(items, keys)
                case Dictionary():
                    found += self._item_of_dictionary(base, keys)
                case External(name="sys.modules"):
                    found += [self._module_in_process(key, place) for key in keys]
                case External(name=name) if name.startswith("warp."):
                    found.append(ExternalResult(name))
                case _:
                    found.append(UNKNOWN)
        assigned = self._assigned_items(node, place)
        if assigned:
            found = [value for value in found if value != UNKNOWN] + list(assigned)
        return distinct(found) or (UNKNOWN,)

    def _module_in_process(self, name: Value, place: Place) -> Value:
        """``sys.modules[name]``."""
        file = self.files[place.file]
        if not isinstance(name, Constant) or not isinstance(name.value, str):
            return UNKNOWN
        return PythonModule(file.index) if name.value == file.dotted_name else self._module(name.value, file)

    def _item_of_collection(self, items: tuple[Values, ...], keys: Values) -> Values:
        key = only_constant(keys)
        if key is not None and isinstance(key.value, int) and not isinstance(key.value, bool):
            position = key.value if key.value >= 0 else key.value + len(items)
            return items[position] if 0 <= position < len(items) else (UNKNOWN,)
        return distinct([alternative for item in items for alternative in item]) or (UNKNOWN,)

    def _item_of_dictionary(self, dictionary: Dictionary, keys: Values) -> Values:
        key = only_constant(keys)
        if key is not None:
            found = dictionary.get(key.value)
            if found is not None:
                return found
            return (UNKNOWN,) if dictionary.open else ()
        return distinct([alternative for _, item in dictionary.items for alternative in item])

    def _assigned_items(self, node: fact.Subscript, place: Place) -> Values:
        """What ``table[…] = value`` puts into the thing that is subscripted, by its last name."""
        file = self.files[place.file]
        found: list[Value] = []
        for binding, target in file.item_bindings.get(last_name(node.base), ()):
            if binding.kind is BindingKind.ASSIGN and _same_reference(target.base, node.base):
                at = Place(file.index, binding.scope, binding.block, binding.order)
                found += self.evaluate(binding.value, at, {})
        return distinct(found) if found else ()

    def _display(
        self, kind: str, items: tuple[fact.Expression, ...], place: Place, environment: Environment
    ) -> Values:
        found: list[Values] = []
        for item in items:
            if isinstance(item, fact.Starred):
                values = self.evaluate(item.value, place, environment)
                if len(values) != 1 or not isinstance(values[0], Collection):
                    return (UNKNOWN,)
                found += values[0].items
            else:
                found.append(self.evaluate(item, place, environment))
        return (Collection(kind, tuple(found)),)

    def _dictionary(
        self, items: tuple[fact.MappingItem, ...], place: Place, environment: Environment
    ) -> Dictionary:
        found: list[tuple[object, Values]] = []
        is_open = False
        for item in items:
            values = self.evaluate(item.value, place, environment)
            if item.key is None:
                if len(values) == 1 and isinstance(values[0], Dictionary):
                    found += values[0].items
                    is_open |= values[0].open
                else:
                    is_open = True
                continue
            key = only_constant(self.evaluate(item.key, place, environment))
            if key is None:
                # Its value can still be what a subscript by another unknown key gives.
                found.append((f"\0{item.start}", values))
                is_open = True
            else:
                found.append((key.value, values))
        return Dictionary(tuple(found), is_open)  # type: ignore[arg-type]

    def _conditional(
        self,
        test: fact.Expression,
        body: fact.Expression,
        orelse: fact.Expression,
        place: Place,
        environment: Environment,
    ) -> Values:
        device = device_of_condition(test)
        if device == "cuda":
            return self.evaluate(body, place, environment)
        if device == "cpu":
            return self.evaluate(orelse, place, environment)
        condition = only_constant(self.evaluate(test, place, environment))
        if condition is not None and environment:
            return self.evaluate(body if condition.value else orelse, place, environment)
        return distinct(self.evaluate(body, place, environment) + self.evaluate(orelse, place, environment))

    def _operation(
        self,
        operator: str,
        operands: tuple[fact.Expression, ...],
        place: Place,
        environment: Environment,
    ) -> Values:
        evaluated = [self.evaluate(operand, place, environment) for operand in operands]
        if operator == "or":
            # ``given or default``: the first counts unless it is known to be false.
            left = [value for value in evaluated[0] if value != constant(None)]
            return distinct([*left, *evaluated[1]])
        found: list[Value] = []
        for combination in islice(product(*evaluated), _MOST_ITERATIONS):
            found.append(fold(operator, combination))
        return distinct(found)

    def _comprehension(self, node: fact.Comprehension, place: Place, environment: Environment) -> Values:
        file = self.files[place.file]
        scope = file.facts.scopes[node.scope]
        inner = Place(place.file, node.scope, scope.body_block, _END)
        items: list[Values] = []
        for unrolled in self.iterations(inner, [node.element], environment):
            values = self.evaluate(node.element, inner, unrolled)
            items.append(values)
            if len(items) > _MOST_ITERATIONS:
                return (UNKNOWN,)
        if node.kind != "dict":
            return (Collection(node.kind, tuple(items)),)
        pairs: list[tuple[object, Values]] = []
        for number, values in enumerate(items):
            match values:
                case (Collection(items=(keys, item)),):
                    key = only_constant(keys)
                    pairs.append((key.value if key is not None else f"\0{number}", item))
                case _:
                    return (UNKNOWN,)
        is_open = any(isinstance(key, str) and key.startswith("\0") for key, _ in pairs)
        return (Dictionary(tuple(pairs), is_open),)  # type: ignore[arg-type]

    def _formatted(
        self, parts: tuple[fact.Expression, ...], place: Place, environment: Environment
    ) -> Values:
        text = ""
        for part in parts:
            value = only_constant(self.evaluate(part, place, environment))
            if value is None:
                # Still a string, though none that is known.
                return (Symbol(f"{text}…"),)
            text += str(value.value)
        return (constant(text),)

    # Calls

    def _call(self, call: CallFact, index: int, at: Place, environment: Environment) -> Values:
        functions = self.evaluate(call.function, at, environment)
        arguments = Arguments()
        if any(self._needs_arguments(function) for function in functions):
            arguments = self.arguments(call, at, environment)
        found: list[Value] = []
        for function in functions:
            found += self._applied(function, arguments, call, index, at)
        return distinct(found)

    def _applied(
        self,
        function: Value,
        arguments: Arguments,
        call: CallFact,
        index: int,
        at: Place,
    ) -> Values:
        maker = self._maker
        if maker is None or self._hands_over_function(call, at):
            self._maker = (at, -1, index)
        try:
            result = self.apply(function, arguments, at, index)
        finally:
            self._maker = maker
        if isinstance(function, Function | Method) and _is_undecided(result):
            symbol = _symbol(function, self.arguments(call, at, {}), self.files)
            return (symbol,) if symbol != UNKNOWN else result
        return result

    def _needs_arguments(self, function: Value) -> bool:
        """Whether the result of a call depends on its arguments; most calls are done without them."""
        match function:
            case External(name=name):
                return name in _EVALUATED or name in _TRANSPARENT or name.endswith(_ISOLATING_DECORATORS)
            case Function():
                return self._reads_parameters(function.file, function.scope)
            case Method(function=inner):
                return self._reads_parameters(inner.file, inner.scope)
            case Unknown() | Constant() | Class() | ExternalResult() | Symbol() | ParameterValue():
                return False
            case _:
                return True

    def _reads_parameters(self, file_index: int, scope: int) -> bool:
        """Whether what a function returns may depend on its parameters."""
        key = (file_index, scope)
        found = self._dependent.get(key)
        if found is None:
            self._dependent[key] = True  # what a recursive call sees
            found = self._dependent[key] = self._depends(self.files[file_index], scope)
        return found

    def _depends(self, file: ProjectFile, scope: int) -> bool:
        parameters = {parameter.name for parameter in file.facts.scopes[scope].parameters}
        if self.class_of_method(file.index, scope) is not None:
            parameters.discard(file.facts.scopes[scope].parameters[0].name if parameters else "")
        binders = file.binders.get(scope, {})
        pending = [
            name for item in file.returns.get(scope, ()) for name in self._deciding_names(item.value, file)
        ]
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            if name in parameters:
                return True
            if name in seen:
                continue
            seen.add(name)
            for binder in binders.get(name, ()):
                match binder.fact:
                    case BindingFact(value=value):
                        pending += self._deciding_names(value, file)
                    case int(inner) if self._captures(file, inner, parameters):
                        return True
        return False

    def _captures(self, file: ProjectFile, scope: int, names: set[str]) -> bool:
        """Whether a function or class defined in another reads some of its names."""
        span = file.facts.scopes[scope].span
        inner = [
            index
            for index, item in enumerate(file.facts.scopes)
            if span.start <= item.span.start and item.span.end <= span.end
        ]
        device_names = {name for code in file.facts.device_code if code.scope in inner for name in code.names}
        if names & device_names:
            return True
        expressions = [item.value for item in file.facts.returns if item.scope in inner]
        expressions += [item.value for item in file.facts.bindings if item.scope in inner]
        for call in file.facts.calls:
            if call.scope in inner or span.start <= call.span.start < span.end:
                expressions += [call.function, *(argument.value for argument in call.arguments)]
        return any(name in names for item in expressions for name in names_in(item, file))

    def _deciding_names(self, expression: fact.Expression, file: ProjectFile) -> Iterator[str]:
        """The names that decide what an expression stands for: not the arguments of a call whose result is
        the same for all of them."""
        match expression:
            case fact.CallReference(index=index):
                call = file.facts.calls[index]
                yield from self._deciding_names(call.function, file)
                if any(self._needs_arguments(value) for value in self.callee(file.index, index)):
                    for argument in call.arguments:
                        yield from self._deciding_names(argument.value, file)
            case fact.Attribute(base=base):
                yield from self._deciding_names(base, file)
            case fact.Sequence(items=items) | fact.Operation(operands=items):
                for item in items:
                    yield from self._deciding_names(item, file)
            case _:
                yield from names_in(expression, file)

    def _hands_over_function(self, call: CallFact, at: Place) -> bool:
        """Whether a call names a function of its own: if a kernel comes of it, this call made it, not the one
        that led here."""
        return any(
            isinstance(value, Function)
            for argument in call.arguments
            for value in self.evaluate(argument.value, at, {})
        )

    def arguments(self, call: CallFact, place: Place, environment: Environment) -> Arguments:
        """The evaluated arguments of a call, unpacked ones included."""
        positional: list[Values] = []
        keywords: list[tuple[str, Values]] = []
        is_open = False
        for argument in call.arguments:
            values = self.evaluate(argument.value, place, environment)
            match argument.keyword:
                case None:
                    positional.append(values)
                case "*":
                    if len(values) == 1 and isinstance(values[0], Collection):
                        positional += values[0].items
                    else:
                        is_open = True
                case "**":
                    if len(values) == 1 and isinstance(values[0], Dictionary):
                        keywords += [(key, item) for key, item in values[0].items if isinstance(key, str)]
                        is_open |= values[0].open
                    else:
                        is_open = True
                case keyword:
                    keywords.append((keyword, values))
        return Arguments(tuple(positional), tuple(keywords), is_open)

    def apply(self, function: Value, arguments: Arguments, place: Place, index: int) -> Values:
        """What calling a value with evaluated arguments gives."""
        match function:
            case External(name=name):
                return self._apply_external(name, arguments, place, index)
            case KernelDecorator(arguments=given):
                functions = arguments.positional[0] if arguments.positional else (UNKNOWN,)
                return self._make_kernels(functions, given, index, place, "")
            case Partial(function=inner, arguments=given):
                return self.apply(inner, given.merged(arguments), place, index)
            case Class():
                return (Instance(function),)
            case Function():
                return self._results(function, arguments)
            case Method(function=inner, owner=owner):
                bound = replace(arguments, positional=((owner,), *arguments.positional))
                return self._results(inner, bound)
            case Instance(of=of):
                called = self.attribute_of_class(of, "__call__")
                return distinct(
                    [
                        item
                        for value in called or (UNKNOWN,)
                        if isinstance(value, Function)
                        for item in self._results(
                            value, replace(arguments, positional=((function,), *arguments.positional))
                        )
                    ]
                ) or (UNKNOWN,)
            case _:
                return (UNKNOWN,)

    def _apply_external(self, name: str, arguments: Arguments, place: Place, index: int) -> Values:
        first = arguments.positional[0] if arguments.positional else None
        match name:
            case "warp.kernel" | "warp.Kernel":
                functions = arguments.get(0, "f") if name == "warp.kernel" else arguments.keyword("func")
                if functions is None or all(value == constant(None) for value in functions):
                    return (KernelDecorator(arguments, (place.file, index)),)
                return self._make_kernels(functions, arguments, index, place, "")
            case "warp.func" | "warp.func_native" | "warp.func_grad" | "warp.func_replay":
                if first is None or not any(isinstance(value, Function) for value in first):
                    return (External("warp.func"),)
                return tuple(
                    DeviceFunction(value.file, value.scope) if isinstance(value, Function) else value
                    for value in first
                )
            case "warp.overload":
                kernels = [kernel for value in first or () for kernel in self._overloaded(value)]
                return distinct(kernels) or (UNKNOWN,)
            case "warp.get_device":
                # A device is known by its name.
                name_ = only_constant(first)
                return (name_,) if name_ is not None else (ExternalResult(name),)
            case "warp.get_module_options":
                return self._options_of(arguments.get(0, "module"), place)
            case "warp.get_module" | "warp.Module":
                module = only_constant(first)
                return (ModuleOf(None, str(module.value)),) if module is not None else (UNKNOWN,)
            case "functools.partial":
                if first is None:
                    return (UNKNOWN,)
                rest = replace(arguments, positional=arguments.positional[1:])
                return tuple(Partial(value, rest) for value in first)
            case "builtins.getattr":
                attribute = only_constant(arguments.get(1, "name"))
                if first is None or attribute is None or not isinstance(attribute.value, str):
                    return (UNKNOWN,)
                return self._attributes(first, attribute.value)
            case "importlib.import_module" | "builtins.__import__":
                module = only_constant(first)
                if module is None or not isinstance(module.value, str):
                    return (UNKNOWN,)
                return (self._module(module.value, self.files[place.file]),)
            case "builtins.int" | "builtins.min" | "builtins.max":
                return self._fold_call(name, arguments)
            case _ if name in _ITERABLES:
                return (self._iterable(name, arguments),)
            case "builtins.super":
                return self._super(place)
            case _ if name in _TRANSPARENT and first is not None:
                return first
            case _ if name.endswith(_ISOLATING_DECORATORS):
                return self._isolated(name, arguments, index, place)
            case _ if name.endswith(("().items", "().values", "().keys")):
                return (UNKNOWN,)
            case _:
                return (ExternalResult(name),)

    def _options_of(self, module: Values | None, place: Place) -> Values:
        """The dict that ``wp.get_module_options`` gives."""
        if module is None or module == (constant(None),):
            return (OptionsOf(None),)
        name = only_constant(module)
        if name is not None:
            return (OptionsOf(ModuleOf(None, str(name.value))),)
        if len(module) == 1 and isinstance(module[0], PythonModule):
            if module[0].file == place.file:
                return (OptionsOf(None),)
            return (OptionsOf(ModuleOf(None, self.files[module[0].file].dotted_name)),)
        return (UNKNOWN,)

    def _overloaded(self, value: Value) -> Iterator[Value]:
        """The kernel that ``wp.overload`` gets; for a stub the one above of the same name."""
        match value:
            case Kernel():
                yield value
            case Function(file=file, scope=stub):
                scope = self.files[file].facts.scopes[stub]
                for binder in self.files[file].binders[scope.parent][scope.name]:
                    if isinstance(binder.fact, int) and binder.order < scope.order:
                        found = self.definition(file, binder.fact, {})
                        yield from (kernel for kernel in found if isinstance(kernel, Kernel))

    def _isolated(self, name: str, arguments: Arguments, index: int, place: Place) -> Values:
        """``wp.fem.cache.dynamic_kernel``: a kernel in a module of its own that inherits the options of the
        file's module."""
        functions = arguments.positional[0] if arguments.positional else ()
        if any(isinstance(value, Function) for value in functions):
            return self._make_kernels(functions, arguments, index, place, name)
        return (External(f"{name}()()".removesuffix("()()")),)

    def _super(self, place: Place) -> Values:
        file = self.files[place.file]
        for scope in file.scope_chain(place.scope):
            owner = self.class_of_method(place.file, scope) if scope > 0 else None
            if owner is not None:
                return tuple(Instance(base) for base in self.bases(owner)) or (UNKNOWN,)
        return (UNKNOWN,)

    def _fold_call(self, name: str, arguments: Arguments) -> Values:
        constants = [only_constant(values) for values in arguments.positional]
        numbers = [
            item.value for item in constants if item is not None and isinstance(item.value, int | float)
        ]
        if len(numbers) != len(arguments.positional) or not numbers or arguments.open:
            return (UNKNOWN,)
        if name == "builtins.int":
            return (constant(int(numbers[0])),)
        return (constant(min(numbers) if name == "builtins.min" else max(numbers)),)

    def _iterable(self, name: str, arguments: Arguments) -> Value:
        """``enumerate``, ``zip``, ``product``, ``range`` and ``dict`` of things that are known."""
        given = [values[0] if len(values) == 1 else UNKNOWN for values in arguments.positional]
        match name, given:
            case "builtins.enumerate", [Collection(items=items), *_]:
                numbered = (
                    (Collection("tuple", ((constant(number),), item)),) for number, item in enumerate(items)
                )
                return Collection("list", tuple(numbered))
            case "builtins.zip" | "itertools.product", [Collection(), *_]:
                columns = [value.items for value in given if isinstance(value, Collection)]
                is_product = name == "itertools.product"
                if len(columns) != len(given) or (is_product and arguments.keyword("repeat") is not None):
                    return UNKNOWN
                if is_product and prod(map(len, columns)) > _MOST_ITERATIONS:
                    return UNKNOWN
                rows = product(*columns) if is_product else zip(*columns, strict=False)
                return Collection("list", tuple((Collection("tuple", row),) for row in rows))
            case "builtins.range", _:
                bounds = [value.value for value in given if isinstance(value, Constant)]
                numbers = [bound for bound in bounds if isinstance(bound, int)]
                if not numbers or len(numbers) != len(given) or 0 in numbers[2:]:
                    return UNKNOWN
                steps = range(*numbers[:3])
                if len(steps) > _MOST_ITERATIONS:
                    return UNKNOWN
                return Collection("list", tuple((constant(number),) for number in steps))
            case "builtins.dict", []:
                return Dictionary(arguments.keywords, arguments.open)
            case "builtins.dict", [Dictionary(items=items, open=is_open)]:
                return Dictionary((*items, *arguments.keywords), is_open or arguments.open)
            case _:
                return UNKNOWN

    def _results(self, function: Function, arguments: Arguments) -> Values:
        """What a function of the project returns for these arguments."""
        key = (function, arguments)
        if not function.environment and key in self._called:
            return self._called[key]
        running = ("results", function.file, function.scope)
        if running in self._running or self._call_depth >= _DEEPEST_CALL:
            self._cuts += 1
            return (UNKNOWN,)
        bound: Environment | None = function.environment
        if self._reads_parameters(function.file, function.scope):
            bound = self.bind(function, arguments)
        if bound is None:
            return (UNKNOWN,)
        self._running.add(running)
        self._call_depth += 1
        try:
            values = self._returned(function, bound)
        finally:
            self._call_depth -= 1
            self._running.discard(running)
        if not function.environment:
            self._called[key] = values
        return values

    def _returned(self, function: Function, bound: Environment) -> Values:
        found: list[Value] = []
        for item in self.files[function.file].returns.get(function.scope, ()):
            at = Place(function.file, item.scope, item.block, item.order)
            found += self.evaluate(item.value, at, bound)
        return distinct(found) or (UNKNOWN,)

    def bind(self, function: Function, arguments: Arguments) -> Environment | None:
        """The environment of a function's body when it is called so; None when the call cannot fit."""
        scope = self.files[function.file].facts.scopes[function.scope]
        names: dict[str, Values] = {}
        positional = list(arguments.positional)
        keywords = dict(arguments.keywords)
        definition = Place(function.file, scope.parent, max(scope.block, 0), scope.order)
        for parameter in scope.parameters:
            match parameter.kind:
                case ParameterKind.VAR_POSITIONAL:
                    names[parameter.name] = (
                        (UNKNOWN,) if arguments.open else (Collection("tuple", tuple(positional)),)
                    )
                    positional = []
                    continue
                case ParameterKind.VAR_KEYWORD:
                    rest = tuple(keywords.items())
                    names[parameter.name] = (Dictionary(rest, arguments.open),)
                    continue
                case ParameterKind.POSITIONAL_ONLY | ParameterKind.NORMAL if positional:
                    names[parameter.name] = positional.pop(0)
                    continue
            if parameter.name in keywords:
                names[parameter.name] = keywords.pop(parameter.name)
            elif parameter.default is not None:
                default = self.evaluate(parameter.default, definition, function.environment)
                names[parameter.name] = distinct([*default, UNKNOWN]) if arguments.open else default
            elif arguments.open:
                names[parameter.name] = (UNKNOWN,)
            else:
                return None
        return {**function.environment, (function.file, function.scope): names}

    # Kernels

    def _make_kernels(
        self, functions: Values, arguments: Arguments, index: int, place: Place, wrapper: str
    ) -> Values:
        found: list[Value] = []
        for function in functions:
            if isinstance(function, Function):
                at, decorator, call = self._maker or (place, -1, index)
                kernel = Kernel(function.file, function.scope, (at.file, call) if call >= 0 else (-1, -1))
                self.creations.setdefault(
                    kernel, KernelCreation(kernel, arguments, at, decorator, call, wrapper)
                )
                found.append(kernel)
            elif isinstance(function, Kernel):
                found.append(function)
            else:
                found.append(UNKNOWN)
        return tuple(found)

    # Loops

    def iterations(
        self, place: Place, expressions: Sequence[fact.Expression], environment: Environment
    ) -> Iterator[Environment]:
        """The environments of a place, one for each turn of the loops over known displays around it whose
        variables the expressions read; the given environment where there is no such loop.

        So names that a loop binds together stay together: ``for kernel, size in ((a, 64), (b, 128))``.
        """
        file = self.files[place.file]
        scope, block = place.scope, place.block
        loops = self._loops_around(file, block)
        while file.facts.scopes[scope].kind is ScopeKind.COMPREHENSION:
            inner = file.loop_bindings.get(scope, [])
            block, scope = file.facts.scopes[scope].block, file.facts.scopes[scope].parent
            loops = [*self._loops_around(file, block), *inner, *loops]
        if loops:
            names = {name for expression in expressions for name in self._names_of(expression, file)}
            loops = [loop for loop in loops if names & {name for _, name in target_names(loop.target)}]
        yield from self._unrolled(loops, file, environment)

    def _names_of(self, expression: fact.Expression, file: ProjectFile) -> Iterator[str]:
        for name in names_in(expression, file):
            yield name
            # A name that is set from the loop variable inside the loop follows it.
            for scope_names in file.binders.values():
                for binder in scope_names.get(name, ()):
                    if isinstance(binder.fact, BindingFact) and binder.fact.kind is BindingKind.ASSIGN:
                        yield from names_in(binder.fact.value, file)

    def _loops_around(self, file: ProjectFile, block: int) -> list[BindingFact]:
        """The bindings of the ``for`` loops around a block of the same scope, outermost first."""
        found: list[BindingFact] = []
        for outer in reversed(file.block_ancestors(block)):
            loop = file.facts.blocks[outer]
            if loop.kind is BlockKind.LOOP and loop.target is not None:
                # Of the loops that stand beside each other, the last one that begins above its body.
                found += [
                    binding
                    for binding in file.loop_bindings.get(loop.scope, ())
                    if binding.block == loop.parent and binding.span.start < loop.span.start
                ][-1:]
        return found

    def _unrolled(
        self, loops: list[BindingFact], file: ProjectFile, environment: Environment
    ) -> Iterator[Environment]:
        if not loops:
            yield environment
            return
        first, *rest = loops
        at = Place(file.index, first.scope, first.block, first.order)
        values = self.evaluate(first.value, at, environment)
        if len(values) != 1 or not isinstance(values[0], Collection):
            yield from self._unrolled(rest, file, environment)
            return
        key = (file.index, first.scope)
        for item in values[0].items:
            names = dict(environment.get(key, {}))
            for path, name in target_names(first.target):
                names[name] = self._unpack(item, path)
            yield from self._unrolled(rest, file, {**environment, key: names})


_ISOLATING_DECORATORS = ("fem.cache.dynamic_kernel", "cache.dynamic_kernel", ".dynamic_kernel")


def names_in(expression: fact.Expression, file: ProjectFile) -> Iterator[str]:
    """The names that an expression reads, calls in it included."""
    for part in parts_in(expression, file):
        match part:
            case fact.Name(id=name):
                yield name
            case fact.Opaque(names=names):
                yield from names


def parts_in(expression: fact.Expression, file: ProjectFile) -> Iterator[fact.Expression]:
    """An expression and those that it is made of, calls in it included, in the order of the text."""
    yield expression
    match expression:
        case fact.Attribute(base=base):
            yield from parts_in(base, file)
        case fact.Subscript(base=base, index=index):
            yield from parts_in(base, file)
            yield from parts_in(index, file)
        case fact.CallReference(index=number):
            call = file.facts.calls[number]
            yield from parts_in(call.function, file)
            for argument in call.arguments:
                yield from parts_in(argument.value, file)
        case fact.Sequence(items=items) | fact.Operation(operands=items) | fact.FormattedString(parts=items):
            for item in items:
                yield from parts_in(item, file)
        case fact.Starred(value=value):
            yield from parts_in(value, file)
        case fact.Mapping(items=items):
            for entry in items:
                if entry.key is not None:
                    yield from parts_in(entry.key, file)
                yield from parts_in(entry.value, file)
        case fact.Conditional(test=test, body=body, orelse=orelse):
            for part in (test, body, orelse):
                yield from parts_in(part, file)
        case fact.Comprehension(element=element, scope=scope):
            yield from parts_in(element, file)
            for loop in file.loop_bindings.get(scope, ()):
                yield from parts_in(loop.value, file)


def _same_reference(first: fact.Expression, second: fact.Expression) -> bool:
    match first, second:
        case fact.Name(id=left), fact.Name(id=right):
            return left == right
        case fact.Attribute(attribute=left), fact.Attribute(attribute=right):
            return left == right
        case _:
            return False


def _is_undecided(values: Values) -> bool:
    """Whether a call gives nothing known, or one of many constants that only the run decides between."""
    if all(value == UNKNOWN for value in values):
        return True
    return len(values) > 2 and all(isinstance(value, Constant | Unknown) for value in values)


def _symbol(function: Function | Method, arguments: Arguments, files: Sequence[ProjectFile]) -> Value:
    """A name for the result of a call that is not understood, when constants tell it apart."""
    inner = function.function if isinstance(function, Method) else function
    scope = files[inner.file].facts.scopes[inner.scope]
    constants = [only_constant(values) for values in arguments.positional]
    shown = [repr(item.value) for item in constants if item is not None and isinstance(item.value, str | int)]
    return Symbol(f"{scope.name}({', '.join(shown)})") if shown else UNKNOWN


def _configured_name(expression: fact.Expression, file: ProjectFile) -> str:
    """The dotted name of a decorator as written, without its call."""
    while isinstance(expression, fact.CallReference):
        expression = file.facts.calls[expression.index].function
    parts: list[str] = []
    while isinstance(expression, fact.Attribute):
        parts.append(expression.attribute)
        expression = expression.base
    if isinstance(expression, fact.Name):
        parts.append(expression.id)
    return ".".join(reversed(parts))


def _is_warp(module: str) -> bool:
    return module == "warp" or module.startswith("warp.")


def _is_api(name: str) -> bool:
    """Whether a name is of Warp's public interface, also where Warp itself is the project."""
    return name in _API or name == "config"


_API = frozenset(
    {
        "kernel", "func", "func_native", "func_grad", "func_replay", "struct", "overload", "launch",
        "launch_tiled", "load_module", "force_load", "set_module_options", "get_module_options",
        "get_module", "Tape", "ScopedCapture", "capture_begin", "capture_end", "capture_launch",
        "clear_kernel_cache", "clear_lto_cache", "compile_aot_module", "load_aot_module", "map", "static",
        "init", "get_suggested_block_size", "Kernel", "Module", "array", "jax_kernel",
    }
)  # fmt: skip


def _canonical(name: str) -> str:
    """One name for what Warp offers under several: ``warp.context.launch`` is ``warp.launch``."""
    if not _is_warp(name):
        return name
    parts = [part for part in name.split(".") if part not in ("_src", "context")]
    if len(parts) == 3 and parts[2] in _API and parts[1] not in _WARP_SUBMODULES:
        return f"warp.{parts[2]}"
    return ".".join(parts)
