"""Which files of the project the import of a file brings along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from warp_lint.facts.records import ImportFact
from warp_lint.project.files import ProjectFile, PythonModules


class ImportGraph:
    """The imports between the files of the project, in any scope."""

    def __init__(self, files: Sequence[ProjectFile], modules: PythonModules) -> None:
        self._files = files
        self._modules = modules
        self._direct: dict[int, frozenset[int]] = {}
        self._reached: dict[int, frozenset[int]] = {}

    def direct(self, file: int) -> frozenset[int]:
        """The files that a file imports itself, the packages around them included."""
        if file not in self._direct:
            self._direct[file] = frozenset(self._imported(self._files[file])) - {file}
        return self._direct[file]

    def reached(self, file: int) -> frozenset[int]:
        """All files that the import of a file runs, itself included."""
        if file not in self._reached:
            reached: set[int] = set()
            pending = [file]
            while pending:
                index = pending.pop()
                if index not in reached:
                    reached.add(index)
                    pending += self.direct(index)
            self._reached[file] = frozenset(reached)
        return self._reached[file]

    def has_importer(self, file: int) -> bool:
        """Whether another file imports a file, or something in it when it is a package."""
        return file in self._imported_by_others

    @cached_property
    def _imported_by_others(self) -> frozenset[int]:
        return frozenset().union(*(self.direct(file.index) for file in self._files))

    def targets(self, imported: ImportFact, file: ProjectFile) -> Iterator[int]:
        """The files that one import runs, when it is the first to import them."""
        name = self._modules.imported_module(imported, file)
        names = [name] if imported.name in (None, "*") else [name, f"{name}.{imported.name}"]
        for target in dict.fromkeys(
            found for candidate in names for found in self._with_packages(candidate, file)
        ):
            if target != file.index:
                yield target

    def _imported(self, file: ProjectFile) -> Iterator[int]:
        for imported in file.facts.imports:
            if not file.is_type_checking(imported.block):
                yield from self.targets(imported, file)
        if file.is_in_package:
            yield from self._with_packages(file.dotted_name, file)

    def _with_packages(self, name: str, file: ProjectFile) -> Iterator[int]:
        """``a.b.c`` runs ``a/__init__.py`` and ``a/b/__init__.py`` as well."""
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            found = self._modules.find(".".join(parts[:length]), file)
            if found is not None:
                yield found
