from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from warp_lint.edits.kernels import isolate
from warp_lint.findings import Applicability, Certainty, Edit, Finding, Fix, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.kernels import ModuleKind
from warp_lint.project.launches import DEFAULT_BLOCK_DIM, BlockDim, Launch
from warp_lint.project.modules import WarpModule
from warp_lint.project.values import Constant, Kernel, Symbol
from warp_lint.rules.base import Rule

_MOST_ALTERNATIVES = 2
"""A launch that may run more kernels than this says nothing about their block dimensions."""


class _Builds(NamedTuple):
    """The kernel builds of a module, and how many of them are never launched: at most, unless it is exact."""

    unused: int
    all: int
    is_exact: bool
    is_complete: bool
    """Whether there are no others, of overloads whose number cannot be read."""

    def __str__(self) -> str:
        if not self.is_complete:
            return "kernels that do not use one of them are built for it, too"
        up_to = "" if self.is_exact else "up to "
        return f"{up_to}{self.unused} of {self.all} kernel builds are never launched"


class MixedBlockDim(Rule):
    """Launches reach one module with several block dimensions.

    ## What it does
    Collects the block dimensions that the project launches a module's kernels with, across files and
    through helper functions, and reports each launch whose block dimension is not the one that most of the
    module's kernels use. A launch that gives none uses 256. Where the code does not tell every block
    dimension, the message gives the most builds that can be unused; where it does not tell how many overloads
    there are, none. Launches in tests, and of objects that
    tests make, count only where there are no others.

    ## Why is this bad
    On CUDA the block dimension is part of a build's identity: a module is built once for each of them, each
    time with all of its kernels. With three block dimensions, two thirds of the kernel builds are never
    launched.

    ## Example
    ```python
    wp.launch(blur, dim=n, inputs=[image], block_dim=64)
    wp.launch(sharpen, dim=n, inputs=[image])
    ```

    ## Use instead
    ```python
    @wp.kernel(module="unique")
    def blur(image: wp.array(dtype=float)): ...
    ```

    ## Fix safety
    The fix gives each kernel with one block dimension of its own a module of its own, with the options that
    it had. It is safe when nothing loads or compiles the module by name, otherwise unsafe.
    """

    code = "WRP201"
    name = "mixed-block-dim"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        if "cuda" not in {device.partition(":")[0] for device in project.settings.devices}:
            return
        for module in project.modules.values():
            if module.key.kind in (ModuleKind.OWN, ModuleKind.NAMED):
                yield from self._check_module(module, project)

    def _check_module(self, module: WarpModule, project: Project) -> Iterator[Finding]:
        on_cuda = self._speaking([launch for launch in module.launches if not launch.cpu_only], project)
        launches = [launch for launch in on_cuda if launch.block_dim is not None]
        # Where many kernels may be meant, a launch says which are used, but not with which block dimension.
        told = [launch for launch in launches if launch.alternatives <= _MOST_ALTERNATIVES]
        told = [launch for launch in told if not self._is_for_test(launch, project)] or told
        kernels_at: dict[BlockDim, set[Kernel]] = defaultdict(set)
        for launch in told:
            assert launch.block_dim is not None
            kernels_at[launch.block_dim].add(launch.kernel)
        builds = self._builds(module, on_cuda, kernels_at, project)
        if builds is None:
            return
        doubtful = {
            (launch.site, launch.block_dim) for launch in launches if launch.alternatives > _MOST_ALTERNATIVES
        }
        reference = self._reference(kernels_at, [block_dim for _, block_dim in doubtful])
        uncounted = builds.unused if builds.is_complete else None
        for site, found in _by_site(told).items():
            others = [launch for launch in found if launch.block_dim != reference]
            if others:
                finding = self._finding(site, others, module, project, kernels_at, builds)
                # The waste is the module's: it is counted with the first of its findings.
                yield msgspec.structs.replace(finding, redundant_builds=uncounted)
                uncounted = 0

    def _builds(
        self,
        module: WarpModule,
        launches: list[Launch],
        kernels_at: dict[BlockDim, set[Kernel]],
        project: Project,
    ) -> _Builds | None:
        """What the block dimensions cost; None where each build may be launched."""
        launched = {launch.kernel for launch in launches}
        instances = self._instances(module, launched, project)
        may_be_used = {(item.kernel, item.block_dim) for item in launches if item.block_dim in kernels_at}
        # Declared overloads that no launch is seen of may be launched in ways that are not seen.
        seen = sum(
            instances[kernel.kernel]
            for kernel in module.kernels
            if not kernel.is_generic or kernel.kernel in launched
        )
        used_at_most = sum(instances[kernel] for kernel, _ in may_be_used)
        if len(kernels_at) < 2 or seen * len(kernels_at) <= used_at_most:
            return None
        used = [kernel for kernels in kernels_at.values() for kernel in kernels]
        # Of a kernel that is only launched where many may be meant, one build is used at the least. All
        # overloads of a kernel count as launched with it: which of them are is no matter of block dimensions.
        used += {kernel for kernel, _ in may_be_used}.difference(used)
        used_at_least = sum(instances[kernel] for kernel in used)
        # A kernel that is also launched at a block dimension that is not known may use any of its builds.
        unclear = {launch.kernel for launch in launches if launch.block_dim is None}
        may_be_used |= {(kernel, block_dim) for kernel in unclear for block_dim in kernels_at}
        is_exact = sum(instances[kernel] for kernel, _ in may_be_used) == used_at_least
        is_exact &= not any(isinstance(block_dim, Symbol) for block_dim in kernels_at)
        is_complete = all(project.overloads.number(kernel) is not None for kernel in instances)
        built = sum(instances.values()) * len(kernels_at)
        return _Builds(built - used_at_least, built, is_exact, is_complete)

    def _instances(self, module: WarpModule, launched: set[Kernel], project: Project) -> dict[Kernel, int]:
        """How often each kernel is built for one block dimension: a generic one for each of its overloads."""
        return {
            kernel.kernel: (project.overloads.number(kernel.kernel) or kernel.kernel in launched)
            if kernel.is_generic
            else 1
            for kernel in module.kernels
        }

    def _speaking(self, launches: list[Launch], project: Project) -> list[Launch]:
        """The launches without those of tests, where others launch the kernel, too: what tests do says
        nothing about it then."""
        others = {launch.kernel for launch in launches if not self._is_for_test(launch, project)}
        return [
            launch
            for launch in launches
            if launch.kernel not in others or not self._is_for_test(launch, project)
        ]

    def _is_for_test(self, launch: Launch, project: Project) -> bool:
        """Whether a test launches, itself, through a helper or through an object that it made."""
        sites = (launch.site, *launch.path, *launch.sources)
        return any(project.is_test(project.files[site.file]) for site in sites)

    def _reference(
        self, kernels_at: dict[BlockDim, set[Kernel]], doubtful: list[BlockDim | None]
    ) -> BlockDim:
        """The block dimension of most kernels; on a tie 256, else the first seen. A launch that may run many
        kernels counts as one more."""
        votes = {
            block_dim: len(kernels) + doubtful.count(block_dim) for block_dim, kernels in kernels_at.items()
        }
        most = max(votes.values())
        candidates = [block_dim for block_dim, count in votes.items() if count == most]
        default = [
            candidate
            for candidate in candidates
            if isinstance(candidate, Constant) and candidate.value == DEFAULT_BLOCK_DIM
        ]
        return (default or candidates)[0]

    def _finding(
        self,
        site: CallSite,
        launches: list[Launch],
        module: WarpModule,
        project: Project,
        kernels_at: dict[BlockDim, set[Kernel]],
        builds: _Builds,
    ) -> Finding:
        call = project.call(site)
        facts = project.files[site.file].facts
        here = _shown(launch.block_dim for launch in launches if launch.block_dim is not None)
        is_or_are = "are" if len({launch.block_dim for launch in launches}) > 1 else "is"
        names = ", ".join(sorted({project.kernels[launch.kernel].name for launch in launches}))
        symbolic = any(isinstance(block_dim, Symbol) for block_dim in kernels_at)
        up_to = "up to " if symbolic else ""
        return self.finding(
            facts.location(call.span),
            f'module "{module.name}" is built {up_to}{len(kernels_at)} times '
            f"(block_dim {_shown(kernels_at)}): {builds}; "
            f"{here} {is_or_are} used here for {names}",
            suppression_range=facts.location(call.statement_span).range,
            related=self._related(site, launches, module, project),
            certainty=Certainty.LIKELY if symbolic else Certainty.CERTAIN,
            fix=self._fix(launches, module, project),
        )

    def _fix(self, launches: list[Launch], module: WarpModule, project: Project) -> Fix | None:
        """Isolate the kernels launched here, when each has one block dimension wherever it is launched."""
        edits: dict[Edit, None] = {}
        is_safe = module.key not in project.preloaded_modules
        names = []
        for kernel in dict.fromkeys(launch.kernel for launch in launches):
            block_dims = {launch.block_dim for launch in module.launches if launch.kernel == kernel}
            fix = isolate(project.kernels[kernel], project)
            if fix is None or len(block_dims) != 1 or None in block_dims:
                return None
            is_safe &= fix.applicability is Applicability.SAFE
            edits.update(dict.fromkeys(fix.edits))
            names.append(project.kernels[kernel].name)
        return Fix(
            f"Give {', '.join(names)} a module of its own"
            if len(names) == 1
            else f"Give {', '.join(names)} modules of their own",
            Applicability.SAFE if is_safe else Applicability.UNSAFE,
            tuple(edits),
        )

    def _related(
        self, site: CallSite, launches: list[Launch], module: WarpModule, project: Project
    ) -> Iterator[Related]:
        seen = set()
        # The calls of a helper are worth showing only where they decide what it launches.
        is_decided_by_call = len({(launch.kernel, launch.block_dim) for launch in launches}) > 1
        is_decided_by_call |= len({launch.path for launch in launches}) == 1
        for launch in launches:
            for caller in launch.path[:1] if is_decided_by_call else ():
                if caller not in seen:
                    seen.add(caller)
                    location = project.files[caller.file].facts.location(project.call(caller).span)
                    yield Related(f"called here with block_dim {_shown([launch.block_dim])}", location)
        for launch in module.launches:
            if launch.block_dim not in {item.block_dim for item in launches} and launch.site != site:
                if launch.block_dim is None or launch.cpu_only:
                    continue
                location = project.files[launch.site.file].facts.location(project.call(launch.site).span)
                yield Related(f"launched here with block_dim {_shown([launch.block_dim])}", location)
                return


def _by_site(launches: Iterable[Launch]) -> dict[CallSite, list[Launch]]:
    found: dict[CallSite, list[Launch]] = defaultdict(list)
    for launch in launches:
        found[launch.site].append(launch)
    return found


def _shown(block_dims: Iterable[BlockDim | None]) -> str:
    """Block dimensions as a reader expects them: numbers first, in order."""
    known = list(dict.fromkeys(block_dim for block_dim in block_dims if block_dim is not None))
    numbers = sorted(int(item.value or 0) for item in known if isinstance(item, Constant))
    symbols = sorted(item.text for item in known if isinstance(item, Symbol))
    return ", ".join([*map(str, numbers), *symbols])
