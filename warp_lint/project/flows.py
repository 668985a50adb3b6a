"""Where a value goes: from the name or the call that gives it, through other names, tables and functions of
the project, to the calls that take it.

Only what can be followed in full is followed: where a value is used in a way that is not understood, it is
`LOST`, and anything may be done with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from warp_lint.facts import values as fact
from warp_lint.facts.records import BindingFact, BindingKind, ImportFact, ParameterKind, ScopeKind
from warp_lint.project.argument_types import Source, TypeReader, visible_scopes
from warp_lint.project.callers import CallSite
from warp_lint.project.evaluation import Evaluator, Place
from warp_lint.project.files import ProjectFile
from warp_lint.project.values import UNKNOWN, Environment, External, Function, PythonModule, only_constant

_END = 1 << 60
_TABLES = tuple(
    (External(name),)
    for name in ("builtins.dict", "builtins.list", "collections.defaultdict", "collections.OrderedDict")
)
"""What makes a new table when it is called."""


class Arrival(NamedTuple):
    """An argument of a call outside the project that a value comes to; ``position`` is -1 for one that is
    given by ``keyword``."""

    site: CallSite
    position: int
    keyword: str | None


LOST = Arrival(CallSite(-1, -1), -1, None)

# What becomes of a value at one place


class Passed(NamedTuple):
    """It is an argument of a call of the file."""

    call: int
    position: int
    keyword: str | None


class Bound(NamedTuple):
    """A target gets it."""

    binding: BindingFact


class Returned(NamedTuple):
    """The function gives it back."""


class Item(NamedTuple):
    """It is subscripted, and ``then`` is what becomes of the item."""

    key: fact.Expression
    then: Role


class Stored(NamedTuple):
    """It becomes an item of a display, and ``then`` is what becomes of that."""

    key: Source
    then: Role


class Attributed(NamedTuple):
    """An attribute of it is read."""


class Called(NamedTuple):
    """It is called."""


class Discarded(NamedTuple):
    """It is the value of a statement."""


class Other(NamedTuple):
    """Something that is not followed."""


Role: TypeAlias = Passed | Bound | Returned | Item | Stored | Attributed | Called | Discarded | Other
OTHER = Other()


class Mention(NamedTuple):
    """A place that reads a name or an attribute, or where a call gives its value."""

    expression: fact.Expression
    place: Place
    role: Role


class Mentions:
    """The mentions in one file: of names, of attributes, of strings, and of the values of calls."""

    def __init__(self, file: ProjectFile) -> None:
        self.names: dict[str, list[Mention]] = defaultdict(list)
        self.attributes: dict[str, list[Mention]] = defaultdict(list)
        self.strings: dict[str, list[Mention]] = defaultdict(list)
        self.calls: dict[int, list[Mention]] = defaultdict(list)
        self._file = file
        for expression, place, role in self._roots():
            self._visit(expression, place, role)

    def _roots(self) -> Iterator[tuple[fact.Expression, Place, Role]]:
        facts, index = self._file.facts, self._file.index
        for number, call in enumerate(facts.calls):
            place = Place(index, call.scope, call.block, call.order)
            yield call.function, place, Called()
            is_open = False
            for position, argument in enumerate(call.arguments):
                is_open = is_open or argument.keyword == "*"
                if argument.keyword in ("*", "**") or (is_open and argument.keyword is None):
                    yield argument.value, place, OTHER
                else:
                    given = position if argument.keyword is None else -1
                    yield argument.value, place, Passed(number, given, argument.keyword)
            if call.context == "statement":
                yield fact.CallReference(number), place, Discarded()
        for binding in facts.bindings:
            if binding.target == fact.Name("__all__"):
                continue
            place = Place(index, binding.scope, binding.block, binding.order)
            is_plain = binding.kind in (BindingKind.ASSIGN, BindingKind.WALRUS)
            yield binding.value, place, Bound(binding) if is_plain else OTHER
            for part, role in _read_by(binding.target):
                yield part, place, role
        for returned in facts.returns:
            place = Place(index, returned.scope, returned.block, returned.order)
            yield returned.value, place, Returned() if returned.kind == "return" else OTHER
        for scope in facts.scopes:
            place = Place(index, max(scope.parent, 0), max(scope.block, 0), scope.order)
            defaults = [item.default for item in scope.parameters if item.default is not None]
            for expression in (*(item.expression for item in scope.decorators), *scope.bases, *defaults):
                yield expression, place, OTHER
        for block in facts.blocks:
            if block.test is not None:
                yield block.test, Place(index, block.scope, max(block.parent, 0), _END), OTHER

    def _visit(self, expression: fact.Expression, place: Place, role: Role) -> None:
        match expression:
            case fact.Name(id=name):
                self.names[name].append(Mention(expression, place, role))
            case fact.Attribute(base=base, attribute=attribute):
                self.attributes[attribute].append(Mention(expression, place, role))
                self._visit(base, place, Attributed())
            case fact.CallReference(index=index):
                self.calls[index].append(Mention(expression, place, role))
            case fact.Constant(value=str(text)):
                self.strings[text].append(Mention(expression, place, role))
            case fact.Subscript(base=base, index=index):
                self._visit(base, place, Item(index, role))
                self._visit(index, place, OTHER)
            case fact.Sequence(items=items):
                self._visit_display(expression, place, role)
            case fact.Mapping(items=items):
                for entry in items:
                    if entry.key is not None:
                        self._visit(entry.key, place, OTHER)
                        self._visit(entry.value, place, Stored(Source(entry.key, place, {}), role))
                    else:
                        self._visit(entry.value, place, OTHER)
            case fact.Conditional(test=test, body=body, orelse=orelse):
                self._visit(test, place, OTHER)
                self._visit(body, place, role)
                self._visit(orelse, place, role)
            case fact.Comprehension(kind=kind, element=element, scope=scope):
                inner = Place(place.file, scope, self._file.facts.scopes[scope].body_block, _END)
                match kind, element:
                    case "dict", fact.Sequence(items=(key, value)):
                        self._visit(key, inner, OTHER)
                        self._visit(value, inner, Stored(Source(key, inner, {}), role))
                    case _:
                        self._visit(element, inner, OTHER)
            case fact.Operation(operands=parts) | fact.FormattedString(parts=parts):
                for part in parts:
                    self._visit(part, place, OTHER)
            case fact.Starred(value=value):
                self._visit(value, place, OTHER)
            case fact.Opaque(names=names):
                for name in names:
                    self._visit(fact.Name(name), place, OTHER)

    def _visit_display(self, display: fact.Sequence, place: Place, role: Role) -> None:
        has_places = display.kind != "set" and not any(isinstance(i, fact.Starred) for i in display.items)
        for position, item in enumerate(display.items):
            key = Source(fact.Constant(position), place, {})
            self._visit(item, place, Stored(key, role) if has_places else OTHER)


def _read_by(target: fact.Expression) -> Iterator[tuple[fact.Expression, Role]]:
    """What binding a target reads: keys, and the objects whose attributes are set. A table that only gets
    another item is not read."""
    match target:
        case fact.Attribute(base=base):
            yield base, Attributed()
        case fact.Subscript(base=base, index=index):
            yield index, OTHER
            if not isinstance(base, fact.Name):
                yield from _read_by(base)
        case fact.Sequence(items=items):
            for item in items:
                yield from _read_by(item)
        case fact.Starred(value=value):
            yield from _read_by(value)


Key: TypeAlias = Hashable
"""What tells the items of a table apart; None where it is not known."""


class Importing(NamedTuple):
    """An import that makes a file known to another."""

    file: ProjectFile
    imported: ImportFact
    is_module: bool
    """All names of the file can be reached, through the module that it is; else just the imported one."""
    is_bound: bool
    """The name that the import binds is that module."""


class Flows:
    """Follows values through the project."""

    def __init__(self, evaluator: Evaluator, reader: TypeReader) -> None:
        self._evaluator = evaluator
        self._files = evaluator.files
        self._reader = reader
        self._mentions: dict[int, Mentions] = {}

    @cached_property
    def _importing(self) -> dict[int, list[Importing]]:
        """The imports of each file by others."""
        found: dict[int, list[Importing]] = defaultdict(list)
        modules = self._evaluator.modules
        for file in self._files:
            for imported in file.facts.imports:
                module = modules.imported_module(imported, file)
                known: list[tuple[str, bool, bool]]
                if imported.name is not None:
                    known = [(module, False, False), (f"{module}.{imported.name}", True, True)]
                elif "." not in module or imported.bound_name != module.partition(".")[0]:
                    known = [(module, True, True)]
                else:
                    known = [(module, True, False), (imported.bound_name, True, True)]
                for name, is_module, is_bound in known:
                    target = modules.find(name, file)
                    if target is not None and target != file.index:
                        found[target].append(Importing(file, imported, is_module, is_bound))
        return found

    def of_name(self, file: int, scope: int, name: str) -> Iterator[Arrival]:
        """Where the value of a name that is bound in a scope arrives."""
        yield from self._name(self._files[file], scope, name, (), set())

    def of_call(
        self, site: CallSite, environment: Environment, path: tuple[CallSite, ...] = ()
    ) -> Iterator[Arrival]:
        """Where the value of a call arrives, on one way to it; ``path`` are the calls on that way, innermost
        first."""
        seen: set[Hashable] = set()
        for mention in self._mentions_in(self._files[site.file]).calls[site.call]:
            yield from self._follow(mention, (), environment, path, seen)

    def bound_names(self, site: CallSite) -> Iterator[tuple[ProjectFile, str]]:
        """The global names that the value of a call is bound to, directly or in a table."""
        file = self._files[site.file]
        for mention in self._mentions_in(file).calls[site.call]:
            role = mention.role
            while isinstance(role, Stored):
                role = role.then
            if isinstance(role, Bound):
                target = role.binding.target
                while isinstance(target, fact.Subscript):
                    target = target.base
                if isinstance(target, fact.Name) and _owner(file, role.binding.scope, target.id) == 0:
                    yield file, target.id

    def is_offered(self, file: ProjectFile, name: str) -> bool:
        """Whether a global name of a file is for others: public on a public path, in ``__all__``, or imported
        by the ``__init__`` of a package."""
        if name.startswith("_"):
            return False
        if not any(part.startswith("_") for part in file.dotted_name.split(".")):
            return True
        if any(fact.Constant(name) in items for items in _all_names(file)):
            return True
        if any(
            other.file.is_package and not other.is_module and other.imported.name == name
            for other in self._importing[file.index]
        ):
            return True
        # A package that imports its names when they are asked for has them as strings.
        packages = accumulate(file.dotted_name.split("."), "{}.{}".format)
        found = (self._evaluator.modules.find(package, file) for package in packages)
        return any(
            bool(self._mentions_in(self._files[package]).strings.get(name))
            for package in found
            if package not in (None, file.index)
        )

    def _mentions_in(self, file: ProjectFile) -> Mentions:
        if file.index not in self._mentions:
            self._mentions[file.index] = Mentions(file)
        return self._mentions[file.index]

    def _follow(
        self,
        mention: Mention,
        keys: tuple[Key, ...],
        environment: Environment,
        path: tuple[CallSite, ...],
        seen: set[Hashable],
    ) -> Iterator[Arrival]:
        """Where a value arrives from a mention; ``keys`` lead to it in the table that is mentioned, the
        outermost last."""
        match mention.role:
            case Called() | Discarded():
                return
            case Passed() as passed:
                yield from self._argument(passed, mention.place.file, keys, seen)
            case Bound(binding=binding):
                yield from self._binding(binding, mention.place, keys, environment, seen)
            case Returned() if path:
                for outer in self._mentions_in(self._files[path[0].file]).calls[path[0].call]:
                    yield from self._follow(outer, keys, environment, path[1:], seen)
            case Item(key=key, then=then) if keys:
                wanted, given = keys[-1], self._key(Source(key, mention.place, environment))
                if wanted is None or given is None or wanted == given:
                    yield from self._follow(mention._replace(role=then), keys[:-1], environment, path, seen)
            case Stored(key=source, then=then):
                inner = self._key(source._replace(environment=environment))
                yield from self._follow(mention._replace(role=then), (*keys, inner), environment, path, seen)
            case _:
                yield LOST

    def _key(self, source: Source) -> Key:
        if isinstance(source.expression, fact.Sequence):
            parts = tuple(self._key(source._replace(expression=item)) for item in source.expression.items)
            return None if None in parts else parts
        types = self._reader.named(source)
        if types:
            return next(iter(types)) if len(types) == 1 else None
        match self._reader.origins(source):
            case [Source(expression=expression, place=place, environment=environment)]:
                found = only_constant(self._evaluator.evaluate(expression, place, environment))
            case _:
                found = None
        if found is None or (isinstance(found.value, int) and found.value < 0):
            return None  # a negative index counts from the end
        return found.value

    def _argument(
        self, passed: Passed, file: int, keys: tuple[Key, ...], seen: set[Hashable]
    ) -> Iterator[Arrival]:
        site = CallSite(file, passed.call)
        match self._evaluator.callee(*site):
            case (Function(file=other, scope=scope),):
                parameter = self._parameter(self._files[other], scope, passed)
                if parameter is None:
                    yield LOST
                else:
                    yield from self._name(self._files[other], scope, parameter, keys, seen)
            case _ if keys:
                yield LOST
            case _:
                yield Arrival(site, passed.position, passed.keyword)

    def _parameter(self, file: ProjectFile, scope: int, passed: Passed) -> str | None:
        """The parameter of a function that gets an argument; None where that is not sure."""
        function = file.facts.scopes[scope]
        if function.decorators or function.is_generator or function.is_async:
            return None
        for position, parameter in enumerate(function.parameters):
            if parameter.kind in (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD):
                continue
            is_next = position == passed.position and parameter.kind is not ParameterKind.KEYWORD_ONLY
            if is_next or parameter.name == passed.keyword:
                return parameter.name
        return None

    def _binding(
        self,
        binding: BindingFact,
        place: Place,
        keys: tuple[Key, ...],
        environment: Environment,
        seen: set[Hashable],
    ) -> Iterator[Arrival]:
        file, target = self._files[place.file], binding.target
        while isinstance(target, (fact.Sequence, fact.Subscript)):
            if isinstance(target, fact.Subscript):
                keys = (*keys, self._key(Source(target.index, place, environment)))
                target = target.base
                if not self._is_made_here(target, file, binding.scope):
                    yield LOST
                    return
            else:
                position = keys[-1] if keys else None
                if not isinstance(position, int) or not 0 <= position < len(target.items):
                    break
                keys = keys[:-1]
                target = target.items[position]
        if isinstance(target, fact.Name):
            yield from self._name(file, _owner(file, binding.scope, target.id), target.id, keys, seen)
        else:
            yield LOST

    def _is_made_here(self, table: fact.Expression, file: ProjectFile, scope: int) -> bool:
        """Whether a table is one that its name alone stands for, or an item of such a table."""
        while isinstance(table, fact.Subscript):
            table = table.base
        if not isinstance(table, fact.Name):
            return False
        owner = _owner(file, scope, table.id)
        binders = file.binders[owner].get(table.id, [])
        return bool(binders) and all(
            isinstance(binder.fact, BindingFact)
            and binder.fact.kind is BindingKind.ASSIGN
            and not binder.path
            and self._is_new_table(binder.fact.value, file)
            for binder in binders
        )

    def _is_new_table(self, value: fact.Expression, file: ProjectFile) -> bool:
        match value:
            case fact.Mapping() | fact.Sequence() | fact.Comprehension():
                return True
            case fact.CallReference(index=index):
                return self._evaluator.callee(file.index, index) in _TABLES
            case _:
                return False

    def _name(
        self, file: ProjectFile, scope: int, name: str, keys: tuple[Key, ...], seen: set[Hashable]
    ) -> Iterator[Arrival]:
        if (file.index, scope, name, keys) in seen:
            return
        seen.add((file.index, scope, name, keys))
        mentions = self._mentions_in(file)
        if file.facts.scopes[scope].kind is ScopeKind.CLASS or mentions.strings.get(name):
            yield LOST
            return
        for mention in mentions.names.get(name, ()):
            if _owner(file, mention.place.scope, name) == scope:
                yield from self._follow(mention, keys, {}, (), seen)
        if scope == 0:
            if _looks_names_up(mentions):
                yield LOST
            yield from self._elsewhere(file, name, keys, seen)

    def _elsewhere(
        self, file: ProjectFile, name: str, keys: tuple[Key, ...], seen: set[Hashable]
    ) -> Iterator[Arrival]:
        """Where a global name of a file leads from other files."""
        knowing_the_module = {}
        for other, imported, is_module, is_bound in self._importing[file.index]:
            if is_module:
                knowing_the_module[other.index] = other
                if is_bound and self._is_handed_on(imported, other):
                    yield LOST
            elif imported.name in (name, "*"):
                bound = name if imported.name == "*" else imported.bound_name
                yield from self._name(other, _owner(other, imported.scope, bound), bound, keys, seen)
        # ``package.module.name`` takes no more than the import of the package.
        package = self._evaluator.modules.find(file.package, file)
        for importing in self._importing[package] if package is not None else ():
            if importing.is_module:
                knowing_the_module[importing.file.index] = importing.file
        for other in knowing_the_module.values():
            for mention in self._mentions_in(other).attributes.get(name, ()):
                assert isinstance(mention.expression, fact.Attribute)
                owners = self._evaluator.evaluate(mention.expression.base, mention.place, {})
                if PythonModule(file.index) in owners:
                    yield from self._follow(mention, keys, {}, (), seen)
                elif UNKNOWN in owners:
                    yield LOST

    def _is_handed_on(self, imported: ImportFact, file: ProjectFile) -> bool:
        """Whether a module is used for more than its attributes, such as ``getattr(module, name)``."""
        found = self._mentions_in(file).names.get(imported.bound_name, ())
        return any(not isinstance(mention.role, Attributed) for mention in found)


def _all_names(file: ProjectFile) -> Iterator[tuple[fact.Expression, ...]]:
    """The displays that ``__all__`` of a file is given."""
    for binding in file.facts.bindings:
        if binding.target == fact.Name("__all__") and isinstance(binding.value, fact.Sequence):
            yield binding.value.items


def _owner(file: ProjectFile, scope: int, name: str) -> int:
    """The scope whose name it is that a scope sees; the module's for names that are bound nowhere."""
    for around in visible_scopes(file, scope):
        if around in file.binders and name in file.binders[around]:
            return around
    return 0


def _looks_names_up(mentions: Mentions) -> bool:
    """Whether a file looks its own names up by strings that may not be in the code."""
    process = fact.Attribute(fact.Name("sys"), "modules")
    return bool(mentions.names.get("globals")) or any(
        mention.expression == process for mention in mentions.attributes.get("modules", ())
    )
