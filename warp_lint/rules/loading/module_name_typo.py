from __future__ import annotations

import re
from collections.abc import Iterator

from warp_lint.edits.names import write_meant_name
from warp_lint.facts.records import Argument, CallFact
from warp_lint.findings import Finding, Level
from warp_lint.project import Project
from warp_lint.project.values import only_constant
from warp_lint.rules.base import Rule

_CALLS = {"load_module": (0, "module"), "set_module_options": (1, "module"), "get_module": (0, "name")}
_DEVICE = re.compile(r"cpu|cuda(:\d+)?")


class ModuleNameTypo(Rule):
    """A string names a module that nobody has.

    ## What it does
    Reports strings in `wp.load_module`, `wp.set_module_options` and `wp.get_module` that begin like a module
    of the project, or are nearly one's name, while no file and no kernel's `module=` is called so. Names of
    other packages, which the linter does not see, and computed names are left alone.

    ## Why is this bad
    `wp.load_module` raises `RuntimeError`. The others are worse: without a word they create an empty module
    of that name, and what is set there reaches no kernel.

    ## Example
    ```python
    wp.set_module_options({"enable_backward": False}, module="app.filter")  # the file is app/filters.py
    ```

    ## Use instead
    ```python
    wp.set_module_options({"enable_backward": False}, module="app.filters")
    ```

    ## Fix safety
    The fix writes the nearest name. It is unsafe: another one may be meant, and the options take effect then.
    """

    code = "WRP608"
    name = "module-name-typo"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        for function, (position, keyword) in _CALLS.items():
            for site in sorted(project.calls_of(function)):
                file, call = project.files[site.file], project.call(site)
                place = project.evaluator.place_of(site.file, call)
                arguments = project.evaluator.arguments(call, place, {})
                given = only_constant(arguments.get(position, keyword))
                if given is None or not isinstance(given.value, str) or file.expects_error(call.block):
                    continue
                if function == "load_module" and _DEVICE.fullmatch(given.value):
                    continue  # WRP605
                # Asking for a module by a new name may be how it is made.
                wrong = project.module_names.fault(given.value, file, only_slips=function == "get_module")
                if wrong is None:
                    continue
                effect = "raises RuntimeError" if function == "load_module" else "creates an empty module"
                hint = f'; did you mean "{wrong.meant}"' if wrong.meant not in ("", "__name__") else ""
                yield self.finding(
                    file.facts.location(call.span),
                    f'no module is called "{wrong.name}": {function} {effect}{hint}',
                    suppression_range=file.facts.location(call.statement_span).range,
                    fix=write_meant_name(wrong, _argument(call, position, keyword), file, project),
                )


def _argument(call: CallFact, position: int, keyword: str) -> Argument | None:
    for index, argument in enumerate(call.arguments):
        if argument.keyword == keyword or (argument.keyword is None and index == position):
            return argument
    return None
