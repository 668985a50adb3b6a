"""A unique kernel that is defined again with the same captured value is the kernel that exists already."""

import warp as wp


def scale_by(values: wp.array, factor: float) -> None:
    @wp.kernel(module="unique")
    def scale(values: wp.array(dtype=float)):
        i = wp.tid()
        values[i] = factor * values[i]

    wp.launch(scale, dim=values.shape, inputs=[values])


def main() -> None:
    values = wp.ones(4, dtype=float)
    for _ in range(5):
        scale_by(values, 2.0)
    print(values.numpy().tolist())


if __name__ == "__main__":
    main()
