"""What happens to Warp modules while a program runs, as single events."""

from __future__ import annotations

import enum
from typing import NamedTuple

from warp_lint.findings import Location
from warp_lint.project.callers import CallSite
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
    is_import: bool = False


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

    @property
    def is_load(self) -> bool:
        return self.kind in (EventKind.LAUNCH, EventKind.LOAD)

    def loads(self, module: ModuleKey) -> bool:
        """Whether the event makes Warp build or fetch a module."""
        return self.is_load and self.module in (module, EVERY_MODULE)

    @property
    def came_through_import(self) -> bool:
        return any(step.is_import for step in self.steps)

    def sets_same_option(self, other: Event) -> bool:
        """Whether both set one option of one module."""
        return (
            self.write is not None
            and other.write is not None
            and (self.write.module, self.write.name) == (other.write.module, other.write.name)
        )

    def came_through_call_of(self, other: Event) -> bool:
        """Whether one call led to both: what comes first then was judged in what it calls."""
        return bool(self.steps) and self.steps[:1] == other.steps[:1]
