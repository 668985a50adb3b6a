"""Warp modules as Warp will see them: their kernels, launches and options."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.project.launches import Launch
from warp_lint.project.options import OptionWrite


class WarpModule:
    """One Warp module: what is built together."""

    def __init__(
        self,
        key: ModuleKey,
        name: str,
        file: ProjectFile | None,
        kernels: list[KernelDefinition],
        launches: list[Launch],
        writes: list[OptionWrite],
    ) -> None:
        self.key = key
        self.name = name
        self.file = file
        """The Python file that the module is the own module of."""
        self.kernels = kernels
        self.launches = launches
        self.writes = writes

    @property
    def description(self) -> str:
        """What to call it in a sentence: by its name, or by its kernel where the name is computed."""
        is_computed = self.key.kind in (ModuleKind.COMPUTED, ModuleKind.UNKNOWN)
        is_unique = self.key.kind is ModuleKind.UNIQUE
        if is_computed or (is_unique and not all(kernel.is_name_known for kernel in self.kernels)):
            return f'the module of kernel "{self.name}"'
        return f'module "{self.name}"'

    @property
    def first_kernel(self) -> KernelDefinition:
        """The kernel that stands first in its file."""
        return min(self.kernels, key=lambda kernel: (kernel.file.facts.path, kernel.span))


def find_modules(
    kernels: Iterable[KernelDefinition],
    launches: Iterable[Launch],
    writes: Iterable[OptionWrite],
    files: list[ProjectFile],
) -> dict[ModuleKey, WarpModule]:
    """The Warp modules of the project that have kernels or options, by key."""
    kernels_of: dict[ModuleKey, list[KernelDefinition]] = defaultdict(list)
    launches_of: dict[ModuleKey, list[Launch]] = defaultdict(list)
    writes_of: dict[ModuleKey, list[OptionWrite]] = defaultdict(list)
    module_of = {}
    for kernel in kernels:
        kernels_of[kernel.module].append(kernel)
        module_of[kernel.kernel] = kernel.module
    for launch in launches:
        if launch.kernel in module_of:
            launches_of[module_of[launch.kernel]].append(launch)
    for write in writes:
        writes_of[write.module].append(write)
    return {
        key: WarpModule(
            key,
            display_name(key, kernels_of[key], files),
            files[key.file] if key.kind is ModuleKind.OWN else None,
            kernels_of[key],
            launches_of[key],
            writes_of[key],
        )
        for key in dict.fromkeys([*kernels_of, *writes_of])
    }


def display_name(key: ModuleKey, kernels: list[KernelDefinition], files: list[ProjectFile]) -> str:
    """What to call a module in a message: its name in Warp, or the kernel that it is for."""
    match key.kind:
        case ModuleKind.OWN:
            return files[key.file].module_name
        case ModuleKind.NAMED:
            return key.name
        case _:
            return kernels[0].name if kernels else "?"
