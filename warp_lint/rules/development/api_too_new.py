from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts.records import CallFact, Span
from warp_lint.findings import Finding, Level
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.evaluation import Place
from warp_lint.project.files import ProjectFile
from warp_lint.project.values import Arguments, External, only_constant
from warp_lint.rules.base import Rule
from warp_lint.warp_api import (
    FUNCTIONS,
    MODULES_BY_NAME,
    NEWEST,
    TILE_OPERATIONS,
    Version,
    Versioned,
    find,
    history,
)

_END = 1 << 60
_KNOWN = frozenset(function.name for function in FUNCTIONS)


class ApiTooNew(Rule):
    """A function or argument is newer than the oldest Warp that the project allows.

    ## What it does
    Reports calls of functions of Warp, arguments of them, and modules given by their names, that came with a
    later version than the target: `target-version`, or else the lower bound that the project's dependencies
    put on `warp-lang`. What is only reached after a check of the version, or in a `try`, is left alone.

    ## Why is this bad
    An installation may bring the oldest version that the project allows. There, the call raises
    `AttributeError` or `TypeError`.

    ## Example
    ```toml
    [project]
    dependencies = ["warp-lang>=1.10"]
    ```

    ```python
    wp.load_module(device="cuda:0", max_workers=8)  # the argument came with Warp 1.11
    ```

    ## Use instead
    ```toml
    [project]
    dependencies = ["warp-lang>=1.11"]
    ```

    ## Fix safety
    There is no fix: whether the bound rises or the call goes, only the author knows.

    ## Evidence
    The installed Warp has everything. The versions stand in a table that the project's tests hold against
    the released versions of Warp.
    """

    code = "WRP808"
    name = "api-too-new"
    level = Level.ERROR

    def check(self, project: Project) -> Iterator[Finding]:
        version = project.settings.target_version
        if version >= NEWEST:
            return
        for name in sorted(_KNOWN & project.warp_calls.keys()):
            for site in project.warp_calls[name]:
                file, call = project.files[site.file], project.call(site)
                place = project.evaluator.place_of(site.file, call)
                arguments = project.evaluator.arguments(call, place, {})
                newer = [
                    *_too_new(name, call, version),
                    *_module_by_name(name, call, arguments, version),
                ]
                for what, since, span in newer if not self._is_checked(site, project) else ():
                    yield self._finding(what, since, version, file, span, call.statement_span)
        for file in project.files:
            yield from self._check_device_code(file, project)

    def _is_checked(self, site: CallSite, project: Project) -> bool:
        file, call = project.files[site.file], project.call(site)
        return project.version_checks.decide_about(file, call.scope, call.block, call.span.start)

    def _check_device_code(self, file: ProjectFile, project: Project) -> Iterator[Finding]:
        version = project.settings.target_version
        newer = {item.name: item.since for item in TILE_OPERATIONS if item.since > version}
        for code in file.facts.device_code:
            scope = file.facts.scopes[code.scope]
            place = Place(file.index, code.scope, scope.body_block, _END)
            if project.version_checks.decide_about(file, scope.parent, max(scope.block, 0), scope.span.start):
                continue
            for call in code.calls:
                match project.evaluator.evaluate(call.function, place, {}):
                    case (External(name=name),) if name.removeprefix("warp.") in newer:
                        since = newer[name.removeprefix("warp.")]
                        what = f"wp.{name.removeprefix('warp.')}"
                        yield self._finding(what, since, version, file, call.span, call.span)

    def _finding(
        self, what: str, since: Version, version: Version, file: ProjectFile, span: Span, statement: Span
    ) -> Finding:
        return self.finding(
            file.facts.location(span),
            f"{what} came with Warp {_shown(since)}; the target is {_shown(version)}",
            suppression_range=file.facts.location(statement).range,
        )


def _too_new(name: str, call: CallFact, version: Version) -> Iterator[tuple[str, Version, Span]]:
    """What a call uses that a version does not have yet, since when it is there, and where it stands."""
    known = history(FUNCTIONS, name)
    if known and version < known[0].since:
        yield f"wp.{name}", known[0].since, call.span
        return
    function = find(FUNCTIONS, name, version)
    if function is None:
        return
    positional = [parameter for parameter in function.parameters if not parameter.keyword_only]
    position = 0
    for argument in call.arguments:
        found: Versioned | None = None
        if argument.keyword is None:
            found = positional[position] if position < len(positional) else None
            position += 1
        elif argument.keyword == "*":
            positional = []
        else:
            found = next((item for item in function.parameters if item.name == argument.keyword), None)
        if found is not None and version < found.since:
            yield f"the argument {found.name} of wp.{name}", found.since, argument.value_span


def _module_by_name(
    name: str, call: CallFact, arguments: Arguments, version: Version
) -> Iterator[tuple[str, Version, Span]]:
    """The name of a module where a version takes none yet."""
    taking = next((item for item in MODULES_BY_NAME if item.name == f"{name}.module"), None)
    if taking is None or taking.since <= version:
        return
    position = 1 if name == "set_module_options" else 0 if name == "get_module_options" else -1
    given = only_constant(arguments.get(position, "module"))
    if given is not None and isinstance(given.value, str) and given.value != "unique":
        yield f"a module by its name in wp.{name}", taking.since, call.span


def _shown(version: Version) -> str:
    return ".".join(map(str, version))
