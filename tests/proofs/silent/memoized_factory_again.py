"""A memoized factory of unique kernels: each value builds its own module, and asking again builds nothing."""

import functools

import warp as wp


@functools.cache
def make_scale(factor: float) -> wp.Kernel:
    @wp.kernel(module="unique")
    def scale(values: wp.array(dtype=float)):
        i = wp.tid()
        values[i] = factor * values[i]

    return scale


def main() -> None:
    values = wp.ones(4, dtype=float)
    for _ in range(3):
        for factor in (2.0, 3.0):
            wp.launch(make_scale(factor), dim=4, inputs=[values])
    print(values.numpy().tolist())


if __name__ == "__main__":
    main()
