"""A generic kernel gets a type it cannot be compiled for, and the other kernels of its module fail too."""

from typing import Any

import warp as wp


@wp.kernel
def scale(values: wp.array(dtype=float)):
    i = wp.tid()
    values[i] = 2.0 * values[i]


@wp.kernel(module="unique")
def scale_alone(values: wp.array(dtype=float)):
    i = wp.tid()
    values[i] = 2.0 * values[i]


@wp.kernel
def invert(values: wp.array(dtype=Any)):
    i = wp.tid()
    values[i] = wp.inverse(values[i])


def attempt(kernel: wp.Kernel, values: wp.array) -> str:
    try:
        wp.launch(kernel, dim=values.shape, inputs=[values])
    except Exception:
        return f"{kernel.func.__name__} fails"
    return f"{kernel.func.__name__} runs"


values = wp.ones(2, dtype=float)
print(attempt(scale, values))
print(attempt(invert, wp.ones(2, dtype=wp.vec3)))
print(attempt(scale, values))
print(attempt(scale_alone, values))
