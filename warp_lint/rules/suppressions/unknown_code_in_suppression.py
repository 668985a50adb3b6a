"""WRP902 unknown-code-in-suppression."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from warp_lint.findings import Finding, Level, Location
from warp_lint.rules.base import Rule

if TYPE_CHECKING:
    from warp_lint.project import Project


class UnknownCodeInSuppression(Rule):
    """A suppression comment that names no rule, or that the linter does not understand.

    ## What it does
    Reports codes that begin with `WRP` but belong to no rule, in `# noqa` and `# warp-lint:` comments;
    names in `# warp-lint: ignore[…]` that no rule has; and `# warp-lint:` comments that are neither
    `ignore` nor `file-ignore`, or have no list of codes where a bracket opens one.

    ## Why is this bad
    The comment has no effect, though whoever wrote it believes it has.

    ## Example
    ```python
    @wp.kernel  # warp-lint: ignore[kernel-in-a-function]
    def scale(x: wp.array(dtype=float)): ...
    ```

    ## Use instead
    ```python
    @wp.kernel  # warp-lint: ignore[kernel-in-function]
    def scale(x: wp.array(dtype=float)): ...
    ```

    ## Fix safety
    There is no fix: which rule was meant is the author's to say.

    ## Evidence
    Warp does not read comments: what the rule is about is this linter.
    """

    code = "WRP902"
    name = "unknown-code-in-suppression"
    level = Level.WARNING

    def check(self, project: Project) -> Iterable[Finding]:  # noqa: ARG002
        """Nothing: a project does not know the comments."""
        return ()

    def report_code(self, location: Location, code: str, known: Iterable[str]) -> Finding:
        """The finding on ``code``, where ``known`` are the codes or names that would have been right."""
        by_lower_case = {name.lower(): name for name in known}
        nearest = difflib.get_close_matches(code.lower(), by_lower_case, n=1)
        hint = f" (did you mean `{by_lower_case[nearest[0]]}`?)" if nearest else ""
        return self.finding(location, f"suppression names the unknown rule `{code}`{hint}")

    def report_comment(self, location: Location, comment: str) -> Finding:
        """The finding on a comment that has no effect."""
        return self.finding(
            location,
            f"`{comment}` is not understood: write `# warp-lint: ignore[CODE]` on or above the line, or "
            "`# warp-lint: file-ignore[CODE]` on a line of its own",
        )
