"""What Warp offers in which version: module options, configuration attributes, functions.

The tables are facts about Warp, written down so that linting never imports it; ``tests/test_warp_api.py``
holds them against the installed Warp and against older releases. A name whose meaning changed has one
entry per meaning, and the entries of one name never overlap.

A version is a tuple of integers without trailing zeros, ``(1, 12)`` or ``(1, 12, 1)``, so that tuples
compare as versions do. Releases before `OLDEST` are not told apart from it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import TypeAlias, TypeVar

import msgspec

Version: TypeAlias = tuple[int, ...]

OLDEST: Version = (1, 0)
"""The first release that the tables describe."""
NEWEST: Version = (1, 19)
"""The last release that the tables were checked against."""


class WarpName(msgspec.Struct, frozen=True):
    """A value that is written as a name of the ``warp`` package, such as ``LOG_INFO``."""

    dotted: str


Value: TypeAlias = str | int | bool | WarpName | None


class Named(msgspec.Struct, frozen=True):
    name: str


class Versioned(Named, frozen=True, kw_only=True):
    """Something that some versions of Warp have."""

    since: Version = OLDEST
    until: Version | None = None
    """The first version without it."""

    def exists_in(self, version: Version) -> bool:
        """Whether ``version`` of Warp has it."""
        return self.since <= version and (self.until is None or version < self.until)


Entry = TypeVar("Entry", bound=Versioned)


def find(table: Iterable[Entry], name: str, version: Version = NEWEST) -> Entry | None:
    """The entry of ``name`` that holds in ``version``, or None when that version has no such name."""
    return next((entry for entry in table if entry.name == name and entry.exists_in(version)), None)


def history(table: Iterable[Entry], name: str) -> list[Entry]:
    """Every entry of ``name``, oldest first: empty when no version of Warp has the name."""
    return sorted((entry for entry in table if entry.name == name), key=lambda entry: entry.since)


class ReadTime(str, enum.Enum):
    """When Warp reads an attribute of ``wp.config``; an assignment after that comes too late."""

    CREATION = "creation"
    """Copied into the options of a module by the first kernel, function, struct or option of the module."""
    FIRST_LOAD = "first load"
    """Part of a module's identity: resolved when the module is hashed and kept until a definition, overload
    or option marks the module modified. The module of a unique kernel is hashed at the definition."""
    USE = "use"
    """Read each time it matters and no part of a module's identity."""
    INIT = "init"
    """Read when Warp initializes, in `init` or the first call that needs a device."""
    NEVER = "never"
    """Information from Warp: assigning changes nothing."""


class ConfigAttribute(Versioned, frozen=True):
    """An attribute of ``wp.config``, which takes an assignment to any other name without effect."""

    read: ReadTime
    default: Value = None


_CPU_COMPILER_FLAGS = (
    "-march=native -mllvm=-inline-threshold=9000 -mllvm=-inline-cold-callsite-threshold=3000"
    " -mllvm=-slp-recursion-max-depth=4"
)
_NOT_GUARANTEED = WarpName("DeterministicMode.NOT_GUARANTEED")

CONFIG_ATTRIBUTES: tuple[ConfigAttribute, ...] = (
    ConfigAttribute("compile_time_trace", ReadTime.CREATION, False, since=(1, 8)),
    ConfigAttribute("deterministic", ReadTime.CREATION, _NOT_GUARANTEED, since=(1, 15)),
    ConfigAttribute("deterministic_max_records", ReadTime.CREATION, 0, since=(1, 15)),
    ConfigAttribute("enable_backward", ReadTime.CREATION, True),
    ConfigAttribute("lineinfo", ReadTime.CREATION, False, since=(1, 7)),
    ConfigAttribute("max_unroll", ReadTime.CREATION, 16),
    ConfigAttribute("mode", ReadTime.CREATION, "release", until=(1, 8, 1)),
    ConfigAttribute("cpu_compiler_flags", ReadTime.FIRST_LOAD, None, since=(1, 13), until=(1, 19)),
    ConfigAttribute("cpu_compiler_flags", ReadTime.FIRST_LOAD, _CPU_COMPILER_FLAGS, since=(1, 19)),
    ConfigAttribute("default_grid_stride", ReadTime.FIRST_LOAD, True, since=(1, 15)),
    ConfigAttribute("enable_mathdx_fft", ReadTime.FIRST_LOAD, True, since=(1, 14)),
    ConfigAttribute("enable_mathdx_gemm", ReadTime.FIRST_LOAD, True, since=(1, 12)),
    ConfigAttribute("enable_mathdx_solver", ReadTime.FIRST_LOAD, True, since=(1, 14)),
    ConfigAttribute("enable_tiles_in_stack_memory", ReadTime.FIRST_LOAD, True, since=(1, 10), until=(1, 11)),
    ConfigAttribute("enable_tiles_in_stack_memory", ReadTime.FIRST_LOAD, None, since=(1, 11), until=(1, 12)),
    ConfigAttribute("enable_tiles_in_stack_memory", ReadTime.FIRST_LOAD, True, since=(1, 12)),
    ConfigAttribute("enable_vector_component_overwrites", ReadTime.FIRST_LOAD, False, since=(1, 7)),
    ConfigAttribute("line_directives", ReadTime.FIRST_LOAD, True, since=(1, 7)),
    ConfigAttribute("llvm_cuda", ReadTime.FIRST_LOAD, False),
    ConfigAttribute("mode", ReadTime.FIRST_LOAD, "release", since=(1, 8, 1)),
    ConfigAttribute("optimization_level", ReadTime.FIRST_LOAD, None, since=(1, 11)),
    ConfigAttribute("use_precompiled_headers", ReadTime.FIRST_LOAD, True, since=(1, 11)),
    ConfigAttribute("verify_autograd_array_access", ReadTime.FIRST_LOAD, False, since=(1, 4)),
    ConfigAttribute("verify_fp", ReadTime.FIRST_LOAD, False),
    ConfigAttribute("cache_kernels", ReadTime.USE, True),
    ConfigAttribute("cuda_arch_suffix", ReadTime.USE, None, since=(1, 12)),
    ConfigAttribute("cuda_output", ReadTime.USE, None),
    ConfigAttribute("deterministic_debug", ReadTime.USE, False, since=(1, 15)),
    ConfigAttribute("enable_cpu_blocks", ReadTime.USE, False, since=(1, 18)),
    ConfigAttribute("enable_graph_capture_module_load_by_default", ReadTime.USE, True),
    ConfigAttribute("kernel_cache_dir", ReadTime.USE, None),
    ConfigAttribute(
        "launch_array_access_mode",
        ReadTime.USE,
        WarpName("config.LaunchArrayAccessMode.RELAXED"),
        since=(1, 14),
    ),
    ConfigAttribute("legacy_cpu_linker", ReadTime.USE, False, since=(1, 13)),
    ConfigAttribute("legacy_scalar_return_types", ReadTime.USE, False, since=(1, 12)),
    ConfigAttribute("load_module_max_workers", ReadTime.USE, 0, since=(1, 11)),
    ConfigAttribute("log_level", ReadTime.USE, WarpName("LOG_INFO"), since=(1, 14)),
    ConfigAttribute("print_launches", ReadTime.USE, False),
    ConfigAttribute("ptx_target_arch", ReadTime.USE, 70, until=(1, 2)),
    ConfigAttribute("ptx_target_arch", ReadTime.USE, 75, since=(1, 2), until=(1, 7)),
    ConfigAttribute("ptx_target_arch", ReadTime.USE, None, since=(1, 7)),
    ConfigAttribute("verbose", ReadTime.USE, False, until=(1, 18)),
    ConfigAttribute("verbose_warnings", ReadTime.USE, False),
    ConfigAttribute("verify_cuda", ReadTime.USE, False),
    ConfigAttribute("enable_mempools_at_init", ReadTime.INIT, True),
    ConfigAttribute("quiet", ReadTime.INIT, False, until=(1, 18)),
    ConfigAttribute("track_memory", ReadTime.INIT, False, since=(1, 13)),
    ConfigAttribute("version", ReadTime.NEVER),
)


class OptionEffect(str, enum.Enum):
    """What becomes of a module option once `set_module_options`, which accepts any name, has stored it."""

    REAL = "real"
    OVERWRITTEN = "overwritten"
    """Replaced by the attribute of ``wp.config`` of the same name whenever Warp resolves the options."""
    IGNORED = "ignored"
    """Read only from the kernel's own decorator argument of the same name."""


class ModuleOption(Versioned, frozen=True):
    """A key of `set_module_options`, of `get_module_options` and of ``module_options=``."""

    default: Value = None
    """What counts when neither the module nor ``wp.config`` sets it."""
    inherits: bool = False
    """A module that does not set it takes the attribute of ``wp.config`` of the same name."""
    documented: bool = True
    """Warp lists it among the module options; ``module_options=`` raises ValueError on any other."""
    effect: OptionEffect = OptionEffect.REAL


_ONLY_IN_CONFIG = frozenset(
    (
        "enable_tiles_in_stack_memory",
        "enable_vector_component_overwrites",
        "line_directives",
        "llvm_cuda",
        "use_precompiled_headers",
        "verify_autograd_array_access",
        "verify_fp",
    )
)

MODULE_OPTIONS: tuple[ModuleOption, ...] = (
    ModuleOption("block_dim", 256, since=(1, 5)),
    ModuleOption("compile_time_trace", False, inherits=True, since=(1, 8)),
    ModuleOption("cpu_compiler_flags", None, inherits=True, since=(1, 13), until=(1, 19)),
    ModuleOption("cpu_compiler_flags", _CPU_COMPILER_FLAGS, inherits=True, since=(1, 19)),
    ModuleOption("cuda_output", None, inherits=True),
    ModuleOption("default_grid_stride", True, inherits=True, since=(1, 15)),
    ModuleOption("deterministic", _NOT_GUARANTEED, inherits=True, since=(1, 15)),
    ModuleOption("deterministic_max_records", 0, inherits=True, since=(1, 15)),
    ModuleOption("enable_backward", True, inherits=True),
    ModuleOption("enable_mathdx_fft", True, inherits=True, since=(1, 14)),
    ModuleOption("enable_mathdx_gemm", True, inherits=True, since=(1, 12)),
    ModuleOption("enable_mathdx_solver", True, inherits=True, since=(1, 14)),
    ModuleOption("extra_build_options", None, since=(1, 17)),
    ModuleOption("fast_math", False),
    ModuleOption("fuse_fp", True, since=(1, 6)),
    ModuleOption("lineinfo", False, since=(1, 6), until=(1, 7)),
    ModuleOption("lineinfo", False, inherits=True, since=(1, 7)),
    ModuleOption("max_unroll", 16, inherits=True),
    ModuleOption("mode", "release", inherits=True),
    ModuleOption("optimization_level", None, inherits=True, since=(1, 11)),
    ModuleOption("strip_hash", False, since=(1, 9)),
    # A kernel starts from the options of its module, so these decorator arguments work there too.
    ModuleOption("cluster_dim", 1, documented=False, since=(1, 15)),
    ModuleOption("cuda_max_registers", None, documented=False, since=(1, 17)),
    ModuleOption("enable_cuda_smem_spilling", False, documented=False, since=(1, 17)),
    ModuleOption("launch_bounds", None, documented=False, since=(1, 11)),
    *(
        ModuleOption(
            attribute.name,
            attribute.default,
            inherits=True,
            documented=False,
            effect=OptionEffect.OVERWRITTEN,
            since=attribute.since,
            until=attribute.until,
        )
        for attribute in CONFIG_ATTRIBUTES
        if attribute.name in _ONLY_IN_CONFIG
    ),
    ModuleOption("grid_stride", None, documented=False, effect=OptionEffect.IGNORED, since=(1, 15)),
)


class Role(str, enum.Enum):
    """What a function of Warp does to modules."""

    DEFINE = "define"
    """Creates a kernel, function or struct in a module."""
    OVERLOAD = "overload"
    """Adds an instance of a generic kernel to its module."""
    LAUNCH = "launch"
    """Runs a kernel, and loads its module first."""
    WRAP = "wrap"
    """Makes a kernel a function of another framework, which launches it."""
    LOAD = "load"
    """Builds modules, or fetches them from the cache, ahead of a launch."""
    COMPILE = "compile"
    """Builds a module into files and loads nothing."""
    CAPTURE = "capture"
    """Begins a CUDA graph, and loads modules when told to."""
    SET_OPTIONS = "set options"
    GET_OPTIONS = "get options"
    """Gives the dictionary of a module's options itself: writing to it marks nothing modified."""
    GET_MODULE = "get module"
    CLEAR_CACHE = "clear cache"
    """Deletes what earlier processes built."""
    INIT = "init"
    DIFFERENTIATE = "differentiate"
    """Runs, or asks for, the backward code of kernels."""


class Parameter(Versioned, frozen=True):
    """A parameter of a function of Warp, in the order of its signature."""

    keyword_only: bool = False


class Function(Versioned, frozen=True):
    """A function or class of Warp, named below ``warp``: ``launch``, ``Tape.backward``."""

    role: Role
    parameters: tuple[Parameter, ...] = ()


def _parameters(
    *names: str, since: Version = OLDEST, until: Version | None = None, keyword_only: bool = False
) -> tuple[Parameter, ...]:
    return tuple(Parameter(name, keyword_only, since=since, until=until) for name in names)


_LAUNCH = (
    *_parameters("kernel", "dim", "inputs", "outputs", "adj_inputs", "adj_outputs", "device", "stream"),
    *_parameters("adjoint", "record_tape", "record_cmd", "max_blocks"),
    *_parameters("block_dim", since=(1, 5)),
)
_JAX_KERNEL = (
    *_parameters("kernel", "num_outputs", "vmap_method", "launch_dims", "output_dims", since=(1, 7)),
    *_parameters("in_out_argnames", since=(1, 8, 1)),
    *_parameters("module_preload_mode", "enable_backward", since=(1, 10)),
    *_parameters("has_side_effect", since=(1, 12)),
    *_parameters("block_dim", since=(1, 16)),
)
_CAPTURE = (
    *_parameters("device", "stream", "force_module_load", "external"),
    *_parameters("apic", since=(1, 13)),
    *_parameters("capture_mode", since=(1, 14)),
)
_AOT = _parameters("module", "device", "arch", "module_dir", "use_ptx", "strip_hash", since=(1, 9))

FUNCTIONS: tuple[Function, ...] = (
    Function(
        "kernel",
        Role.DEFINE,
        (
            *_parameters("f"),
            *_parameters("enable_backward", keyword_only=True),
            *_parameters("module", since=(1, 7), keyword_only=True),
            *_parameters("launch_bounds", since=(1, 11), keyword_only=True),
            *_parameters("module_options", since=(1, 13), keyword_only=True),
            *_parameters("cluster_dim", "grid_stride", since=(1, 15), keyword_only=True),
            *_parameters("cuda_max_registers", since=(1, 17), keyword_only=True),
            *_parameters("enable_cuda_smem_spilling", since=(1, 17), keyword_only=True),
            *_parameters("entry_point_abi", "name", since=(1, 17), keyword_only=True),
        ),
    ),
    Function(
        "func",
        Role.DEFINE,
        (
            *_parameters("f"),
            *_parameters("name", since=(1, 7), keyword_only=True),
            *_parameters("module", since=(1, 10), keyword_only=True),
            *_parameters("inline", since=(1, 18), keyword_only=True),
        ),
    ),
    Function(
        "struct", Role.DEFINE, (*_parameters("c"), *_parameters("module", since=(1, 10), keyword_only=True))
    ),
    Function("func_native", Role.DEFINE, _parameters("snippet", "adj_snippet", "replay_snippet")),
    Function("overload", Role.OVERLOAD, _parameters("kernel", "arg_types")),
    Function("launch", Role.LAUNCH, _LAUNCH),
    Function("launch_tiled", Role.LAUNCH, _LAUNCH, since=(1, 5)),
    Function(
        "map",
        Role.LAUNCH,
        (
            *_parameters("func", since=(1, 8)),
            *_parameters("out", "return_kernel", "block_dim", "device", since=(1, 8), keyword_only=True),
        ),
        since=(1, 8),
    ),
    Function("Launch.launch", Role.LAUNCH, _parameters("stream")),
    Function("jax_kernel", Role.WRAP, _JAX_KERNEL, since=(1, 14)),
    Function("jax_experimental.ffi.jax_kernel", Role.WRAP, _JAX_KERNEL, since=(1, 7), until=(1, 18)),
    Function("jax_experimental.jax_kernel", Role.WRAP, _JAX_KERNEL, since=(1, 10), until=(1, 18)),
    Function(
        "load_module",
        Role.LOAD,
        (
            *_parameters("module", "device", "recursive"),
            *_parameters("block_dim", since=(1, 9)),
            *_parameters("max_workers", since=(1, 11)),
        ),
    ),
    Function(
        "force_load",
        Role.LOAD,
        (
            *_parameters("device", "modules"),
            *_parameters("block_dim", since=(1, 9)),
            *_parameters("max_workers", since=(1, 11)),
        ),
    ),
    Function("load_aot_module", Role.LOAD, _AOT, since=(1, 9)),
    Function(
        "get_suggested_block_size",
        Role.LOAD,
        _parameters("kernel", "device", since=(1, 13)),
        since=(1, 13),
    ),
    Function(
        "get_cuda_max_cluster_dim",
        Role.LOAD,
        (
            *_parameters("kernel", "device", since=(1, 15)),
            *_parameters("block_dim", "dynamic_smem_bytes", since=(1, 15), keyword_only=True),
        ),
        since=(1, 15),
    ),
    Function(
        "get_cuda_kernel_properties",
        Role.LOAD,
        _parameters("kernel", "device", "block_dim", since=(1, 17)),
        since=(1, 17),
    ),
    Function(
        "Module.load",
        Role.LOAD,
        (
            *_parameters("device"),
            *_parameters("block_dim", since=(1, 5)),
            *_parameters("binary_path", "output_arch", "meta_path", since=(1, 9)),
        ),
    ),
    Function("compile_aot_module", Role.COMPILE, _AOT, since=(1, 9)),
    Function("capture_begin", Role.CAPTURE, _CAPTURE),
    Function("ScopedCapture", Role.CAPTURE, _CAPTURE),
    Function("set_module_options", Role.SET_OPTIONS, _parameters("options", "module")),
    Function("get_module_options", Role.GET_OPTIONS, _parameters("module")),
    Function("get_module", Role.GET_MODULE, _parameters("name")),
    Function("clear_kernel_cache", Role.CLEAR_CACHE, since=(1, 4)),
    Function("clear_lto_cache", Role.CLEAR_CACHE, since=(1, 7)),
    Function("build.clear_kernel_cache", Role.CLEAR_CACHE, until=(1, 13)),
    Function("init", Role.INIT),
    Function("Tape", Role.DIFFERENTIATE),
    Function("Tape.backward", Role.DIFFERENTIATE, _parameters("loss", "grads")),
    Function("func_grad", Role.DIFFERENTIATE, _parameters("forward_fn")),
    Function("func_replay", Role.DIFFERENTIATE, _parameters("forward_fn")),
    Function("grad", Role.DIFFERENTIATE, _parameters("func", since=(1, 11)), since=(1, 11)),
    Function("from_torch", Role.DIFFERENTIATE),
    Function("from_paddle", Role.DIFFERENTIATE, since=(1, 4)),
    Function("optim.Adam", Role.DIFFERENTIATE),
    Function("optim.SGD", Role.DIFFERENTIATE),
    Function("autograd.gradcheck", Role.DIFFERENTIATE, since=(1, 4)),
    Function("autograd.gradcheck_tape", Role.DIFFERENTIATE, since=(1, 4)),
    Function("autograd.jacobian", Role.DIFFERENTIATE, since=(1, 4)),
)


MODULES_BY_NAME: tuple[Versioned, ...] = (
    Versioned("kernel.module", since=(1, 10)),
    Versioned("get_module_options.module", since=(1, 17)),
    Versioned("set_module_options.module", since=(1, 17)),
)
"""Parameters, below their functions, that take a module by its name; earlier versions raise on a string."""

FORMER_SUBMODULES: tuple[Versioned, ...] = tuple(
    Versioned(name, until=(1, 13))
    for name in (
        "build", "build_dll", "builtins", "codegen", "constants", "context", "dlpack", "fabric", "jax",
        "marching_cubes", "math", "paddle", "tape", "torch",
    )
)  # fmt: skip
"""Modules of the ``warp`` package that were reachable without being meant for programs."""

GRADIENT_ARGUMENTS = frozenset(("adjoint", "requires_grad", "retain_grad"))
"""Arguments of Warp's functions that, when true, say that gradients are wanted."""


class TileOperation(Versioned, frozen=True):
    """A function of device code that Warp links from MathDx when it builds for CUDA."""

    switch: str
    """The attribute of ``wp.config`` and module option that, when false, turns MathDx off for it."""
    backward_since: Version | None = None
    """The first version that links more code for the backward pass; None when none does."""


TILE_OPERATIONS: tuple[TileOperation, ...] = (
    TileOperation("tile_matmul", "enable_mathdx_gemm", (1, 5), since=(1, 5)),
    TileOperation("tile_fft", "enable_mathdx_fft", (1, 12), since=(1, 5)),
    TileOperation("tile_ifft", "enable_mathdx_fft", (1, 12), since=(1, 5)),
    TileOperation("tile_cholesky", "enable_mathdx_solver", (1, 13), since=(1, 6)),
    TileOperation("tile_cholesky_inplace", "enable_mathdx_solver", since=(1, 11)),
    TileOperation("tile_cholesky_solve", "enable_mathdx_solver", since=(1, 6)),
    TileOperation("tile_cholesky_solve_inplace", "enable_mathdx_solver", since=(1, 11)),
    TileOperation("tile_lower_solve", "enable_mathdx_solver", (1, 16), since=(1, 8)),
    TileOperation("tile_lower_solve_inplace", "enable_mathdx_solver", since=(1, 11)),
    TileOperation("tile_upper_solve", "enable_mathdx_solver", since=(1, 8)),
    TileOperation("tile_upper_solve_inplace", "enable_mathdx_solver", since=(1, 11)),
)
TILE_LINKS_FOLLOW_MODULE_SINCE: Version = (1, 12, 1)
"""From here on a module's ``enable_backward`` decides about backward links; before, only ``wp.config``."""


class DebugSetting(Versioned, frozen=True):
    """A value of a ``wp.config`` attribute, or of the module option of that name, meant for debugging."""

    value: Value
    cost: str
    """What it costs while it is set, as a clause that can follow the setting in a message."""


DEBUG_SETTINGS: tuple[DebugSetting, ...] = (
    DebugSetting("mode", "debug", "compiles without optimization and checks every array access"),
    DebugSetting("verify_fp", True, "doubles the build and checks every value for being finite"),
    DebugSetting("verify_cuda", True, "checks for an error after every launch and forbids graph capture"),
    DebugSetting("print_launches", True, "prints every launch"),
    DebugSetting(
        "verify_autograd_array_access",
        True,
        "makes Warp skip its kernel cache, so that every process builds again",
        since=(1, 4),
    ),
    DebugSetting(
        "log_level", WarpName("LOG_DEBUG"), "logs every hash, build and load of a module", since=(1, 14)
    ),
    DebugSetting("verbose", True, "logs every build and load of a module", until=(1, 18)),
    DebugSetting("lineinfo", True, "makes every CUDA build larger and slower", since=(1, 6)),
    DebugSetting("compile_time_trace", True, "writes a trace file for every CUDA build", since=(1, 8)),
)
