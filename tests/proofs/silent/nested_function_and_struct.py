"""A Warp function and a struct are defined in a function after the module was loaded; no kernel uses them."""

import warp as wp


@wp.kernel
def scale(values: wp.array(dtype=float), factor: float):
    i = wp.tid()
    values[i] = factor * values[i]


def define(factor: float) -> tuple[wp.Function, object]:
    @wp.func
    def scaled(value: float):
        return factor * value

    @wp.struct
    class Pair:
        first: float
        second: float

    return scaled, Pair


def main() -> None:
    values = wp.ones(4, dtype=float)
    for factor in (2.0, 3.0):
        wp.launch(scale, dim=4, inputs=[values, factor])
        function, struct = define(factor)
    print(values.numpy().tolist(), function is not None, struct is not None)


if __name__ == "__main__":
    main()
