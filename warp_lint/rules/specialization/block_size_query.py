from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.launches import DEFAULT_BLOCK_DIM
from warp_lint.project.values import Constant, Kernel, only_constant
from warp_lint.rules.base import Rule


class BlockSizeQuery(Rule):
    """Asking for a block size builds a variant of the module that no launch of the kernel uses.

    ## What it does
    Reports `wp.get_suggested_block_size(kernel)` where every launch of that kernel uses another block
    dimension than the module's own: its `block_dim` option, else 256.

    ## Why is this bad
    The query loads the module at its own block dimension. The launches want another, so that the module is
    built twice.

    ## Example
    ```python
    suggested, _ = wp.get_suggested_block_size(blur, "cuda:0")
    wp.launch(blur, dim=n, inputs=[x], block_dim=64)
    ```

    ## Use instead
    ```python
    wp.set_module_options({"block_dim": 64})
    suggested, _ = wp.get_suggested_block_size(blur, "cuda:0")
    wp.launch(blur, dim=n, inputs=[x], block_dim=64)
    ```

    ## Fix safety
    There is no fix: the query may not be needed at all.
    """

    code = "WRP204"
    name = "block-size-query"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for site in sorted(project.calls_of("get_suggested_block_size")):
            call = project.call(site)
            arguments = project.evaluator.arguments(call, project.evaluator.place_of(site.file, call), {})
            for kernel in arguments.get(0, "kernel") or ():
                if isinstance(kernel, Kernel) and kernel in project.kernels:
                    yield from self._check_query(site, kernel, project)

    def _check_query(self, site: CallSite, kernel: Kernel, project: Project) -> Iterator[Finding]:
        module = project.modules[project.kernels[kernel].module]
        own = DEFAULT_BLOCK_DIM
        for write in module.writes:
            if write.name == "block_dim":
                value = only_constant(write.values)
                if value is None or not isinstance(value.value, int):
                    return
                own = value.value
        launches = [launch for launch in project.launches if launch.kernel == kernel and not launch.cpu_only]
        block_dims = {launch.block_dim for launch in launches}
        known = {item.value for item in block_dims if isinstance(item, Constant)}
        if not launches or len(known) != len(block_dims) or own in known:
            return
        facts = project.files[site.file].facts
        call = project.call(site)
        first = launches[0]
        shown = ", ".join(str(value) for value in sorted(known, key=str))
        yield self.finding(
            facts.location(call.span),
            f'module "{module.name}" is built for block_dim {own} to answer this, and again for the '
            f"launches of {project.kernels[kernel].name} ({shown})",
            suppression_range=facts.location(call.statement_span).range,
            related=[
                Related(
                    "launched here",
                    project.files[first.site.file].facts.location(project.call(first.site).span),
                )
            ],
        )
