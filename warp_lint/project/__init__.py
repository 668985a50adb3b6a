"""The project: what the facts of all files mean together.

Everything here is built from facts alone; no tree and no text is looked at again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from warp_lint.facts.records import CallFact, FileFacts
from warp_lint.project.callers import Callers, CallSite
from warp_lint.project.conditions import Conditions
from warp_lint.project.differentiation import Differentiation
from warp_lint.project.environment import EnvironmentWrite, find_environment_writes
from warp_lint.project.evaluation import Evaluator, Place
from warp_lint.project.files import ProjectFile, PythonModules
from warp_lint.project.import_graph import ImportGraph
from warp_lint.project.kernels import KernelDefinition, ModuleKey, find_kernels
from warp_lint.project.kind import is_imported, is_library, is_test
from warp_lint.project.lasting_settings import LastingSetting, find_lasting_settings
from warp_lint.project.late_options import LateWrite, find_late_writes
from warp_lint.project.launches import Launch, LaunchFinder
from warp_lint.project.module_names import ModuleNames
from warp_lint.project.modules import WarpModule, find_modules
from warp_lint.project.nondeterminism import Nondeterminism
from warp_lint.project.options import (
    ConfigWrite,
    OptionWrite,
    OptionWrites,
    WarpModules,
    find_config_writes,
)
from warp_lint.project.origins import OriginFinder
from warp_lint.project.overloads import Overloads
from warp_lint.project.preloads import Preload, find_preloads
from warp_lint.project.timeline import Timeline
from warp_lint.project.values import External, Kernel, Partial, constant
from warp_lint.project.version_checks import VersionChecks
from warp_lint.project.warp_sources import rename_modules
from warp_lint.settings import Settings
from warp_lint.source import Source
from warp_lint.warp_api import MODULE_OPTIONS, WarpName, find

__all__ = ["Project"]


class Project:
    """All files linked. What is expensive is made when a rule asks for it, once."""

    def __init__(self, files: list[ProjectFile], settings: Settings, read: Callable[[str], Source]) -> None:
        self.files = files
        self.settings = settings
        self._read = read
        self._sources: dict[int, Source] = {}
        rename_modules(files)
        modules = PythonModules(files, list(settings.source_roots))
        self.imports = ImportGraph(files, modules)
        self.evaluator = Evaluator(files, modules, settings.kernel_decorators)

    @classmethod
    def build(
        cls, facts: Sequence[FileFacts], settings: Settings, read: Callable[[str], Source] = Source.read
    ) -> Project:
        """Link the facts of the files of one project; ``read`` gives the source that a fix needs."""
        ordered = sorted(facts, key=lambda file: file.path)
        packages = _package_directories(ordered)
        files = [ProjectFile(index, file, packages) for index, file in enumerate(ordered)]
        return cls(files, settings, read)

    def source(self, file: ProjectFile) -> Source:
        """The source of a file, for making fixes; raises `SourceError` when it cannot be read."""
        if file.index not in self._sources:
            self._sources[file.index] = self._read(file.facts.path)
        return self._sources[file.index]

    @cached_property
    def kernels(self) -> dict[Kernel, KernelDefinition]:
        """Every kernel of the project."""
        return find_kernels(self.evaluator)

    @cached_property
    def callers(self) -> Callers:
        return Callers(self.evaluator)

    @cached_property
    def warp_calls(self) -> dict[str, list[CallSite]]:
        """The calls of Warp's own functions, by the function's name without ``warp.``."""
        found: dict[str, list[CallSite]] = defaultdict(list)
        for file in self.files:
            for index in range(len(file.facts.calls)):
                for value in self.evaluator.callee(file.index, index):
                    if isinstance(value, Partial):
                        value = value.function
                    if isinstance(value, External) and value.name.startswith("warp."):
                        found[value.name.removeprefix("warp.")].append(CallSite(file.index, index))
        return found

    def calls_of(self, *names: str) -> Iterator[CallSite]:
        """The calls of some of Warp's own functions."""
        for name in names:
            yield from self.warp_calls.get(name, ())

    def call(self, site: CallSite) -> CallFact:
        return self.files[site.file].facts.calls[site.call]

    @cached_property
    def launches(self) -> list[Launch]:
        """Every launch of the project whose kernel is known."""
        self.kernels  # noqa: B018 (names stand for kernels only once all of them are known)
        finder = LaunchFinder(self.evaluator, self.callers)
        sites = sorted(self.calls_of(*_LAUNCHING))
        return [launch for site in sites for launch in finder.launches_at(site)]

    def is_test(self, file: ProjectFile) -> bool:
        """Whether a file is part of the tests."""
        return is_test(file, self.settings.root)

    def is_library(self, file: ProjectFile) -> bool:
        """Whether others may import a file and use its kernels in ways that the project does not show."""
        return is_library(file, self.settings)

    def is_imported(self, file: ProjectFile) -> bool:
        """Whether programs outside of the project import a file. What is meant to be run, and what no file of
        the project imports, is a program itself."""
        if file.is_script and not self.imports.has_importer(file.index):
            return False
        return is_imported(file, self.settings)

    @cached_property
    def warp_modules(self) -> WarpModules:
        return WarpModules(self.evaluator, self.kernels)

    @cached_property
    def options(self) -> OptionWrites:
        return OptionWrites(self.evaluator, self.warp_modules, self.callers)

    @property
    def option_writes(self) -> list[OptionWrite]:
        """Every write of one option whose module and name are known."""
        return self.options.writes

    @cached_property
    def config_writes(self) -> list[ConfigWrite]:
        return find_config_writes(self.evaluator)

    def config_writes_for(self, name: str, file: ProjectFile) -> list[ConfigWrite]:
        """The assignments to an attribute of ``wp.config`` that can meet the modules of a file.

        They stand in the file, in what its import runs, or in a program that imports it; tests speak only
        for themselves.
        """
        reached = self.imports.reached(file.index)
        return [
            write
            for write in self.config_writes
            if write.name == name
            and (
                write.file.index in reached
                or (not self.is_test(write.file) and file.index in self.imports.reached(write.file.index))
            )
        ]

    @cached_property
    def module_names(self) -> ModuleNames:
        return ModuleNames(self)

    @cached_property
    def environment_writes(self) -> list[EnvironmentWrite]:
        return find_environment_writes(self.evaluator)

    @cached_property
    def origins(self) -> OriginFinder:
        return OriginFinder(self.evaluator)

    @cached_property
    def version_checks(self) -> VersionChecks:
        return VersionChecks(self.callers)

    @cached_property
    def lasting_settings(self) -> list[LastingSetting]:
        """The settings of ``wp.config``, modules and kernels that hold in every run."""
        return find_lasting_settings(self)

    def is_default(self, write: OptionWrite, file: ProjectFile) -> bool:
        """Whether an option is set to what modules made in a file start with anyway."""
        option = find(MODULE_OPTIONS, write.name, self.settings.target_version)
        if option is None or isinstance(option.default, WarpName):
            return False
        return write.values == (constant(option.default),) and not self.config_writes_for(write.name, file)

    @cached_property
    def preloads(self) -> list[Preload]:
        """The calls that build or fetch modules ahead of their launches."""
        return find_preloads(self)

    @cached_property
    def preloaded_modules(self) -> frozenset[ModuleKey]:
        """The modules that a load or compilation ahead of the launches names."""
        return frozenset(key for preload in self.preloads for key in preload.named if key is not None)

    @cached_property
    def modules(self) -> dict[ModuleKey, WarpModule]:
        """The Warp modules by their keys."""
        return find_modules(self.kernels.values(), self.launches, self.option_writes, self.files)

    @cached_property
    def conditions(self) -> Conditions:
        return Conditions(self.callers)

    @cached_property
    def overloads(self) -> Overloads:
        sites = sorted(self.calls_of("overload"))
        return Overloads(self.evaluator, self.callers, self.kernels, sites)

    @cached_property
    def differentiation(self) -> Differentiation:
        return Differentiation(
            self.files,
            self.evaluator,
            self.imports,
            self.callers,
            self.kernels,
            self.launches,
            self.warp_calls,
        )

    @cached_property
    def nondeterminism(self) -> Nondeterminism:
        return Nondeterminism(self.evaluator, self.callers)

    @cached_property
    def timeline(self) -> Timeline:
        return Timeline(self)

    def limits_reached(self) -> Iterator[str]:
        """Where the timeline was cut to come to an end, one line each; nothing where no rule asked for it."""
        for index, scope in sorted(self.timeline.cut) if "timeline" in vars(self) else ():
            file = self.files[index]
            name = file.facts.scopes[scope].qualified_name if scope else "the top level"
            yield f"{file.facts.path}: {name} leads to too many events; what comes last is not looked at"

    @cached_property
    def late_writes(self) -> list[LateWrite]:
        """The option writes that come after a load of their module and change the option, each once."""
        return find_late_writes(self)

    def place_before(self, file: ProjectFile, block: int) -> Place:
        """Where the statement begins that a block belongs to: its ``with`` items are evaluated there."""
        fact = file.facts.blocks[block]
        order = file.last_order_before(fact.span.start) + 1
        return Place(file.index, fact.scope, max(fact.parent, 0), order)


_LAUNCHING = (
    "launch",
    "launch_tiled",
    "jax_kernel",
    "jax_experimental.jax_kernel",
    "jax_experimental.ffi.jax_kernel",
)


def _package_directories(facts: Sequence[FileFacts]) -> set[str]:
    """The directories that are packages: those with an ``__init__.py`` (which may have no facts worth
    keeping), and those inside of one, which Python imports as namespace packages."""
    packages: dict[str, bool] = {}
    for file in facts:
        _is_package(Path(file.path).parent, packages)
    return {directory for directory, is_package in packages.items() if is_package}


def _is_package(directory: Path, known: dict[str, bool]) -> bool:
    key = directory.as_posix()
    if key not in known:
        parent = directory.parent
        is_inside = parent != directory and directory.name.isidentifier() and _is_package(parent, known)
        known[key] = is_inside or (directory / "__init__.py").is_file()
    return known[key]
