"""``python -m tests.launched_options FILE...`` tells the options that each launch of programs sees.

Nothing is built: a launch only notes which kernel it was given, and what options Warp would build it with
now. Each file is imported, then each of its functions and methods named ``run…`` is called. The output is a
list for each file, of names of kernels with their options.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import warp
from warp._src import context

wp: Any = warp
"""Warp, with parts replaced."""

Launches = list[tuple[str, dict[str, Any]]]


def launches_of(path: Path) -> Launches:
    """The launches of a program, in order. What it writes to Warp's configuration is taken back."""
    launches: Launches = []

    def note(kernel: Any, *_arguments: Any, **_keywords: Any) -> None:
        options = kernel.module.resolve_options(wp.config) | kernel.options
        launches.append((kernel.func.__name__, {name: repr(value) for name, value in options.items()}))

    config = dict(vars(wp.config))
    modules = dict(context.user_modules)
    wp.launch = note
    try:
        module = _imported(path)
        for run in _functions_of(module):
            run()
    finally:
        vars(wp.config).update(config)
        context.user_modules.clear()  # programs use the same names of modules
        context.user_modules.update(modules)
    return launches


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where Warp looks for the options' owner
    spec.loader.exec_module(module)
    return module


def _functions_of(module: ModuleType) -> list[Any]:
    values = [*vars(module).values()]
    functions = [value for value in values if inspect.isfunction(value) and value.__name__.startswith("run")]
    classes: list[Any] = [value for value in values if inspect.isclass(value) and hasattr(value, "run")]
    return [*functions, *(one().run for one in classes)]


def _nothing(*_arguments: Any, **_keywords: Any) -> None:
    """What replaces calls that build kernels or delete them."""


if __name__ == "__main__":
    wp.load_module = wp.clear_kernel_cache = wp.zeros = _nothing
    print(json.dumps([launches_of(Path(name)) for name in sys.argv[1:]]))
