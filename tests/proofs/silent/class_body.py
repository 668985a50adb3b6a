"""Kernels in class bodies are defined at import, before anything is loaded."""

import warp as wp


class Scale:
    @wp.kernel
    def apply(values: wp.array(dtype=float)):  # noqa: N805
        i = wp.tid()
        values[i] = 2.0 * values[i]


class Shift:
    @wp.kernel
    def apply(values: wp.array(dtype=float)):  # noqa: N805
        i = wp.tid()
        values[i] = values[i] + 1.0


def main() -> None:
    values = wp.ones(4, dtype=float)
    wp.launch(Scale.apply, dim=4, inputs=[values])
    wp.launch(Shift.apply, dim=4, inputs=[values])
    print(values.numpy().tolist())


if __name__ == "__main__":
    main()
