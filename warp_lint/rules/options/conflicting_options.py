from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.options import OptionWrite
from warp_lint.project.values import only_constant
from warp_lint.rules.base import Rule


class ConflictingOptions(Rule):
    """One option of one module gets two different values.

    ## What it does
    Reports an option that the project sets to two different constants for the same module. The branches of
    one `if` may differ, and tests may do as they like.

    ## Why is this bad
    Which value a kernel is built with depends on which call came last before the first launch. When both
    calls run, the module is built for each value.

    ## Example
    ```python
    wp.set_module_options({"fast_math": True})
    ...
    wp.set_module_options({"fast_math": False})
    ```

    ## Use instead
    ```python
    wp.set_module_options({"fast_math": False})
    ```

    ## Fix safety
    There is no fix: only the author knows which value is meant.
    """

    code = "WRP308"
    name = "conflicting-options"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        late = {(late.write.file.index, late.write.entry_span) for late in project.late_writes}
        for module in project.modules.values():
            by_name: dict[str, list[OptionWrite]] = defaultdict(list)
            for write in module.writes:
                if only_constant(write.values) is None or project.is_test(write.file):
                    continue
                # After a load a second value is late rather than in conflict.
                if (write.file.index, write.entry_span) not in late:
                    by_name[write.name].append(write)
            for name, writes in by_name.items():
                yield from self._conflicts(name, module.name, writes)

    def _conflicts(self, name: str, module: str, writes: list[OptionWrite]) -> Iterator[Finding]:
        for position, write in enumerate(writes):
            for other in writes[:position]:
                if other.values == write.values or _are_alternatives(other, write):
                    continue
                yield self.finding(
                    write.entry_location,
                    f'option "{name}" of module "{module}" is set to {_shown(write)} here '
                    f"and to {_shown(other)} elsewhere: the module is built for each value",
                    suppression_range=write.suppression_range,
                    related=[Related(f"set to {_shown(other)} here", other.entry_location)],
                )
                break


def _are_alternatives(first: OptionWrite, second: OptionWrite) -> bool:
    return (
        first.file is second.file
        and first.place.scope == second.place.scope
        and not first.file.may_reach(first.place.block, second.place.block)
    )


def _shown(write: OptionWrite) -> str:
    value = only_constant(write.values)
    assert value is not None
    return repr(value.value)
