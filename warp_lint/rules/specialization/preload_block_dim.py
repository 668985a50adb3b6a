from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.arguments import change_arguments
from warp_lint.findings import Applicability, Edit, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.launches import DEFAULT_BLOCK_DIM
from warp_lint.project.modules import WarpModule
from warp_lint.project.values import Constant, constant, only_constant
from warp_lint.rules.base import Rule
from warp_lint.source import SourceError


class PreloadBlockDim(Rule):
    """A preload builds a variant of a module that no launch uses.

    ## What it does
    Reports `wp.load_module` and `wp.force_load` of a module whose launches all use other block dimensions
    than the one that is preloaded: the call's `block_dim`, else the module's option, else 256.

    ## Why is this bad
    On CUDA each block dimension is a build of its own. The preloaded one is built in vain, and the first
    launch builds the module after all.

    ## Example
    ```python
    wp.load_module(kernels, device="cuda:0")
    wp.launch(kernels.blur, dim=n, inputs=[x], block_dim=64, device="cuda:0")
    ```

    ## Use instead
    ```python
    wp.load_module(kernels, device="cuda:0", block_dim=64)
    wp.launch(kernels.blur, dim=n, inputs=[x], block_dim=64, device="cuda:0")
    ```

    ## Fix safety
    The fix adds `block_dim=`. It is offered, and safe, when all launches use the same one.
    """

    code = "WRP203"
    name = "preload-block-dim"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for name, position, keyword in (("load_module", 0, "module"), ("force_load", 1, "modules")):
            for site in sorted(project.calls_of(name)):
                yield from self._check_load(site, position, keyword, project)

    def _check_load(self, site: CallSite, position: int, keyword: str, project: Project) -> Iterator[Finding]:
        call = project.call(site)
        file = project.files[site.file]
        arguments = project.evaluator.arguments(call, project.evaluator.place_of(site.file, call), {})
        if arguments.open or only_constant(arguments.get(1, "device")) == constant("cpu"):
            return
        given = arguments.get(position, keyword)
        if given is None and keyword == "modules":
            return
        key = project.warp_modules.of_values(given or (constant(None),), file)
        module = project.modules.get(key) if key is not None else None
        if module is None or key is None:
            return
        preloaded = self._preloaded(arguments.keyword("block_dim"), module)
        launched = self._launched(module)
        if preloaded is None or not launched or preloaded in launched:
            return
        facts = file.facts
        shown = ", ".join(map(str, sorted(launched)))
        first = module.launches[0]
        yield self.finding(
            facts.location(call.span),
            f'module "{module.name}" is preloaded for block_dim {preloaded}, which no launch uses ({shown}): '
            "it is built again at the first launch",
            suppression_range=facts.location(call.statement_span).range,
            related=[
                Related(
                    f"launched here with block_dim {first.block_dim.value}"
                    if isinstance(first.block_dim, Constant)
                    else "launched here",
                    project.files[first.site.file].facts.location(project.call(first.site).span),
                )
            ],
            fix=self._fix(site, launched, project),
        )

    def _preloaded(self, given: object, module: WarpModule) -> int | None:
        """The block dimension that the load builds; None when it is not known."""
        if given is not None and given != (constant(None),):
            assert isinstance(given, tuple)
            value = only_constant(given)
            return value.value if value is not None and isinstance(value.value, int) else None
        writes = [write for write in module.writes if write.name == "block_dim"]
        if not writes:
            return DEFAULT_BLOCK_DIM
        value = only_constant(writes[-1].values)
        return value.value if value is not None and isinstance(value.value, int) else None

    def _launched(self, module: WarpModule) -> set[int]:
        """The block dimensions of all launches on CUDA; empty when one of them is not known."""
        found = set()
        for launch in module.launches:
            if launch.cpu_only:
                continue
            if not isinstance(launch.block_dim, Constant) or not isinstance(launch.block_dim.value, int):
                return set()
            found.add(launch.block_dim.value)
        return found

    def _fix(self, site: CallSite, launched: set[int], project: Project) -> Fix | None:
        if len(launched) != 1:
            return None
        file = project.files[site.file]
        span = project.call(site).span
        try:
            text = project.source(file).text[slice(*span)]
        except SourceError:
            return None
        (block_dim,) = launched
        replacement = change_arguments(text, {"block_dim": str(block_dim)})
        if replacement is None:
            return None
        edit = Edit(file.facts.path, span.start, span.end, replacement)
        return Fix(f"Preload for block_dim {block_dim}", Applicability.SAFE, (edit,))
