from __future__ import annotations

from collections.abc import Iterator

from warp_lint.edits.paths import without_last_part
from warp_lint.edits.statements import statements_of
from warp_lint.findings import Applicability, Edit, Finding, Fix, Level
from warp_lint.project import Project
from warp_lint.project.options import ConfigWrite
from warp_lint.rules.base import Rule
from warp_lint.source import SourceError

_APPENDED_SINCE = (1, 13)
_VERSIONS = frozenset({"warp.__version__", "warp.config.version"})


class VersionedCacheDir(Rule):
    """The version is joined into the cache directory, and Warp appends it again.

    ## What it does
    Reports `wp.config.kernel_cache_dir` set to a path that holds Warp's version, when the project targets
    Warp 1.13 or later.

    ## Why is this bad
    Since Warp 1.13 a custom cache directory is a base, to which Warp appends its version. A program that
    appends it too has its cache one level further down, away from all programs that name the same base: each
    builds for itself what they could share.

    ## Example
    ```python
    wp.config.kernel_cache_dir = os.path.join(base, wp.__version__)
    ```

    ## Use instead
    ```python
    wp.config.kernel_cache_dir = base
    ```

    ## Fix safety
    The fix takes the version off the end of the path. It is unsafe: what is cached in the old place is built
    once more.
    """

    code = "WRP705"
    name = "versioned-cache-dir"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        if project.settings.target_version < _APPENDED_SINCE:
            return
        for write in project.config_writes:
            if write.name != "kernel_cache_dir":
                continue
            if _VERSIONS.isdisjoint(project.origins.of(write.value, write.place)):
                continue
            if project.version_checks.decide_about(
                write.file, write.place.scope, write.place.block, write.span.start
            ):
                continue
            yield self.finding(
                write.location,
                "the cache directory holds the version, which Warp appends by itself: it is shared with no "
                "program that names the same base",
                suppression_range=write.location.range,
                fix=_fix(write, project),
            )


def _fix(write: ConfigWrite, project: Project) -> Fix | None:
    try:
        source = project.source(write.file)
    except SourceError:
        return None
    statement = statements_of(source).at(write.span.start)
    if statement is None:
        return None
    text = source.text[statement.start : statement.end]
    replacement = without_last_part(text, _is_version)
    if replacement is None:
        return None
    edit = Edit(write.file.facts.path, statement.start, statement.end, replacement)
    return Fix("Pass the base of the cache directory", Applicability.UNSAFE, (edit,))


def _is_version(code: str) -> bool:
    return code.endswith((".__version__", "config.version"))
