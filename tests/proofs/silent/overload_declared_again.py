"""An overload is declared again, by call and by launch, after the module was loaded with it."""

from typing import Any

import warp as wp


@wp.kernel
def scale(values: wp.array(dtype=Any), factor: Any):
    i = wp.tid()
    values[i] = factor * values[i]


wp.overload(scale, [wp.array(dtype=wp.float32), wp.float32])
wp.overload(scale, [wp.array(dtype=wp.float64), wp.float64])


def main() -> None:
    values = wp.ones(4, dtype=wp.float32)
    precise = wp.ones(4, dtype=wp.float64)
    for _ in range(3):
        wp.launch(scale, dim=4, inputs=[values, wp.float32(2.0)])
        wp.launch(scale, dim=4, inputs=[precise, wp.float64(3.0)])
        wp.overload(scale, [wp.array(dtype=wp.float64), wp.float64])
    print(values.numpy().tolist(), precise.numpy().tolist())


if __name__ == "__main__":
    main()
