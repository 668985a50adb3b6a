from __future__ import annotations

from collections.abc import Iterator, Sequence

from warp_lint.edits.imports import delete_statement
from warp_lint.facts import values as fact
from warp_lint.findings import Applicability, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.files import ProjectFile
from warp_lint.rules.base import Rule

_CLEARS_MODULES = ("clear_kernel_cache", "build.clear_kernel_cache")
_CLEARS_LINKS = ("clear_lto_cache",)
_MODULES_ARE_CLEARED = "the kernel cache is cleared on every run: all modules are built again"
_LINKS_ARE_CLEARED = (
    "the cache of linked code is cleared on every run: tile operations are linked again wherever a module is "
    "built; the modules themselves stay"
)


class ClearCache(Rule):
    """The kernel cache is cleared on a way that goes on to load modules.

    ## What it does
    Reports `wp.clear_kernel_cache()` and `wp.clear_lto_cache()` that run at import, in tests, or before
    something loads modules. A function that only clears, and a call under a flag or in a branch of a
    command line, are left alone. Both calls in a row are one finding.

    ## Why is this bad
    Every start builds everything again, for every other program that shares the cache too.
    `clear_lto_cache` deletes no module, only the folder `lto` of the cache: what tile operations have linked.
    Alone it costs nothing until some module with tile operations is built, and then each of its links, which
    take seconds.

    ## Example
    ```python
    if __name__ == "__main__":
        wp.clear_kernel_cache()
        main()
    ```

    ## Use instead
    ```python
    if __name__ == "__main__":
        main()
    ```

    ## Fix safety
    The fix deletes the statement. It is unsafe: somebody may have wanted the fresh build.
    """

    code = "WRP701"
    name = "clear-cache"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        of_modules = self._each_time(_CLEARS_MODULES, project)
        of_links = self._each_time(_CLEARS_LINKS, project)
        for site in of_modules:
            beside = [other for other in of_links if self._are_in_a_row(site, other, project)]
            yield self._finding(site, _MODULES_ARE_CLEARED, beside, project)
        for site in of_links:
            if not any(self._are_in_a_row(site, other, project) for other in of_modules):
                yield self._finding(site, _LINKS_ARE_CLEARED, [], project)

    def _each_time(self, names: Sequence[str], project: Project) -> list[CallSite]:
        """The calls of functions that run on every way that goes on to load modules."""
        return [
            site
            for site in sorted(project.calls_of(*names))
            if not self._is_conditional(site, project) and self._goes_on(site, project)
        ]

    def _is_conditional(self, site: CallSite, project: Project) -> bool:
        call = project.call(site)
        return project.conditions.decide_about(
            project.files[site.file], call.scope, call.block, call.span.start
        )

    def _finding(self, site: CallSite, message: str, beside: list[CallSite], project: Project) -> Finding:
        facts = project.files[site.file].facts
        call = project.call(site)
        return self.finding(
            facts.location(call.span),
            message,
            suppression_range=facts.location(call.statement_span).range,
            related=[
                Related("what was linked is cleared here", facts.location(project.call(other).span))
                for other in beside
            ],
            fix=self._fix(site, project),
        )

    def _are_in_a_row(self, first: CallSite, second: CallSite, project: Project) -> bool:
        """Whether two calls stand in one block with no other call between them."""
        if first.file != second.file:
            return False
        calls = [project.call(first), project.call(second)]
        start, end = sorted(call.order for call in calls)
        return calls[0].block == calls[1].block and not any(
            start < other.order < end and other.scope == calls[0].scope
            for other in project.files[first.file].facts.calls
        )

    def _fix(self, site: CallSite, project: Project) -> Fix | None:
        call = project.call(site)
        if call.context != "statement":
            return None
        edits = delete_statement(project.files[site.file], call.span.start, project)
        return Fix("Delete the statement", Applicability.UNSAFE, edits) if edits is not None else None

    def _goes_on(self, site: CallSite, project: Project) -> bool:
        """Whether something may be loaded after the call: in its function, or after a call of that."""
        file = project.files[site.file]
        call = project.call(site)
        function = file.function_of(call.scope)
        if project.is_test(file):
            return True
        if function is None:
            return self._is_followed(site, project)
        if self._is_before_load(call.order, file.index, function, project):
            return True
        callers = project.callers.sites(file.index, function)
        if any(project.files[caller.file].is_main_guarded(project.call(caller).block) for caller in callers):
            return self._is_followed_by_calls(call.order, file, call.scope)
        return any(self._is_followed(caller, project) for caller in callers)

    def _is_followed(self, site: CallSite, project: Project) -> bool:
        """Whether a load follows in the function, or any call at module level: what that leads to is not
        always seen, and an import has no other purpose than to go on."""
        file = project.files[site.file]
        call = project.call(site)
        function = file.function_of(call.scope)
        if function is not None:
            return self._is_before_load(call.order, file.index, function, project)
        if file.is_in_package and not file.is_main_guarded(call.block):
            return True
        return self._is_followed_by_calls(call.order, file, call.scope)

    def _is_followed_by_calls(self, order: int, file: ProjectFile, scope: int) -> bool:
        """Whether a scope goes on to call anything but what clears or prints."""
        return any(
            other.order > order and _called_name(other.function) not in _CLEARING
            for other in file.facts.calls
            if other.scope == scope
        )

    def _is_before_load(self, order: int, file: int, function: int, project: Project) -> bool:
        events = project.timeline.events(file, function)
        return any(event.is_load and event.order > order for event in events)


_CLEARING = frozenset({"clear_kernel_cache", "clear_lto_cache", "print"})


def _called_name(function: fact.Expression) -> str:
    match function:
        case fact.Attribute(attribute=name) | fact.Name(id=name):
            return name
        case _:
            return ""
