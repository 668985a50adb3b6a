"""Which files of Warp itself belong to Warp modules of other names.

A kernel joins the module that is called like its Python file. Since 1.19 Warp's own files stand in
``warp._src`` and say with ``register_module_source(module, file)`` under which public name they are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warp_lint.facts.records import CallFact
from warp_lint.facts.values import Constant
from warp_lint.project.files import ProjectFile, last_name


def rename_modules(files: Sequence[ProjectFile]) -> None:
    """Give the files of Warp itself the module names that Warp registers for them."""
    own = [file for file in files if file.dotted_name.partition(".")[0] == "warp"]
    registered = {
        (file.root, source): module
        for file in own
        for call in file.facts.calls
        for module, source in _registered(call)
    }
    for file in own:
        file.module_name = registered.get((file.root, file.dotted_name), file.module_name)


def _registered(call: CallFact) -> Iterator[tuple[str, str]]:
    """The module and the file that a call of ``register_module_source`` names."""
    if last_name(call.function).endswith("register_module_source"):
        match [argument.value for argument in call.arguments]:
            case [Constant(value=str(module)), Constant(value=str(source))]:
                yield module, source
