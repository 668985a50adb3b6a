"""What happens before what, across calls and files.

The events of a scope are those in it and, at the place of each call or import, those of what runs there.
"Before" means earlier in the text and able to get there: branches that exclude each other are never
combined, and a branch that leaves the function precedes nothing behind it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from warp_lint.facts import values as fact
from warp_lint.facts.records import BlockKind, ScopeKind
from warp_lint.project.callers import CallSite
from warp_lint.project.calling import NO_CALLABLES, Callables, Calling, Run
from warp_lint.project.evaluation import Place
from warp_lint.project.events import EVERY_MODULE, Context, Event, EventKind, Step
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import ModuleKey, ModuleKind
from warp_lint.project.launches import Launch
from warp_lint.project.values import (
    Class,
    ExternalResult,
    Instance,
    Kernel,
    ModuleOf,
    Value,
    constant,
)

if TYPE_CHECKING:
    from warp_lint.project import Project

_DEEPEST = 6
"""Calls followed inside calls."""
_MOST_EVENTS = 400
"""Events kept of one scope; a scope with more is cut there."""
_LOADING = {
    "load_module": (0, "module"),
    "load_aot_module": (0, "module"),
    "force_load": (1, "modules"),
    "get_suggested_block_size": (0, "kernel"),
    "get_cuda_max_cluster_dim": (0, "kernel"),
    "get_cuda_kernel_properties": (0, "kernel"),
}
"""Functions of Warp that load modules: where they say which."""


Flow: TypeAlias = tuple[ProjectFile, int, tuple[Event, ...], list[Event]]
"""A file, one of its scopes, the events of that scope, and those of importing the file before."""


class Timeline:
    """The events of every scope of the project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._evaluator = project.evaluator
        self._callers = project.callers
        self._calling = Calling(project.evaluator, project.callers)
        self._own: dict[tuple[int, int], list[Event]] = defaultdict(list)
        self._found: dict[tuple[int, int, int, Hashable], _Found] = {}
        self._whole: dict[tuple[int, int, Hashable], _Found] = {}
        self._contexts: dict[tuple[int, int], frozenset[Context]] = {}
        self._at_import: dict[int, list[Event]] = {}
        self._imported: dict[int, tuple[Event, ...]] = {}
        self._imports_followed: set[int] = set()
        self._import_numbers: dict[Hashable, int] = {}
        self._loads: dict[int, tuple[tuple[Event, ...], dict[ModuleKey | None, list[Event]]]] = {}
        self._running: set[tuple[int, int]] = set()
        self._runs: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
        """The functions whose events are among those of a scope, because it calls them."""
        self.cut: set[tuple[int, int]] = set()
        """The scopes, by file and index, that have more events than are kept."""
        self._add_definitions()
        self._add_writes()
        for launch in project.launches:
            self._add_launch(launch)
        for name, (position, keyword) in _LOADING.items():
            for site in project.calls_of(name):
                self._add_load(site, name, position, keyword)
        self._add_other_calls()

    def events(
        self, file: int, scope: int, depth: int = _DEEPEST, callables: Callables = NO_CALLABLES
    ) -> tuple[Event, ...]:
        """The events of a scope in order, with those of what it calls and imports.

        ``callables`` are the functions that its callers pass it to be called.
        """
        return self._find(file, scope, depth, callables).events

    def _find(self, file: int, scope: int, depth: int, callables: Callables) -> _Found:
        if (file, scope) not in self._eventful:
            return _NOTHING
        whole = self._whole.get((file, scope, callables.key))
        if whole is not None and whole.calls <= depth:
            return whole
        key = (file, scope, depth, callables.key)
        found = self._found.get(key)
        if found is None:
            if (file, scope) in self._running or depth < 0:
                return _NOT_FOLLOWED
            self._running.add((file, scope))
            try:
                found = self._collect(self._evaluator.files[file], scope, depth, callables)
            finally:
                self._running.discard((file, scope))
            self._found[key] = found
            if found.is_whole:
                self._whole[file, scope, callables.key] = found
        return found

    def own_events(self, file: int, scope: int) -> Sequence[Event]:
        """The events of a scope itself, without those of what it calls and imports, in no order."""
        return self._own.get((file, scope), ())

    @cached_property
    def _eventful(self) -> frozenset[tuple[int, int]]:
        """The scopes that have events, or may come to some by what they call or import: most have none."""
        pending = [*self._own, *self._calling.takers]
        for file in self._evaluator.files:
            pending += [(file.index, imported.scope) for imported in file.facts.imports]
        found: set[tuple[int, int]] = set()
        while pending:
            key = pending.pop()
            if key in found:
                continue
            found.add(key)
            file_index, scope = key
            fact_ = self._evaluator.files[file_index].facts.scopes[scope]
            if fact_.kind in (ScopeKind.CLASS, ScopeKind.COMPREHENSION):
                pending.append((file_index, fact_.parent))
            for site in self._callers.sites(file_index, scope):
                pending.append((site.file, self._callers.call(site).scope))
        return frozenset(found)

    def at_import(self, file: ProjectFile) -> list[Event]:
        """The events of importing a file, before any of its functions can run."""
        found = self._at_import.get(file.index)
        if found is None:
            self._follow_imports(file)
            events = self.events(file.index, 0)
            found = [event for event in events if not file.is_main_guarded(event.block)]
            if (file.index, 0) not in self._running:
                self._at_import[file.index] = found
        return found

    def _follow_imports(self, start: ProjectFile) -> None:
        """Find the events of all files that importing a file leads to, in the order in which that would come
        to them. Imports lead through hundreds of files, one in the other: too deep for calls in calls."""
        if (start.index, 0) in self._running or start.index in self._imports_followed:
            return
        pending = [(start, self._imports_of(start))]
        self._running.add((start.index, 0))
        while pending:
            file, imports = pending[-1]
            for target in imports:
                if target not in self._imports_followed and (target, 0) not in self._running:
                    self._running.add((target, 0))
                    target_file = self._evaluator.files[target]
                    pending.append((target_file, self._imports_of(target_file)))
                    break
            else:
                pending.pop()
                self._running.discard((file.index, 0))
                self._imports_followed.add(file.index)
                self.events(file.index, 0)

    def _imports_of(self, file: ProjectFile) -> Iterator[int]:
        for imported in file.imports_by_scope.get(0, ()):
            if not file.is_type_checking(imported.block):
                yield from self._project.imports.targets(imported, file)

    def _of_import(self, file: ProjectFile) -> tuple[Event, ...]:
        """The events of importing a file that matter to those who import it, each with its number."""
        found = self._imported.get(file.index)
        if found is None:
            found = tuple(
                event if event.of_import is not None else event._replace(of_import=self._number(event, file))
                for event in self.at_import(file)
                if _matters_elsewhere(event, file.index)
            )
            if (file.index, 0) not in self._running:
                self._imported[file.index] = found
        return found

    def _number(self, event: Event, file: ProjectFile) -> int:
        """The number of an event that the import of a file leads to, by no other import."""
        key = (event.kind, event.location, event.module, file.dotted_name, event.steps)
        return self._import_numbers.setdefault(key, len(self._import_numbers))

    def precedes(self, file: ProjectFile, earlier: Event, block: int, order: int) -> bool:
        """Whether an event of a scope may have happened before a place of the same scope."""
        return earlier.order < order and file.may_reach(earlier.block, block)

    def load_before(
        self, module: ModuleKey, later: Event, events: tuple[Event, ...], file: ProjectFile
    ) -> Event | None:
        """The first load of a module that may have happened before a later event of the same scope."""
        loads = self._loads_in(events)
        # A load of every module stands among the others in its place.
        of_module = loads[None] if EVERY_MODULE in loads else loads.get(module, [])
        for event in of_module:
            if (
                event.loads(module)
                and not event.was_judged_with(later)
                and self.comes_before(event, later, file)
            ):
                return event
        return None

    def _loads_in(self, events: tuple[Event, ...]) -> dict[ModuleKey | None, list[Event]]:
        """The loads among the events of a scope, by their modules; all of them under None."""
        # By identity: to compare the events would take longer than to look for the loads again.
        known = self._loads.get(id(events))
        if known is None:
            loads: dict[ModuleKey | None, list[Event]] = {None: []}
            for event in events:
                if event.is_load and event.module is not None:
                    loads[None].append(event)
                    loads.setdefault(event.module, []).append(event)
            known = self._loads[id(events)] = (events, loads)
        return known[1]

    def comes_before(self, earlier: Event, later: Event, file: ProjectFile) -> bool:
        """Whether one event of a scope may have happened before another, also inside of a call of both."""
        if not earlier.steps or earlier.steps[:1] != later.steps[:1]:
            return self.precedes(file, earlier, later.block, later.order)
        places = earlier.places_where_apart(later)
        if places is None:
            return False
        first, second = places
        return first.order < second.order and self._evaluator.files[first.file].may_reach(
            first.block, second.block
        )

    def is_certain(self, earlier: Event, later: Event) -> bool:
        """Whether one event of a scope always happens before another that it comes before."""
        places = earlier.places_where_apart(later)
        if places is None:
            return False
        first, second = places
        return self._evaluator.files[second.file].always_precedes(first.block, second.block) and all(
            self._evaluator.files[place.file].always_runs(place.block, position)
            for place, position in earlier.places_below(later)
        )

    def exclude_each_other(self, first: Event, second: Event) -> bool:
        """Whether two events of a scope stand in different branches, there or in what it calls."""
        places = first.places_where_apart(second)
        return places is not None and self._evaluator.files[places[0].file].exclude_each_other(
            places[0].block, places[1].block
        )

    def flows(self) -> list[Flow]:
        """Every flow of the project in which something happens: a file's top level or a function, its events,
        and what importing the file did before.

        Nothing is before in what runs at import itself, nor in a function whose events another flow has: what
        came before its calls is told there.
        """
        return self._flows

    @cached_property
    def _flows(self) -> list[Flow]:
        scopes = [
            (file.index, scope)
            for file in self._evaluator.files
            for scope, fact_ in enumerate(file.facts.scopes)
            if fact_.kind in (ScopeKind.MODULE, ScopeKind.FUNCTION)
        ]
        for file in self._evaluator.files:
            self._follow_imports(file)
        flows = {key: self.events(*key) for key in scopes}
        reached: set[tuple[int, int]] = set()
        for key in scopes:
            if not self._callers.sites(*key):
                reached |= self._reached_from(key)
        found: list[Flow] = []
        for (index, scope), events in flows.items():
            file = self._evaluator.files[index]
            if not events:
                continue
            if scope == 0 or (index, scope) in reached or self._callers.runs_at_import(index, scope):
                found.append((file, scope, events, []))
            else:
                found.append((file, scope, *self._after_import(file, events)))
        return found

    def _after_import(
        self, file: ProjectFile, events: tuple[Event, ...]
    ) -> tuple[tuple[Event, ...], list[Event]]:
        """The events of a function without those of imports that its file did before, and those."""
        at_import = self.at_import(file)
        imported = {event.of_import for event in at_import} - {None}
        return tuple(event for event in events if event.of_import not in imported), at_import

    def _reached_from(self, start: tuple[int, int]) -> set[tuple[int, int]]:
        """The functions whose events are among those of a scope."""
        found: set[tuple[int, int]] = set()
        reached = set() if start in self.cut else {start}
        for _ in range(_DEEPEST):
            reached = {key for outer in reached for key in self._runs[outer]} - found
            found |= reached
        return found

    def contexts(self, file: ProjectFile, block: int) -> frozenset[Context]:
        """What is going on where a block runs, by the ``with`` statements of its scope around it."""
        key = (file.index, block)
        if key not in self._contexts:
            self._contexts[key] = frozenset(
                context for outer in file.block_ancestors(block) for context in self._entered(file, outer)
            )
        return self._contexts[key]

    def _entered(self, file: ProjectFile, block: int) -> Iterator[Context]:
        entered = file.facts.blocks[block]
        if entered.kind is not BlockKind.WITH or not isinstance(entered.test, fact.Sequence):
            return
        place = self._project.place_before(file, block)
        for item in entered.test.items:
            for value in self._evaluator.evaluate(item, place, {}):
                if self._is_tape(value):
                    yield Context.TAPE
                elif value == ExternalResult("warp.ScopedCapture"):
                    yield Context.CAPTURE

    def _is_tape(self, value: Value) -> bool:
        match value:
            case ExternalResult(name="warp.Tape"):
                return True
            case Instance(of=Class() as of):
                return self._project.differentiation.is_tape(of)
            case _:
                return False

    # The events of each scope itself

    def _add(self, scope: int, file: int, event: Event) -> None:
        contexts = event.contexts | self.contexts(self._evaluator.files[file], event.block)
        origin = Place(file, scope, event.block, event.order)
        self._own[file, scope].append(event._replace(contexts=contexts, origin=origin))

    def _add_definitions(self) -> None:
        for definition in self._project.kernels.values():
            place = definition.place
            event = Event(
                EventKind.DEFINE,
                place.block,
                place.order,
                definition.location,
                f'the definition of "{definition.name}"',
                module=definition.module,
                kernel=definition.kernel,
            )
            self._add(place.scope, place.file, event)

    def _add_writes(self) -> None:
        for write in (*self._project.option_writes, *self._project.options.forwarded):
            event = Event(
                EventKind.SET_OPTION,
                write.place.block,
                write.place.order,
                write.location,
                f'option "{write.name}"',
                module=write.module,
                write=write,
            )
            self._add(write.place.scope, write.file.index, event)
        for config in self._project.config_writes:
            event = Event(
                EventKind.SET_CONFIG,
                config.place.block,
                config.place.order,
                config.location,
                f"wp.config.{config.name}",
                config=config,
            )
            self._add(config.place.scope, config.file.index, event)

    def _add_launch(self, launch: Launch) -> None:
        definition = self._project.kernels.get(launch.kernel)
        if definition is None or not launch.is_sure:
            return
        # The kernel is known in the outermost call that passes it on: there the launch happens.
        site = launch.path[-1] if launch.path else launch.site
        call = self._callers.call(site)
        contexts: frozenset[Context] = frozenset()
        for inner in (launch.site, *launch.path):
            contexts |= self.contexts(self._callers.file(inner), self._callers.call(inner).block)
        event = Event(
            EventKind.LAUNCH,
            call.block,
            call.order,
            self._callers.file(launch.site).facts.location(self._callers.call(launch.site).span),
            f'the launch of "{definition.name}"',
            module=definition.module,
            kernel=launch.kernel,
            block_dim=launch.block_dim,
            site=launch.site,
            contexts=contexts,
            steps=tuple(self._step(outer) for outer in reversed(launch.path)),
        )
        self._add(call.scope, site.file, event)

    def _add_load(self, site: CallSite, name: str, position: int, keyword: str) -> None:
        arguments = self._evaluator.arguments(self._callers.call(site), self._callers.place(site), {})
        given = arguments.get(position, keyword)
        if given is None and name == "force_load":
            self._add_call(site, EventKind.LOAD, f"this {name}", EVERY_MODULE)
            return
        values = given or (constant(None),)
        modules = tuple(ModuleOf(value) if isinstance(value, Kernel) else value for value in values)
        key = self._project.warp_modules.of_values(modules, self._callers.file(site))
        if key is not None:
            self._add_call(site, EventKind.LOAD, f"this {name}", key)

    def _add_other_calls(self) -> None:
        project = self._project
        for name in ("clear_kernel_cache", "clear_lto_cache", "build.clear_kernel_cache"):
            for site in project.calls_of(name):
                self._add_call(site, EventKind.CLEAR_CACHE, f"this {name}")
        for preload in project.preloads:
            for module in preload.modules if preload.name == "compile_aot_module" else ():
                self._add_call(preload.site, EventKind.COMPILE, "this compilation", module)
        for site in project.calls_of("init"):
            self._add_call(site, EventKind.INIT, "this wp.init")
        for site in project.calls_of("overload"):
            for value in self._evaluator.evaluate_call(site.file, site.call):
                if isinstance(value, Kernel) and value in project.kernels:
                    definition = project.kernels[value]
                    description = f'the overload of "{definition.name}"'
                    self._add_call(site, EventKind.OVERLOAD, description, definition.module, value)
        for file in self._evaluator.files:
            for index, call in enumerate(file.facts.calls):
                if isinstance(call.function, fact.Attribute) and call.function.attribute == "load":
                    self._add_load_of_object(CallSite(file.index, index), call.function.base)

    def _add_load_of_object(self, site: CallSite, base: fact.Expression) -> None:
        """``kernel.module.load(device)``"""
        for value in self._evaluator.evaluate(base, self._callers.place(site), {}):
            if isinstance(value, ModuleOf):
                key = self._project.warp_modules.of_values((value,), self._callers.file(site))
                if key is not None:
                    self._add_call(site, EventKind.LOAD, "this load", key)

    def _add_call(
        self,
        site: CallSite,
        kind: EventKind,
        description: str,
        module: ModuleKey | None = None,
        kernel: Kernel | None = None,
    ) -> None:
        call = self._callers.call(site)
        location = self._callers.file(site).facts.location(call.span)
        event = Event(
            kind, call.block, call.order, location, description, module=module, kernel=kernel, site=site
        )
        self._add(call.scope, site.file, event)

    def _step(self, site: CallSite, run: Run | None = None) -> Step:
        call = self._callers.call(site)
        functions = self._callers.functions(site) if run is None else [run.function]
        name = "?"
        if functions:
            name = self._evaluator.files[functions[0].file].facts.scopes[functions[0].scope].qualified_name
        place = self._callers.place(site)
        if run is not None:
            place = place._replace(block=run.block, order=run.order)
        return Step(
            self._callers.file(site).facts.location(call.span),
            name,
            place,
            passes_functions=run is not None and run.callables is not NO_CALLABLES,
            site=site,
        )

    # The events of what a scope runs

    def _collect(self, file: ProjectFile, scope: int, depth: int, callables: Callables) -> _Found:
        own = self._own.get((file.index, scope), ())
        groups = [_Group(event.block, event.order, (), _Found((event,))) for event in own]
        groups += self._inner(file, scope, depth, callables)
        groups.sort(key=lambda group: group.order)
        events = tuple(islice(self._in_order(groups, file), _MOST_EVENTS + 1))
        if len(events) > _MOST_EVENTS:
            self.cut.add((file.index, scope))
        return _Found(
            events[:_MOST_EVENTS],
            all(group.found.is_whole for group in groups),
            max((group.found.calls for group in groups), default=0),
        )

    def _in_order(self, groups: list[_Group], file: ProjectFile) -> Iterator[Event]:
        """The events without those of imports that come again: a file is run once."""
        imported: dict[int, int] = {}
        for block, order, steps, found in groups:
            contexts = self.contexts(file, block) if block >= 0 else frozenset()
            always_before = {block: True}
            for event in found.events:
                if event.of_import is not None:
                    first = imported.get(event.of_import)
                    if first is None:
                        imported[event.of_import] = block
                    else:
                        if first not in always_before:
                            always_before[first] = file.always_precedes(first, block)
                        if always_before[first]:
                            continue
                yield event.seen_from(block, order, steps, contexts)

    def _inner(self, file: ProjectFile, scope: int, depth: int, callables: Callables) -> Iterator[_Group]:
        """What runs inside a scope."""
        for index in file.scopes_by_parent.get(scope, ()):
            inner = file.facts.scopes[index]
            if inner.kind in (ScopeKind.CLASS, ScopeKind.COMPREHENSION):
                yield _Group(inner.block, inner.order, (), self._find(file.index, index, depth, callables))
        for site in self._calling.sites_in(file, scope):
            for run in self._calling.runs(site, callables):
                function = run.function
                self._runs[file.index, scope].add((function.file, function.scope))
                found = self._find(function.file, function.scope, depth - 1, run.callables)
                if found is _NOTHING:
                    continue
                steps = (self._step(site, run),) if found.events else ()
                yield _Group(run.block, run.order, steps, found._replace(calls=found.calls + 1))
        for imported in file.imports_by_scope.get(scope, ()):
            if file.is_type_checking(imported.block):
                continue
            for target in self._project.imports.targets(imported, file):
                # What is imported is not run as the program.
                target_file = self._evaluator.files[target]
                if (target, 0) in self._running:  # a circle: what is left out here is there for others
                    yield _Group(imported.block, imported.order, (), _NOT_FOLLOWED)
                    continue
                events = self._of_import(target_file)
                if events:
                    location = file.facts.location(imported.span)
                    place = Place(file.index, scope, imported.block, imported.order)
                    step = Step(location, f"the import of {target_file.dotted_name}", place, is_import=True)
                    yield _Group(imported.block, imported.order, (step,), _Found(events))


class _Found(NamedTuple):
    """The events of a scope, as far as they were followed."""

    events: tuple[Event, ...]
    is_whole: bool = True
    """Nothing was left out for being too deep or recursive: whoever asks finds the same."""
    calls: int = 0
    """How deep the calls inside of calls go that were followed."""


_NOTHING = _Found(())
_NOT_FOLLOWED = _Found((), is_whole=False)


class _Group(NamedTuple):
    """What one place of a scope leads to, and the way from there."""

    block: int
    order: int
    steps: tuple[Step, ...]
    found: _Found


def _matters_elsewhere(event: Event, file: int) -> bool:
    """Whether an event of importing a file is one for those who import it: what the file does to modules and
    options of its own is over by then."""
    if (
        event.kind in (EventKind.DEFINE, EventKind.OVERLOAD, EventKind.SET_OPTION)
        and event.module is not None
    ):
        return event.module.kind is ModuleKind.NAMED or event.module.file != file
    return True
