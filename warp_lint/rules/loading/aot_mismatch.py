from __future__ import annotations

import os.path
from collections.abc import Iterator

from warp_lint.facts.values import Attribute, Name
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.options import OptionWrite
from warp_lint.project.preloads import Preload
from warp_lint.project.values import PlainValue
from warp_lint.project.version_checks import is_checked_around
from warp_lint.rules.base import Rule
from warp_lint.warp_api import MODULE_OPTIONS, OptionEffect, find


class AotMismatch(Rule):
    """What is loaded is not what was compiled ahead of time.

    ## What it does
    Reports `wp.load_aot_module` of a module that the project compiles only with another `use_ptx`,
    `module_dir` or `strip_hash`, and one that comes after an option of the module was changed behind the
    compilation. Values that cannot be read, and loads in a `try`, are left alone.

    ## Why is this bad
    The name of the file tells the format, and the hash of the module with its options; the directory and the
    name together must be the same. Else the load raises `FileNotFoundError`, often on another machine than
    the one that compiled.

    ## Example
    ```python
    wp.compile_aot_module(kernels, device="cuda:0", module_dir="build", use_ptx=True)
    wp.load_aot_module(kernels, device="cuda:0", module_dir="build", use_ptx=False)
    ```

    ## Use instead
    ```python
    wp.compile_aot_module(kernels, device="cuda:0", module_dir="build", use_ptx=True)
    wp.load_aot_module(kernels, device="cuda:0", module_dir="build", use_ptx=True)
    ```

    ## Fix safety
    There is no fix: which of the two is right, only the author knows.
    """

    code = "WRP611"
    name = "aot-mismatch"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        compiles = [preload for preload in project.preloads if preload.name == "compile_aot_module"]
        for load in project.preloads:
            if load.name != "load_aot_module" or len(load.modules) != 1:
                continue
            if is_checked_around(load.file, load.call.block):
                continue  # the program bears that there is no such file
            faults = [
                (compiled, _fault(compiled, load, project))
                for compiled in compiles
                if compiled.modules == load.modules
            ]
            if not faults or any(fault is None for _, fault in faults):
                continue  # nothing is known of a compilation, or one that fits is
            if any(not compiled.modules for compiled in compiles):
                continue  # that may be the one
            compiled, fault = faults[-1]
            yield self.finding(
                load.location,
                f"what is loaded was never compiled: {fault}",
                suppression_range=load.suppression_range,
                related=[Related("compiled here", compiled.location)],
            )


def _fault(compiled: Preload, load: Preload, project: Project) -> str | None:
    """In what a load differs from a compilation; None when it fits, or may."""
    for name in ("module_dir", "strip_hash", "use_ptx"):
        first, second = compiled.argument(name), load.argument(name)
        if name == "use_ptx" and (first is None or second is None or load.is_for_cpu_alone):
            continue  # Warp finds out which it is, or takes either
        if name == "strip_hash" and not _is_strip_hash_known(compiled, load, project):
            continue
        here, there = compiled.plain(name), load.plain(name)
        if (first is not None and here is None) or (second is not None and there is None):
            if _is_same_expression(compiled, load, name):
                continue
            return None  # not known
        if _normal(here, name) != _normal(there, name):
            return f"{name} is {_shown(there)} here, and {_shown(here)} where it is compiled"
    write = _change_between(compiled, load, project)
    if write is not None:
        return f'option "{write.name}" changes between the compilation and this load'
    return None


def _is_strip_hash_known(compiled: Preload, load: Preload, project: Project) -> bool:
    """Whether an omitted ``strip_hash`` is surely False: it stays what a call or an option has made it."""
    if any(write.name == "strip_hash" and write.module in load.modules for write in project.option_writes):
        return False
    is_same_flow = (compiled.site.file, compiled.call.scope) == (load.site.file, load.call.scope)
    return not is_same_flow or load.argument("strip_hash") is not None


def _is_same_expression(compiled: Preload, load: Preload, name: str) -> bool:
    """Whether two calls of one scope are given the same name."""
    if (compiled.site.file, compiled.call.scope) != (load.site.file, load.call.scope):
        return False
    first, second = compiled.written(name), load.written(name)
    if first is None or second is None or first.value != second.value:
        return False
    return isinstance(first.value, Name | Attribute)


def _normal(value: PlainValue, name: str) -> PlainValue:
    if name == "module_dir" and isinstance(value, str):
        return os.path.normpath(value)
    return value or None


def _shown(value: PlainValue) -> str:
    return "not given" if value is None else repr(value)


def _change_between(compiled: Preload, load: Preload, project: Project) -> OptionWrite | None:
    """An option of the module that is set after the compilation and before the load, in one scope."""
    file = load.file
    if (compiled.site.file, compiled.call.scope) != (load.site.file, load.call.scope):
        return None
    if compiled.plain("strip_hash") or load.plain("strip_hash"):
        return None  # WRP616: the file is found, and stale
    for write in project.option_writes:
        option = find(MODULE_OPTIONS, write.name, project.settings.target_version)
        is_real = option is not None and option.effect is OptionEffect.REAL and write.name != "strip_hash"
        in_scope = (write.file.index, write.place.scope) == (file.index, load.call.scope)
        if not is_real or not in_scope or write.module not in load.modules or not write.is_marking:
            continue
        is_between = compiled.call.order < write.place.order < load.call.order
        comes_there = file.may_reach(compiled.call.block, write.place.block) and file.may_reach(
            write.place.block, load.call.block
        )
        if is_between and comes_there and not _is_repeated(write, compiled, project):
            return write
    return None


def _is_repeated(write: OptionWrite, compiled: Preload, project: Project) -> bool:
    """Whether the option had that value already when the module was compiled."""
    earlier = [
        other.values
        for other in project.option_writes
        if (other.module, other.name) == (write.module, write.name)
        and other.file is write.file
        and other.place.order < compiled.call.order
    ]
    return (earlier[-1] == write.values) if earlier else project.is_default(write, write.file)
