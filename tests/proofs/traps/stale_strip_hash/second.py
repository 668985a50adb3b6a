"""A kernel that doubled is edited to triple; with `strip_hash` the binary of its first version is loaded."""

import warp as wp

wp.set_module_options({"strip_hash": True})


@wp.kernel
def scale(values: wp.array(dtype=float)):
    i = wp.tid()
    values[i] = 3.0 * values[i]


values = wp.ones(4, dtype=float)
wp.launch(scale, dim=4, inputs=[values])
print(values.numpy().tolist())
