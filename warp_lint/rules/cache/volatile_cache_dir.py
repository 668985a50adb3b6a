from __future__ import annotations

from collections.abc import Iterator

from warp_lint.facts.values import Attribute, Expression
from warp_lint.findings import Finding, Level, Related
from warp_lint.project import Project
from warp_lint.project.callers import CallSite
from warp_lint.project.environment import EnvironmentWrite
from warp_lint.project.evaluation import Place
from warp_lint.project.options import ConfigWrite
from warp_lint.project.values import External
from warp_lint.rules.base import Rule

_VARIABLE = "WARP_CACHE_PATH"
_VOLATILE = {
    "tempfile.mkdtemp": "a temporary directory",
    "tempfile.mktemp": "a temporary name",
    "tempfile.TemporaryDirectory": "a temporary directory",
    "datetime.datetime.now": "the time",
    "datetime.datetime.utcnow": "the time",
    "datetime.datetime.today": "the time",
    "datetime.date.today": "the date",
    "time.time": "the time",
    "time.time_ns": "the time",
    "time.monotonic": "the time",
    "time.perf_counter": "the time",
    "time.strftime": "the time",
    "os.getpid": "the process id",
    "uuid.uuid1": "a fresh UUID",
    "uuid.uuid4": "a fresh UUID",
    "secrets.token_hex": "a random token",
    "secrets.token_urlsafe": "a random token",
    "random.random": "a random number",
    "random.randint": "a random number",
    "random.getrandbits": "a random number",
    "os.urandom": "random bytes",
}


class VolatileCacheDir(Rule):
    """The kernel cache is in a directory that no later run looks into.

    ## What it does
    Reports `wp.config.kernel_cache_dir`, and the environment variable `WARP_CACHE_PATH`, set to a path that
    is made from a temporary directory, the time, the process id or something random, or that the program
    removes again. Tests may do that, and what a condition chooses is left alone.

    ## Why is this bad
    What a run has built, the next run cannot find: it builds every module again. The old directories stay
    behind, unless something removes them.

    ## Example
    ```python
    import tempfile

    import warp as wp

    wp.config.kernel_cache_dir = tempfile.mkdtemp()
    ```

    ## Use instead
    ```python
    import os

    import warp as wp

    wp.config.kernel_cache_dir = os.path.expanduser("~/.cache/simulator")
    ```

    Several processes may share a cache directory: Warp writes a module elsewhere and moves it into place.

    ## Fix safety
    There is no fix: where the cache shall be, only the author knows.
    """

    code = "WRP703"
    name = "volatile-cache-dir"
    level = Level.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for setting in project.lasting_settings:
            source = setting.source
            if setting.name == "kernel_cache_dir" and isinstance(source, ConfigWrite):
                yield from self._check_write(source, "wp.config.kernel_cache_dir", project)
        for write in project.environment_writes:
            if write.name == _VARIABLE and not self._is_chosen(write, project):
                yield from self._check_write(write, write.name, project)

    def _is_chosen(self, write: EnvironmentWrite, project: Project) -> bool:
        """Whether a condition or a test decides about the write."""
        place = write.place
        return project.is_test(write.file) or project.conditions.decide_about(
            write.file, place.scope, place.block, write.span.start
        )

    def _check_write(
        self, write: ConfigWrite | EnvironmentWrite, shown: str, project: Project
    ) -> Iterator[Finding]:
        volatile = sorted(_VOLATILE.keys() & project.origins.of(write.value, write.place))
        if volatile:
            source = _VOLATILE[volatile[0]]
            message = f"{shown} is made from {source}: the next run finds nothing there and builds all again"
            related = []
        else:
            removal = _removal(write.value, write.place, project)
            if removal is None:
                return
            file = project.files[removal.file]
            message = f"{shown} is removed again: the next run finds nothing there and builds all again"
            related = [Related("removed here", file.facts.location(project.call(removal).span))]
        covered = write.suppression_range if isinstance(write, EnvironmentWrite) else write.location.range
        yield self.finding(write.location, message, suppression_range=covered, related=related)


def _removal(directory: Expression, place: Place, project: Project) -> CallSite | None:
    """The call in the same file that removes a directory, now or at exit, on no condition."""
    file = project.files[place.file]
    for index, call in enumerate(file.facts.calls):
        match project.evaluator.callee(file.index, index), call.arguments:
            case (External(name="shutil.rmtree"),), (removed, *_):
                pass
            case (External(name="atexit.register"),), (function, removed, *_):
                here = project.evaluator.place_of(file.index, call)
                if project.evaluator.evaluate(function.value, here, {}) != (External("shutil.rmtree"),):
                    continue
            case _:
                continue
        is_same = removed.value == directory or _is_cache_dir(removed.value)
        if is_same and not project.conditions.decide_about(file, call.scope, call.block, call.span.start):
            return CallSite(file.index, index)
    return None


def _is_cache_dir(expression: Expression) -> bool:
    return isinstance(expression, Attribute) and expression.attribute == "kernel_cache_dir"
