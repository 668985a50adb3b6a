"""Builds for CUDA, on a machine without a GPU, what a program's launches and preloads would build on one."""

from __future__ import annotations

from typing import Any, NamedTuple

LAUNCH_BLOCK_DIM = 256
"""What a CUDA launch without a block_dim uses, whatever the module's option says."""
CONTEXT = "cuda"
"""Stands for the context of the CUDA device among the variants that a module has loaded."""


class Variant(NamedTuple):
    """A module as loaded on the CUDA device, for one block_dim."""

    module_hash: bytes


class CudaBuilds:
    """Repeats on CUDA what a program does, whatever device it names, up to the loading of the binary.

    Warp's own ``Module.load`` decides from the module's hash for a block_dim whether a loaded variant is
    still good, and compiles to a file that NVRTC makes without a device. The variants are kept where Warp
    keeps its own, so that whatever unloads a module unloads them too.
    """

    def __init__(self, architecture: int) -> None:
        self.architecture = architecture

    def launch(self, module: Any, block_dim: int | None) -> None:
        """``wp.launch`` with this block_dim; none, or one below 1, means the default."""
        self.load(module, LAUNCH_BLOCK_DIM if block_dim is None or block_dim < 1 else block_dim)

    def preload(self, module: Any, block_dim: int | None) -> None:
        """``wp.load_module`` with this block_dim; none means the variants loaded already, or the module's."""
        if block_dim is not None:
            self.launch(module, block_dim)
            return
        loaded = [dim for context, dim in module.execs if context == CONTEXT]
        for dim in loaded or [module.options["block_dim"]]:
            self.load(module, dim)

    def query(self, module: Any) -> None:
        """``wp.get_suggested_block_size`` for a kernel of the module."""
        self.load(module, module.options["block_dim"])

    def load(self, module: Any, block_dim: int) -> None:
        module_hash = module.get_module_hash(block_dim)
        variant = module.execs.get((CONTEXT, block_dim))
        if variant is not None and (module.options["strip_hash"] or variant.module_hash == module_hash):
            return
        module._compile(output_arch=self.architecture, options=module.resolved_options[block_dim])
        module.execs[CONTEXT, block_dim] = Variant(module_hash)
