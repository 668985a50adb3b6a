from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from warp_lint.facts.records import DeviceCode
from warp_lint.findings import Finding, Level, Range
from warp_lint.project import Project
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.unrolling import (
    Nest,
    around,
    max_unroll_of_function,
    max_unroll_of_kernel,
    nests,
)
from warp_lint.project.values import DeviceFunction, External
from warp_lint.rules.base import Rule

_MOST_COPIES = 128
_MOST_CHEAP_COPIES = 256
"""Of a body that is one statement without calls of the project's functions."""
_END = 1 << 60


class UnrolledNest(Rule):
    """Loops in device code are unrolled into very many copies of their body.

    ## What it does
    Multiplies the turns of loops that stand inside each other and that Warp unrolls: those over a constant
    range of at most `max_unroll` (by default 16) turns, and those over any constant range with a `wp.static`
    inside. Reports a nest whose innermost body is generated 128 times or more; where that body is a single
    statement that calls no function of the project, 256 times. A single loop within `max_unroll` is never
    reported, and a loop with a `break` is not unrolled.

    ## Why is this bad
    Every copy is source that the compiler has to read, once for the forward and once for the backward code.
    Two loops of 16 turns around a few statements made 450 KB of CUDA source and 37 seconds of NVRTC, against
    12 KB and 0.8 seconds for the same loops left to run.

    ## Example
    ```python
    @wp.kernel
    def blur(image: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
        i, j = wp.tid()
        total = float(0.0)
        for di in range(16):
            for dj in range(16):
                weight = window(di, dj)
                total += weight * image[i + di, j + dj]
        out[i, j] = total
    ```

    ## Use instead
    ```python
    @wp.kernel
    def blur(image: wp.array2d(dtype=float), out: wp.array2d(dtype=float), size: int):
        i, j = wp.tid()
        total = float(0.0)
        for di in range(size):
            for dj in range(size):
                weight = window(di, dj)
                total += weight * image[i + di, j + dj]
        out[i, j] = total
    ```

    A range over an argument is a loop; so is one over a constant above `max_unroll`, which the module option
    lowers for all loops of a module.

    ## Fix safety
    There is no fix: an unrolled loop may be what makes a kernel fast, and only a measurement tells.
    """

    code = "WRP411"
    name = "unrolled-nest"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        kernels_of: dict[tuple[int, int], list[KernelDefinition]] = defaultdict(list)
        for kernel in project.kernels.values():
            kernels_of[kernel.body_file.index, kernel.kernel.scope].append(kernel)
        for file in project.files:
            for code in file.facts.device_code:
                if not code.loops:
                    continue
                max_unroll = self._max_unroll(code, file, kernels_of[file.index, code.scope], project)
                if max_unroll is None:
                    continue
                worst: dict[int, Nest] = {}
                for nest in nests(code, file, max_unroll, project):
                    if self._is_large(nest, code, file, project):
                        outermost = nest.loops[0].loop.span.start
                        worst[outermost] = max(nest, worst.get(outermost, nest), key=lambda one: one.copies)
                for nest in worst.values():
                    yield self._finding(nest, file, max_unroll)

    def _max_unroll(
        self, code: DeviceCode, file: ProjectFile, kernels: list[KernelDefinition], project: Project
    ) -> int | None:
        """The option that a function is built with; None where that is not known or it is no device code."""
        if kernels:
            options = {max_unroll_of_kernel(kernel, project) for kernel in kernels}
            return options.pop() if len(options) == 1 else None
        made = project.evaluator.definition(file.index, code.scope, {})
        is_function = any(isinstance(value, DeviceFunction) for value in made)
        return max_unroll_of_function(file, project) if is_function else None

    def _is_large(self, nest: Nest, code: DeviceCode, file: ProjectFile, project: Project) -> bool:
        is_nested = len([unrolled for unrolled in nest.loops if unrolled.turns > 1]) > 1
        if not is_nested and not nest.loops[0].is_forced:
            return False
        is_cheap = code.loops[nest.body].statements <= 1 and not self._calls_function(
            nest, code, file, project
        )
        return nest.copies >= (_MOST_CHEAP_COPIES if is_cheap else _MOST_COPIES)

    def _calls_function(self, nest: Nest, code: DeviceCode, file: ProjectFile, project: Project) -> bool:
        """Whether the innermost body calls anything but functions of Warp and Python."""
        place = Place(file.index, code.scope, file.facts.scopes[code.scope].body_block, _END)
        return any(
            not isinstance(value, External)
            for call in code.calls
            if nest.body in around(code, call.loop)
            for value in project.evaluator.evaluate(call.function, place, {})
        )

    def _finding(self, nest: Nest, file: ProjectFile, max_unroll: int) -> Finding:
        outermost = nest.loops[0].loop
        turns = [unrolled.turns for unrolled in nest.loops if unrolled.turns > 1]
        shown = " x ".join(map(str, turns))
        if len(turns) > 1:
            shown += f" = {nest.copies}"
        if any(unrolled.is_forced for unrolled in nest.loops):
            why = f"a wp.static inside unrolls it past max_unroll {max_unroll}"
            instead = "compute the value when the kernel runs, or take it from an array"
        else:
            why = f"each level is within max_unroll {max_unroll}"
            instead = "pass the bounds as arguments for a loop that runs, or lower max_unroll"
        location = file.facts.location(outermost.header_span)
        return self.finding(
            location,
            f"the body of this loop is generated {shown} times ({why}): {instead}",
            suppression_range=Range(location.range.start, location.range.end),
        )
