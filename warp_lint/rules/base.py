"""What every rule is: a code, a name, a level, and a query over the project."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar

from warp_lint.findings import Certainty, Finding, Fix, Level, Location, Range, Related

if TYPE_CHECKING:
    from warp_lint.project import Project


class Rule(ABC):
    """One rule, in a file of its own named by the rule.

    The docstring is the rule's page: it opens with one sentence, then has the sections *What it does*,
    *Why is this bad*, *Example*, *Use instead*, *Fix safety* (and *Evidence* where real Warp cannot show
    the effect on a machine without a GPU).
    """

    code: ClassVar[str]
    name: ClassVar[str]
    level: ClassVar[Level]
    default: ClassVar[bool] = True
    """Whether the rule is on when nothing is selected."""

    @abstractmethod
    def check(self, project: Project) -> Iterable[Finding]:
        """Yield what the rule finds in the whole project, in any order."""

    def finding(
        self,
        location: Location,
        message: str,
        *,
        suppression_range: Range | None = None,
        related: Iterable[Related] = (),
        fix: Fix | None = None,
        level: Level | None = None,
        certainty: Certainty = Certainty.CERTAIN,
        redundant_builds: int | None = None,
    ) -> Finding:
        """A finding of this rule."""
        return Finding(
            code=self.code,
            name=self.name,
            level=level or self.level,
            message=message,
            location=location,
            suppression_range=suppression_range,
            related=tuple(related),
            fix=fix,
            certainty=certainty,
            redundant_builds=redundant_builds,
        )

    @classmethod
    def page(cls) -> str:
        """The rule's documentation in Markdown, from its docstring."""
        return inspect.cleandoc(cls.__doc__ or "")


def family_of(code: str) -> Iterator[str]:
    """The selectors that name a code: itself and each of its prefixes (``WRP1``, ``WRP``), and ``ALL``."""
    yield from (code[:length] for length in range(len(code), 2, -1))
    yield "ALL"
