from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts.records import ParameterKind
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.evaluation import names_in
from warp_lint.project.files import last_name
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.tiles import tile_operations
from warp_lint.project.values import Constant, PlainValue, only_constant
from warp_lint.rules.base import Rule
from warp_lint.warp_api import TILE_OPERATIONS

_HANDFUL = 5


class TileShapeVariants(Rule):
    """A factory makes tile kernels of many shapes.

    ## What it does
    Reports a kernel that a function makes, that uses a tile operation of MathDx (`wp.tile_matmul`,
    `wp.tile_fft`, `wp.tile_cholesky` and the solvers), and whose tile shapes or `wp.static` values come from
    parameters for which the project passes more than five different values.

    ## Why is this bad
    Each shape is a code of its own that MathDx generates and links, and that takes ten seconds and more for
    a single operation, once for the forward and once for the backward code.

    ## Example
    ```python
    for size in (8, 12, 16, 20, 24, 28, 32):
        wp.launch_tiled(make_solver(size), dim=count, inputs=[matrices], block_dim=64)
    ```

    ## Use instead
    ```python
    solve = make_solver(32)  # smaller systems are padded
    wp.launch_tiled(solve, dim=count, inputs=[matrices], block_dim=64)
    ```

    ## Fix safety
    There is no fix: which shapes could be padded to which others, only the author knows.
    """

    code = "WRP206"
    name = "tile-shape-variants"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        if "cuda" not in {device.partition(":")[0] for device in project.settings.devices}:
            return
        linked = {operation.name for operation in TILE_OPERATIONS}
        for kernel in project.kernels.values():
            factory = kernel.file.function_of(kernel.place.scope)
            if factory is None:
                continue
            shaping = self._shaping_parameters(kernel, factory)
            if not shaping:
                continue
            operations = [name for name in tile_operations(kernel, project) if name in linked]
            if not operations:
                continue
            variants, sites = self._variants(kernel, factory, shaping, project)
            if len(variants) > _HANDFUL:
                yield self._finding(kernel, operations[0], variants, sites, project)

    def _shaping_parameters(self, kernel: KernelDefinition, factory: int) -> list[str]:
        """The parameters of the factory that tile shapes or static values depend on."""
        code, file = kernel.device_code, kernel.body_file
        if code is None or file is not kernel.file:
            return []
        names = {
            name
            for call in code.calls
            if last_name(call.function) == "static" or last_name(call.function).startswith("tile_")
            for argument in call.arguments
            for name in names_in(argument.value, file)
        }
        grown = True
        while grown:
            read = {
                name
                for binding in file.facts.bindings
                if binding.scope == factory and names & set(names_in(binding.target, file))
                for name in names_in(binding.value, file)
            }
            grown = not read <= names
            names |= read
        plain = (ParameterKind.NORMAL, ParameterKind.POSITIONAL_ONLY, ParameterKind.KEYWORD_ONLY)
        parameters = file.facts.scopes[factory].parameters
        return [item.name for item in parameters if item.kind in plain and item.name in names]

    def _variants(
        self, kernel: KernelDefinition, factory: int, shaping: list[str], project: Project
    ) -> tuple[set[tuple[PlainValue, ...]], list[CallSite]]:
        """The different values that calls of the factory give, and where."""
        variants: dict[tuple[PlainValue, ...], CallSite] = {}
        for binding in project.callers.bindings(kernel.file.index, factory):
            given = binding.environment[kernel.file.index, factory]
            constants = [only_constant(given.get(name)) for name in shaping]
            known = [value for value in constants if isinstance(value, Constant)]
            if len(known) == len(constants):
                variants.setdefault(tuple(value.value for value in known), binding.path[0])
        return set(variants), list(dict.fromkeys(variants.values()))

    def _finding(
        self,
        kernel: KernelDefinition,
        operation: str,
        variants: set[tuple[PlainValue, ...]],
        sites: list[CallSite],
        project: Project,
    ) -> Finding:
        return self.finding(
            kernel.location,
            f'"{kernel.name}" is made in {len(variants)} tile shapes, '
            f"and wp.{operation} is linked for each of them",
            suppression_range=kernel.suppression_range,
            related=[
                Related("made here", project.files[site.file].facts.location(project.call(site).span))
                for site in sites
            ],
        )
