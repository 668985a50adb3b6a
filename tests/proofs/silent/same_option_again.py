"""An option that is set to the value it has, after the module was loaded."""

import warp as wp

wp.set_module_options({"enable_backward": False})


@wp.kernel
def scale(values: wp.array(dtype=float)):
    i = wp.tid()
    values[i] = 2.0 * values[i]


def main() -> None:
    values = wp.ones(4, dtype=float)
    for _ in range(3):
        wp.set_module_options({"enable_backward": False})
        wp.launch(scale, dim=4, inputs=[values])
    print(values.numpy().tolist())


if __name__ == "__main__":
    main()
