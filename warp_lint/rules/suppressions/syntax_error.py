"""WRP903 syntax-error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from warp_lint.findings import Finding, Level, Location, Position, Range
from warp_lint.rules.base import Rule

if TYPE_CHECKING:
    from warp_lint.project import Project


class UnreadableFile(Rule):
    """A file that cannot be read or parsed.

    ## What it does
    Reports files that cannot be opened or decoded, that are no Python, or whose nesting is too deep to be
    parsed. The other files are linted all the same, and the run ends with status 2. The finding cannot be
    suppressed by a comment; leave the file out with `exclude`.

    ## Why is this bad
    Nothing else is found in such a file, and what it does to the Warp modules of others stays unknown.

    ## Example
    ```python
    @wp.kernel
    def scale(x: wp.array(dtype=float)
        x[wp.tid()] = 0.0
    ```

    ## Use instead
    ```python
    @wp.kernel
    def scale(x: wp.array(dtype=float)):
        x[wp.tid()] = 0.0
    ```

    ## Fix safety
    There is no fix.

    ## Evidence
    Such a file cannot be run, with Warp or without.
    """

    code = "WRP903"
    name = "syntax-error"
    level = Level.ERROR

    def check(self, project: Project) -> Iterable[Finding]:  # noqa: ARG002
        """Nothing: a project holds only files that could be parsed."""
        return ()

    def report(self, path: str, message: str, line: int, column: int) -> Finding:
        """The finding on the file at ``path``, with what is wrong and its 1-based place."""
        place = Position(line, column)
        return self.finding(Location(path, Range(place, place)), message)
