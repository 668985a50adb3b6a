from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts.records import BlockKind, ScopeKind
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.memoization import is_guarded_by_absence, is_memoized
from warp_lint.project.values import Kernel
from warp_lint.rules.base import Rule

_PER_STEP = frozenset(
    {"step", "forward", "backward", "simulate", "substep", "update", "advance", "render", "solve", "__call__"}
)
"""Names of functions that run once for each step or frame."""


class FactoryInHotPath(Rule):
    """A function that makes a kernel is called again and again.

    ## What it does
    Reports calls of a function that defines and returns a kernel, and remembers nothing, in a loop, or in a
    function that runs once per step or frame and launches the result.

    ## Why is this bad
    Each call defines the kernel again: its source is parsed and hashed, a unique module is hashed as a
    whole (0.3 to 0.8 ms for a small kernel, over 100 ms for a large one), before Warp finds that it has it.
    In a step that takes milliseconds this is most of the time.

    ## Example
    ```python
    def step(self):
        kernel = make_kernel(self.size)
        wp.launch(kernel, dim=self.count, inputs=[self.state])
    ```

    ## Use instead
    ```python
    @functools.cache
    def make_kernel(size): ...
    ```

    ## Fix safety
    There is no fix: whether the arguments can be a key is for the author to say.
    """

    code = "WRP104"
    name = "factory-in-hot-path"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        reported = set()
        for kernel in project.kernels.values():
            file = kernel.file
            factory = file.function_of(kernel.place.scope)
            if factory is None or not self._returns(kernel, file, factory, project):
                continue
            if is_memoized(file, factory, project):
                continue
            for site in project.callers.sites(file.index, factory):
                why = self._why_hot(site, project)
                if why and site not in reported:
                    reported.add(site)
                    yield self._finding(site, why, kernel, factory, project)

    def _returns(self, kernel: KernelDefinition, file: ProjectFile, factory: int, project: Project) -> bool:
        """Whether the function gives the kernel back."""
        for returned in file.returns.get(factory, ()):
            place = project.evaluator.place_of_return(file.index, returned)
            if kernel.kernel in project.evaluator.evaluate(returned.value, place, {}):
                return True
        return False

    def _why_hot(self, site: CallSite, project: Project) -> str:
        """Why a call runs again and again; empty when it is not known to."""
        file = project.files[site.file]
        call = project.call(site)
        function = file.function_of(call.scope)
        if function is None or project.callers.runs_at_import(site.file, function) or project.is_test(file):
            return ""
        scope = file.facts.scopes[function]
        if scope.name in ("__init__", "__new__", "__post_init__") or is_guarded_by_absence(file, call.block):
            return ""
        if is_memoized(file, function, project) or not self._launches_result(site, function, project):
            return ""
        if self._is_in_loop(file, call.scope, call.block):
            return "in a loop"
        if scope.name in _PER_STEP:
            return f"by each {scope.qualified_name}()"
        for caller in project.callers.sites(site.file, function):
            outer = project.call(caller)
            if self._is_in_loop(project.files[caller.file], outer.scope, outer.block):
                return f"by {scope.qualified_name}(), which is called in a loop"
        return ""

    def _is_in_loop(self, file: ProjectFile, scope: int, block: int) -> bool:
        is_comprehension = file.facts.scopes[scope].kind is ScopeKind.COMPREHENSION
        return not is_comprehension and any(
            file.facts.blocks[outer].kind is BlockKind.LOOP for outer in file.block_ancestors(block)
        )

    def _launches_result(self, site: CallSite, function: int, project: Project) -> bool:
        """Whether the function that calls launches a kernel that comes of the call."""
        made = {
            value
            for value in project.evaluator.evaluate_call(site.file, site.call)
            if isinstance(value, Kernel)
        }
        return any(
            launch.kernel in made
            and launch.site.file == site.file
            and project.files[site.file].function_of(project.call(launch.site).scope) == function
            for launch in project.launches
        )

    def _finding(
        self, site: CallSite, why: str, kernel: KernelDefinition, factory: int, project: Project
    ) -> Finding:
        facts = project.files[site.file].facts
        call = project.call(site)
        name = kernel.file.facts.scopes[factory].qualified_name
        return self.finding(
            facts.location(call.span),
            f'kernel "{kernel.name}" is made again {why}: {name}() remembers none that it made',
            suppression_range=facts.location(call.statement_span).range,
            related=[Related("made here", kernel.location)],
        )
