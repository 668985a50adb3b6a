"""An option written into the module's dictionary after the load: nothing marks the module as modified."""

import warp as wp


@wp.kernel
def scale(values: wp.array(dtype=float), factor: float):
    i = wp.tid()
    values[i] = factor * values[i]


def main() -> None:
    values = wp.ones(4, dtype=float)
    wp.launch(scale, dim=4, inputs=[values, 2.0])
    wp.get_module_options()["fast_math"] = True
    wp.launch(scale, dim=4, inputs=[values, 3.0])
    print(values.numpy().tolist())


if __name__ == "__main__":
    main()
