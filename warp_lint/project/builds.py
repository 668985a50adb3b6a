"""What Warp will build when the programs of a project start over an empty kernel cache.

The programs are followed as the timeline has them, call by call and turn by turn of their loops, with the
arguments that are known. A module is built when it is loaded and its kernels, options or block dimension are
others than before. Every branch is taken, and a loop of unknown length turns twice: then the prediction is
not exact, and says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from warp_lint.facts import values as fact
from warp_lint.facts.records import BlockKind, ImportFact, ScopeFact, ScopeKind
from warp_lint.findings import Location
from warp_lint.project.callers import CallSite
from warp_lint.project.evaluation import Place
from warp_lint.project.events import EVERY_MODULE, Event, EventKind
from warp_lint.project.files import ProjectFile, target_names
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.project.launches import DEFAULT_BLOCK_DIM, Launch
from warp_lint.project.values import (
    UNKNOWN,
    Class,
    Collection,
    Constant,
    Environment,
    Function,
    Instance,
    Kernel,
    Method,
    Partial,
    Symbol,
    Value,
    Values,
    constant,
    only_constant,
)

if TYPE_CHECKING:
    from warp_lint.project import Project

CPU, CUDA = "cpu", "cuda"
_CPU_BLOCK_DIM = 1
_DEEPEST = 12
"""Calls followed inside calls."""
_MOST_TURNS = 32
_UNKNOWN_TURNS = 2
"""Turns of a loop of unknown length: enough to see whether the second builds again."""
_MOST_STEPS = 50_000
"""Events, calls and imports after which a program is not followed any further."""
_END = 1 << 60

BlockDim: TypeAlias = int | str
"""A number, or the text that stands for a computed one."""
Captured: TypeAlias = tuple[tuple[str, Values], ...]
"""The captured names of a kernel with what they stand for."""


class Version(NamedTuple):
    """A kernel as one definition of it makes it: with what it captures, and for one signature."""

    kernel: Kernel
    captured: Captured = ()
    signature: tuple[str, ...] = ()


class Build(NamedTuple):
    """One build of a module."""

    device: str
    block_dim: BlockDim
    kernels: frozenset[Version]


class ModuleId(NamedTuple):
    """A module while a program runs: of unique kernels there is one for each version."""

    key: ModuleKey
    captured: Captured = ()


@dataclass
class ModuleBuilds:
    """What is predicted for one module, or for all unique modules of one kernel."""

    builds: list[tuple[ModuleId, Build]] = field(default_factory=list)
    launched: set[tuple[Version, str, BlockDim]] = field(default_factory=set)
    loaded_by: Event | None = None
    """What loads it first."""
    is_exact: bool = True

    @property
    def kernel_builds(self) -> int:
        return sum(len(build.kernels) for _, build in self.builds)

    @property
    def needed_kernel_builds(self) -> int:
        """How many would do: each launched kernel once for each block dimension that it is launched with."""
        return len(self.launched)

    @property
    def needed_builds(self) -> int:
        """How many would do if every module were complete before its first load."""
        return len({(module, build.device, build.block_dim) for module, build in self.builds})


def predict(
    project: Project, entry: ProjectFile | None = None, device: str | None = None
) -> dict[ModuleKey, ModuleBuilds]:
    """The builds of one program, or of all programs of the project over one cache, by module.

    ``device`` says that everything is launched there, whatever the program names.
    """
    cache, outline = _Cache(), _Outline(project)
    if entry is not None:
        _Run(outline, cache, device).run_program(entry)
        return cache.modules
    for file in project.files:
        if file.is_script and not project.is_test(file):
            _Run(outline, cache, device).run_program(file)
    for file in project.files:
        if not project.is_test(file):
            _Run(outline, cache, device).run_as_library(file)
    return cache.modules


class _Cache:
    """What has been built, over all programs."""

    def __init__(self) -> None:
        self.modules: dict[ModuleKey, ModuleBuilds] = defaultdict(ModuleBuilds)
        self._identities: set[object] = set()

    def load(self, module: ModuleId, identity: object, build: Build) -> None:
        if (module, identity, build) not in self._identities:
            self._identities.add((module, identity, build))
            self.modules[module.key].builds.append((module, build))


@dataclass
class _Module:
    """A Warp module in the process."""

    live: dict[Version, None] = field(default_factory=dict)
    options: dict[str, Values] = field(default_factory=dict)
    config: dict[str, Values] = field(default_factory=dict)
    """Of ``wp.config``, as it was when the module was last hashed."""
    is_modified: bool = True
    hashed: tuple[frozenset[Version], object] = (frozenset(), ())


class _Item(NamedTuple):
    """Something that happens in a scope."""

    order: int
    block: int
    what: Event | CallSite | ImportFact | int
    """A comprehension or class body by its scope."""


class _Outline:
    """What happens in each scope, whatever it is run with."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._callers = project.callers
        self._items: dict[tuple[int, int], list[_Item]] = {}
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
        self._methods: dict[str, list[Function]] = defaultdict(list)
        for file in project.files:
            for index, scope in enumerate(file.facts.scopes):
                if (
                    scope.kind is ScopeKind.FUNCTION
                    and file.facts.scopes[scope.parent].kind is ScopeKind.CLASS
                ):
                    self._methods[scope.name].append(Function(file.index, index))
        self._eventful = self._find_eventful()

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
        return [one for one in found if (one.file, one.scope) in self._eventful]

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

    def items(self, file: ProjectFile, scope: int) -> list[_Item]:
        """What happens in a scope, in order."""
        key = (file.index, scope)
        if key not in self._items:
            events = [*self.project.timeline.own_events(*key), *self._doubtful.get(key, ())]
            items = [_Item(event.order, event.block, event) for event in events]
            for index in file.calls_by_scope.get(scope, ()):
                call, site = file.facts.calls[index], CallSite(file.index, index)
                if self.functions(site):
                    items.append(_Item(call.order, call.block, site))
            items += [
                _Item(imported.order, imported.block, imported)
                for imported in file.facts.imports
                if imported.scope == scope and not file.is_type_checking(imported.block)
            ]
            items += [
                _Item(inner.order, max(inner.block, 0), index)
                for index, inner in enumerate(file.facts.scopes)
                if inner.parent == scope
                and inner.kind in (ScopeKind.CLASS, ScopeKind.COMPREHENSION)
                and (file.index, index) in self._eventful
            ]
            # A call has run before the launch that hands its kernel on.
            items.sort(key=lambda item: (item.order, isinstance(item.what, Event)))
            self._items[key] = items
        return self._items[key]


class _Run:
    """One process."""

    def __init__(self, outline: _Outline, cache: _Cache, device: str | None) -> None:
        project = outline.project
        self._outline = outline
        self._project = project
        self._evaluator = project.evaluator
        self._callers = project.callers
        self._cache = cache
        self._device = device
        self._modules: dict[ModuleId, _Module] = {}
        self._config: dict[str, Values] = {}
        self._imported: set[int] = set()
        self._running: list[tuple[int, int]] = []
        self._entry: int | None = None
        self._changes = 0
        self._steps = 0
        self._done: dict[object, int] = {}
        """The calls that changed nothing, with how much had changed by then."""
        self._is_exact = True
        self._on_cpu = {(launch.site, launch.kernel) for launch in project.launches if launch.cpu_only}
        self._built_ahead = frozenset(project.calls_of("load_aot_module"))
        """Calls that load what somebody has built: they build nothing."""
        self._signatures = {
            (site, kernel): signatures
            for kernel in project.kernels
            if project.kernels[kernel].is_generic
            for site, signatures in self._launched_signatures(kernel)
        }

    def _launched_signatures(self, kernel: Kernel) -> Iterator[tuple[CallSite, list[tuple[str, ...]]]]:
        for launch in self._project.overloads.launches(kernel) or ():
            yield launch.site, sorted(launch.signatures)

    def run_program(self, file: ProjectFile) -> None:
        """``python file``"""
        self._entry = file.index
        self._import(file)

    def run_as_library(self, file: ProjectFile) -> None:
        """Import a file, and call those of its functions that nobody in the project calls: some user may."""
        self._import(file)
        self._is_exact = False
        for scope in self._outline.uncalled(file):
            self._enter(file, scope, {})

    def _import(self, file: ProjectFile) -> None:
        if file.index not in self._imported:
            self._imported.add(file.index)
            self._enter(file, 0, {})

    # Following the program

    def _enter(self, file: ProjectFile, scope: int, environment: Environment) -> None:
        key = (file.index, scope)
        if key in self._running or len(self._running) > _DEEPEST:
            return
        self._running.append(key)
        try:
            self._run(self._outline.items(file, scope), None, file, environment)
        finally:
            self._running.pop()

    def _run(
        self, items: Sequence[_Item], inside: int | None, file: ProjectFile, environment: Environment
    ) -> None:
        """Run items that stand in one loop, or in none, in order."""
        for loop, group in groupby(items, key=lambda item: self._next_loop(file, item.block, inside)):
            if loop is None:
                for item in group:
                    self._do(item, file, environment)
            else:
                turning = list(group)
                for turn in self._turns(loop, turning[0], file, environment):
                    self._run(turning, loop, file, turn)

    def _next_loop(self, file: ProjectFile, block: int, inside: int | None) -> int | None:
        """The outermost loop around a block that is in the loop ``inside``."""
        found = None
        for outer in file.block_ancestors(block):
            if outer == inside:
                break
            if file.facts.blocks[outer].kind is BlockKind.LOOP:
                found = outer
        return found

    def _turns(
        self, loop: int, first: _Item, file: ProjectFile, environment: Environment
    ) -> Iterator[Environment]:
        block = file.facts.blocks[loop]
        place = Place(file.index, block.scope, max(block.parent, 0), first.order)
        known: Values = ()
        if block.target is not None and block.test is not None:
            known = self._evaluator.evaluate(block.test, place, environment)
        scope = (file.index, block.scope)
        yield from self._bound(self._known_turns(known), block.target, scope, environment)

    def _known_turns(self, iterated: Values) -> Sequence[Values]:
        """What the turns of a loop are about. What is empty in the text is filled elsewhere."""
        match iterated:
            case (Collection(items=items),) if 0 < len(items) <= _MOST_TURNS:
                return items
            case _:
                self._is_exact = False
                return [(Symbol(f"turn {number}"),) for number in range(_UNKNOWN_TURNS)]

    def _bound(
        self,
        turns: Iterable[Values],
        target: fact.Expression | None,
        scope: tuple[int, int],
        environment: Environment,
    ) -> Iterator[Environment]:
        for values in turns:
            names = dict(environment.get(scope, {}))
            for path, name in target_names(target) if target is not None else ():
                names[name] = _part(values, path)
            yield {**environment, scope: names}

    def _do(self, item: _Item, file: ProjectFile, environment: Environment) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS or self._is_skipped(item, file):
            return
        match item.what:
            case CallSite() as site:
                self._call(site, environment)
            case ImportFact() as imported:
                for target in self._project.imports.targets(imported, file):
                    self._import(self._project.files[target])
            case int(scope):
                self._enter_inner(file, scope, environment)
            case event:
                self._happen(event, environment)

    def _is_skipped(self, item: _Item, file: ProjectFile) -> bool:
        if file.is_main_guarded(item.block):
            return file.index != self._entry
        return file.is_type_checking(item.block)

    def _enter_inner(self, file: ProjectFile, scope: int, environment: Environment) -> None:
        inner = file.facts.scopes[scope]
        if inner.kind is ScopeKind.CLASS:
            self._enter(file, scope, environment)
            return
        for turn in self._turns_of_comprehension(file, scope, inner, environment):
            self._enter(file, scope, turn)

    def _turns_of_comprehension(
        self, file: ProjectFile, scope: int, inner: ScopeFact, environment: Environment
    ) -> Iterator[Environment]:
        loops = file.loop_bindings.get(scope, [])
        pending: list[Environment] = [environment]
        for loop in loops:
            place = Place(file.index, scope, inner.body_block, _END)
            turned: list[Environment] = []
            for outer in pending:
                turns = self._known_turns(self._evaluator.evaluate(loop.value, place, outer))
                turned += self._bound(turns, loop.target, (file.index, scope), outer)
            pending = turned[: _MOST_TURNS * 2]
        yield from pending

    def _call(self, site: CallSite, environment: Environment) -> None:
        functions = self._outline.functions(site)
        if len(functions) > 1 or not self._callers.functions(site):
            self._is_exact = False
        for function in functions:
            bound = self._bind(site, function, environment)
            key = (function.file, function.scope, _frozen(bound.get((function.file, function.scope), {})))
            if self._done.get(key) == self._changes:
                continue
            before = self._changes
            self._enter(self._project.files[function.file], function.scope, bound)
            if self._changes == before:
                self._done[key] = before

    def _bind(self, site: CallSite, function: Function, environment: Environment) -> Environment:
        """The names of a function's parameters; none where the call does not say."""
        call, place = self._callers.call(site), self._callers.place(site)
        given = self._evaluator.arguments(call, place, environment)
        for value in self._evaluator.evaluate(call.function, place, environment):
            if isinstance(value, Partial):
                given, value = value.arguments.merged(given), value.function
            owner: Value | None = None
            match value:
                case Method(owner=bound_to):
                    owner = bound_to
                case Class():
                    owner = Instance(value)
                case Instance():
                    owner = value
            if owner is not None:
                given = type(given)(((owner,), *given.positional), given.keywords, given.open)
            bound = self._evaluator.bind(function, given)
            if bound is not None:
                return bound
        return dict(function.environment)

    # What happens to modules

    def _happen(self, event: Event, environment: Environment) -> None:
        match event.kind:
            case EventKind.DEFINE if event.kernel is not None:
                self._define(self._project.kernels[event.kernel], environment)
            case EventKind.OVERLOAD if event.kernel is not None and event.site is not None:
                self._declare(event.kernel, event.site)
            case EventKind.SET_OPTION if event.write is not None:
                module = self._module(ModuleId(event.write.module))
                before = module.options.get(event.write.name)
                module.options[event.write.name] = event.write.values
                if event.write.is_marking:
                    self._mark(module, is_change=before != event.write.values)
            case EventKind.SET_CONFIG if event.config is not None:
                self._changes += self._config.get(event.config.name) != event.config.values
                self._config[event.config.name] = event.config.values
            case EventKind.LAUNCH if event.kernel is not None:
                self._launch(event, event.kernel)
            case EventKind.LAUNCH:
                self._is_exact = False
                for kernel in {
                    version.kernel for module in self._modules.values() for version in module.live
                }:
                    if kernel in self._outline.without_launch:
                        self._launch(event, kernel)
            case EventKind.LOAD if event.site not in self._built_ahead:
                self._preload(event, environment)
            case EventKind.COMPILE:
                self._preload(event, environment)

    def _module(self, module: ModuleId) -> _Module:
        return self._modules.setdefault(module, _Module())

    def _mark(self, module: _Module, *, is_change: bool) -> None:
        module.is_modified = True
        self._changes += is_change

    def _define(self, kernel: KernelDefinition, environment: Environment) -> None:
        captured = tuple(
            (name, self._evaluator.lookup(name, kernel.place, environment))
            for name in sorted(kernel.captured_parameters)
        )
        module = self._module(_module_of(kernel, captured))
        if kernel.is_generic:
            for declaration in self._project.overloads.declared.get(kernel.kernel, ()):
                if declaration.site is None and declaration.signature is not None:
                    self._add(Version(kernel.kernel, captured, declaration.signature), module)
            module.live.setdefault(Version(kernel.kernel, captured, _OPEN))
            self._mark(module, is_change=False)
        else:
            self._add(Version(kernel.kernel, captured), module)

    def _add(self, version: Version, module: _Module) -> None:
        is_new = version not in module.live
        module.live[version] = None
        self._mark(module, is_change=is_new)

    def _declare(self, kernel: Kernel, site: CallSite) -> None:
        for declaration in self._project.overloads.declared.get(kernel, ()):
            if declaration.site == site:
                if declaration.signature is None:
                    self._is_exact = False
                signature = declaration.signature or (f"{site.file}:{site.call}",)
                for module in self._modules_of(kernel):
                    for version in self._versions(kernel, module):
                        self._add(version._replace(signature=signature), self._modules[module])

    def _modules_of(self, kernel: Kernel) -> list[ModuleId]:
        """The modules that hold a version of a kernel."""
        key = self._project.kernels[kernel].module
        return [module for module in self._modules if module.key == key and self._versions(kernel, module)]

    def _versions(self, kernel: Kernel, module: ModuleId) -> list[Version]:
        """The versions of a kernel in a module, one for each of what it captures."""
        live = [version for version in self._modules[module].live if version.kernel == kernel]
        return list({version.captured: version for version in live}.values())

    def _launch(self, event: Event, kernel: Kernel) -> None:
        assert event.site is not None
        on_cpu = self._device == CPU or (self._device is None and (event.site, kernel) in self._on_cpu)
        device = CPU if on_cpu else CUDA
        block_dim = self._block_dim_on(device, self._shown(event.block_dim))
        for signature in self._signatures_at(event.site, kernel):
            for module in self._modules_of(kernel):
                for version in self._versions(kernel, module):
                    launched = version._replace(signature=signature)
                    if signature:
                        self._add(launched, self._modules[module])
                    self._cache.modules[module.key].launched.add((launched, device, block_dim))
                self._load(module, device, block_dim, event)

    def _signatures_at(self, site: CallSite, kernel: Kernel) -> list[tuple[str, ...]]:
        """The signatures that a launch has in turn. One that is not known is taken to be declared, where any
        is, and else to be another one."""
        if not self._project.kernels[kernel].is_generic:
            return [()]
        known = self._signatures.get((site, kernel))
        if known:
            return known
        self._is_exact = False
        declared = [
            version.signature
            for module in self._modules_of(kernel)
            for version in self._modules[module].live
            if version.kernel == kernel and version.signature != _OPEN
        ]
        return declared[:1] or [(f"{site.file}:{site.call}",)]

    def _shown(self, block_dim: Constant | Symbol | None) -> BlockDim:
        match block_dim:
            case Constant(value=int(number)):
                return number
            case Symbol(text=text):
                self._is_exact = False
                return text
            case _:
                self._is_exact = False
                return DEFAULT_BLOCK_DIM

    def _preload(self, event: Event, environment: Environment) -> None:
        block_dim = self._asked_block_dim(event, environment)
        for module in list(self._modules):
            is_meant = event.module == EVERY_MODULE or module.key == event.module
            if is_meant and self._modules[module].live:
                given = only_constant(self._modules[module].options.get("block_dim"))
                option = given.value if given is not None and isinstance(given.value, int) else None
                asked: BlockDim = block_dim or option or DEFAULT_BLOCK_DIM
                device = CPU if self._device == CPU else CUDA
                if event.kind is not EventKind.COMPILE:
                    asked = self._block_dim_on(device, asked)
                self._load(module, device, asked, event)

    def _block_dim_on(self, device: str, asked: BlockDim) -> BlockDim:
        """The block dimension that a module is built for where one was asked for."""
        has_blocks = device == CUDA or self._config.get("enable_cpu_blocks") == (constant(True),)
        return asked if has_blocks else _CPU_BLOCK_DIM

    def _asked_block_dim(self, event: Event, environment: Environment) -> int | None:
        if event.site is None:
            return None
        call, place = self._callers.call(event.site), self._callers.place(event.site)
        given = only_constant(self._evaluator.arguments(call, place, environment).keyword("block_dim"))
        return given.value if given is not None and isinstance(given.value, int) else None

    def _load(self, module: ModuleId, device: str, block_dim: BlockDim, event: Event) -> None:
        state = self._modules[module]
        if state.is_modified:
            options = tuple(
                sorted((name, values) for name, values in state.options.items() if name != "block_dim")
            )
            built = frozenset(version for version in state.live if version.signature != _OPEN)
            state.hashed = (built, (options, tuple(sorted(self._config.items()))))
            state.is_modified = False
        kernels, identity = state.hashed
        record = self._cache.modules[module.key]
        record.is_exact &= self._is_exact
        record.loaded_by = record.loaded_by or event
        # Without a hash in its name, a binary is found again whatever it was built from.
        is_found = state.options.get("strip_hash") == (constant(True),) and any(
            built == module for built, _ in record.builds
        )
        if kernels and not is_found:
            self._cache.load(module, identity, Build(device, block_dim, kernels))


_OPEN = ("?",)
"""The signature of a generic kernel before somebody chooses types: nothing is built for it."""
_ALONE = (ModuleKind.UNIQUE, ModuleKind.ISOLATED, ModuleKind.COMPUTED, ModuleKind.UNKNOWN)


def _module_of(kernel: KernelDefinition, captured: Captured) -> ModuleId:
    return ModuleId(kernel.module, captured if kernel.module.kind in _ALONE else ())


def _part(values: Values, path: tuple[int, ...]) -> Values:
    """What a name at a place of a loop's target stands for."""
    for position in path:
        parts: list[Value] = []
        for value in values:
            match value:
                case Collection(items=items) if 0 <= position < len(items):
                    parts += items[position]
                case Symbol(text=text):
                    parts.append(Symbol(f"{text}[{position}]"))
                case _:
                    parts.append(UNKNOWN)
        values = tuple(dict.fromkeys(parts))
    return values


def _frozen(names: dict[str, Values]) -> tuple[tuple[str, Values], ...]:
    return tuple(sorted(names.items(), key=lambda item: item[0]))


def place_of_event(event: Event) -> Location:
    """Where a person finds what an event is: the outermost call that leads to it."""
    return event.steps[0].location if event.steps else event.location
