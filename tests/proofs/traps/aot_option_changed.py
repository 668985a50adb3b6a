"""A module compiled ahead of time is looked for under another name once an option changes."""

import tempfile

import warp as wp


@wp.kernel
def scale(values: wp.array(dtype=float)):
    i = wp.tid()
    values[i] = 2.0 * values[i]


def load(folder: str) -> str:
    try:
        wp.load_aot_module(__name__, device="cpu", module_dir=folder)
    except FileNotFoundError as error:
        return type(error).__name__
    return "loads"


with tempfile.TemporaryDirectory() as folder:
    wp.compile_aot_module(__name__, device="cpu", module_dir=folder)
    print(load(folder))
    wp.set_module_options({"fast_math": True})
    print(load(folder))
