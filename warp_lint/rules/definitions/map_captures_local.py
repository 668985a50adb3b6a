from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.maps import pass_to_map
from warp_lint.findings import Applicability, Edit, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.captures import changing_captures
from warp_lint.project.values import DeviceFunction, Function
from warp_lint.rules.base import Rule
from warp_lint.source import SourceError


class MapCapturesLocal(Rule):
    """A function given to `wp.map` captures a value that may change.

    ## What it does
    Reports `wp.map` with a lambda, a nested function or a nested `wp.func` that reads a local variable of
    the function around it, or the variable of a loop. Module constants, and locals that hold one constant,
    are not reported.

    ## Why is this bad
    `wp.map` remembers the kernel that it made for a function by the function's name, or by the text of a
    lambda, and by the types of the arguments. A captured value is no part of that key: the second call with
    another value silently computes with the first one.

    ## Example
    ```python
    def scaled(values, factor):
        return wp.map(lambda x: x * factor, values)
    ```

    ## Use instead
    ```python
    def scaled(values, factor):
        return wp.map(lambda x, factor: x * factor, values, factor)
    ```

    ## Fix safety
    The fix makes the captured names parameters of the lambda and passes their values. It is unsafe: where a
    program has come to rely on the first value, its results change. Named functions are left to the author.
    """

    code = "WRP107"
    name = "map-captures-local"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        for site in project.calls_of("map", "utils.map"):
            file, call = project.files[site.file], project.call(site)
            arguments = project.evaluator.arguments(call, project.evaluator.place_of(site.file, call), {})
            for function in arguments.get(0, "func") or ():
                if not isinstance(function, Function | DeviceFunction) or function.file != site.file:
                    continue
                captured = changing_captures(file, function.scope, call.block, project)
                if captured:
                    yield self._finding(site, function, captured, project)
                    break

    def _finding(
        self, site: CallSite, function: Function | DeviceFunction, captured: list[str], project: Project
    ) -> Finding:
        facts, call = project.files[site.file].facts, project.call(site)
        names = ", ".join(f'"{name}"' for name in captured)
        values, then = (
            ("value", "it, whatever the name stands")
            if len(captured) == 1
            else ("values", "them, whatever the names stand")
        )
        return self.finding(
            facts.location(call.span),
            f"wp.map keeps the {values} of {names} that its function captures first: "
            f"later calls compute with {then} for then",
            suppression_range=facts.location(call.statement_span).range,
            related=[Related("captured here", facts.location(facts.scopes[function.scope].header_span))],
            fix=self._fix(site, captured, project),
        )

    def _fix(self, site: CallSite, captured: list[str], project: Project) -> Fix | None:
        call = project.call(site)
        try:
            text = project.source(project.files[site.file]).text[slice(*call.span)]
        except SourceError:
            return None
        replacement = pass_to_map(text, captured)
        if replacement is None:
            return None
        edit = Edit(project.files[site.file].facts.path, call.span.start, call.span.end, replacement)
        return Fix(f"Pass {', '.join(captured)} as arguments of the map", Applicability.UNSAFE, (edit,))
