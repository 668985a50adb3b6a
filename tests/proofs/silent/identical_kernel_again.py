"""A function defines the same kernel, capturing nothing, in each of ten calls."""

import warp as wp


def double(values: wp.array) -> None:
    @wp.kernel
    def scale(values: wp.array(dtype=float)):
        i = wp.tid()
        values[i] = 2.0 * values[i]

    wp.launch(scale, dim=values.shape, inputs=[values])


def main() -> None:
    values = wp.ones(4, dtype=float)
    for _ in range(10):
        double(values)
    print(values.numpy().tolist())


if __name__ == "__main__":
    main()
