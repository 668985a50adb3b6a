from __future__ import annotations

from collections.abc import Iterator

from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.modules import WarpModule
from warp_lint.project.preloads import Preload
from warp_lint.project.values import constant
from warp_lint.rules.base import Rule


class AotStripHash(Rule):
    """Kernels of one name are compiled without the hashes that tell them apart.

    ## What it does
    Reports `wp.compile_aot_module` with `strip_hash=True`, as an argument or as an option of the module, of a
    module with several overloads of one generic kernel, or with a kernel that a factory makes more than once.

    ## Why is this bad
    Without its hash, an instance is known by the name of its kernel alone. Two instances have the same name:
    Warp raises `RuntimeError` for overloads, and for kernels of a factory the compiler fails on a name that
    is defined twice.

    ## Example
    ```python
    wp.overload(scale, [wp.array(dtype=wp.float32), wp.float32])
    wp.overload(scale, [wp.array(dtype=wp.float64), wp.float64])
    wp.compile_aot_module(__name__, device="cuda:0", strip_hash=True)
    ```

    ## Use instead
    ```python
    wp.overload(scale, [wp.array(dtype=wp.float32), wp.float32])
    wp.overload(scale, [wp.array(dtype=wp.float64), wp.float64])
    wp.compile_aot_module(__name__, device="cuda:0")
    ```

    ## Fix safety
    There is no fix: whether the hashes stay or the kernels move apart, only the author knows.
    """

    code = "WRP613"
    name = "aot-strip-hash"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        for preload in project.preloads:
            if preload.name != "compile_aot_module" or len(preload.modules) != 1 or preload.expects_error:
                continue
            module = project.modules.get(preload.modules[0])
            if module is None or not _strips(preload, module):
                continue
            for kernel in module.kernels:
                why = _several(kernel, project)
                if why:
                    yield self.finding(
                        preload.location,
                        f'without hashes the {why} of "{kernel.name}" have one name: the build fails',
                        suppression_range=preload.suppression_range,
                        related=[Related(f'"{kernel.name}"', kernel.location)],
                    )
                    break


def _strips(preload: Preload, module: WarpModule) -> bool:
    given = preload.argument("strip_hash")
    if given is not None:
        return given == (constant(True),)
    writes = [write for write in module.writes if write.name == "strip_hash"]
    return bool(writes) and all(write.values == (constant(True),) for write in writes)


def _several(kernel: KernelDefinition, project: Project) -> str:
    """What there is more than one of, under the name of a kernel; empty when nothing is."""
    if kernel.is_generic:
        declared = project.overloads.declared.get(kernel.kernel, ())
        signatures = {declaration.signature for declaration in declared}
        return f"{len(signatures)} overloads" if len(signatures) > 1 and None not in signatures else ""
    function = kernel.outermost_function
    if function is None or not kernel.captured_parameters:
        return ""
    sites = project.callers.sites(kernel.file.index, function)
    given = {tuple(str(argument.value) for argument in project.call(site).arguments) for site in sites}
    return f"{len(given)} kernels" if len(given) > 1 else ""
