"""Whether a name that a string gives is that of some Warp module.

The linter sees no installed packages. So a name counts as wrong only where the project itself shows that it
is: the name begins like the project's own modules, or is nearly that of one, and none is called so.
"""

from __future__ import annotations

import difflib
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import ModuleKind

if TYPE_CHECKING:
    from warp_lint.project import Project

_CLOSE = 0.85
"""How much of a name must agree for it to be a slip of another."""


class WrongName(NamedTuple):
    """A name that no module has, and the one that is meant, where that is clear."""

    name: str
    meant: str
    """A name, ``__name__`` for the file's own module, or empty."""


class ModuleNames:
    """The names of the Warp modules of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    @cached_property
    def known(self) -> frozenset[str]:
        """The names of files and of their modules, and those that kernels give their modules."""
        named = {
            kernel.module.name
            for kernel in self._project.kernels.values()
            if kernel.module.kind is ModuleKind.NAMED
        }
        files = self._project.files
        return frozenset(
            named | {file.dotted_name for file in files} | {file.module_name for file in files} | {"__main__"}
        )

    @cached_property
    def _are_computed(self) -> bool:
        """Whether kernels join modules whose names the code does not show."""
        kinds = {kernel.module.kind for kernel in self._project.kernels.values()}
        return bool(kinds & {ModuleKind.COMPUTED, ModuleKind.UNKNOWN})

    @cached_property
    def _kernel_names(self) -> frozenset[str]:
        return frozenset(kernel.name for kernel in self._project.kernels.values())

    def fault(self, name: str, file: ProjectFile, *, only_slips: bool = False) -> WrongName | None:
        """What is wrong with a name that code in ``file`` gives; None when it may be right.

        With ``only_slips``, just names that are nearly another one count.
        """
        if name in self.known or self._project.evaluator.modules.find(name, file) is not None:
            return None
        if any(
            # a package with modules below it, or a file that can be reached by more than one name
            known.startswith(f"{name}.") or known.endswith(f".{name}") or name.endswith(f".{known}")
            for known in self.known
        ):
            return None
        if not only_slips and (name in self._kernel_names or name == file.path.name):
            return WrongName(name, self._own(file))
        nearest = difflib.get_close_matches(name, sorted(self.known), 1, _CLOSE)
        if nearest:
            return WrongName(name, nearest[0])
        if only_slips or self._are_computed:
            return None
        head, dot, _ = name.partition(".")
        is_of_the_project = dot and any(
            other.is_in_package and other.dotted_name.partition(".")[0] == head
            for other in self._project.files
        )
        return WrongName(name, "") if is_of_the_project else None

    def _own(self, file: ProjectFile) -> str:
        """``__name__``, where the file has a module of its own."""
        has_kernels = any(
            kernel.module.kind is ModuleKind.OWN and kernel.module.file == file.index
            for kernel in self._project.kernels.values()
        )
        return "__name__" if has_kernels else ""
