"""The Warp types that code names, and those that the arguments of a launch have.

Each type has one name here, whatever it is called in the code: `float` is ``float32``, `wp.vec3` is
``vec3f``, and so is ``wp.types.vector(3, float)``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, TypeAlias

from warp_lint.facts import values as fact
from warp_lint.facts.records import BindingFact, BindingKind, CallFact, ImportFact, ScopeKind
from warp_lint.project.binders import Binder, reaching
from warp_lint.project.evaluation import Evaluator, Place, names_in
from warp_lint.project.files import ProjectFile
from warp_lint.project.values import (
    Class,
    Constant,
    Environment,
    External,
    Instance,
    PythonModule,
    Values,
    constant,
    only_constant,
)


class WarpType(NamedTuple):
    """A concrete type; of an array also the type of its items, and its dimensions where they are known."""

    name: str
    item: str = ""
    dimensions: int | None = None

    def __str__(self) -> str:
        if not self.item:
            return self.name
        dimensions = "" if self.dimensions == 1 else f"{self.dimensions or '?'}d"
        return f"{self.name}{dimensions}[{self.item}]"


Types: TypeAlias = frozenset[WarpType]
"""The alternatives that code leaves open; none where they cannot be told."""

UNTOLD: Types = frozenset()
_DISPLAYS = (fact.Sequence, fact.Mapping)


class Source(NamedTuple):
    """An expression with all that it takes to know what it stands for."""

    expression: fact.Expression
    place: Place
    environment: Environment


class TypeReader:
    """Reads types from expressions, through the names that values were given."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._running: set[tuple[int, Place]] = set()

    # Types that are named

    def named(self, source: Source) -> Types:
        """The types that an expression may name."""
        return _union(self._named(origin) for origin in self.origins(source))

    def _named(self, source: Source) -> Types:
        match source.expression:
            case fact.CallReference(index=index):
                return self._made_type(self._call(source, index), source)
            case fact.Subscript(base=base, index=index):
                return self._subscripted_type(base, index, source)
            case _:
                return _union(self._type_of_value(value) for value in self._evaluate(source))

    def _type_of_value(self, value: object) -> Types:
        match value:
            case External(name=name):
                return _canonical(name)
            case Class():
                return self._type_of_class(value)
            case _:
                return UNTOLD

    def _type_of_class(self, of: Class) -> Types:
        """A struct, or the vector or matrix that a class derives from."""
        file = self._evaluator.files[of.file]
        scope = file.facts.scopes[of.scope]
        match scope.bases:
            case ():
                return frozenset({WarpType(f"{file.dotted_name}.{scope.qualified_name}")})
            case (base,):
                place = Place(of.file, scope.parent, max(scope.block, 0), scope.order)
                return self.named(Source(base, place, {}))
            case _:
                return UNTOLD

    def _made_type(self, call: CallFact, source: Source) -> Types:
        """The type that a call makes: ``wp.array(dtype=float)``, ``wp.types.vector(3, float)``."""
        given = _Given(call)
        name = self._called(call, source)
        if given.is_open:
            return UNTOLD
        if name in _ARRAYS:
            dimensions = self._number(given.get(-1, "ndim"), source) or _ARRAYS[name].dimensions or 1
            return self._array_of(name, given.get(-1, "dtype"), dimensions, source)
        match name:
            case "warp.types.vector":
                shape = self._shape(given.get(0, "length"), source)
                prefix = f"vec{shape[0]}" if shape is not None else ""
            case "warp.types.matrix":
                shape = self._shape(given.get(0, "shape"), source)
                prefix = f"mat{shape[0]}{shape[1]}" if shape is not None and len(shape) == 2 else ""
            case "warp.types.quaternion" | "warp.types.transformation":
                shape = ()
                prefix = "quat" if name.endswith("quaternion") else "transform"
            case _:
                return UNTOLD
        if not prefix or None in (shape or ()):
            return UNTOLD
        dtype = given.get(1 if shape else 0, "dtype")
        items = self.named(source._replace(expression=dtype)) if dtype is not None else UNTOLD
        return frozenset(WarpType(prefix + _SUFFIXES.get(item.name, f"[{item}]")) for item in items)

    def _array_of(
        self, name: str, item: fact.Expression | None, dimensions: int | None, source: Source
    ) -> Types:
        items = self.named(source._replace(expression=item)) if item is not None else UNTOLD
        return frozenset(WarpType(_ARRAYS[name].family, str(named), dimensions) for named in items)

    def _subscripted_type(self, base: fact.Expression, index: fact.Expression, source: Source) -> Types:
        """``wp.array[float]`` and ``wp.array[float, Literal[2]]``."""
        name = self._external(source._replace(expression=base))
        if name not in _ARRAYS:
            return UNTOLD
        match index:
            case fact.Sequence(items=(item, fact.Subscript(index=fact.Constant(value=int(dimensions))))):
                return self._array_of(name, item, dimensions, source)
            case fact.Sequence():
                return UNTOLD
            case item:
                return self._array_of(name, item, _ARRAYS[name].dimensions or 1, source)

    # Annotations that leave a type open

    def is_open(self, annotation: Source) -> bool:
        """Whether an annotation leaves a type to the launch (``Any``), or cannot be read."""
        file = self._evaluator.files[annotation.place.file]
        return any(
            not isinstance(value, (External, Class, PythonModule)) or value in _OPEN_TYPES
            for reference in _references(annotation.expression, file)
            for value in self._evaluate(annotation._replace(expression=reference))
        )

    def is_array(self, annotation: Source) -> bool:
        """Whether an annotation is an array, of whatever items."""
        match annotation.expression:
            case fact.CallReference(index=index):
                return self._called(self._call(annotation, index), annotation) in _ARRAYS
            case fact.Subscript(base=base):
                return self._external(annotation._replace(expression=base)) in _ARRAYS
            case _:
                return False

    # Types of values

    def held(self, source: Source) -> Types:
        """The types that the value of an expression may have as an argument of a launch."""
        origins = self.origins(source)
        # None stands for what is not there yet: a generic kernel cannot be launched with it.
        given = [origin for origin in origins if origin.expression != fact.Constant(None)]
        return _union(self._held(origin) for origin in given)

    def _held(self, source: Source) -> Types:
        if isinstance(source.expression, fact.CallReference):
            call = self._call(source, source.expression.index)
            name = self._called(call, source)
            if name:
                return self._made_value(name, _Given(call), source)
            array = self._array_class(source._replace(expression=call.function))
            if array is not None:
                dtype = _Given(call).get(-1, "dtype")
                return self._array_of(array, dtype, None, source)
        return _union(self._type_of_held(value) for value in self._evaluate(source))

    def _array_class(self, source: Source) -> str | None:
        """The kind of array that a class of the project derives from; None for other classes."""
        match self._evaluate(source):
            case (Class() as of,):
                kinds = {name for one in self._lineage(of) for name in self._outside_bases(one)}
                return kinds.pop() if len(kinds) == 1 and kinds <= _ARRAYS.keys() else None
            case _:
                return None

    def _outside_bases(self, of: Class) -> Iterator[str]:
        """The dotted names of the bases of a class that are not of the project."""
        scope = self._evaluator.files[of.file].facts.scopes[of.scope]
        place = Place(of.file, scope.parent, max(scope.block, 0), scope.order)
        names = (self._external(Source(base, place, {})) for base in scope.bases)
        return (name for name in names if name)

    def _type_of_held(self, value: object) -> Types:
        match value:
            case Constant(value=bool()):
                return frozenset({WarpType("bool")})
            case Constant(value=int()):
                return frozenset({WarpType("int32")})
            case Constant(value=float()):
                return frozenset({WarpType("float32")})
            case Instance(of=of):
                return self._type_of_class(of)
            case _:
                return UNTOLD

    def _made_value(self, name: str, given: _Given, source: Source) -> Types:
        """What a call of Warp's own gives: an array, or a value of the type that is called."""
        if given.is_open:
            return UNTOLD
        if name in _COPYING:
            copied = given.get(0, "src")
            types = self.held(source._replace(expression=copied)) if copied is not None else UNTOLD
            return frozenset(copy._replace(name="array") for copy in types)
        if name in _CREATING:
            return self._created_array(name, given, source)
        return _canonical(name)

    def _created_array(self, name: str, given: _Given, source: Source) -> Types:
        position, default = _CREATING[name]
        dtype = given.get(position, "dtype")
        value = given.get(1, "value") if name == "warp.full" else None
        if dtype is not None:
            items = self.named(source._replace(expression=dtype))
        elif value is not None:
            items = self.held(source._replace(expression=value))
        else:
            items = _canonical(default)
        family, dimensions = _ARRAYS.get(name, _Array("array", None))
        if name in _SHAPED:
            shape = self._shape(given.get(0, "shape"), source)
            dimensions = len(shape) if shape is not None else None
        return frozenset(WarpType(family, str(item), dimensions) for item in items)

    def _shape(self, expression: fact.Expression | None, source: Source) -> tuple[int | None, ...] | None:
        """The lengths in a shape, None for those not known; None where even their number is not."""
        match expression:
            case fact.Sequence(items=items):
                if any(isinstance(item, fact.Starred) for item in items):
                    return None
                return tuple(self._number(item, source) for item in items)
            case _:
                number = self._number(expression, source)
                return (number,) if number is not None else None

    def _number(self, expression: fact.Expression | None, source: Source) -> int | None:
        if expression is None:
            return None
        found = only_constant(self._evaluate(source._replace(expression=expression)))
        return found.value if found is not None and isinstance(found.value, int) else None

    # Where values come from

    def origins(self, source: Source) -> list[Source]:
        """The expressions that give a name or attribute its value, all of them; the expression itself where
        it is neither, or where only its evaluation tells more."""
        key = (id(source.expression), source.place)
        if key in self._running:
            return [_untold(source)]
        self._running.add(key)
        try:
            match source.expression:
                case fact.Name(id=name):
                    return self._origins_of_name(name, source)
                case fact.Attribute(base=base, attribute=attribute):
                    return self._origins_of_attribute(base, attribute, source)
                case fact.Conditional(body=body, orelse=orelse):
                    parts = (source._replace(expression=body), source._replace(expression=orelse))
                    return [origin for part in parts for origin in self.origins(part)]
                case _:
                    return [source]
        finally:
            self._running.discard(key)

    def _origins_of_name(self, name: str, source: Source) -> list[Source]:
        file = self._evaluator.files[source.place.file]
        for scope in visible_scopes(file, source.place.scope):
            if name in source.environment.get((file.index, scope), {}):
                return [source]
            binders = file.binders[scope].get(name) if scope in file.binders else None
            if binders:
                if scope == source.place.scope and all(
                    _scope_of(binder) in (None, scope) for binder in binders
                ):
                    binders = reaching(binders, file, source.place.block, source.place.order) or binders
                if scope == 0 and self._is_set_from_outside(PythonModule(file.index), name):
                    return [_untold(source)]
                return self._origins_of_binders(name, binders, source)
        return [source]

    def _origins_of_binders(self, name: str, binders: list[Binder], source: Source) -> list[Source]:
        file = self._evaluator.files[source.place.file]
        found: list[Source] = []
        for binder in binders:
            match binder.fact:
                case BindingFact(kind=BindingKind.ASSIGN | BindingKind.WALRUS) as binding:
                    value = _part(binding.value, binder.path)
                    place = Place(file.index, binding.scope, binding.block, binding.order)
                    if isinstance(value, _DISPLAYS) and file.item_bindings.get(name):
                        value = fact.Opaque()  # other items may have been put into it
                    found += self.origins(Source(value, place, source.environment))
                case ImportFact() as imported if origins := self._origins_of_import(imported, file):
                    found += origins
                case _:
                    found.append(source if len(binders) == 1 else _untold(source))
        return found

    def _origins_of_import(self, imported: ImportFact, file: ProjectFile) -> list[Source]:
        modules = self._evaluator.modules
        target = modules.find(modules.imported_module(imported, file), file)
        if target is None or imported.name is None or target == file.index:
            return []
        return self._origins_in_module(target, imported.name)

    def _origins_in_module(self, file_index: int, name: str) -> list[Source]:
        """What gives a global name of another file its value; empty where the file has no such name."""
        file = self._evaluator.files[file_index]
        binders = file.binders[0].get(name) if 0 in file.binders else None
        if not binders:
            return []
        source = Source(fact.Name(name), Place(file_index, 0, binders[0].block, binders[0].order + 1), {})
        if self._is_set_from_outside(PythonModule(file_index), name):
            return [_untold(source)]
        return self._origins_of_binders(name, binders, source)

    def _origins_of_attribute(self, base: fact.Expression, attribute: str, source: Source) -> list[Source]:
        match self._evaluate(source._replace(expression=base)):
            case (PythonModule(file=file),):
                return self._origins_in_module(file, attribute) or [source]
            case (Instance(of=of),):
                return self._origins_on_instance(of, attribute) or [_untold(source)]
            case (Class() as of,) if self._is_set_from_outside(of, attribute):
                return [_untold(source)]
            case _:
                return [source]

    def _origins_on_instance(self, of: Class, attribute: str) -> list[Source]:
        """What an attribute is given on objects of a class and its relatives, wherever in the project."""
        found: list[Source] = []
        for source, target, path in self._attribute_bindings.get(attribute, ()):
            owners = self._evaluate(source._replace(expression=target.base))
            if any(isinstance(owner, Instance) and not self._are_related(owner.of, of) for owner in owners):
                continue
            is_followed = all(isinstance(owner, Instance) for owner in owners)
            part = _part(source.expression, path) if is_followed else fact.Opaque()
            found += self.origins(source._replace(expression=part))
        in_class = self._evaluator.attribute_of_class(of, attribute)
        if found and in_class not in (None, (constant(None),)):
            found.append(_untold(found[0]))
        return found

    def _is_set_from_outside(self, owner: PythonModule | Class, attribute: str) -> bool:
        """Whether some code gives an attribute of a module or class another value."""
        return any(
            owner in self._evaluate(source._replace(expression=target.base))
            for source, target, _ in self._attribute_bindings.get(attribute, ())
        )

    @cached_property
    def _attribute_bindings(self) -> dict[str, list[tuple[Source, fact.Attribute, tuple[int, ...]]]]:
        """What is assigned to attributes anywhere, by their names; nothing known of other bindings."""
        found: dict[str, list[tuple[Source, fact.Attribute, tuple[int, ...]]]] = defaultdict(list)
        for file in self._evaluator.files:
            for attribute, bindings in file.attribute_bindings.items():
                for binding, path, target in bindings:
                    place = Place(file.index, binding.scope, binding.block, binding.order)
                    value = binding.value if binding.kind is BindingKind.ASSIGN else fact.Opaque()
                    found[attribute].append((Source(value, place, {}), target, path))
        return found

    def _are_related(self, first: Class, second: Class) -> bool:
        return second in self._lineage(first) or first in self._lineage(second)

    def _lineage(self, of: Class) -> set[Class]:
        found: set[Class] = set()
        pending = [of]
        while pending:
            one = pending.pop()
            if one not in found:
                found.add(one)
                pending += self._evaluator.bases(one)
        return found

    def _evaluate(self, source: Source) -> Values:
        # Evaluations without an environment are remembered, so it is left out where it does not matter.
        environment = source.environment if self._is_bound(source) else {}
        return self._evaluator.evaluate(source.expression, source.place, environment)

    def _is_bound(self, source: Source) -> bool:
        """Whether an expression reads a name that the environment binds."""
        bound = {name for names in source.environment.values() for name in names}
        file = self._evaluator.files[source.place.file]
        return bool(bound) and any(name in bound for name in names_in(source.expression, file))

    def _call(self, source: Source, index: int) -> CallFact:
        return self._evaluator.files[source.place.file].facts.calls[index]

    def _called(self, call: CallFact, source: Source) -> str:
        return self._external(source._replace(expression=call.function))

    def _external(self, source: Source) -> str:
        """The dotted name of what an expression stands for, where that is one thing from elsewhere."""
        match self._evaluate(source):
            case (External(name=name),):
                return name
            case _:
                return ""


def visible_scopes(file: ProjectFile, scope: int) -> Iterator[int]:
    """The scopes in which a name is looked up, in their order: class bodies are seen only from inside."""
    for position, around in enumerate(file.scope_chain(scope)):
        if position == 0 or file.facts.scopes[around].kind is not ScopeKind.CLASS:
            yield around


class _Given:
    """The expressions that a call is given."""

    def __init__(self, call: CallFact) -> None:
        self._positional = [item.value for item in call.arguments if item.keyword is None]
        self._keywords = {item.keyword: item.value for item in call.arguments if item.keyword is not None}

    @property
    def is_open(self) -> bool:
        """Whether there may be others, from ``*`` or ``**``."""
        return "*" in self._keywords or "**" in self._keywords

    def get(self, position: int, keyword: str) -> fact.Expression | None:
        if 0 <= position < len(self._positional):
            return self._positional[position]
        return self._keywords.get(keyword)


def _union(alternatives: Iterable[Types]) -> Types:
    """All alternatives together; untold as soon as one of them is."""
    found: set[WarpType] = set()
    for types in alternatives:
        if not types:
            return UNTOLD
        found |= types
    return frozenset(found)


def _untold(source: Source) -> Source:
    return source._replace(expression=fact.Opaque())


def _scope_of(binder: Binder) -> int | None:
    """The scope whose code binds; another than that of the name where that is ``global`` or ``nonlocal``."""
    return binder.fact.scope if isinstance(binder.fact, BindingFact) else None


def _part(value: fact.Expression, path: tuple[int, ...]) -> fact.Expression:
    """The part of a bound value that a target with this path gets."""
    for position in path:
        match value:
            case fact.Sequence(items=items) if 0 <= position < len(items):
                if any(isinstance(item, fact.Starred) for item in items):
                    return fact.Opaque()
                value = items[position]
            case _:
                return fact.Opaque()
    return value


def _references(expression: fact.Expression, file: ProjectFile) -> Iterator[fact.Expression]:
    """The names and dotted names in an annotation, and what cannot be read in it."""
    match expression:
        case fact.Name() | fact.Attribute() | fact.Opaque() | fact.Constant(value=str()):
            yield expression
        case fact.CallReference(index=index):
            call = file.facts.calls[index]
            yield from _references(call.function, file)
            for argument in call.arguments:
                yield from _references(argument.value, file)
        case fact.Subscript(base=base, index=index):
            yield from _references(base, file)
            yield from _references(index, file)
        case fact.Sequence(items=items) | fact.Operation(operands=items):
            for item in items:
                yield from _references(item, file)


# What Warp calls its types

_SUFFIXES = {
    "float16": "h",
    "float32": "f",
    "float64": "d",
    "int8": "b",
    "int16": "s",
    "int32": "i",
    "int64": "l",
    "uint8": "ub",
    "uint16": "us",
    "uint32": "ui",
    "uint64": "ul",
}
_SCALARS = frozenset({*_SUFFIXES, "bfloat16", "bool"})
_SAME = {"int": "int32", "float": "float32", "handle": "uint64"}
_VECTOR = re.compile(
    r"(vec[234]|mat22|mat33|mat44|quat|transform|spatial_vector|spatial_matrix)(|[hfdbsil]|u[bsil])"
)
_SPATIAL = {"spatial_vector": "vec6", "spatial_matrix": "mat66"}


def _canonical(name: str) -> Types:
    """The type that a dotted name stands for, where it is one of Warp's or Python's own."""
    package, _, last = name.rpartition(".")
    if package not in ("warp", "warp.types", "builtins"):
        return UNTOLD
    last = _SAME.get(last, last)
    if last in _SCALARS:
        return frozenset({WarpType(last)})
    vector = _VECTOR.fullmatch(last)
    if vector is None or package == "builtins":
        return UNTOLD
    prefix, suffix = vector.groups()
    return frozenset({WarpType(_SPATIAL.get(prefix, prefix) + (suffix or "f"))})


class _Array(NamedTuple):
    """A way to write an array: the kind of array, and its dimensions where the name tells them."""

    family: str
    dimensions: int | None


_ARRAYS = {
    f"{package}.{family}{suffix}": _Array(family, int(suffix[0]) if suffix else None)
    for package in ("warp", "warp.types")
    for family, suffixes in {
        "array": ("", "1d", "2d", "3d", "4d"),
        "indexedarray": ("", "1d", "2d", "3d", "4d"),
        "fabricarray": ("",),
        "indexedfabricarray": ("",),
    }.items()
    for suffix in suffixes
}
_CREATING = {
    "warp.zeros": (1, "builtins.float"),
    "warp.ones": (1, "builtins.float"),
    "warp.empty": (1, "builtins.float"),
    "warp.full": (2, ""),
    "warp.from_numpy": (1, ""),
    "warp.from_torch": (1, ""),
    **{name: (1, "") for name, array in _ARRAYS.items() if array.family == "array"},
}
"""The functions that create arrays: the position of ``dtype``, and the type of the items without it."""
_SHAPED = frozenset({"warp.zeros", "warp.ones", "warp.empty", "warp.full"})
"""Those whose first argument is the shape."""
_COPYING = frozenset({"warp.clone", "warp.zeros_like", "warp.ones_like", "warp.full_like", "warp.empty_like"})
_OPEN_TYPES = frozenset(
    External(name)
    for name in ("typing.Any", "typing.TypeVar", "warp.Scalar", "warp.Float", "warp.Int", "warp.DType")
)
