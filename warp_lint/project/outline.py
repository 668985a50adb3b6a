"""What happens in each scope of a project, for whoever follows its programs call by call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from warp_lint.facts import values as fact
from warp_lint.facts.records import ImportFact, ScopeKind
from warp_lint.project.callers import CallSite
from warp_lint.project.events import Event, EventKind
from warp_lint.project.files import ProjectFile
from warp_lint.project.launches import Launch
from warp_lint.project.values import UNKNOWN, Function, Kernel, ParameterValue

if TYPE_CHECKING:
    from warp_lint.project import Project


class Item(NamedTuple):
    """Something that happens in a scope."""

    order: int
    block: int
    what: Event | CallSite | ImportFact | int
    """A comprehension or class body by its scope."""


class Outline:
    """What happens in each scope, whatever it is run with."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._callers = project.callers
        self._items: dict[tuple[int, int], list[Item]] = {}
        self._doubtful: dict[tuple[int, int], list[Event]] = defaultdict(list)
        """Launches that the timeline leaves out: of one of several kernels, or of one that is not known."""
        known = set()
        for launch in project.launches:
            known.add(launch.site)
            if not launch.is_sure:
                self._add_doubtful(launch.path[-1] if launch.path else launch.site, launch.site, launch)
        for site in project.calls_of("launch", "launch_tiled"):
            if site not in known:
                self._add_doubtful(site, site, None)
        self.without_launch = set(project.kernels) - {launch.kernel for launch in project.launches}
        """The kernels of which nobody knows who launches them."""
        self.on_cpu = {(launch.site, launch.kernel) for launch in project.launches if launch.cpu_only}
        """The launches that only the CPU sees."""
        self.built_ahead = frozenset(project.calls_of("load_aot_module"))
        """Calls that load what somebody has built: they build nothing."""
        self.signatures = {
            (site, kernel): signatures
            for kernel in project.kernels
            if project.kernels[kernel].is_generic
            for site, signatures in self._launched_signatures(kernel)
        }
        """The signatures that the launches of generic kernels have, where they are known."""
        self._methods: dict[str, list[Function]] = defaultdict(list)
        for file in project.files:
            for index, scope in enumerate(file.facts.scopes):
                if (
                    scope.kind is ScopeKind.FUNCTION
                    and file.facts.scopes[scope.parent].kind is ScopeKind.CLASS
                ):
                    self._methods[scope.name].append(Function(file.index, index))
        self._eventful = self._find_eventful()

    def _launched_signatures(self, kernel: Kernel) -> Iterator[tuple[CallSite, list[tuple[str, ...]]]]:
        for launch in self.project.overloads.launches(kernel) or ():
            yield launch.site, sorted(launch.signatures)

    def _add_doubtful(self, outer: CallSite, site: CallSite, launch: Launch | None) -> None:
        call = self._callers.call(outer)
        event = Event(
            EventKind.LAUNCH,
            call.block,
            call.order,
            self._callers.file(site).facts.location(self._callers.call(site).span),
            "a launch of one of several kernels",
            kernel=launch.kernel if launch is not None else None,
            block_dim=launch.block_dim if launch is not None else None,
            site=site,
        )
        self._doubtful[outer.file, call.scope].append(event)

    def _find_eventful(self) -> set[tuple[int, int]]:
        """The scopes in which something happens, there or in what they call."""
        pending: list[tuple[int, int]] = list(self._doubtful)
        calls_of: dict[str, list[CallSite]] = defaultdict(list)
        for file in self.project.files:
            scopes = range(len(file.facts.scopes))
            pending += [
                (file.index, scope) for scope in scopes if self.project.timeline.own_events(file.index, scope)
            ]
            pending += [(file.index, imported.scope) for imported in file.facts.imports]
            for index, call in enumerate(file.facts.calls):
                if self.is_passed(CallSite(file.index, index)):
                    pending.append((file.index, call.scope))
                if isinstance(call.function, fact.Attribute) and call.function.attribute in self._methods:
                    calls_of[call.function.attribute].append(CallSite(file.index, index))
        found: set[tuple[int, int]] = set()
        while pending:
            key = pending.pop()
            if key in found:
                continue
            found.add(key)
            scope = self.project.files[key[0]].facts.scopes[key[1]]
            if scope.kind in (ScopeKind.CLASS, ScopeKind.COMPREHENSION):
                pending.append((key[0], scope.parent))
            sites = [*self._callers.sites(*key), *calls_of.get(scope.name, ())]
            pending += [(site.file, self._callers.call(site).scope) for site in sites]
        return found

    def functions(self, site: CallSite) -> list[Function]:
        """The functions that a call may run and in which something happens. Of an object that is not known,
        it may be the only method with that name."""
        found = self._callers.functions(site)
        function = self._callers.call(site).function
        if not found and isinstance(function, fact.Attribute):
            callee = self.project.evaluator.callee(site.file, site.call)
            named = self._methods.get(function.attribute, [])
            named = [one for one in named if one.file == site.file] or named
            if len(named) == 1 and all(value == UNKNOWN for value in callee):
                found = named
        return self.eventful(found)

    def eventful(self, functions: Iterable[Function]) -> list[Function]:
        """Those functions in which something happens."""
        return [one for one in functions if (one.file, one.scope) in self._eventful]

    def is_passed(self, site: CallSite) -> bool:
        """Whether a call is of a function that the caller of the function around it passes."""
        callee = self.project.evaluator.callee(site.file, site.call)
        return any(isinstance(value, ParameterValue) for value in callee)

    def uncalled(self, file: ProjectFile) -> list[int]:
        """The functions of a file in which something happens and that nobody in the project calls."""
        return [
            scope
            for scope, fact_ in enumerate(file.facts.scopes)
            if fact_.kind is ScopeKind.FUNCTION
            and (file.index, scope) in self._eventful
            and not self._callers.sites(file.index, scope)
            and file.outermost_function_of(fact_.parent) is None
        ]

    def items(self, file: ProjectFile, scope: int) -> list[Item]:
        """What happens in a scope, in order."""
        key = (file.index, scope)
        if key not in self._items:
            events = [*self.project.timeline.own_events(*key), *self._doubtful.get(key, ())]
            items = [Item(event.order, event.block, event) for event in events]
            for index in file.calls_by_scope.get(scope, ()):
                call, site = file.facts.calls[index], CallSite(file.index, index)
                if self.functions(site) or self.is_passed(site):
                    items.append(Item(call.order, call.block, site))
            items += [
                Item(imported.order, imported.block, imported)
                for imported in file.facts.imports
                if imported.scope == scope and not file.is_type_checking(imported.block)
            ]
            items += [
                Item(inner.order, max(inner.block, 0), index)
                for index, inner in enumerate(file.facts.scopes)
                if inner.parent == scope
                and inner.kind in (ScopeKind.CLASS, ScopeKind.COMPREHENSION)
                and (file.index, index) in self._eventful
            ]
            # A call has run before the launch that hands its kernel on.
            items.sort(key=lambda item: (item.order, isinstance(item.what, Event)))
            self._items[key] = items
        return self._items[key]
