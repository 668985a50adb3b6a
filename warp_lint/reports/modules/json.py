"""The modules as a JSON array, for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from warp_lint.reports.modules.rows import ModuleRow


def render(rows: Sequence[ModuleRow]) -> Iterator[str]:
    yield msgspec.json.format(msgspec.json.encode(rows), indent=2).decode()
