"""Watches Warp from inside a program's process and writes what it did when the process ends.

Nothing of the program changes and nothing of Warp is imported early: an import hook waits for the few
files of Warp that matter and wraps their functions as soon as they have run. What Warp prints about its
own work goes to stderr, so that stdout holds what the program prints. No kernel or module is referenced
longer than a call takes, since Warp builds every kernel that is still alive.

The environment says where to write and what else to do; see the names below.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import hashlib
import importlib.machinery
import inspect
import json
import os
import shutil
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from tests.proofs.recorder.cuda_builds import CudaBuilds
from tests.proofs.recorder.events import Build, BuiltKernel, CacheLoad, Events, Launch, Value, WarpModule

EVENTS_FILE = "WARP_PROOF_EVENTS"
"""Environment: the JSON file to write. Without it nothing is recorded."""
HEADERS_FOLDER = "WARP_PROOF_HEADERS"
"""Environment: where Clang's precompiled header is kept between processes. Counts do not see it."""
LINKS_FOLDER = "WARP_PROOF_LINKS"
"""Environment: where LTO binaries are kept between processes. They are counted all the same."""
CUDA_ARCHITECTURE = "WARP_PROOF_CUDA_ARCHITECTURE"
"""Environment: build with NVRTC for this architecture what the program's launches would build on a GPU."""

Patch = Callable[[Any], None]


def start() -> None:
    """Wait for Warp to be imported, then record until the process ends."""
    events_file = os.environ.get(EVENTS_FILE)
    if events_file is None:
        return
    recorder = Recorder(Path(events_file))
    patches: dict[str, Patch] = {
        "warp._src.logger": send_messages_to_stderr,
        "warp.config": recorder.watch_config,
        "warp._src.build": recorder.watch_compilers,
        "warp._src.context": recorder.watch_context,
    }
    sys.meta_path.insert(0, PatchingFinder(patches))
    sys.excepthook = recorder.note_error(sys.excepthook)
    atexit.register(recorder.write)


class PatchingFinder:
    """Finds the named modules as Python would and patches each right after its code has run."""

    def __init__(self, patches: dict[str, Patch]) -> None:
        self.patches = patches

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        patch = self.patches.get(name)
        if patch is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def run_and_patch(module: ModuleType) -> None:
            run(module)
            patch(module)

        setattr(spec.loader, "exec_module", run_and_patch)  # noqa: B010 (mypy allows no assignment to a method)
        return spec


class Recorder:
    """Collects the events of this process."""

    def __init__(self, events_file: Path) -> None:
        self.events_file = events_file
        self.events = Events()
        self.compiling = threading.local()
        self.launching = threading.local()
        self.options_at_creation: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()
        self.config: Any = None
        self.config_at_import: dict[str, Any] = {}
        self.context: Any = None

    # -- patches, one per file of Warp ------------------------------------------------------------------

    def watch_config(self, config: Any) -> None:
        self.config = config
        self.config_at_import = public_attributes(config)
        self.events.warp_version = config.version

    def watch_compilers(self, build: Any) -> None:
        self.watch_links(build)
        self.watch_code(build, "build_cpu", "obj_path")
        self.watch_code(build, "build_cuda", "output_path")

    def watch_code(self, build: Any, name: str, output: str) -> None:
        """Note the size of what a compiler wrote to the file that one of its arguments names."""
        original = getattr(build, name)
        signature = inspect.signature(original)

        @functools.wraps(original)
        def compile_source(*arguments: Any, **keywords: Any) -> Any:
            result = original(*arguments, **keywords)
            written = signature.bind(*arguments, **keywords).arguments[output]
            self.compiling.code_bytes = Path(written).stat().st_size
            return result

        setattr(build, name, compile_source)

    def watch_links(self, build: Any) -> None:
        """Note each LTO binary that is compiled rather than found in the cache."""
        original = build._build_lto_base

        @functools.wraps(original)
        def build_lto(symbol: str, compile_lto: Callable[..., Any], *rest: Any, **options: Any) -> Any:
            def compile_and_note(paths: dict[str, str]) -> Any:
                self.compiling.links.append(symbol)
                return linked(symbol, compile_lto, paths)

            return original(symbol, compile_and_note, *rest, **options)

        build._build_lto_base = build_lto

    def watch_context(self, context: Any) -> None:
        self.context = context
        self.watch_definitions(context.Kernel)
        self.watch_module_creation(context.Module)
        self.watch_builds(context.Module)
        keep_requested_block_dims(context)
        share_precompiled_headers(context.Runtime)
        self.watch_launches(context)
        architecture = os.environ.get(CUDA_ARCHITECTURE)
        if architecture is not None:
            repeat_loads(context, CudaBuilds(int(architecture)))

    def watch_definitions(self, kernel_class: Any) -> None:
        original = kernel_class.__init__

        @functools.wraps(original)
        def create(kernel: Any, *arguments: Any, **keywords: Any) -> None:
            original(kernel, *arguments, **keywords)
            if not str(kernel.func.__module__).startswith("warp."):
                self.events.definitions += 1

        kernel_class.__init__ = create

    def watch_module_creation(self, module_class: Any) -> None:
        original = module_class.__init__

        @functools.wraps(original)
        def create(module: Any, *arguments: Any, **keywords: Any) -> None:
            original(module, *arguments, **keywords)
            self.options_at_creation[module] = dict(module.options)

        module_class.__init__ = create

    def watch_builds(self, module_class: Any) -> None:
        original_codegen = module_class._run_codegen
        original_compile = module_class._compile
        compile_signature = inspect.signature(original_compile)

        @functools.wraps(original_codegen)
        def run_codegen(module: Any, *arguments: Any, **keywords: Any) -> Any:
            result = original_codegen(module, *arguments, **keywords)
            self.compiling.source_bytes = source_size(result[0])
            return result

        @functools.wraps(original_compile)
        def compile_module(module: Any, *arguments: Any, **keywords: Any) -> Any:
            self.compiling.source_bytes = 0
            self.compiling.code_bytes = 0
            self.compiling.links = []
            compiled = original_compile(module, *arguments, **keywords)
            call = compile_signature.bind(module, *arguments, **keywords).arguments
            options = call.get("options") or module.resolve_options(self.config)
            target = call.get("device")
            on_cpu = call.get("output_arch") is None and (target is None or target.is_cpu)
            self.note_compile(module, options, "cpu" if on_cpu else "cuda", compiled=compiled)
            return compiled

        module_class._run_codegen = run_codegen
        module_class._compile = compile_module

    def watch_launches(self, context: Any) -> None:
        original_launch = context.launch
        original_replay = context.Launch.launch
        launch_signature = inspect.signature(original_launch)

        @functools.wraps(original_launch)
        def launch(*arguments: Any, **keywords: Any) -> Any:
            self.launching.now = True
            try:
                result = original_launch(*arguments, **keywords)
            finally:
                self.launching.now = False
            call = launch_signature.bind(*arguments, **keywords).arguments
            if not call.get("record_cmd", False):
                kernel = instance_of(call["kernel"], [*call.get("inputs", ()), *call.get("outputs", ())])
                dim, _ = context._normalize_launch_dim(call["dim"])
                block_dim = requested_block_dim(call.get("block_dim"))
                self.note_launch(kernel, dim, block_dim, adjoint=call.get("adjoint", False))
            return result

        @functools.wraps(original_replay)
        def replay(command: Any, *arguments: Any, **keywords: Any) -> Any:
            result = original_replay(command, *arguments, **keywords)
            block_dim = requested_block_dim(command.block_dim)
            self.note_launch(command.kernel, [*command.bounds.shape], block_dim, adjoint=command.adjoint)
            return result

        context.launch = launch
        context.Launch.launch = replay

    # -- what is noted ------------------------------------------------------------------------------------

    def note_compile(self, module: Any, options: dict[str, Any], device: str, *, compiled: bool) -> None:
        block_dim = int(options["block_dim"])
        module_hash = module.get_module_hash(block_dim).hex()
        if not compiled:
            self.events.cache_loads.append(CacheLoad(module.name, module_hash, block_dim, device))
            return
        self.events.builds.append(
            Build(
                module=module.name,
                hash=module_hash,
                block_dim=block_dim,
                device=device,
                kernels=[
                    BuiltKernel(kernel.func.__name__, kernel.sig, plain_values(options | kernel.options))
                    for kernel in module.hashers[block_dim].get_unique_kernels()
                ],
                source_bytes=self.compiling.source_bytes,
                code_bytes=self.compiling.code_bytes,
                links=self.compiling.links,
                config=self.changed_config(),
                in_launch=getattr(self.launching, "now", False),
                in_worker=threading.current_thread() is not threading.main_thread(),
            )
        )

    def note_launch(self, kernel: Any, dim: Sequence[int], block_dim: int | None, *, adjoint: bool) -> None:
        self.events.launches.append(
            Launch(kernel.func.__name__, kernel.sig, [int(size) for size in dim], block_dim, bool(adjoint))
        )

    def changed_config(self) -> dict[str, Value]:
        attributes = changed(self.config_at_import, public_attributes(self.config))
        attributes.pop("kernel_cache_dir", None)  # Warp writes the folder of this run there
        return plain_values(attributes)

    def note_error(self, report: Callable[..., Any]) -> Callable[..., Any]:
        def report_and_note(
            kind: type[BaseException], error: BaseException, traceback: TracebackType | None
        ) -> None:
            self.events.error = kind.__name__
            report(kind, error, traceback)

        return report_and_note

    def write(self) -> None:
        if self.context is not None:
            self.events.modules = [
                WarpModule(
                    module.name,
                    len(module._get_live_kernels()),
                    plain_values(changed(self.options_at_creation[module], module.options)),
                )
                for module in self.context.user_modules.values()
                if not module.name.startswith("warp.")
            ]
        self.events_file.write_text(json.dumps(dataclasses.asdict(self.events)))


def repeat_loads(context: Any, cuda: CudaBuilds) -> None:
    """Let each call that loads modules load them for CUDA too."""
    original_launch = context.launch
    original_preload = context.force_load
    original_query = context.get_suggested_block_size
    launch_signature = inspect.signature(original_launch)
    preload_signature = inspect.signature(original_preload)

    @functools.wraps(original_launch)
    def launch(*arguments: Any, **keywords: Any) -> Any:
        result = original_launch(*arguments, **keywords)
        call = launch_signature.bind(*arguments, **keywords).arguments
        dim, _ = context._normalize_launch_dim(call["dim"])
        if 0 not in dim:
            cuda.launch(call["kernel"].module, requested_block_dim(call.get("block_dim")))
        return result

    @functools.wraps(original_preload)
    def preload(*arguments: Any, **keywords: Any) -> Any:
        result = original_preload(*arguments, **keywords)
        call = preload_signature.bind(*arguments, **keywords).arguments
        modules = call.get("modules")
        for module in list(context.user_modules.values()) if modules is None else modules:
            cuda.preload(module, call.get("block_dim"))
        return result

    @functools.wraps(original_query)
    def query(kernel: Any, *arguments: Any, **keywords: Any) -> Any:
        cuda.query(kernel.module)
        return original_query(kernel, *arguments, **keywords)

    context.launch = launch
    context.force_load = preload
    context.get_suggested_block_size = query


# -- changes to Warp that no count sees -------------------------------------------------------------------


def send_messages_to_stderr(logger: Any) -> None:
    """Warp's banner and its load times do not belong to the program's output."""

    def write(_logger: Any, message: str) -> None:
        sys.stderr.write(message + "\n")

    logger.LoggerBasic.debug = write
    logger.LoggerBasic.info = write


def share_precompiled_headers(runtime_class: Any) -> None:
    """Compiling Warp's header takes Clang ten times as long as a small kernel: keep it between processes."""
    folder = os.environ.get(HEADERS_FOLDER)
    if folder is not None:
        runtime_class._get_or_create_pch_dir = lambda _runtime: folder


def linked(symbol: str, compile_lto: Callable[[dict[str, str]], Any], paths: dict[str, str]) -> Any:
    """Compile an LTO binary, which takes MathDx a quarter of a minute, or take what another process has left.

    ``paths`` are the files to write, by their endings. What Warp gets back for each is the bytes of the file,
    or for ``.meta`` a number.
    """
    folder = os.environ.get(LINKS_FOLDER)
    if folder is None:
        return compile_lto(paths)
    stored = Path(folder) / hashlib.sha256(symbol.encode()).hexdigest()
    if stored.is_dir():
        for ending, path in paths.items():
            shutil.copyfile(stored / f"file{ending}", path)
        numbers = json.loads((stored / "numbers.json").read_text())
        return True, {
            ending: numbers.get(ending) or Path(path).read_bytes() for ending, path in paths.items()
        }
    succeeded, outputs = compile_lto(paths)
    if succeeded:
        incoming = Path(tempfile.mkdtemp(dir=folder))
        for ending, path in paths.items():
            shutil.copyfile(path, incoming / f"file{ending}")
        numbers = {ending: value for ending, value in outputs.items() if isinstance(value, int)}
        (incoming / "numbers.json").write_text(json.dumps(numbers))
        with contextlib.suppress(OSError):  # another process was first
            incoming.rename(stored)
    return succeeded, outputs


def keep_requested_block_dims(context: Any) -> None:
    """On the CPU Warp turns every block_dim into 1. Let the number remember what the program asked for,
    through ``launch_tiled``, recorded commands and tapes, down to the launch that is recorded."""
    original = context._resolve_launch_block_dim

    class BlockDim(context._ResolvedBlockDim):  # type: ignore[misc]
        requested: int | None

        def __new__(cls, value: int) -> BlockDim:
            number: BlockDim = int.__new__(cls, value)
            number.requested = requested_block_dim(value)
            return number

    @functools.wraps(original)
    def resolve(device: Any, block_dim: int | None) -> int:
        resolved = BlockDim(original(device, block_dim))
        resolved.requested = requested_block_dim(block_dim)
        return resolved

    context._resolve_launch_block_dim = resolve
    context._ResolvedBlockDim = BlockDim


# -- small readings of Warp's objects ---------------------------------------------------------------------


def requested_block_dim(block_dim: Any) -> int | None:
    """What the program passed for a block_dim that Warp may have resolved since."""
    requested = getattr(block_dim, "requested", block_dim)
    return None if requested is None else int(requested)


def instance_of(kernel: Any, arguments: list[Any]) -> Any:
    """The instance of a generic kernel that these arguments select; any other kernel itself."""
    if not kernel.is_generic:
        return kernel
    return kernel._add_normalized_overload(kernel.infer_argument_types(arguments))


def source_size(source: str) -> int:
    """Bytes of generated source, without what holds the path of the checkout."""
    folder = str(Path(sys.argv[0]).resolve().parent)
    return sum(
        len(line.encode())
        for line in source.replace(folder, "").splitlines(True)
        if not line.lstrip().startswith("#line")
    )


def changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The values of ``after`` that are new or differ."""
    return {name: value for name, value in after.items() if name not in before or before[name] != value}


def public_attributes(config: Any) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(config).items()
        if not name.startswith("_") and not inspect.ismodule(value) and not callable(value)
    }


def plain_values(values: dict[str, Any]) -> dict[str, Value]:
    return {name: plain_value(value) for name, value in values.items()}


def plain_value(value: Any) -> Value:
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)  # a block_dim remembers the launch
    return value if isinstance(value, bool | float | str | None) else repr(value)
