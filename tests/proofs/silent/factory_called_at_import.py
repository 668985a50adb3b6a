"""A factory of which every call is at module level adds its kernels before the first load."""

import warp as wp


def make_scale(factor: float) -> wp.Kernel:
    @wp.kernel
    def scale(values: wp.array(dtype=float)):
        i = wp.tid()
        values[i] = factor * values[i]

    return scale


KERNELS = [make_scale(factor) for factor in (2.0, 3.0, 5.0)]


def main() -> None:
    values = wp.ones(4, dtype=float)
    for kernel in KERNELS:
        wp.launch(kernel, dim=4, inputs=[values])
    print(values.numpy().tolist())


if __name__ == "__main__":
    main()
