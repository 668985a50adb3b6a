"""A string that names a module, written anew."""

from __future__ import annotations

from warp_lint.facts.records import Argument
from warp_lint.facts.values import Constant
from warp_lint.findings import Applicability, Edit, Fix
from warp_lint.project import Project
from warp_lint.project.files import ProjectFile
from warp_lint.project.module_names import WrongName
from warp_lint.source import SourceError


def write_meant_name(
    wrong: WrongName, argument: Argument | None, file: ProjectFile, project: Project
) -> Fix | None:
    """Write the name that is meant, in place of a string that is written out where it is used."""
    if not wrong.meant or argument is None or argument.value != Constant(wrong.name):
        return None
    span = argument.value_span
    try:
        text = project.source(file).text[slice(*span)]
    except SourceError:
        return None
    if text[1:-1] != wrong.name:
        return None  # a prefix, or several literals
    replacement = wrong.meant if wrong.meant == "__name__" else f"{text[0]}{wrong.meant}{text[-1]}"
    edit = Edit(file.facts.path, span.start, span.end, replacement)
    return Fix(f"Write {replacement}", Applicability.UNSAFE, (edit,))
