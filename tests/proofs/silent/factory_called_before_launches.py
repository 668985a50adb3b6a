"""A solver builds all its kernels, each capturing another value, before it launches the first."""

import warp as wp


class Solver:
    def __init__(self, factors: list[float]) -> None:
        self.kernels = [self.make_scale(factor) for factor in factors]

    def make_scale(self, factor: float) -> wp.Kernel:
        @wp.kernel
        def scale(values: wp.array(dtype=float)):
            i = wp.tid()
            values[i] = factor * values[i]

        return scale

    def step(self, values: wp.array) -> None:
        for kernel in self.kernels:
            wp.launch(kernel, dim=values.shape, inputs=[values])


def main() -> None:
    solver = Solver([2.0, 3.0, 5.0])
    values = wp.ones(4, dtype=float)
    for _ in range(3):
        solver.step(values)
    print(values.numpy().tolist())


if __name__ == "__main__":
    main()
