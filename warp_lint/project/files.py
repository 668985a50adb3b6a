"""The files of a project as Python modules: what they are called, and where imports lead.

A file belongs to the package of its folder when that folder has an ``__init__.py``; the folder above the
topmost package is a *root*. An absolute import is looked up from the importing file's own root first,
then beside the file (as Python does for a script), then in the other roots.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import PurePosixPath

from warp_lint.facts.records import (
    BindingFact,
    BindingKind,
    BlockFact,
    BlockKind,
    CallFact,
    FileFacts,
    ImportFact,
    ReturnFact,
    ScopeFact,
    ScopeKind,
)
from warp_lint.facts.values import (
    Attribute,
    CallReference,
    Constant,
    Expression,
    Name,
    Operation,
    Starred,
    Subscript,
)
from warp_lint.facts.values import Sequence as Display
from warp_lint.findings import Position
from warp_lint.project.binders import Binder, BinderKind
from warp_lint.project.values import PlainValue

_EXPECTING = ("assertRaises", "assertRaisesRegex", "raises")
_ALWAYS_RUN = (BlockKind.WITH, BlockKind.TRY, BlockKind.FINALLY)
"""Blocks that run, at least in part, whenever their statement does."""
_STARTERS = (ScopeKind.FUNCTION, ScopeKind.LAMBDA)


class ProjectFile:
    """The facts of one file with the indices that linking needs."""

    def __init__(self, index: int, facts: FileFacts, packages: set[str]) -> None:
        self.index = index
        self.facts = facts
        self.path = PurePosixPath(facts.path.replace("\\", "/"))
        parts = [] if self.path.stem == "__init__" else [self.path.stem]
        folder = self.path.parent
        while str(folder) in packages:
            parts.insert(0, folder.name)
            folder = folder.parent
        self.root = str(folder)
        self.dotted_name = ".".join(parts) or self.path.parent.name
        self.module_name = self.dotted_name
        """The name of the file's own Warp module: another one only where Warp registers it for its files."""
        self.is_package = self.path.stem == "__init__"
        self._ancestors: dict[int, tuple[int, ...]] = {}

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.dotted_name if self.is_package else self.dotted_name.rpartition(".")[0]

    @property
    def is_in_package(self) -> bool:
        return "." in self.dotted_name or self.is_package

    @cached_property
    def is_script(self) -> bool:
        """Whether the file is meant to be run: it has a ``__main__`` block."""
        return any(self.is_main_block(block) for block in range(len(self.facts.blocks)))

    @cached_property
    def binders(self) -> dict[int, dict[str, list[Binder]]]:
        """For each scope, what binds each of its names, in order."""
        binders: dict[int, dict[str, list[Binder]]] = defaultdict(lambda: defaultdict(list))
        facts = self.facts
        for index, scope in enumerate(facts.scopes):
            for parameter in scope.parameters:
                binders[index][parameter.name].append(
                    Binder(BinderKind.PARAMETER, scope.order, scope.body_block, parameter)
                )
            if scope.kind in (ScopeKind.FUNCTION, ScopeKind.CLASS):
                owner = self._binding_scope(scope.parent, scope.name)
                binders[owner][scope.name].append(
                    Binder(BinderKind.DEFINITION, scope.order, scope.block, index)
                )
        for fact in facts.imports:
            if not self.is_type_checking(fact.block):
                owner = self._binding_scope(fact.scope, fact.bound_name)
                binders[owner][fact.bound_name].append(
                    Binder(BinderKind.IMPORT, fact.order, fact.block, fact)
                )
        for binding in facts.bindings:
            for path, name in target_names(binding.target):
                owner = self._binding_scope(binding.scope, name)
                binders[owner][name].append(
                    Binder(BinderKind.BINDING, binding.order, binding.block, binding, path)
                )
        for names in binders.values():
            for found in names.values():
                found.sort(key=lambda binder: binder.order)
        return binders

    @cached_property
    def star_imports(self) -> list[ImportFact]:
        return [fact for fact in self.facts.imports if fact.name == "*"]

    @cached_property
    def attribute_bindings(self) -> dict[str, list[tuple[BindingFact, tuple[int, ...], Attribute]]]:
        """Assignments to attributes (``self.x = …``), by the attribute's name."""
        found: dict[str, list[tuple[BindingFact, tuple[int, ...], Attribute]]] = defaultdict(list)
        for binding in self.facts.bindings:
            for path, target in target_leaves(binding.target):
                if isinstance(target, Attribute):
                    found[target.attribute].append((binding, path, target))
        return found

    @cached_property
    def item_bindings(self) -> dict[str, list[tuple[BindingFact, Subscript]]]:
        """Assignments to items (``table[key] = …``), by the last name of what is subscripted."""
        found: dict[str, list[tuple[BindingFact, Subscript]]] = defaultdict(list)
        for binding in self.facts.bindings:
            for _, target in target_leaves(binding.target):
                if isinstance(target, Subscript):
                    found[last_name(target.base)].append((binding, target))
        return found

    @cached_property
    def loop_bindings(self) -> dict[int, list[BindingFact]]:
        """The bindings of loop variables, by scope."""
        found: dict[int, list[BindingFact]] = defaultdict(list)
        for binding in self.facts.bindings:
            if binding.kind is BindingKind.LOOP:
                found[binding.scope].append(binding)
        return found

    @cached_property
    def returns(self) -> dict[int, list[ReturnFact]]:
        found: dict[int, list[ReturnFact]] = defaultdict(list)
        for fact in self.facts.returns:
            found[fact.scope].append(fact)
        return found

    @cached_property
    def called_names(self) -> frozenset[str]:
        """The last names of all that is called, as written."""
        return frozenset(last_name(call.function) for call in self.facts.calls)

    @cached_property
    def calls_by_scope(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for index, call in enumerate(self.facts.calls):
            found[call.scope].append(index)
        return found

    @cached_property
    def imports_by_scope(self) -> dict[int, list[ImportFact]]:
        found: dict[int, list[ImportFact]] = defaultdict(list)
        for fact in self.facts.imports:
            found[fact.scope].append(fact)
        return found

    @cached_property
    def scopes_by_parent(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for index, scope in enumerate(self.facts.scopes):
            found[scope.parent].append(index)
        return found

    def last_order_before(self, offset: int) -> int:
        """The order of the last call or binding that ends before a place in the text; 0 without one."""
        ends, orders = self._orders_by_end
        count = bisect_right(ends, offset)
        return orders[count - 1] if count else 0

    @cached_property
    def _orders_by_end(self) -> tuple[list[int], list[int]]:
        """Where calls and bindings end, and the highest order of those that end there or earlier."""
        ended = [(call.span.end, call.order) for call in self.facts.calls]
        ended += [(binding.span.end, binding.order) for binding in self.facts.bindings]
        ended.sort()
        return [end for end, _ in ended], list(accumulate((order for _, order in ended), max))

    def block_ancestors(self, block: int) -> tuple[int, ...]:
        """The block and those around it in its scope, innermost first."""
        found = self._ancestors.get(block)
        if found is None:
            chain = []
            while block >= 0:
                chain.append(block)
                block = self.facts.blocks[block].parent
            found = self._ancestors[chain[0]] = tuple(chain)
        return found

    def exclude_each_other(self, first: int, second: int) -> bool:
        """Whether two blocks are, or stand in, different branches of one statement."""
        groups = {
            self.facts.blocks[block].group: self.facts.blocks[block] for block in self.block_ancestors(first)
        }
        for block in self.block_ancestors(second):
            fact = self.facts.blocks[block]
            other = groups.get(fact.group)
            if other is not None and other.branch != fact.branch:
                return BlockKind.TRY not in (fact.kind, other.kind)
        return False

    def may_reach(self, earlier: int, later: int) -> bool:
        """Whether control that was in one block may come to a later place in another block of the scope."""
        if self.exclude_each_other(earlier, later):
            return False
        around_later = self.block_ancestors(later)
        for block in self.block_ancestors(earlier):
            if block in around_later:
                return True
            leaves = self.facts.blocks[block].leaves
            if leaves in ("return", "raise", "exit"):
                return self._is_caught(block, leaves)
            if leaves == "continue" and self._same_iteration(block, around_later):
                return False
        return True

    def always_precedes(self, earlier: int, later: int) -> bool:
        """Whether what stands in one block has run whenever a later place in another block of the scope is
        come to."""
        while self.facts.blocks[earlier].kind in _ALWAYS_RUN:
            earlier = self.facts.blocks[earlier].parent
        return earlier in self.block_ancestors(later)

    def always_runs(self, block: int, position: Position) -> bool:
        """Whether a place in a block is come to whenever its scope runs: no branch or loop is around it, and
        nothing above leaves the scope."""
        around = self.block_ancestors(block)
        facts = self.facts
        if any(facts.blocks[outer].kind not in (*_ALWAYS_RUN, BlockKind.BODY) for outer in around):
            return False
        scope = facts.blocks[block].scope
        return not any(
            other.scope == scope
            and other.leaves in ("return", "raise", "exit")
            and facts.position(other.span.start) < position
            for number, other in enumerate(facts.blocks)
            if number not in around
        )

    def _is_caught(self, block: int, leaves: str) -> bool:
        """Whether what leaves the block is stopped by a ``try`` around it."""
        return leaves == "raise" and any(
            self.facts.blocks[outer].kind is BlockKind.TRY for outer in self.block_ancestors(block)
        )

    def _same_iteration(self, block: int, around_later: tuple[int, ...]) -> bool:
        loop = self.loop_of(block)
        return loop is not None and loop in around_later

    def loop_of(self, block: int) -> int | None:
        """The innermost loop around a block, itself included."""
        for outer in self.block_ancestors(block):
            if self.facts.blocks[outer].kind is BlockKind.LOOP:
                return outer
        return None

    def scope_chain(self, scope: int) -> Iterable[int]:
        """The scope and those around it, innermost first."""
        while scope >= 0:
            yield scope
            scope = self.facts.scopes[scope].parent

    def function_of(self, scope: int) -> int | None:
        """The innermost function around a scope, itself included; None at import time."""
        for outer in self.scope_chain(scope):
            if self.facts.scopes[outer].kind in _STARTERS:
                return outer
        return None

    def outermost_function_of(self, scope: int) -> int | None:
        """The outermost function around a scope, itself included; None at import time."""
        found = None
        for outer in self.scope_chain(scope):
            if self.facts.scopes[outer].kind in _STARTERS:
                found = outer
        return found

    def is_type_checking(self, block: int) -> bool:
        """Whether a block is under ``if TYPE_CHECKING``: it never runs."""
        return any(
            fact.kind is BlockKind.BRANCH and fact.branch == 0 and last_name(fact.test) == "TYPE_CHECKING"
            for fact in self._facts_around(block)
        )

    def is_main_guarded(self, block: int) -> bool:
        """Whether a block runs only when the file is the program."""
        return any(self.is_main_block(outer) for outer in self.block_ancestors(block))

    def is_main_block(self, block: int) -> bool:
        fact = self.facts.blocks[block]
        match fact.test:
            case Operation(operator="==", operands=(Name(id="__name__"), Constant(value="__main__"))):
                return fact.branch == 0
            case Operation(operator="==", operands=(Constant(value="__main__"), Name(id="__name__"))):
                return fact.branch == 0
            case _:
                return False

    def is_cpu_only(self, block: int) -> bool:
        """Whether a block runs only on the CPU, by the condition of a branch around it."""
        return any(
            self._device_of_branch(fact) == "cpu"
            if fact.kind is BlockKind.BRANCH
            else fact.kind is BlockKind.WITH and "cpu" in self._entered(fact, "ScopedDevice")
            for fact in self._facts_around(block)
        )

    def expects_error(self, block: int) -> bool:
        """Whether a block is there to fail: under ``self.assertRaises(…)`` or ``pytest.raises(…)``."""
        return any(
            fact.kind is BlockKind.WITH and any(list(self._entered(fact, name)) for name in _EXPECTING)
            for fact in self._facts_around(block)
        )

    def _entered(self, fact: BlockFact, name: str) -> Iterable[PlainValue]:
        """The first arguments of the calls of a name that a ``with`` enters; None for what is no constant."""
        for item in fact.test.items if isinstance(fact.test, Display) else ():
            if isinstance(item, CallReference):
                call = self.facts.calls[item.index]
                if last_name(call.function) == name:
                    first = call.arguments[0].value if call.arguments else None
                    yield first.value if isinstance(first, Constant) else None

    def is_cuda_only(self, block: int) -> bool:
        """Whether a block runs only on CUDA, by the condition of a branch around it."""
        return any(
            fact.kind is BlockKind.BRANCH and self._device_of_branch(fact) == "cuda"
            for fact in self._facts_around(block)
        )

    def _device_of_branch(self, fact: BlockFact) -> str:
        if fact.test is not None:
            return device_of_condition(fact.test)
        first = [
            device_of_condition(other.test)
            for other in self.facts.blocks
            if other.group == fact.group and other.test is not None
        ]
        # An else says something only about the one condition before it.
        return {"cpu": "cuda", "cuda": "cpu"}.get(first[0], "") if len(first) == 1 else ""

    def _facts_around(self, block: int) -> Iterable[BlockFact]:
        return (self.facts.blocks[outer] for outer in self.block_ancestors(block))

    def _binding_scope(self, scope: int, name: str) -> int:
        """Where an assignment in a scope binds: ``global`` and ``nonlocal`` lead elsewhere, and a walrus in
        a comprehension binds around it (loop variables do not: they are looked up there first)."""
        fact = self.facts.scopes[scope]
        if name in fact.global_names:
            return 0
        if name in fact.nonlocal_names:
            for outer in self.scope_chain(fact.parent):
                if self.facts.scopes[outer].kind in _STARTERS:
                    return outer
        return scope


class PythonModules:
    """The files by the names they are imported under."""

    def __init__(self, files: Sequence[ProjectFile], source_roots: Sequence[str] = ()) -> None:
        self._files = files
        self._by_root: dict[str, dict[str, int]] = defaultdict(dict)
        for file in files:
            self._by_root[file.root].setdefault(file.dotted_name, file.index)
        self._roots = [*source_roots, *sorted(self._by_root)]
        renamed = [file for file in files if file.module_name != file.dotted_name]
        self._renamed = {file.module_name: file.index for file in renamed}
        self._folders: dict[str, dict[str, int]] = defaultdict(dict)
        for file in files:
            self._folders[str(file.path.parent)].setdefault(file.path.stem, file.index)

    def find(self, name: str, importer: ProjectFile) -> int | None:
        """The file that an absolute import of ``name`` gives; None when it is not of the project."""
        for root in (importer.root, *self._roots):
            found = self._by_root.get(root, {}).get(name)
            if found is not None:
                return found
        if "." not in name:
            return self._folders.get(str(importer.path.parent), {}).get(name)
        return None

    def find_warp_module(self, name: str, importer: ProjectFile) -> int | None:
        """The file whose own Warp module has a name; None when it is not of the project."""
        found = self._renamed.get(name)
        return self.find(name, importer) if found is None else found

    def imported_module(self, fact: ImportFact, importer: ProjectFile) -> str:
        """The absolute name of the module that an import names."""
        if fact.level == 0:
            return fact.module
        package = importer.package.split(".") if importer.package else []
        base = package[: len(package) - (fact.level - 1)] if fact.level > 1 else package
        return ".".join([*base, fact.module] if fact.module else base)


def target_leaves(target: Expression) -> Iterable[tuple[tuple[int, ...], Expression]]:
    """The single targets in a target, each with its path: ``a, (b, c)`` has ``c`` at ``(1, 1)``."""
    if isinstance(target, Display):
        for position, item in enumerate(target.items):
            for path, leaf in target_leaves(item):
                yield (position, *path), leaf
    elif isinstance(target, Starred):
        # What a star takes is a list of unknown length.
        for path, leaf in target_leaves(target.value):
            yield (-1, *path), leaf
    else:
        yield (), target


def target_names(target: Expression) -> Iterable[tuple[tuple[int, ...], str]]:
    """The names that a target binds, each with its path."""
    for path, leaf in target_leaves(target):
        if isinstance(leaf, Name):
            yield path, leaf.id


def last_name(expression: Expression | None) -> str:
    """``c`` of ``a.b.c``; empty for what is not a name or attribute."""
    match expression:
        case Name(id=identifier):
            return identifier
        case Attribute(attribute=attribute):
            return attribute
        case _:
            return ""


def device_of_condition(test: Expression | None) -> str:
    """``cpu`` or ``cuda`` when a condition holds only on such a device; empty when it does not say."""
    match test:
        case Operation(operator="not", operands=(operand,)):
            return {"cpu": "cuda", "cuda": "cpu"}.get(device_of_condition(operand), "")
        case Operation(operator="and", operands=operands):
            devices = {device_of_condition(operand) for operand in operands} - {""}
            return devices.pop() if len(devices) == 1 else ""
        case Operation(operator="==" | "!=" as operator, operands=(_, Constant(value=str(name)))):
            device = name.partition(":")[0]
            if device not in ("cpu", "cuda"):
                return ""
            return device if operator == "==" else {"cpu": "cuda", "cuda": "cpu"}[device]
        case Operation(operator="in", operands=(Constant(value="cpu" | "cuda" as device), _)):
            return device
        case Name() | Attribute():
            return {"is_cpu": "cpu", "is_cuda": "cuda", "use_cuda": "cuda"}.get(last_name(test), "")
        case _:
            return ""


def calls_of(file: ProjectFile, scope: int) -> Iterable[CallFact]:
    """The calls of a scope, in order."""
    return (file.facts.calls[index] for index in file.calls_by_scope.get(scope, ()))


def scope_of(file: ProjectFile, scope: int) -> ScopeFact:
    return file.facts.scopes[scope]
