"""Settings that hold in every run: no condition decides about them, nothing takes them back, and they are
not those of a test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from warp_lint.facts.records import Span
from warp_lint.findings import Location, Range
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile
from warp_lint.project.kernels import KernelDefinition
from warp_lint.project.options import ConfigWrite, OptionWrite, dictionary_entries
from warp_lint.project.values import Values

if TYPE_CHECKING:
    from warp_lint.project import Project


class LastingSetting(NamedTuple):
    """One attribute of ``wp.config``, or one module option, that has a value in every run."""

    name: str
    values: Values
    file: ProjectFile
    location: Location
    suppression_range: Range
    source: ConfigWrite | OptionWrite | KernelDefinition
    """What sets it; a kernel does by its ``module_options=``."""

    @property
    def is_config(self) -> bool:
        return isinstance(self.source, ConfigWrite)

    @property
    def shown(self) -> str:
        """What to call it in a message."""
        return f"wp.config.{self.name}" if self.is_config else f'module option "{self.name}"'


def find_lasting_settings(project: Project) -> list[LastingSetting]:
    """The lasting settings of a project: those of ``wp.config``, of modules, and of single kernels."""
    return [*_of_config(project), *_of_modules(project), *_of_kernels(project)]


def _of_config(project: Project) -> Iterator[LastingSetting]:
    for config in project.config_writes:
        if not _is_taken_back(config, project) and _lasts(config.file, config.place, config.span, project):
            location = config.location
            yield LastingSetting(
                config.name, config.values, config.file, location, location.range, source=config
            )


def _of_modules(project: Project) -> Iterator[LastingSetting]:
    for write in project.option_writes:
        if _lasts(write.file, write.place, write.span, project):
            location, covered = write.entry_location, write.suppression_range
            yield LastingSetting(write.name, write.values, write.file, location, covered, source=write)


def _of_kernels(project: Project) -> Iterator[LastingSetting]:
    for kernel in project.kernels.values():
        argument = kernel.argument("module_options")
        if argument is None or not _lasts(kernel.file, kernel.place, kernel.span, project):
            continue
        entries = dictionary_entries(argument.value, kernel.file, kernel.place, project.evaluator)
        for name, values, span in entries:
            location = kernel.file.facts.location(span) if span is not None else kernel.location
            yield LastingSetting(name, values, kernel.file, location, kernel.suppression_range, source=kernel)


def _is_taken_back(config: ConfigWrite, project: Project) -> bool:
    """Whether the same scope sets the attribute again further down."""
    return any(
        other.name == config.name
        and (other.place.file, other.place.scope) == (config.place.file, config.place.scope)
        and other.place.order > config.place.order
        for other in project.config_writes
    )


def _lasts(file: ProjectFile, place: Place, span: Span, project: Project) -> bool:
    """Whether neither a flag, the environment nor a test decides about a setting."""
    return not project.is_test(file) and not project.conditions.decide_about(
        file, place.scope, place.block, span.start
    )
