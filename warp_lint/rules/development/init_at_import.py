from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.imports import delete_statement
from warp_lint.findings import Applicability, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.files import ProjectFile
from warp_lint.rules.base import Rule
from warp_lint.warp_api import CONFIG_ATTRIBUTES, ReadTime, find

_LAZY_SINCE = (1, 2)


class InitAtImport(Rule):
    """A library initializes Warp when it is imported.

    ## What it does
    Reports `wp.init()` that the import of a library module runs. Scripts and tests may call it, and so may
    what a condition decides about.

    ## Why is this bad
    Since Warp 1.2 the first call that needs a device initializes Warp. When an import does, everybody who
    imports the library pays for it, whether or not a kernel is ever launched, in every process that a
    program starts. And a program that sets `wp.config` after its imports, as most do, comes too late for what
    Warp reads when it initializes.

    ## Example
    ```python
    import warp as wp

    wp.init()


    @wp.kernel
    def decay(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = 0.9 * x[i]
    ```

    ## Use instead
    ```python
    import warp as wp


    @wp.kernel
    def decay(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = 0.9 * x[i]
    ```

    ## Fix safety
    The fix deletes the statement, unless the file configures what Warp reads when it initializes. It is
    unsafe: code that uses Warp's internals may need the initialization.
    """

    code = "WRP807"
    name = "init-at-import"
    level = Level.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        if project.settings.target_version < _LAZY_SINCE:
            return
        for site in sorted(project.calls_of("init")):
            file, call = project.files[site.file], project.call(site)
            if not project.is_imported(file) or not _runs_at_import(site, project):
                continue
            if not project.conditions.decide_about(file, call.scope, call.block, call.span.start):
                yield self.finding(
                    file.facts.location(call.span),
                    f'the import of "{file.dotted_name}" initializes Warp, which happens by itself when it '
                    "is needed",
                    suppression_range=file.facts.location(call.statement_span).range,
                    fix=_fix(site, file, project),
                )


def _runs_at_import(site: CallSite, project: Project) -> bool:
    file, call = project.files[site.file], project.call(site)
    function = file.function_of(call.scope)
    if function is not None:
        return project.callers.runs_at_import(site.file, function)
    return not file.is_main_guarded(call.block)


def _fix(site: CallSite, file: ProjectFile, project: Project) -> Fix | None:
    call = project.call(site)
    version = project.settings.target_version
    read_then = (
        find(CONFIG_ATTRIBUTES, write.name, version) for write in project.config_writes if write.file is file
    )
    is_configured = any(attribute is not None and attribute.read is ReadTime.INIT for attribute in read_then)
    if call.context != "statement" or call.scope != 0 or is_configured:
        return None
    edits = delete_statement(file, call.span.start, project)
    return Fix("Leave it to Warp", Applicability.UNSAFE, edits) if edits is not None else None
