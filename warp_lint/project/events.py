"""What happens to Warp modules while a program runs, as single events."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import NamedTuple

from warp_lint.findings import Location, Position
from warp_lint.project.callers import CallSite
from warp_lint.project.evaluation import Place
from warp_lint.project.kernels import ModuleKey, ModuleKind
from warp_lint.project.options import ConfigWrite, OptionWrite
from warp_lint.project.values import Constant, Kernel, Symbol

EVERY_MODULE = ModuleKey(ModuleKind.UNKNOWN, name="*")
"""What ``force_load`` without modules loads."""


class EventKind(str, enum.Enum):
    DEFINE = "define"
    """A kernel joins its module."""
    OVERLOAD = "overload"
    """An instance of a generic kernel is added to its module."""
    LAUNCH = "launch"
    """A kernel runs; its module is built or fetched first."""
    LOAD = "load"
    """A module is built or fetched ahead of launches."""
    COMPILE = "compile"
    """A module is built into files, and not loaded."""
    SET_OPTION = "set option"
    SET_CONFIG = "set config"
    CLEAR_CACHE = "clear cache"
    INIT = "init"


class Context(str, enum.Enum):
    """What is going on around an event."""

    TAPE = "tape"
    """A ``wp.Tape`` records."""
    CAPTURE = "capture"
    """A CUDA graph is captured."""


class Step(NamedTuple):
    """A call or import on the way from a scope to an event."""

    location: Location
    name: str
    place: Place
    is_import: bool = False
    passes_functions: bool = False
    """The call hands over functions to be called: what it runs is known only here."""
    site: CallSite | None = None
    """The call; None for an import."""


class Event(NamedTuple):
    """One event, as a scope sees it: ``block`` and ``order`` are places of that scope, where the event
    itself stands or where the call or import does that leads to it."""

    kind: EventKind
    block: int
    order: int
    location: Location
    """Where the event itself stands."""
    description: str
    """What it is, as a noun phrase that fits behind "loaded by"."""
    module: ModuleKey | None = None
    kernel: Kernel | None = None
    block_dim: Constant | Symbol | None = None
    write: OptionWrite | None = None
    config: ConfigWrite | None = None
    site: CallSite | None = None
    contexts: frozenset[Context] = frozenset()
    steps: tuple[Step, ...] = ()
    """The way from the scope to the event, outermost first; empty when it stands in the scope itself."""
    origin: Place | None = None
    """Where it stands itself, once it is an event of a scope."""
    of_import: int | None = None
    """Which of all events of imports it is: the same number wherever the file is imported; None outside of
    imports."""

    @property
    def is_load(self) -> bool:
        return self.kind is EventKind.LAUNCH or self.kind is EventKind.LOAD

    def loads(self, module: ModuleKey) -> bool:
        """Whether the event makes Warp build or fetch a module."""
        return self.is_load and self.module in (module, EVERY_MODULE)

    @property
    def came_through_import(self) -> bool:
        return any(step.is_import for step in self.steps)

    def seen_from(
        self, block: int, order: int, steps: tuple[Step, ...], contexts: frozenset[Context]
    ) -> Event:
        """The event as a scope sees it that leads to it by ``steps``, at a place where ``contexts`` go on."""
        return Event(  # much faster than `_replace`, and there are very many
            self.kind,
            block,
            order,
            self.location,
            self.description,
            self.module,
            self.kernel,
            self.block_dim,
            self.write,
            self.config,
            self.site,
            self.contexts | contexts if contexts else self.contexts,
            steps + self.steps,
            self.origin,
            self.of_import,
        )

    def sets_same_option(self, other: Event) -> bool:
        """Whether both set one option of one module."""
        return (
            self.write is not None
            and other.write is not None
            and (self.write.module, self.write.name) == (other.write.module, other.write.name)
        )

    def was_judged_with(self, other: Event) -> bool:
        """Whether one call led to both: which comes first then was judged in what it calls, unless that gets
        to know only here what it calls itself."""
        if not self.steps or self.steps[:1] != other.steps[:1]:
            return False
        return not any(step.passes_functions for step in self._common_steps(other))

    def places_where_apart(self, other: Event) -> tuple[Place, Place] | None:
        """Where the ways to both part, as places of one scope: that of the first and that of the other."""
        common = len(list(self._common_steps(other)))
        mine, others = self._place(common), other._place(common)
        if mine is None or others is None or (mine.file, mine.scope) != (others.file, others.scope):
            return None
        return mine, others

    def places_below(self, other: Event) -> Iterator[tuple[Place, Position]]:
        """The places on the way to it, each in a function of its own, below the one where the ways part."""
        for level in range(len(list(self._common_steps(other))) + 1, len(self.steps) + 1):
            place = self._place(level)
            if place is not None:
                location = self.steps[level].location if level < len(self.steps) else self.location
                yield place, location.range.start

    def _common_steps(self, other: Event) -> Iterator[Step]:
        for step, another in zip(self.steps, other.steps, strict=False):
            if step != another:
                return
            yield step

    def _place(self, level: int) -> Place | None:
        return self.steps[level].place if level < len(self.steps) else self.origin
