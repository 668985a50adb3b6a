"""A constant that the kernel gets as an argument takes three values."""

import warp as wp


@wp.kernel
def scale(values: wp.array(dtype=float), factor: float):
    i = wp.tid()
    values[i] = factor * values[i]


def main() -> None:
    values = wp.ones(4, dtype=float)
    for factor in (2.0, 3.0, 5.0):
        wp.launch(scale, dim=4, inputs=[values, factor])
    print(values.numpy().tolist())


if __name__ == "__main__":
    main()
