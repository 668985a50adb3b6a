from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.arguments import change_arguments
from warp_lint.findings import Applicability, Edit, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.launches import DEFAULT_BLOCK_DIM, Launch
from warp_lint.project.options import OptionWrite
from warp_lint.project.values import only_constant
from warp_lint.rules.base import Rule
from warp_lint.source import SourceError


class BlockDimOptionUnused(Rule):
    """The module option `block_dim` is set, and launches do not give it.

    ## What it does
    Reports `wp.set_module_options({"block_dim": N})` where launches of the module's kernels leave `block_dim`
    out.

    ## Why is this bad
    The option does not set what launches use: on CUDA they use 256 all the same. It sets what a preload or
    an ahead-of-time build makes, which is then a variant that no such launch uses.

    ## Example
    ```python
    wp.set_module_options({"block_dim": 128})
    ...
    wp.launch(blur, dim=n, inputs=[x])
    ```

    ## Use instead
    ```python
    wp.set_module_options({"block_dim": 128})
    ...
    wp.launch(blur, dim=n, inputs=[x], block_dim=128)
    ```

    ## Fix safety
    The fix adds `block_dim=` to the launches. It is unsafe: it changes how the kernels run.
    """

    code = "WRP205"
    name = "block-dim-option-unused"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for module in project.modules.values():
            for write in module.writes:
                value = only_constant(write.values)
                if write.name != "block_dim" or value is None or value.value in (DEFAULT_BLOCK_DIM, None):
                    continue
                launches = [launch for launch in module.launches if launch.is_default and not launch.cpu_only]
                if launches:
                    yield self._finding(write, launches, module.name, str(value.value), project)

    def _finding(
        self, write: OptionWrite, launches: list[Launch], module: str, block_dim: str, project: Project
    ) -> Finding:
        sites = dict.fromkeys(launch.site for launch in launches)
        return self.finding(
            write.entry_location,
            f'launches of module "{module}" use block_dim 256, not the {block_dim} of its option: '
            "the option only says what is built ahead of them",
            suppression_range=write.suppression_range,
            related=[
                Related(
                    "launched here without block_dim",
                    project.files[site.file].facts.location(project.call(site).span),
                )
                for site in list(sites)[:3]
            ],
            fix=self._fix(launches, block_dim, project),
        )

    def _fix(self, launches: list[Launch], block_dim: str, project: Project) -> Fix | None:
        if any(launch.path for launch in launches):
            return None  # a helper's launch serves others too
        edits = []
        for site in dict.fromkeys(launch.site for launch in launches):
            file = project.files[site.file]
            span = project.call(site).span
            try:
                text = project.source(file).text[slice(*span)]
            except SourceError:
                return None
            replacement = change_arguments(text, {"block_dim": block_dim})
            if replacement is None:
                return None
            edits.append(Edit(file.facts.path, span.start, span.end, replacement))
        return Fix(f"Launch with block_dim {block_dim}", Applicability.UNSAFE, tuple(edits))
