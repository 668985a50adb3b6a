"""`wp.load_module` takes its first argument for a module, whatever it names."""

import warp as wp


@wp.kernel
def scale(values: wp.array(dtype=float)):
    i = wp.tid()
    values[i] = 2.0 * values[i]


try:
    wp.load_module("cuda:0")
except RuntimeError as error:
    print(type(error).__name__)
wp.load_module(device="cpu")
print("loads")
