"""Without hashes in the names two overloads of a kernel cannot be told apart: compiling raises."""

from typing import Any

import warp as wp


@wp.kernel
def scale(values: wp.array(dtype=Any), factor: Any):
    i = wp.tid()
    values[i] = factor * values[i]


def compile_ahead(strip_hash: bool) -> str:
    try:
        paths = wp.compile_aot_module(__name__, device="cpu", strip_hash=strip_hash)
    except RuntimeError as error:
        return type(error).__name__
    return f"{len(paths)} file"


wp.overload(scale, [wp.array(dtype=wp.float32), wp.float32])
wp.overload(scale, [wp.array(dtype=wp.float64), wp.float64])
print(compile_ahead(strip_hash=False))
print(compile_ahead(strip_hash=True))
