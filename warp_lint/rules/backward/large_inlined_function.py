from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from warp_lint.facts.records import DeviceCode
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.values import DeviceFunction
from warp_lint.rules.base import Rule

_LARGE = 200
"""Statements above which a function is large."""
_MANY = 4
"""Calls from which it is called often."""
_DEEPEST = 6
_END = 1 << 60


class LargeInlinedFunction(Rule):
    """A large device function is called from many places of one kernel.

    ## What it does
    Reports a `wp.func` of more than 200 statements that one kernel calls at four places or more, directly or
    through other functions. A call in a loop is one place.

    ## Why is this bad
    The compiler copies a function into each place that calls it, and its adjoint as well. The size of the
    code, and more than that the time to optimize it, grow with every call in the text, while a loop around
    one call would do the same work.

    ## Example
    ```python
    out[i] = shade(x, 0) + shade(x, 1) + shade(x, 2) + shade(x, 3)
    ```

    ## Use instead
    ```python
    total = float(0.0)
    for k in range(count):  # an argument, so that the loop is not unrolled
        total += shade(x, k)
    out[i] = total
    ```

    ## Fix safety
    There is no fix: how the calls become one, only the author knows.
    """

    code = "WRP412"
    name = "large-inlined-function"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        self_codes = {
            (file.index, code.scope): code for file in project.files for code in file.facts.device_code
        }
        large = {place for place, code in self_codes.items() if code.statements > _LARGE}
        if not large:
            return
        calls_of: dict[tuple[int, int], Counter[tuple[int, int]]] = {}
        worst: dict[tuple[int, int], tuple[int, KernelDefinition]] = {}
        for kernel in project.kernels.values():
            reached = self._reached(
                (kernel.body_file.index, kernel.kernel.scope), self_codes, calls_of, project, _DEEPEST
            )
            for function, count in reached.items():
                if function in large and count >= max(_MANY, worst.get(function, (0,))[0] + 1):
                    worst[function] = (count, kernel)
        for (file, scope), (count, kernel) in sorted(worst.items(), key=lambda item: item[0]):
            yield self._finding(project.files[file], self_codes[file, scope], count, kernel)

    def _reached(
        self,
        caller: tuple[int, int],
        codes: dict[tuple[int, int], DeviceCode],
        calls_of: dict[tuple[int, int], Counter[tuple[int, int]]],
        project: Project,
        depth: int,
    ) -> Counter[tuple[int, int]]:
        """How many places the code of a function, with all it calls, has for each other function."""
        found: Counter[tuple[int, int]] = Counter()
        if depth == 0 or caller not in codes:
            return found
        if caller not in calls_of:
            calls_of[caller] = self._called(project.files[caller[0]], codes[caller], project)
        for function, count in calls_of[caller].items():
            found[function] += count
            inner = self._reached(function, codes, calls_of, project, depth - 1)
            found.update({other: count * inner_count for other, inner_count in inner.items()})
        return found

    def _called(self, file: ProjectFile, code: DeviceCode, project: Project) -> Counter[tuple[int, int]]:
        place = Place(file.index, code.scope, file.facts.scopes[code.scope].body_block, _END)
        return Counter(
            (value.file, value.scope)
            for call in code.calls
            for value in project.evaluator.evaluate(call.function, place, {})
            if isinstance(value, DeviceFunction)
        )

    def _finding(self, file: ProjectFile, code: DeviceCode, count: int, kernel: KernelDefinition) -> Finding:
        scope = file.facts.scopes[code.scope]
        span = scope.decorators[0].span if scope.decorators else scope.name_span
        return self.finding(
            file.facts.location(span),
            f'"{scope.name}" with its {code.statements} statements is copied to {count} places '
            f'of kernel "{kernel.name}": a loop around one call is built faster',
            suppression_range=file.facts.location(scope.header_span).range,
            related=[Related("the kernel that calls it", kernel.location)],
        )
