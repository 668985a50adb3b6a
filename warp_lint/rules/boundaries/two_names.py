from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from warp_lint.facts.records import ImportFact
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.events import Event, EventKind
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition, ModuleKey, ModuleKind
from warp_lint.rules.base import Rule


class _Import(NamedTuple):
    """An import that runs a file under a name."""

    file: ProjectFile
    imported: ImportFact
    name: str


class TwoNames(Rule):
    """One file is imported under two names, and its kernels are in two modules.

    ## What it does
    Reports an import that gives a file with kernels a second name in one program, where kernels are launched
    through both: beside a script as `import filters` and elsewhere as `from app import filters`, or in what a
    script runs, when the script itself is the file that is imported.

    ## Why is this bad
    Python runs the file twice, and a Warp module is named after the Python module: there are two of them,
    each with all kernels of the file. Both are hashed, built and stored, and a setting that reaches one of
    them does not reach the other.

    ## Example
    ```python
    # app/main.py, run as a script
    import filters
    from app import pipeline  # imports app.filters
    ```

    ## Use instead
    ```python
    # run as python -m app.main
    from app import filters, pipeline
    ```

    ## Fix safety
    There is no fix: how the program is started belongs to it.
    """

    code = "WRP504"
    name = "two-names"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        kernels = {
            kernel.body_file.index: kernel
            for kernel in project.kernels.values()
            if kernel.module.kind is ModuleKind.OWN
        }
        imports: dict[int, list[_Import]] = {index: [] for index in kernels}
        for file in project.files:
            for imported in file.facts.imports:
                for target, name in self._imported(imported, file, project):
                    if target in imports and target != file.index:
                        imports[target].append(_Import(file, imported, name))
        for index in sorted(imports):
            yield from self._check_file(kernels[index], imports[index], project)

    def _imported(
        self, imported: ImportFact, file: ProjectFile, project: Project
    ) -> Iterator[tuple[int, str]]:
        """The files that an import runs itself, with the names that they get."""
        if file.is_type_checking(imported.block):
            return
        module = project.evaluator.modules.imported_module(imported, file)
        names = [module] if imported.name in (None, "*") else [module, f"{module}.{imported.name}"]
        for name in names:
            target = project.evaluator.modules.find(name, file)
            if target is not None:
                yield target, name

    def _check_file(
        self, kernel: KernelDefinition, imports: list[_Import], project: Project
    ) -> Iterator[Finding]:
        file = kernel.body_file
        launching: list[_Import] = []
        if len({one.name for one in imports}) > 1:
            flows = [events for _, _, events, _ in project.timeline.flows()]
            launching = self._launching(imports, chain.from_iterable(flows), kernel, project)
        named = [one for one in launching if one.name == file.dotted_name]
        for other in launching:
            if other.name != file.dotted_name:
                meeting = [one for one in named if self._meet(one.file, other.file, project)]
                if meeting:
                    yield self._finding(other, kernel, f'"{other.name}" and "{file.dotted_name}"', meeting[0])
                    return
        if not self._launches_itself(file, project):
            return
        for back in self._launching(imports, project.timeline.events(file.index, 0), kernel, project):
            if back.file.index in project.imports.reached(file.index):
                yield self._finding(back, kernel, f'"__main__" and "{back.name}"', None)
                return

    def _launching(
        self, imports: list[_Import], events: Iterable[Event], kernel: KernelDefinition, project: Project
    ) -> list[_Import]:
        """The imports through whose names events launch kernels of the file: in the importing file, or in one
        that has the name from there."""
        files = {_last_outside(kernel.body_file, event) for event in events if _is_launch(event, kernel)}
        importing = {one.file.index for one in imports}
        return [
            one
            for one in imports
            if one.file.index in files
            or any(
                one.file.index in project.imports.reached(index)
                for index in files
                if index is not None and index not in importing
            )
        ]

    def _meet(self, first: ProjectFile, second: ProjectFile, project: Project) -> bool:
        """Whether some file runs both, so that they are parts of one program."""
        both = {first.index, second.index}
        return any(both <= project.imports.reached(file.index) for file in project.files)

    def _launches_itself(self, file: ProjectFile, project: Project) -> bool:
        """Whether the file is a script that launches kernels of its own module."""
        module = project.modules.get(ModuleKey(ModuleKind.OWN, file=file.index))
        return file.is_script and any(
            launch.site.file == file.index for launch in (module.launches if module else ())
        )

    def _finding(
        self, other: _Import, kernel: KernelDefinition, names: str, first: _Import | None
    ) -> Finding:
        location = other.file.facts.location(other.imported.span)
        related = [Related("a kernel that is built twice", kernel.location)]
        if first is not None:
            related.insert(0, Related("imported here, too", first.file.facts.location(first.imported.span)))
        return self.finding(
            location,
            f"{kernel.body_file.path.name} becomes two modules, {names}: its kernels are built for each",
            suppression_range=location.range,
            related=related,
        )


def _is_launch(event: Event, kernel: KernelDefinition) -> bool:
    return event.kind is EventKind.LAUNCH and event.module == kernel.module


def _last_outside(file: ProjectFile, event: Event) -> int | None:
    """The last file on the way to an event, and with it, that is another one than ``file``."""
    way = [step.place.file for step in event.steps]
    if event.site is not None:
        way.append(event.site.file)
    return next((index for index in reversed(way) if index != file.index), None)
