from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts import values as fact
from warp_lint.facts.records import BindingFact, BindingKind, BlockKind, Parameter
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.evaluation import Place, names_in
from warp_lint.project.files import ProjectFile, target_names
from warp_lint.project.values import Collection, External
from warp_lint.rules.base import Rule

_SMALL_SET = 8
"""Lengths that are written out and are no more than this are a fixed set."""
_TYPES = tuple(External(f"warp.types.{name}") for name in ("vector", "matrix"))


class UnboundedGeneric(Rule):
    """A generic kernel gets vectors whose length comes from the data.

    ## What it does
    Reports the launch of a generic kernel with a vector or matrix type that `wp.types.vector` or
    `wp.types.matrix` makes for a size that a loop takes from somewhere the code does not show. The loop
    stands around the launch, or around a call of the function that launches. A few sizes that are written
    out are a fixed set.

    ## Why is this bad
    Each size is another type, another instance of the kernel and another build of the whole module, with all
    the earlier instances. How many there will be, nobody can say before the program runs.

    ## Example
    ```python
    for samples in groups:
        vector = wp.types.vector(length=len(samples), dtype=float)
        wp.launch(normalize, dim=1, inputs=[wp.array([samples], dtype=vector)])
    ```

    ## Use instead
    ```python
    for samples in groups:
        row = wp.array([samples], dtype=float, ndim=2)
        wp.launch(normalize_rows, dim=1, inputs=[row, len(samples)])
    ```

    ## Fix safety
    There is no fix: a loop over an array, or vectors of one sufficient length, are other kernels.
    """

    code = "WRP114"
    name = "unbounded-generic"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for launch in project.launches:
            kernel = project.kernels.get(launch.kernel)
            if kernel is None or not kernel.is_generic or launch.site in seen:
                continue
            made = self._type_made_for(launch.site, project)
            if made is not None:
                seen.add(launch.site)
                yield self._finding(launch.site, made, kernel.name, project)

    def _type_made_for(self, site: CallSite, project: Project) -> CallSite | None:
        """The call that makes a type of varying size for an argument of a launch."""
        file, call = project.files[site.file], project.call(site)
        names: set[str] = set()
        calls: set[int] = set()
        for argument in call.arguments:
            names |= set(names_in(argument.value, file))
            calls |= set(_calls_in(argument.value, file))
        # What the arguments are computed from in the same function.
        size = -1
        while len(names) + len(calls) > size:
            size = len(names) + len(calls)
            for binding in file.facts.bindings:
                if binding.scope == call.scope and names & {name for _, name in target_names(binding.target)}:
                    names |= set(names_in(binding.value, file))
                    calls |= set(_calls_in(binding.value, file))
        for index in sorted(calls):
            if set(project.evaluator.callee(file.index, index)) & set(_TYPES):
                made = CallSite(file.index, index)
                if self._varies(made, project):
                    return made
        return None

    def _varies(self, made: CallSite, project: Project) -> bool:
        """Whether the size of the type follows a loop over what is not known."""
        file, call = project.files[made.file], project.call(made)
        sizes = [
            argument.value
            for position, argument in enumerate(call.arguments)
            if argument.keyword in ("length", "shape") or (argument.keyword is None and position == 0)
        ]
        place = project.evaluator.place_of(made.file, call)
        return any(self._follows_loop(size, file, place, project, set()) for size in sizes)

    def _follows_loop(
        self,
        expression: fact.Expression,
        file: ProjectFile,
        place: Place,
        project: Project,
        seen: set[object],
    ) -> bool:
        for name in names_in(expression, file):
            for scope in file.scope_chain(place.scope):
                binders = file.binders.get(scope, {}).get(name, ())
                for binder in binders:
                    key = (file.index, scope, name, binder.order)
                    if key not in seen and len(seen) < 50:
                        seen.add(key)
                        if self._is_bound_by_loop(binder.fact, scope, file, place, project, seen):
                            return True
                if binders:
                    break
        return False

    def _is_bound_by_loop(
        self, binder: object, scope: int, file: ProjectFile, place: Place, project: Project, seen: set[object]
    ) -> bool:
        match binder:
            case BindingFact(kind=BindingKind.LOOP) as binding:
                at = Place(file.index, binding.scope, binding.block, binding.order)
                return self._is_open(project, binding, at) and self._is_around(binding, file, place)
            case BindingFact(kind=BindingKind.ASSIGN) as binding:
                at = Place(file.index, binding.scope, binding.block, binding.order)
                return self._follows_loop(binding.value, file, at, project, seen)
            case Parameter(name=name):
                return self._follows_loop_of_caller(name, scope, file, project, seen)
            case _:
                return False

    def _is_open(self, project: Project, binding: BindingFact, at: Place) -> bool:
        """Whether a loop goes over what is not known, or over very much."""
        values = project.evaluator.evaluate(binding.value, at, {})
        return not all(isinstance(value, Collection) and len(value.items) <= _SMALL_SET for value in values)

    def _is_around(self, binding: BindingFact, file: ProjectFile, place: Place) -> bool:
        return any(
            file.facts.blocks[block].kind is BlockKind.LOOP
            and file.facts.blocks[block].target == binding.target
            for block in file.block_ancestors(place.block)
        )

    def _follows_loop_of_caller(
        self, name: str, scope: int, file: ProjectFile, project: Project, seen: set[object]
    ) -> bool:
        parameters = [parameter.name for parameter in file.facts.scopes[scope].parameters]
        is_method = project.evaluator.class_of_method(file.index, scope) is not None
        position = parameters.index(name) - is_method
        for site in project.callers.sites(file.index, scope):
            call = project.call(site)
            for index, argument in enumerate(call.arguments):
                if argument.keyword == name or (argument.keyword is None and index == position):
                    place = project.evaluator.place_of(site.file, call)
                    caller = project.files[site.file]
                    if self._follows_loop(argument.value, caller, place, project, seen):
                        return True
        return False

    def _finding(self, site: CallSite, made: CallSite, name: str, project: Project) -> Finding:
        facts, call = project.files[site.file].facts, project.call(site)
        return self.finding(
            facts.location(call.span),
            f'generic kernel "{name}" is built for every size that the data has: '
            "each is another type, and its module is built again",
            suppression_range=facts.location(call.statement_span).range,
            related=[Related("the type is made here", facts.location(project.call(made).span))],
        )


def _calls_in(expression: fact.Expression, file: ProjectFile) -> Iterator[int]:
    """The calls in an expression, those in the arguments of calls included."""
    match expression:
        case fact.CallReference(index=index):
            yield index
            call = file.facts.calls[index]
            yield from _calls_in(call.function, file)
            for argument in call.arguments:
                yield from _calls_in(argument.value, file)
        case fact.Attribute(base=base):
            yield from _calls_in(base, file)
        case fact.Sequence(items=items) | fact.Operation(operands=items):
            for item in items:
                yield from _calls_in(item, file)
        case fact.Subscript(base=base, index=inner):
            yield from _calls_in(base, file)
            yield from _calls_in(inner, file)
