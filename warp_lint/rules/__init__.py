"""The rules. Each is a class in a file of its own; this package finds them, nothing lists them."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from abc import ABCMeta

from warp_lint.rules.base import Rule


@functools.cache
def all_rules() -> dict[str, Rule]:
    """Every rule by its code, in the order of the codes."""
    rules: dict[str, Rule] = {}
    for module_info in pkgutil.walk_packages(__path__, f"{__name__}."):
        module = importlib.import_module(module_info.name)
        for value in vars(module).values():
            if (
                isinstance(value, ABCMeta)  # Python 3.10 takes `list[int]` for a class
                and issubclass(value, Rule)
                and value.__module__ == module.__name__
                and not inspect.isabstract(value)
            ):
                rules[value.code] = value()
    return dict(sorted(rules.items()))
