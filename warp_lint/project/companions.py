"""Kernels that are launched side by side, in one way: whether modules that keep them apart are of any use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from warp_lint.facts.records import BlockKind
from warp_lint.project.callers import CallSite
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.launches import Launch
from warp_lint.project.tiles import tile_operations
from warp_lint.project.values import Constant, Kernel

if TYPE_CHECKING:
    from warp_lint.project import Project

Place: TypeAlias = tuple[int, int | None]
"""A function, by file and scope; without one, the top level of the file."""


def companions(kernels: Iterable[KernelDefinition], project: Project) -> Iterator[list[KernelDefinition]]:
    """Of the kernels, those that the same function always launches together with the same single block
    dimension, group by group, in the order of files and text. No kernel is in two groups, and a launch that
    is there to fail is none."""
    launches_of: dict[Kernel, list[Launch]] = defaultdict(list)
    for launch in project.launches:
        if not _expects_error(launch, project):
            launches_of[launch.kernel].append(launch)
    together: dict[tuple[Place, Constant], list[KernelDefinition]] = defaultdict(list)
    for kernel in kernels:
        launches = launches_of[kernel.kernel]
        block_dims = {launch.block_dim for launch in launches}
        only = block_dims.pop() if len(block_dims) == 1 else None
        if isinstance(only, Constant) and all(launch.is_sure for launch in launches):
            for place in dict.fromkeys(
                place for launch in launches for place in _always_launching(launch, project)
            ):
                together[place, only].append(kernel)
    grouped: set[Kernel] = set()
    for group in sorted(together.values(), key=len, reverse=True):
        rest = [kernel for kernel in group if kernel.kernel not in grouped]
        if len(rest) > 1:
            grouped |= {kernel.kernel for kernel in rest}
            yield sorted(rest, key=lambda kernel: (kernel.file.facts.path, kernel.span))


def is_plain(kernel: KernelDefinition, project: Project) -> bool:
    """Whether nothing about a kernel asks for a module of its own: it is made once, at import, is not generic
    and uses no tiles."""
    file, place = kernel.file, kernel.place
    is_made_once = place.scope == 0 and kernel.call is None and file.loop_of(place.block) is None
    if not is_made_once or kernel.is_generic or kernel.creation.arguments.open:
        return False
    return next(tile_operations(kernel, project), None) is None


def _expects_error(launch: Launch, project: Project) -> bool:
    """Whether the launch, or a call that leads to it, is there to fail."""
    return any(
        project.files[site.file].expects_error(project.call(site).block)
        for site in (launch.site, *launch.path)
    )


def _always_launching(launch: Launch, project: Project) -> Iterator[Place]:
    """The function that launches under no condition, and those that call it on the way."""
    for site in (launch.site, *launch.path):
        if _is_conditional(site, project):
            return
        yield site.file, project.files[site.file].function_of(project.call(site).scope)


def _is_conditional(site: CallSite, project: Project) -> bool:
    file = project.files[site.file]
    return any(
        file.facts.blocks[block].kind in (BlockKind.BRANCH, BlockKind.EXCEPT)
        and not file.is_main_block(block)
        for block in file.block_ancestors(project.call(site).block)
    )
