from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts import values as fact
from warp_lint.facts.records import Argument, ScopeKind
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.files import ProjectFile
from warp_lint.project.memoization import memoizer
from warp_lint.project.values import Function
from warp_lint.rules.base import Rule


class UnstableFactoryKey(Rule):
    """A memoized kernel factory gets a key that is new in each call.

    ## What it does
    Reports calls of a memoized function that makes a kernel with a lambda, a nested function, or a list,
    dict or set as an argument, and memoizers on methods that make kernels.

    ## Why is this bad
    The memory never hits: a lambda is a new object each time it is evaluated, and a method's key begins with
    the object, so that each object has its kernels made anew. Every call defines a kernel, which is parsed
    and hashed before Warp finds that it has the same one built, and the memory grows by one entry that no
    call finds again.

    ## Example
    ```python
    kernel = make_reduction(lambda a, b: a + b)
    ```

    ## Use instead
    ```python
    @wp.func
    def accumulate(a: float, b: float):
        return a + b


    kernel = make_reduction(accumulate)
    ```

    ## Fix safety
    There is no fix: the key has to be chosen by the author.
    """

    code = "WRP105"
    name = "unstable-factory-key"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for file, scope in dict.fromkeys(self._factories(project)):
            if memoizer(file, scope, project) is None:
                continue
            is_method = project.evaluator.class_of_method(file.index, scope) is not None
            is_static = any(
                getattr(decorator.expression, "id", "") == "staticmethod"
                for decorator in file.facts.scopes[scope].decorators
            )
            for site in project.callers.sites(file.index, scope):
                if is_method and not is_static:
                    yield self._finding(site, "the memory is one for each object", file, scope, project)
                    continue
                for argument in project.call(site).arguments:
                    what = self._what_is_unstable(argument, site, project)
                    if what:
                        yield self._finding(site, f"{what} is new in each call", file, scope, project)
                        break

    def _factories(self, project: Project) -> Iterator[tuple[ProjectFile, int]]:
        """The functions that kernels are made in."""
        for kernel in project.kernels.values():
            scope = kernel.file.function_of(kernel.place.scope)
            if scope is not None:
                yield kernel.file, scope

    def _what_is_unstable(self, argument: Argument, site: CallSite, project: Project) -> str:
        """What an argument is, when it cannot be a key twice; empty when it can or is not known."""
        match argument.value:
            case fact.Lambda():
                return "a lambda"
            case fact.Sequence(kind="list" | "set" as kind):
                return f"a {kind}"
            case fact.Mapping():
                return "a dict"
            case fact.Comprehension(kind="list" | "set" | "dict" as kind):
                return f"a {kind}"
            case fact.Name():
                place = project.evaluator.place_of(site.file, project.call(site))
                values = project.evaluator.evaluate(argument.value, place, {})
                if len(values) == 1 and isinstance(values[0], Function):
                    return self._kind_of_function(values[0], project)
        return ""

    def _kind_of_function(self, function: Function, project: Project) -> str:
        file = project.files[function.file]
        scope = file.facts.scopes[function.scope]
        if scope.kind is ScopeKind.LAMBDA:
            return "a lambda" if file.function_of(scope.parent) is not None else ""
        return "a nested function" if file.function_of(scope.parent) is not None else ""

    def _finding(self, site: CallSite, why: str, file: ProjectFile, scope: int, project: Project) -> Finding:
        facts = project.files[site.file].facts
        call = project.call(site)
        name = file.facts.scopes[scope].qualified_name
        return self.finding(
            facts.location(call.span),
            f"the memory of {name}() does not hit, and a kernel is made again: {why}",
            suppression_range=facts.location(call.statement_span).range,
            related=[Related("memoized here", file.facts.location(file.facts.scopes[scope].name_span))],
        )
