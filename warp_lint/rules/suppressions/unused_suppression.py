"""WRP901 unused-suppression."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from warp_lint.findings import Finding, Fix, Level, Location
from warp_lint.rules.base import Rule

if TYPE_CHECKING:
    from warp_lint.project import Project


class UnusedSuppression(Rule):
    """A suppression comment that suppresses nothing.

    ## What it does
    Reports `# noqa: WRP…`, `# flake8: noqa: WRP…`, `# warp-lint: ignore` and `# warp-lint: file-ignore`
    comments, and single codes in them, that no finding needs. A code is reported only when its rule was
    enabled in the run. Codes of other tools and a bare `# noqa`, which may be meant for them, never are;
    neither is a suppression of WRP901 itself.

    ## Why is this bad
    A suppression says that a fault is known and accepted. When the fault is gone, the comment misleads
    whoever reads it, and it will hide the next fault of that kind on the same line.

    ## Example
    ```python
    @wp.kernel(module="unique")  # noqa: WRP101
    def scale(x: wp.array(dtype=float)): ...
    ```

    ## Use instead
    ```python
    @wp.kernel(module="unique")
    def scale(x: wp.array(dtype=float)): ...
    ```

    ## Fix safety
    Safe: a comment, or a part of one, is removed. Text that follows the suppression is kept as a comment.

    ## Evidence
    Warp does not read comments: what the rule is about is this linter.
    """

    code = "WRP901"
    name = "unused-suppression"
    level = Level.WARNING

    def check(self, project: Project) -> Iterable[Finding]:  # noqa: ARG002
        """Nothing: a project does not know the comments."""
        return ()

    def report(self, location: Location, unused: Sequence[str], fix: Fix) -> Finding:
        """The finding on a suppression whose codes or names ``unused`` suppressed nothing; without any
        codes, on a suppression of everything."""
        what = ", ".join(f"`{code}`" for code in unused) or "everything"
        return self.finding(location, f"suppression of {what} suppresses nothing", fix=fix)
