"""What a proof can show: each effect measures a recording and says what the fix must do to the measure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tests.proofs.harness import Recording

Measure = bool | int | float | str
"""A count where fewer is better, else a value or a text."""

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


class Effect(NamedTuple):
    """One kind of effect."""

    measure: Callable[[Recording, str], Measure]
    """Reads a recording; the text is the option that the proof names, empty for most effects."""
    falls: bool
    """The measure is a count that must fall. Else it is a value that the proof states for both programs."""
    same_results: bool
    """Both programs run through, print the same and launch the same."""
    same_options: bool = False
    """Each kernel is last built with the same options in both programs."""
    same_builds: bool = False
    """Both programs build modules of the same hashes."""


def builds(recording: Recording, _: str) -> int:
    return len(recording.cold.builds)


def kernel_builds(recording: Recording, _: str) -> int:
    return recording.cold.kernel_builds


def instances(recording: Recording, _: str) -> int:
    """How many kernels were built, an instance of a generic one for each of its types."""
    return len(
        {(kernel.function, kernel.signature) for build in recording.cold.builds for kernel in build.kernels}
    )


def source_bytes(recording: Recording, _: str) -> int:
    return recording.cold.source_bytes


def code_bytes(recording: Recording, _: str) -> int:
    return sum(build.code_bytes for build in recording.cold.builds)


def links(recording: Recording, _: str) -> int:
    return recording.cold.links


def builds_in_launches(recording: Recording, _: str) -> int:
    return sum(build.in_launch for build in recording.cold.builds)


def builds_without_workers(recording: Recording, _: str) -> int:
    return sum(not build.in_worker for build in recording.cold.builds)


def definitions(recording: Recording, _: str) -> int:
    return recording.cold.events.definitions


def warm_builds(recording: Recording, _: str) -> int:
    return len(recording.warm.builds)


def unused_options(recording: Recording, _: str) -> int:
    """Options set on modules that own no kernel when the program ends."""
    modules = recording.cold.events.modules
    return sum(len(module.changed_options) for module in modules if module.kernels == 0)


def option_of_launched_kernels(recording: Recording, option: str) -> Measure:
    """The value of an option in each build of a kernel that is launched; several values as one text."""
    launched = {launch.function for launch in recording.cold.launches}
    values = {
        kernel.options[option]
        for build in recording.cold.builds
        for kernel in build.kernels
        if kernel.function in launched
    }
    if len(values) == 1 and (value := next(iter(values))) is not None:
        return value
    return ", ".join(sorted(map(str, values)))


def numbers_not_zero(recording: Recording, _: str) -> int:
    """How many of the numbers that the program prints differ from zero."""
    return sum(float(number) != 0 for number in NUMBER.findall(recording.cold.output))


def output(recording: Recording, _: str) -> str:
    return recording.cold.output.strip()


def error(recording: Recording, _: str) -> str:
    return recording.cold.events.error or "none"


EFFECTS = {
    "fewer-builds": Effect(builds, falls=True, same_results=True, same_options=True),
    "fewer-kernel-builds": Effect(kernel_builds, falls=True, same_results=True, same_options=True),
    "fewer-builds-in-launches": Effect(
        builds_in_launches, falls=True, same_results=True, same_options=True, same_builds=True
    ),
    "fewer-builds-without-workers": Effect(
        builds_without_workers, falls=True, same_results=True, same_options=True, same_builds=True
    ),
    "fewer-instances": Effect(instances, falls=True, same_results=True),
    "fewer-definitions": Effect(definitions, falls=True, same_results=True, same_options=True),
    "less-source": Effect(source_bytes, falls=True, same_results=True),
    "less-code": Effect(code_bytes, falls=True, same_results=True),
    "fewer-links": Effect(links, falls=True, same_results=True),
    "warm-without-builds": Effect(warm_builds, falls=True, same_results=True),
    "fewer-unused-options": Effect(unused_options, falls=True, same_results=True, same_builds=True),
    "option-arrives": Effect(option_of_launched_kernels, falls=False, same_results=True),
    "gradient-not-zero": Effect(numbers_not_zero, falls=False, same_results=False),
    "prints": Effect(output, falls=False, same_results=False),
    "raises": Effect(error, falls=False, same_results=False),
}
