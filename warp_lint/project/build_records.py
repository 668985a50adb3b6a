"""What is predicted about the builds of a module."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from warp_lint.findings import Location
from warp_lint.project.events import Event
from warp_lint.project.kernels import ModuleKey
from warp_lint.project.values import Kernel, Values

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


class BuildCache:
    """What has been built, over all programs."""

    def __init__(self) -> None:
        self.modules: dict[ModuleKey, ModuleBuilds] = defaultdict(ModuleBuilds)
        self._identities: set[object] = set()

    def load(self, module: ModuleId, identity: object, build: Build) -> None:
        if (module, identity, build) not in self._identities:
            self._identities.add((module, identity, build))
            self.modules[module.key].builds.append((module, build))


def place_of_event(event: Event) -> Location:
    """Where a person finds what an event is: the outermost call that leads to it."""
    return event.steps[0].location if event.steps else event.location
