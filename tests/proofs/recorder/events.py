"""What one run of a program under Warp did, as the recorder saw it from inside the process.

The recorder runs in the program's process before anything else is imported, so this file needs the
standard library alone.
"""

from __future__ import annotations

import dataclasses

Value = bool | int | float | str | None
"""An option or config value; what JSON cannot hold is kept as its ``repr``."""


@dataclasses.dataclass(frozen=True)
class BuiltKernel:
    """A kernel that a module build compiled, whether it is launched or not."""

    function: str
    """The name of the Python function, without its scopes: moving a kernel does not change it."""
    signature: str
    """The argument types of an instance of a generic kernel; empty for the others."""
    options: dict[str, Value]
    """The module's options as resolved for this build, with the kernel's own on top."""


@dataclasses.dataclass(frozen=True)
class Build:
    """One module was generated and compiled."""

    module: str
    hash: str
    block_dim: int
    device: str
    """``cpu`` or ``cuda``."""
    kernels: list[BuiltKernel]
    source_bytes: int
    """Generated source in UTF-8, without ``#line`` directives: those hold the path of the checkout."""
    code_bytes: int
    """Compiled code. For the CPU it depends on the machine, for CUDA only on Warp."""
    links: list[str]
    """The symbols of the LTO binaries (MathDx) that were compiled for this build."""
    config: dict[str, Value]
    """``wp.config`` attributes that the program had changed by then."""
    in_launch: bool
    """A launch on the CPU asked for it. Builds for CUDA follow their launch."""
    in_worker: bool
    """It ran in another thread than the program's main one."""


@dataclasses.dataclass(frozen=True)
class CacheLoad:
    """One module was found built in the kernel cache."""

    module: str
    hash: str
    block_dim: int
    device: str


@dataclasses.dataclass(frozen=True)
class Launch:
    """One kernel launch, as the program asked for it."""

    function: str
    signature: str
    dim: list[int]
    block_dim: int | None
    """As passed; None when it was left to Warp."""
    adjoint: bool


@dataclasses.dataclass(frozen=True)
class WarpModule:
    """A Warp module that exists when the program ends."""

    name: str
    kernels: int
    """How many kernels are still alive in it."""
    changed_options: dict[str, Value]
    """Options whose value differs from the one the module was created with."""


@dataclasses.dataclass
class Events:
    """What the recorder writes when the process ends, in the order it happened."""

    warp_version: str = ""
    builds: list[Build] = dataclasses.field(default_factory=list)
    cache_loads: list[CacheLoad] = dataclasses.field(default_factory=list)
    launches: list[Launch] = dataclasses.field(default_factory=list)
    definitions: int = 0
    """How often the program had Warp parse a function as a kernel, also one that it had already."""
    modules: list[WarpModule] = dataclasses.field(default_factory=list)
    error: str | None = None
    """The type of the exception that ended the program."""
