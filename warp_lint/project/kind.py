"""What a file is for: the tests, an application, or a library that others import."""

from __future__ import annotations

from pathlib import PurePosixPath

from warp_lint.project.files import ProjectFile
from warp_lint.settings import ProjectKind, Settings

_TEST_DIRECTORIES = frozenset({"test", "tests", "testing"})
_APPLICATION_DIRECTORIES = _TEST_DIRECTORIES | {
    "examples", "example", "scripts", "script", "benchmarks", "benchmark", "demos", "demo", "tutorials",
    "docs", "tools",
}  # fmt: skip


def is_test(file: ProjectFile, root: str) -> bool:
    """Whether a file is part of the tests, by its name or a directory of the project."""
    stem = file.path.stem
    named = stem.startswith("test_") or stem.endswith("_test") or stem == "conftest"
    return named or bool(_directories(file, root) & _TEST_DIRECTORIES)


def is_library(file: ProjectFile, settings: Settings) -> bool:
    """Whether others may import the file and use its kernels in ways that the project does not show."""
    if settings.project_kind is not ProjectKind.AUTO:
        return settings.project_kind is ProjectKind.LIBRARY
    if not file.is_in_package or is_test(file, settings.root):
        return False
    # Inside a package, such a directory may be one of the library; what can be run in it is not.
    return not (file.is_script and _directories(file, settings.root) & _APPLICATION_DIRECTORIES)


def is_imported(file: ProjectFile, settings: Settings) -> bool:
    """Whether programs outside of the project import the file, so that its top level runs in theirs: it is
    part of a library, and neither a test nor a script."""
    if is_test(file, settings.root) or not is_library(file, settings):
        return False
    return file.is_in_package or not file.is_script


def _directories(file: ProjectFile, root: str) -> set[str]:
    """The directories of the project that a file is in, without those that the project itself is in."""
    try:
        relative = file.path.relative_to(PurePosixPath(root.replace("\\", "/")))
    except ValueError:
        relative = PurePosixPath(*file.path.parts[-2:])
    return set(relative.parts[:-1])
