"""Three block dimensions in one module, on the CPU, where each of them is 1."""

import warp as wp


@wp.kernel
def scale(values: wp.array(dtype=float), factor: float):
    i = wp.tid()
    values[i] = factor * values[i]


def main() -> None:
    values = wp.ones(4, dtype=float, device="cpu")
    for block_dim in (64, 128, 256):
        wp.launch(scale, dim=4, inputs=[values, 2.0], device="cpu", block_dim=block_dim)
    print(values.numpy().tolist())


if __name__ == "__main__":
    main()
