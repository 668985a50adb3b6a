"""What the linter says of a program against what Warp did."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from warp_lint.run import lint
from warp_lint.settings import Settings
from warp_lint.trees import SettingsLookup

ORDER_RULES = ("WRP103", "WRP113", "WRP301")
"""The rules about what comes after a load and makes Warp build again."""
KERNEL_IN_FUNCTION = "WRP101"
"""Where it stands, WRP103 is not reported. It says what happens when the module is loaded by then, not that
it is: it counts where Warp builds again, and is no false alarm where Warp does not."""


class Comparison(NamedTuple):
    """The modules of one program that were built more than once, and those of which the linter says so."""

    rebuilt: frozenset[str]
    reported: frozenset[str]
    explained: frozenset[str]
    """Those with a kernel in a function."""

    @property
    def missed(self) -> frozenset[str]:
        return self.rebuilt - self.reported - self.explained

    @property
    def false(self) -> frozenset[str]:
        return self.reported - self.rebuilt


def compare(folder: Path, runs: list[list[str]]) -> Comparison:
    """Compare the builds of a program's runs, each a list of modules, with its findings."""
    rebuilt = {module for builds in runs for module, count in Counter(builds).items() if count > 1}
    return Comparison(
        frozenset(rebuilt), _reported(folder, ORDER_RULES), _reported(folder, (KERNEL_IN_FUNCTION,))
    )


def _reported(folder: Path, codes: Sequence[str]) -> frozenset[str]:
    settings = Settings(str(folder)).with_overrides({"select": list(codes), "target-version": "1.19"})
    result = lint([str(folder)], SettingsLookup(settings))
    assert result.is_complete
    names = set()
    for finding in result.findings:
        (name,) = set(re.findall(r'module "([^"]+)"', finding.message))
        names.add("__main__" if name == "main" else name)
    return frozenset(names)
