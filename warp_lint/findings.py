"""What a rule says about the code: findings, their related places, and the fixes they offer.

The shapes follow ruff's, so that people and tools that read ruff's output read ours.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

import msgspec


class Level(str, enum.Enum):
    """How bad it is."""

    ERROR = "error"
    """The program raises or computes wrongly."""
    WARNING = "warning"
    """Warp builds more than needed, certain from the code seen."""
    INFO = "info"
    """Advice that depends on what the author wants."""


class Applicability(str, enum.Enum):
    """How far a fix can be trusted (ruff's terms)."""

    SAFE = "safe"
    """Keeps what the program computes and builds no more; applied by ``--fix``."""
    UNSAFE = "unsafe"
    """May change what the program does; applied only with ``--unsafe-fixes``."""
    DISPLAY = "display"
    """Shown to a person, never applied."""


class Certainty(str, enum.Enum):
    """Whether all that the finding rests on was read from the code."""

    CERTAIN = "certain"
    LIKELY = "likely"


class Position(NamedTuple):
    """A place in a decoded file: 1-based line, 1-based column counted in code points."""

    line: int
    column: int


class Range(NamedTuple):
    """From ``start`` up to, not including, ``end``."""

    start: Position
    end: Position


class Location(NamedTuple):
    """A range in a file; ``path`` is absolute."""

    path: str
    range: Range


class Related(msgspec.Struct, frozen=True):
    """Another place that the finding is about, such as the launch that loaded the module first."""

    message: str
    location: Location


class Edit(msgspec.Struct, frozen=True, order=True):
    """Replace the text between two code-point offsets of a decoded file."""

    path: str
    start: int
    end: int
    replacement: str


class Fix(msgspec.Struct, frozen=True):
    """A change that removes the cause of the finding."""

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...]


class Finding(msgspec.Struct, frozen=True):
    """One fault at one place."""

    code: str
    name: str
    level: Level
    message: str
    location: Location
    suppression_range: Range | None = None
    """The whole statement, decorators included: a suppression comment on any of its lines counts.
    ``None``: just the lines of ``location``."""
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    certainty: Certainty = Certainty.CERTAIN
    redundant_builds: int | None = None
    """Kernel builds beyond the needed ones; ``None`` where the rule cannot count them."""

    @property
    def sort_key(self) -> tuple[str, Position, str, str]:
        """The order of every report: path, line, column, code."""
        return (self.location.path, self.location.range.start, self.code, self.message)
