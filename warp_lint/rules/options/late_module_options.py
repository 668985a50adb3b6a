from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.files import ProjectFile
from warp_lint.project.options import OptionWrite
from warp_lint.project.timeline import Events, Load, Write
from warp_lint.project.values import Constant, Values, constant, only_constant
from warp_lint.rules.base import Rule
from warp_lint.warp_api import MODULE_OPTIONS, WarpName, find


class LateModuleOptions(Rule):
    """Options of a module change after it was loaded.

    ## What it does
    Reports `wp.set_module_options`, and writes into the dict of `wp.get_module_options()`, that come after
    something loaded the module in the same flow: the script, the function, or what they call.

    ## Why is this bad
    The module was built with the old options. `set_module_options` makes Warp build all of its kernels again
    at the next launch; a write into the dict changes nothing at all, without a word.

    ## Example
    ```python
    wp.launch(step, dim=n, inputs=[x])
    wp.set_module_options({"fast_math": True})
    wp.launch(step, dim=n, inputs=[x])
    ```

    ## Use instead
    ```python
    wp.set_module_options({"fast_math": True})


    @wp.kernel
    def step(x: wp.array(dtype=float)): ...
    ```

    ## Fix safety
    The fix moves the call to module scope above the first kernel when its value is constant. It is safe when
    the module has only this call, otherwise unsafe.
    """

    code = "WRP301"
    name = "late-module-options"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        reported: set[tuple[int, tuple[int, int]]] = set()
        for file in project.files:
            at_import = project.timeline.before_call(file)
            for scope in range(len(file.facts.scopes)):
                if file.facts.scopes[scope].kind not in ("module", "function"):
                    continue
                events = project.timeline.events(file.index, scope)
                for write in events.writes:
                    key = (write.write.file.index, write.write.span)
                    load = self._load_before(write, events, file, [] if scope == 0 else at_import)
                    if load is None or key in reported:
                        continue
                    if self._changes(write, events, file, project):
                        reported.add(key)
                        yield self._finding(write, load, project)

    def _load_before(
        self, write: Write, events: Events, file: ProjectFile, at_import: list[Load]
    ) -> Load | None:
        module = write.write.module
        for load in at_import:
            if load.module == module:
                return load
        loop = file.loop_of(write.block)
        for load in events.loads:
            if load.module != module or load.steps[:1] == write.steps[:1] != ():
                continue
            if load.order < write.order and file.may_reach(load.block, write.block):
                return load
            varies = only_constant(write.write.values) is None
            if loop is not None and varies and loop in file.block_ancestors(load.block):
                return load
        return None

    def _changes(self, write: Write, events: Events, file: ProjectFile, project: Project) -> bool:
        """Whether the option may get another value than it has."""
        new = only_constant(write.write.values)
        if new is None:
            return True
        return new != only_constant(self._value_before(write, events, file, project))

    def _value_before(self, write: Write, events: Events, file: ProjectFile, project: Project) -> Values:
        values = _default(write.write, project)
        earlier = [
            other
            for other in events.writes
            if (other.write.module, other.write.name) == (write.write.module, write.write.name)
            and other.order < write.order
            and file.may_reach(other.block, write.block)
        ]
        if earlier:
            return earlier[-1].write.values
        at_import = project.modules[write.write.module].writes if write.write.module in project.modules else []
        for other in at_import:
            if other.place.scope == 0 and other.name == write.write.name and other is not write.write:
                values = other.values
        return values

    def _finding(self, write: Write, load: Load, project: Project) -> Finding:
        name = project.modules[write.write.module].name
        option = write.write.name
        count = len(project.modules[write.write.module].kernels)
        effect = (
            f"all its {count} kernels are built again" if count > 1 else "it is built again"
        ) if write.write.is_marking else "the change is ignored"
        return self.finding(
            write.write.location,
            f'option "{option}" of module "{name}" changes after the module was loaded: {effect}',
            suppression_range=write.write.suppression_range,
            related=[
                Related(f"loaded by {load.description}", load.location),
                *(Related(f"through {step.name}", step.location) for step in (*load.steps, *write.steps)),
            ],
        )


def _default(write: OptionWrite, project: Project) -> Values:
    option = find(MODULE_OPTIONS, write.name)
    if option is None or isinstance(option.default, WarpName):
        return ()
    value: Constant = constant(option.default)
    return (value,)
