from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warp_lint.facts import values as fact
from warp_lint.facts.records import Span
from warp_lint.findings import Finding, Level
from warp_lint.project import Project
from warp_lint.project.evaluation import Place
from warp_lint.project.expressions import attributes_in, expressions_of
from warp_lint.project.files import ProjectFile
from warp_lint.project.values import External, Kernel, ModuleOf
from warp_lint.rules.base import Rule
from warp_lint.warp_api import FORMER_SUBMODULES, Version

_GONE = {entry.name: entry.until for entry in FORMER_SUBMODULES}


class PrivateApi(Rule):
    """Something is used that belongs to Warp alone.

    ## What it does
    Reports what is imported from or read through `warp._src`, and through `wp.context`, `wp.codegen`,
    `wp.build` and the other submodules that Warp 1.13 took away; also calls of a module's `mark_modified()`.
    What is only reached after a check of the version, or in a `try`, is left alone.

    ## Why is this bad
    `warp._src` changes with any release and without notice. `wp.context` and its like raise `AttributeError`
    since Warp 1.13. `mark_modified()` makes Warp hash a module again, and build it if anything differs by
    then: an option or a configuration that came too late takes effect, to everybody's surprise.

    ## Example
    ```python
    def is_kernel(value):
        return isinstance(value, wp.context.Kernel)
    ```

    ## Use instead
    ```python
    def is_kernel(value):
        return isinstance(value, wp.Kernel)
    ```

    ## Fix safety
    There is no fix: most of what is private has no public name.
    """

    code = "WRP806"
    name = "private-api"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for file in project.files:
            if file.dotted_name == "warp" or file.dotted_name.startswith("warp."):
                continue  # Warp itself
            reported: set[Span] = set()
            for use in sorted([*_imports(file), *_reads(file, project), *_marks(file, project)]):
                if use.span not in reported and not self._is_checked(use, file, project):
                    reported.add(use.span)
                    yield self.finding(
                        file.facts.location(use.span),
                        _message(use.what, project.settings.target_version),
                        suppression_range=file.facts.location(use.statement_span).range,
                    )

    def _is_checked(self, use: _Use, file: ProjectFile, project: Project) -> bool:
        place = use.place
        return project.version_checks.decide_about(file, place.scope, place.block, use.span.start)


class _Use(NamedTuple):
    span: Span
    statement_span: Span
    what: str
    """``_src``, the name of a former submodule, or ``mark_modified``."""
    place: Place


def _message(what: str, version: Version) -> str:
    if what == "mark_modified":
        return "mark_modified is private: the module is hashed again, and built again if anything differs"
    gone = _GONE.get(what)
    if gone is None:
        return "warp._src is private: it changes with any release of Warp"
    shown = ".".join(map(str, gone))
    when = "is gone since" if gone <= version else "is not public, and gone in"
    return f"warp.{what} {when} Warp {shown}"


def _imports(file: ProjectFile) -> Iterator[_Use]:
    for imported in file.facts.imports:
        if imported.level or imported.type_checking:
            continue
        package, _, rest = imported.module.partition(".")
        submodule = rest.partition(".")[0] if rest else imported.name or ""
        if package == "warp" and (submodule == "_src" or submodule in _GONE):
            place = Place(file.index, imported.scope, imported.block, imported.order)
            yield _Use(imported.span, imported.span, submodule, place)


def _reads(file: ProjectFile, project: Project) -> Iterator[_Use]:
    """``wp.context.…`` and ``warp._src.…`` wherever an expression is kept."""
    if {"_src", *_GONE}.isdisjoint(file.facts.attributes):
        return
    for kept in expressions_of(file):
        for part in attributes_in(kept.expressions):
            if part.attribute != "_src" and part.attribute not in _GONE:
                continue
            is_warp = project.evaluator.evaluate(part.base, kept.place, {}) == (External("warp"),)
            if is_warp and not _is_imported(part.base, part.attribute, file):
                yield _Use(kept.span, kept.statement_span, part.attribute, kept.place)


def _is_imported(base: fact.Expression, attribute: str, file: ProjectFile) -> bool:
    """Whether the file imports the submodule, which is reported there."""
    return isinstance(base, fact.Name) and any(
        imported.module.partition(".")[0] == "warp"
        and imported.module.split(".")[1:2] == [attribute]
        and imported.bound_name == base.id
        for imported in file.facts.imports
    )


def _marks(file: ProjectFile, project: Project) -> Iterator[_Use]:
    """``kernel.module.mark_modified()``."""
    for call in file.facts.calls:
        match call.function:
            case fact.Attribute(base=base, attribute="mark_modified"):
                place = project.evaluator.place_of(file.index, call)
                values = project.evaluator.evaluate(base, place, {})
                if values and all(isinstance(value, (ModuleOf, Kernel)) for value in values):
                    yield _Use(call.span, call.statement_span, "mark_modified", place)
