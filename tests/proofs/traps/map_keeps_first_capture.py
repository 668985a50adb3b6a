"""`wp.map` is called with a function that captures 2, then 3; arguments instead of captures do better."""

import warp as wp


def scale_by_capture(values: wp.array, factor: float) -> wp.array:
    @wp.func
    def scaled(value: float):
        return factor * value

    return wp.map(scaled, values)


@wp.func
def product(value: float, factor: float):
    return factor * value


values = wp.ones(2, dtype=float)
print([scale_by_capture(values, factor).numpy().tolist() for factor in (2.0, 3.0)])
print([wp.map(product, values, factor).numpy().tolist() for factor in (2.0, 3.0)])
