"""What Warp will build when the programs of a project start over an empty kernel cache.

The programs are followed as the timeline has them, call by call and turn by turn of their loops, with the
arguments that are known. A module is built when it is loaded and its kernels, options or block dimension are
others than before. Every branch is taken, and a loop of unknown length turns twice: then the prediction is
not exact, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from warp_lint.facts import values as fact
from warp_lint.facts.records import BlockKind, ImportFact, ScopeFact, ScopeKind
from warp_lint.project.build_records import BuildCache, ModuleBuilds
from warp_lint.project.callers import CallSite
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile, target_names
from warp_lint.project.kernels import ModuleKey
from warp_lint.project.outline import Item, Outline
from warp_lint.project.values import (
    UNKNOWN,
    Class,
    Collection,
    Environment,
    Function,
    Instance,
    Method,
    Partial,
    Symbol,
    Value,
    Values,
)
from warp_lint.project.warp_process import WarpProcess

if TYPE_CHECKING:
    from warp_lint.project import Project

_DEEPEST = 12
"""Calls followed inside calls."""
_MOST_TURNS = 32
_UNKNOWN_TURNS = 2
"""Turns of a loop of unknown length: enough to see whether the second builds again."""
_MOST_STEPS = 50_000
"""Events, calls and imports after which a program is not followed any further."""
_END = 1 << 60


def predict(
    project: Project, entry: ProjectFile | None = None, device: str | None = None
) -> dict[ModuleKey, ModuleBuilds]:
    """The builds of one program, or of all programs of the project over one cache, by module.

    ``device`` says that everything is launched there, whatever the program names.
    """
    cache, outline = BuildCache(), Outline(project)
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


class _Run:
    """One program that is followed."""

    def __init__(self, outline: Outline, cache: BuildCache, device: str | None) -> None:
        self._outline = outline
        self._process = WarpProcess(outline, cache, device)
        self._project = outline.project
        self._evaluator = outline.project.evaluator
        self._callers = outline.project.callers
        self._imported: set[int] = set()
        self._running: list[tuple[int, int]] = []
        self._entry: int | None = None
        self._steps = 0
        self._done: dict[object, int] = {}
        """The calls that changed nothing, with how much had changed by then."""

    def run_program(self, file: ProjectFile) -> None:
        """``python file``"""
        self._entry = file.index
        self._import(file)

    def run_as_library(self, file: ProjectFile) -> None:
        """Import a file, and call those of its functions that nobody in the project calls: some user may."""
        self._import(file)
        self._process.is_exact = False
        for scope in self._outline.uncalled(file):
            self._enter(file, scope, {})

    def _import(self, file: ProjectFile) -> None:
        if file.index not in self._imported:
            self._imported.add(file.index)
            self._enter(file, 0, {})

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
        self, items: Sequence[Item], inside: int | None, file: ProjectFile, environment: Environment
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
        self, loop: int, first: Item, file: ProjectFile, environment: Environment
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
                self._process.is_exact = False
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

    def _do(self, item: Item, file: ProjectFile, environment: Environment) -> None:
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
                self._process.happen(event, environment)

    def _is_skipped(self, item: Item, file: ProjectFile) -> bool:
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
        if self._outline.is_passed(site):
            call, place = self._callers.call(site), self._callers.place(site)
            passed = self._evaluator.evaluate(call.function, place, environment)
            functions = self._outline.eventful(self._callers.called(passed))
        if len(functions) > 1 or not (self._callers.functions(site) or self._outline.is_passed(site)):
            self._process.is_exact = False
        for function in functions:
            bound = self._bind(site, function, environment)
            key = (function.file, function.scope, _frozen(bound.get((function.file, function.scope), {})))
            if self._done.get(key) == self._process.changes:
                continue
            before = self._process.changes
            self._enter(self._project.files[function.file], function.scope, bound)
            if self._process.changes == before:
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
