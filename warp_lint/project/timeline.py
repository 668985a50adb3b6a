"""What happens before what: loads of Warp modules and writes of their options, in the order they run.

The events of a scope are those in it and, at the place of each call or import, those of what runs there.
"Before" means earlier in the text and able to get there: branches that exclude each other are never
combined, and a branch that leaves the function precedes nothing behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple, TypeVar

from warp_lint.facts import values as fact
from warp_lint.facts.records import ScopeKind, Span
from warp_lint.findings import Location
from warp_lint.project.callers import Callers, CallSite
from warp_lint.project.evaluation import Evaluator
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.project.launches import Launch
from warp_lint.project.options import OptionWrite, WarpModules
from warp_lint.project.values import (
    Constant,
    External,
    Kernel,
    ModuleOf,
    Values,
    constant,
    only_constant,
)
from warp_lint.warp_api import MODULE_OPTIONS, WarpName, find

_DEEPEST = 4
"""Calls followed inside calls."""
_MOST_EVENTS = 400
"""Events kept of one scope; a scope with more is cut there."""


EVERY_MODULE = ModuleKey(ModuleKind.UNKNOWN, name="*")
"""What ``force_load`` without modules loads."""


class Step(NamedTuple):
    """A call or import on the way from a scope to an event."""

    location: Location
    name: str


class Load(NamedTuple):
    """A place that makes Warp build or fetch a module."""

    module: ModuleKey
    block: int
    order: int
    location: Location
    description: str
    steps: tuple[Step, ...] = ()

    def is_of(self, module: ModuleKey) -> bool:
        """Whether it loads a module."""
        return self.module in (module, EVERY_MODULE)


class Write(NamedTuple):
    """A place that sets an option of a module."""

    write: OptionWrite
    block: int
    order: int
    steps: tuple[Step, ...] = ()

    def sets_same(self, other: Write) -> bool:
        """Whether both set one option of one module."""
        return (self.write.module, self.write.name) == (other.write.module, other.write.name)


class Clear(NamedTuple):
    """A place that clears a cache."""

    site: CallSite
    block: int
    order: int
    steps: tuple[Step, ...] = ()


class Events(NamedTuple):
    """The events of a scope; ``block`` and ``order`` of each are places of that scope."""

    loads: tuple[Load, ...] = ()
    writes: tuple[Write, ...] = ()
    clears: tuple[Clear, ...] = ()


Event = TypeVar("Event", Load, Write, Clear)


class Timeline:
    """The events of every scope of the project."""

    def __init__(
        self,
        evaluator: Evaluator,
        callers: Callers,
        kernels: dict[Kernel, KernelDefinition],
        launches: list[Launch],
        writes: list[OptionWrite],
        modules: WarpModules,
    ) -> None:
        self._evaluator = evaluator
        self._callers = callers
        self._modules = modules
        self._own: dict[tuple[int, int], tuple[list[Load], list[Write], list[Clear]]] = {}
        self._events: dict[tuple[int, int, int], Events] = {}
        self._running: set[tuple[int, int]] = set()
        for launch in launches:
            self._add_launch(launch, kernels)
        for write in writes:
            own = self._of(write.file.index, write.place.scope)
            own[1].append(Write(write, write.place.block, write.place.order))
        for file in evaluator.files:
            for index in range(len(file.facts.calls)):
                self._add_call(CallSite(file.index, index))

    def events(self, file: int, scope: int, depth: int = _DEEPEST) -> Events:
        """The events of a scope, with those of what it calls and imports."""
        key = (file, scope, depth)
        found = self._events.get(key)
        if found is None:
            if (file, scope) in self._running or depth < 0:
                return Events()
            self._running.add((file, scope))
            try:
                found = self._collect(self._evaluator.files[file], scope, depth)
            finally:
                self._running.discard((file, scope))
            self._events[key] = found
        return found

    def before_call(self, file: ProjectFile) -> list[Load]:
        """What is loaded by importing a file, before any of its functions can run."""
        loads = self.events(file.index, 0).loads
        return [load for load in loads if not file.is_main_guarded(load.block)]

    @cached_property
    def late_writes(self) -> list[tuple[Write, Load]]:
        """The option writes that come after a load of their module in some flow, each with that load."""
        found: dict[tuple[int, Span], tuple[Write, Load]] = {}
        for file in self._evaluator.files:
            at_import = self.before_call(file)
            for index, scope in enumerate(file.facts.scopes):
                if scope.kind not in (ScopeKind.MODULE, ScopeKind.FUNCTION):
                    continue
                events = self.events(file.index, index)
                runs_later = index > 0 and not self._callers.runs_at_import(file.index, index)
                for write in events.writes:
                    load = self._load_before(write, events, file, at_import if runs_later else [])
                    if load is not None and self._changes(write, events, file):
                        found.setdefault((write.write.file.index, write.write.entry_span), (write, load))
        return list(found.values())

    def _load_before(
        self, write: Write, events: Events, file: ProjectFile, at_import: list[Load]
    ) -> Load | None:
        module = write.write.module
        loop = file.loop_of(write.block)
        for load in at_import:
            if load.is_of(module):
                return load
        for load in events.loads:
            # What both come from one call was judged in what it calls.
            if not load.is_of(module) or (load.steps and load.steps[:1] == write.steps[:1]):
                continue
            if self.precedes(file, load, write.block, write.order):
                return load
            # A unique kernel that the loop makes is a new one in each turn.
            varies = only_constant(write.write.values) is None and module.kind is not ModuleKind.UNIQUE
            if loop is not None and varies and loop in file.block_ancestors(load.block):
                return load
        return None

    def _changes(self, write: Write, events: Events, file: ProjectFile) -> bool:
        """Whether the option is known to get another value than it has."""
        if not all(isinstance(value, Constant) for value in write.write.values):
            return False
        return write.write.values != self._value_before(write, events, file)

    def _value_before(self, write: Write, events: Events, file: ProjectFile) -> Values:
        earlier = [
            other
            for other in events.writes
            if other.sets_same(write) and self.precedes(file, other, write.block, write.order)
        ]
        if not earlier:
            owner = write.write.file
            at_import = self.events(owner.index, 0).writes
            earlier = [other for other in at_import if other.sets_same(write) and other.write != write.write]
        if earlier:
            return earlier[-1].write.values
        option = find(MODULE_OPTIONS, write.write.name)
        if option is None or isinstance(option.default, WarpName):
            return ()
        return (constant(option.default),)

    def precedes(self, file: ProjectFile, earlier: Event, block: int, order: int) -> bool:
        """Whether an event of a scope may have happened before a place of the same scope."""
        return earlier.order < order and file.may_reach(earlier.block, block)

    def _of(self, file: int, scope: int) -> tuple[list[Load], list[Write], list[Clear]]:
        return self._own.setdefault((file, scope), ([], [], []))

    def _add_launch(self, launch: Launch, kernels: dict[Kernel, KernelDefinition]) -> None:
        definition = kernels.get(launch.kernel)
        if definition is None or not launch.sure:
            return
        # The kernel is known in the outermost call that passes it on: there the load happens.
        site = launch.path[-1] if launch.path else launch.site
        call = self._callers.call(site)
        location = self._callers.file(launch.site).facts.location(self._callers.call(launch.site).span)
        steps = tuple(self._step(outer) for outer in reversed(launch.path))
        load = Load(
            definition.module,
            call.block,
            call.order,
            location,
            f'the launch of "{definition.name}"',
            steps,
        )
        self._of(site.file, call.scope)[0].append(load)

    def _add_call(self, site: CallSite) -> None:
        call = self._callers.call(site)
        own = self._of(site.file, call.scope)
        for value in self._evaluator.callee(site.file, site.call):
            match value:
                case External(name="warp.clear_kernel_cache" | "warp.clear_lto_cache"):
                    own[2].append(Clear(site, call.block, call.order))
                case External(name="warp.load_module" | "warp.load_aot_module" as name):
                    self._add_load(site, name, 0, "module")
                case External(name="warp.force_load" as name):
                    self._add_load(site, name, 1, "modules")
                case External(name="warp.get_suggested_block_size" as name):
                    self._add_load(site, name, 0, "kernel")
        match call.function:
            case fact.Attribute(base=base, attribute="load"):
                place = self._callers.place(site)
                for value in self._evaluator.evaluate(base, place, {}):
                    if isinstance(value, ModuleOf):
                        key = self._modules.of_values((value,), self._callers.file(site))
                        if key is not None:
                            own[0].append(self._load_at(site, key, "this load"))

    def _add_load(self, site: CallSite, name: str, position: int, keyword: str) -> None:
        call = self._callers.call(site)
        arguments = self._evaluator.arguments(call, self._callers.place(site), {})
        given = arguments.get(position, keyword)
        shown = name.removeprefix("warp.")
        if given is None:
            if name == "warp.force_load":
                load = self._load_at(site, EVERY_MODULE, f"this {shown}")
                self._of(site.file, call.scope)[0].append(load)
                return
            given = (constant(None),)
        modules = [ModuleOf(value) if isinstance(value, Kernel) else value for value in given]
        key = self._modules.of_values(tuple(modules), self._callers.file(site))
        if key is not None:
            self._of(site.file, call.scope)[0].append(self._load_at(site, key, f"this {shown}"))

    def _load_at(self, site: CallSite, key: ModuleKey, description: str) -> Load:
        call = self._callers.call(site)
        location = self._callers.file(site).facts.location(call.span)
        return Load(key, call.block, call.order, location, description)

    def _step(self, site: CallSite) -> Step:
        call = self._callers.call(site)
        functions = self._callers.functions(site)
        name = "?"
        if functions:
            name = self._evaluator.files[functions[0].file].facts.scopes[functions[0].scope].qualified_name
        return Step(self._callers.file(site).facts.location(call.span), name)

    def _collect(self, file: ProjectFile, scope: int, depth: int) -> Events:
        own = self._own.get((file.index, scope), ([], [], []))
        loads, writes, clears = list(own[0]), list(own[1]), list(own[2])
        for block, order, steps, inner in self._inner(file, scope, depth):
            loads += [
                load._replace(block=block, order=order, steps=(*steps, *load.steps)) for load in inner.loads
            ]
            writes += [
                write._replace(block=block, order=order, steps=(*steps, *write.steps))
                for write in inner.writes
            ]
            clears += [
                clear._replace(block=block, order=order, steps=(*steps, *clear.steps))
                for clear in inner.clears
            ]
        return Events(
            tuple(sorted(loads, key=lambda load: load.order)[:_MOST_EVENTS]),
            tuple(sorted(writes, key=lambda write: write.order)[:_MOST_EVENTS]),
            tuple(sorted(clears, key=lambda clear: clear.order)[:_MOST_EVENTS]),
        )

    def _inner(
        self, file: ProjectFile, scope: int, depth: int
    ) -> Iterator[tuple[int, int, tuple[Step, ...], Events]]:
        """What runs inside a scope: the place in the scope, the way there, and the events."""
        for index, inner in enumerate(file.facts.scopes):
            if inner.parent == scope and inner.kind in (ScopeKind.CLASS, ScopeKind.COMPREHENSION):
                yield inner.block, inner.order, (), self.events(file.index, index, depth)
        for index in file.calls_by_scope.get(scope, ()):
            site = CallSite(file.index, index)
            call = self._callers.call(site)
            functions = self._callers.functions(site)
            if len(functions) == 1:
                function = functions[0]
                events = self.events(function.file, function.scope, depth - 1)
                if events != Events():
                    yield call.block, call.order, (self._step(site),), events
        for imported in file.facts.imports:
            if imported.scope == scope and not file.is_type_checking(imported.block):
                for target in self._imported_files(file, imported.module, imported.name, imported.level):
                    # What is imported is not run as the program.
                    events = self._without_main(target)
                    if events != Events():
                        step = Step(file.facts.location(imported.span), f"import of {target.dotted_name}")
                        yield imported.block, imported.order, (step,), events

    def _without_main(self, file: ProjectFile) -> Events:
        events = self.events(file.index, 0, _DEEPEST)
        return Events(
            tuple(load for load in events.loads if not file.is_main_guarded(load.block)),
            tuple(write for write in events.writes if not file.is_main_guarded(write.block)),
            tuple(clear for clear in events.clears if not file.is_main_guarded(clear.block)),
        )

    def _imported_files(
        self, file: ProjectFile, module: str, name: str | None, level: int
    ) -> Iterator[ProjectFile]:
        package = file.package.split(".") if file.package else []
        base = package[: len(package) - (level - 1)] if level > 1 else package
        absolute = ".".join([*base, module] if module else base) if level else module
        candidates = [absolute] if name is None else [absolute, f"{absolute}.{name}"]
        for candidate in candidates:
            found = self._evaluator.modules.find(candidate, file)
            if found is not None and found != file.index:
                yield self._evaluator.files[found]
