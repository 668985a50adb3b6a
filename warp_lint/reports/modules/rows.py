"""What every format tells about a module."""

from __future__ import annotations

import enum
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain

import msgspec

from warp_lint.findings import Location
from warp_lint.notebook import SUFFIX
from warp_lint.project import Project
from warp_lint.project.build_records import Build, ModuleBuilds, Version, place_of_event
from warp_lint.project.builds import predict
from warp_lint.project.kernels import KernelDefinition, ModuleKind
from warp_lint.project.modules import WarpModule
from warp_lint.project.values import (
    Collection,
    Constant,
    DeviceFunction,
    External,
    Function,
    Kernel,
    Symbol,
    Value,
    Values,
)
from warp_lint.reports.wording import shown_place


class KernelRow(msgspec.Struct, frozen=True):
    """A kernel of a module."""

    name: str
    place: str
    generic: bool
    overloads: int
    """How many are declared."""
    launched: bool


class Use(str, enum.Enum):
    """What a kernel is built for in a build of its module."""

    NEEDED = "needed"
    """It is launched so, and has not been built before."""
    AGAIN = "built again"
    """It is built again, because something else in the module has changed."""
    NEVER = "never launched"
    """Nobody launches it with this block dimension."""


class BuiltKernel(msgspec.Struct, frozen=True):
    """A kernel in a build: its name, with what it captures and its types."""

    name: str
    use: Use


class BuildRow(msgspec.Struct, frozen=True):
    """One build of a module."""

    device: str
    block_dim: int | str
    kernels: tuple[BuiltKernel, ...]


class ModuleRow(msgspec.Struct, frozen=True):
    """A Warp module; the unique modules of one kernel count as one."""

    name: str
    kind: str
    file: str | None
    """Where it belongs: the Python file of an own module, that of the kernel of a unique one."""
    kernels: tuple[KernelRow, ...]
    options: dict[str, str]
    """Those that differ from the default."""
    block_dims: tuple[int | str, ...]
    """Those that it is launched with."""
    backward: bool
    backward_used: bool
    loaded_by: str | None
    """Who loads it first."""
    builds: tuple[BuildRow, ...]
    predicted_builds: int
    needed_builds: int
    predicted_kernel_builds: int
    needed_kernel_builds: int
    exact: bool
    """Whether everything that the prediction rests on is known."""

    @property
    def waste(self) -> int:
        """Kernel builds that nobody needs."""
        return self.predicted_kernel_builds - self.needed_kernel_builds


def module_rows(projects: Iterable[tuple[Project, Container[str]]]) -> list[ModuleRow]:
    """The modules that have kernels in some files of projects, those that waste most first. Tests are left
    out: they launch what they like."""
    rows = chain.from_iterable(_rows_of(project, paths) for project, paths in projects)
    return sorted(rows, key=lambda row: (-row.waste, -row.predicted_builds, row.name, row.file or ""))


def _rows_of(project: Project, paths: Container[str]) -> Iterable[ModuleRow]:
    predicted = predict(project)
    for key, module in project.modules.items():
        files = [kernel.file for kernel in module.kernels if kernel.file.facts.path in paths]
        if files and not all(map(project.is_test, files)):
            yield _row(module, predicted.get(key) or ModuleBuilds(), project)


def _row(module: WarpModule, builds: ModuleBuilds, project: Project) -> ModuleRow:
    first = module.first_kernel
    launched = {launch.kernel for launch in module.launches}
    backward = _backward(module, project)
    return ModuleRow(
        name=module.name,
        kind=module.key.kind.value,
        file=_file(module, first),
        kernels=tuple(_kernel_row(kernel, launched, project) for kernel in module.kernels),
        options=_options(module, project),
        block_dims=tuple(
            sorted({block_dim for _, _, block_dim in builds.launched}, key=lambda one: (str(type(one)), one))
        ),
        backward=backward,
        backward_used=any(project.differentiation.may_reach(kernel) for kernel in module.kernels),
        loaded_by=_loaded_by(builds, project),
        builds=tuple(_build_rows(builds, project)),
        predicted_builds=len(builds.builds),
        needed_builds=builds.needed_builds,
        predicted_kernel_builds=builds.kernel_builds,
        needed_kernel_builds=builds.needed_kernel_builds,
        exact=builds.is_exact,
    )


def _file(module: WarpModule, first: KernelDefinition) -> str | None:
    if module.file is not None:
        return module.file.facts.path
    return None if module.key.kind is ModuleKind.NAMED else first.file.facts.path


def _kernel_row(kernel: KernelDefinition, launched: set[Kernel], project: Project) -> KernelRow:
    overloads = len(project.overloads.declared.get(kernel.kernel, ())) if kernel.is_generic else 0
    return KernelRow(
        kernel.name, _place(kernel.location, project), kernel.is_generic, overloads, kernel.kernel in launched
    )


def _place(location: Location, project: Project) -> str:
    # Only in a notebook does the place depend on the source.
    is_notebook = location.path.endswith(SUFFIX)
    files = [file for file in project.files if is_notebook and file.facts.path == location.path]
    sources = {file.facts.path: project.source(file) for file in files}
    return shown_place(location, sources).rpartition(":")[0]


def _options(module: WarpModule, project: Project) -> dict[str, str]:
    found: dict[str, Values] = {}
    for write in module.writes:
        if not project.is_default(write, write.file):
            found[write.name] = write.values
    if module.key.kind is ModuleKind.UNIQUE:
        found.update(module.kernels[0].options)
    return {name: shown_values(values) for name, values in sorted(found.items())}


def _backward(module: WarpModule, project: Project) -> bool:
    """Whether some kernel of the module is built with its adjoint."""
    written = [write.values for write in module.writes if write.name == "enable_backward"]
    if not written:
        config = project.config_writes_for("enable_backward", module.first_kernel.file)
        written = [write.values for write in config]
    is_on = not written or any(values != (Constant(False, "bool"),) for values in written)
    return any(
        kernel.option("enable_backward") is not False if "enable_backward" in kernel.options else is_on
        for kernel in module.kernels
    )


def _loaded_by(builds: ModuleBuilds, project: Project) -> str | None:
    event = builds.loaded_by
    return f"{event.description} ({_place(place_of_event(event), project)})" if event is not None else None


def _build_rows(builds: ModuleBuilds, project: Project) -> Iterator[BuildRow]:
    seen: set[tuple[Version, str, int | str]] = set()
    for _, build in builds.builds:
        variants = {version: (version, build.device, build.block_dim) for version in build.kernels}
        yield _build_row(
            build,
            {
                version: Use.NEVER
                if variant not in builds.launched
                else Use.AGAIN
                if variant in seen
                else Use.NEEDED
                for version, variant in variants.items()
            },
            project,
        )
        seen.update(variants.values())


def _build_row(build: Build, uses: Mapping[Version, Use], project: Project) -> BuildRow:
    kernels = [BuiltKernel(_version(version, project), use) for version, use in uses.items()]
    return BuildRow(build.device, build.block_dim, tuple(sorted(kernels, key=lambda kernel: kernel.name)))


def _version(version: Version, project: Project) -> str:
    name = project.kernels[version.kernel].name
    parts = [f"{captured}={shown_values(values)}" for captured, values in version.captured]
    captured = f"({', '.join(parts)})" if parts else ""
    return f"{name}{captured}" + (f"[{', '.join(version.signature)}]" if version.signature else "")


def shown_values(values: Values) -> str:
    """Values as a reader would write them; a question mark for what is not known."""
    return " or ".join(dict.fromkeys(map(_shown, values))) or "?"


def _shown(value: Value) -> str:
    match value:
        case Constant(value=plain):
            return repr(plain)
        case Symbol(text=text):
            return text
        case External(name=name):
            return name
        case Function() | DeviceFunction():
            return "a function"
        case Collection(items=items):
            return f"({', '.join(map(shown_values, items))})"
        case _:
            return "?"
