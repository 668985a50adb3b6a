"""`module_options` belongs to a unique kernel; on any other it raises at the definition."""

import warp as wp


def scale(values: wp.array(dtype=float)):
    i = wp.tid()
    values[i] = 2.0 * values[i]


try:
    wp.kernel(scale, module_options={"fast_math": True})
except ValueError as error:
    print(type(error).__name__)
kernel = wp.kernel(scale, module="unique", module_options={"fast_math": True})
print("unique" if kernel.module.options["fast_math"] else "lost")
