"""Kernels defined in a loop capture its variable and are launched after it; a factory binds the value."""

import warp as wp

kernels = []
for factor in (2.0, 3.0, 5.0):

    @wp.kernel
    def scale(values: wp.array(dtype=float)):
        i = wp.tid()
        values[i] = factor * values[i]  # noqa: B023

    kernels.append(scale)


def make_scale(bound_factor: float) -> wp.Kernel:
    @wp.kernel
    def scale_bound(values: wp.array(dtype=float)):
        i = wp.tid()
        values[i] = bound_factor * values[i]

    return scale_bound


def results(kernels: list[wp.Kernel]) -> list[float]:
    arrays = [wp.ones(1, dtype=float) for _ in kernels]
    for kernel, values in zip(kernels, arrays, strict=True):
        wp.launch(kernel, dim=1, inputs=[values])
    return [float(values.numpy()[0]) for values in arrays]


bound_kernels = [make_scale(factor) for factor in (2.0, 3.0, 5.0)]
print(results(kernels))
print(results(bound_kernels))
