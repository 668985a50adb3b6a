"""Proofs: a program that a rule reports, the program after the fix, and the effect that Warp shows.

A rule's fixture folder holds pairs ``fires_<pair>.py`` / ``fixed_<pair>.py`` (or folders with a ``main.py``)
and a ``proof.toml`` with one line for each pair that is proven::

    late_definition = { effect = "fewer-builds", expect = { before = 2, after = 1 } }

A list of such tables proves several effects of one pair. A folder whose rule cannot be proven here says why::

    unproven = "the rule is about the linter's own comments"
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.proofs.effects import EFFECTS, Effect, Measure
from tests.proofs.harness import Device, Recording, Run, record
from tests.proofs.recorder.events import Launch, Value


class NotProvenError(AssertionError):
    """Warp did not show the effect that a proof claims."""


class Expectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The measured effect in both programs."""

    before: Measure
    after: Measure


class Proof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The claim of one line in a ``proof.toml``."""

    effect: str
    """A name in `tests.proofs.effects.EFFECTS`."""
    expect: Expectation | None = None
    """None only for counts that need no exact figure, such as bytes of source."""
    device: Device = Device.CPU
    share: float = 1.0
    """What is left of a count that falls is at most this share of it."""
    release: bool = False
    """It takes long, or is one more shape of what another pair shows: run before a release."""
    option: str = ""
    """The option that ``option-arrives`` looks at."""

    def __post_init__(self) -> None:
        if self.effect not in EFFECTS:
            raise ValueError(f"unknown effect {self.effect!r}; there are {', '.join(EFFECTS)}")
        if self.expect is None and not self.kind.falls:
            raise ValueError(f"{self.effect} needs the values to expect")

    @property
    def kind(self) -> Effect:
        return EFFECTS[self.effect]

    def measure(self, recording: Recording) -> Measure:
        return self.kind.measure(recording, self.option)


class Case(msgspec.Struct, frozen=True):
    """The proofs of one pair of programs for one device."""

    code: str
    pair: str
    before: Path
    after: Path
    device: Device
    proofs: tuple[Proof, ...]
    is_first: bool
    """No other pair of the rule stands above it."""

    @property
    def release(self) -> bool:
        """Whether it waits for a release: each change is tried on one pair of each rule."""
        return not self.is_first or any(proof.release for proof in self.proofs)


def read_cases(fixtures: Path) -> Iterator[Case]:
    """Every pair that has a proof, in the order of the codes and of the lines in each file."""
    for file in sorted(fixtures.glob("*/proof.toml")):
        is_first = True
        for pair, claims in read_proof_file(file).items():
            if isinstance(claims, str):
                continue
            proofs = claims if isinstance(claims, list) else [claims]
            before, after = (program(file.parent, f"{state}_{pair}") for state in ("fires", "fixed"))
            for device in Device:
                if for_device := tuple(proof for proof in proofs if proof.device is device):
                    yield Case(code_of(file), pair, before, after, device, for_device, is_first)
                    is_first = False


def read_reasons(fixtures: Path) -> dict[str, str]:
    """Why a rule is not proven here, by its code."""
    reasons = {}
    for file in sorted(fixtures.glob("*/proof.toml")):
        reason = read_proof_file(file).get("unproven")
        if isinstance(reason, str):
            reasons[code_of(file)] = reason
    return reasons


def read_proof_file(file: Path) -> dict[str, Proof | list[Proof] | str]:
    return msgspec.toml.decode(file.read_bytes(), type=dict[str, Proof | list[Proof] | str])


def code_of(file: Path) -> str:
    return file.parent.name.split("-")[0]


def program(folder: Path, name: str) -> Path:
    """The program of this name: a folder with a ``main.py``, or a file."""
    return folder / name if (folder / name).is_dir() else folder / f"{name}.py"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The runs of both programs of a pair."""

    before: Recording
    after: Recording

    @property
    def swapped(self) -> Outcome:
        """As if the fixed program were the one that is reported."""
        return Outcome(before=self.after, after=self.before)

    def check(self, proof: Proof) -> None:
        """Hold the runs against a claim.

        Raises:
            NotProvenError: The programs differ in what they compute, or the effect is not the claimed one.
        """
        self.check_ends_well(self.after)
        if proof.effect != "raises":
            self.check_ends_well(self.before)
        if proof.kind.same_results:
            self.check_results(proof)
        self.check_effect(proof)

    def check_ends_well(self, recording: Recording) -> None:
        for run in (recording.cold, recording.warm):
            if run.exit_status != 0:
                raise NotProvenError(f"a program ends with status {run.exit_status}:\n{run.messages}")

    def check_results(self, proof: Proof) -> None:
        """Both programs, cold and warm, print and launch the same."""
        runs = (self.before.cold, self.before.warm, self.after.cold, self.after.warm)
        if not runs[0].output.strip() or not runs[0].launches:
            raise NotProvenError("a program that prints and launches nothing shows nothing")
        for run in runs[1:]:
            if run.output != runs[0].output:
                raise NotProvenError(f"the output differs: {runs[0].output!r} and {run.output!r}")
            if compared_launches(run, proof) != compared_launches(runs[0], proof):
                raise NotProvenError(f"the launches differ: {runs[0].launches} and {run.launches}")

    def check_effect(self, proof: Proof) -> None:
        """The measure is the claimed one on both sides, and the fix moves it the right way."""
        effect, expect = proof.kind, proof.expect
        before, after = proof.measure(self.before), proof.measure(self.after)
        measured = f"{proof.effect} on {proof.device.value}: {before} before, {after} after"
        if effect.falls and not float(after) < float(before):
            raise NotProvenError(f"{measured}: the count does not fall")
        if effect.falls and not float(after) <= proof.share * float(before):
            raise NotProvenError(f"{measured}: more than {proof.share:.0%} is left")
        if expect is not None and (before, after) != (expect.before, expect.after):
            raise NotProvenError(f"{measured}: expected {expect.before} and {expect.after}")
        if before == after:
            raise NotProvenError(f"{measured}: no effect")
        if effect.same_options and last_options(self.before) != last_options(self.after):
            raise NotProvenError(f"{measured}: a kernel is built with other options")
        if effect.same_builds and hashes(self.before) != hashes(self.after):
            raise NotProvenError(f"{measured}: the builds differ")


def compared_launches(run: Run, proof: Proof) -> list[Launch]:
    """The launches of a run. A proof that a block_dim arrives lets the fix pass it; one that fewer instances
    are built, that it changes types."""
    if proof.option == "block_dim":
        return [dataclasses.replace(launch, block_dim=None) for launch in run.launches]
    if proof.effect == "fewer-instances":
        return [dataclasses.replace(launch, signature="") for launch in run.launches]
    return run.launches


def last_options(recording: Recording) -> dict[tuple[str, str], dict[str, Value]]:
    """The options that each launched kernel was last built with, without the block_dim of the launch."""
    launched = {(launch.function, launch.signature) for launch in recording.cold.launches}
    return {
        (kernel.function, kernel.signature): {
            option: value for option, value in kernel.options.items() if option != "block_dim"
        }
        for build in recording.cold.builds
        for kernel in build.kernels
        if (kernel.function, kernel.signature) in launched
    }


def hashes(recording: Recording) -> list[str]:
    return sorted(build.hash for build in recording.cold.builds)


def observe(before: Path, after: Path, device: Device) -> Outcome:
    """Run both programs of a pair, each twice."""
    return Outcome(record(before, device), record(after, device))


def prove(before: Path, after: Path, proof: Proof) -> Outcome:
    """Run both programs and hold what Warp did against the claim.

    Raises:
        NotProvenError: See `Outcome.check`.
    """
    outcome = observe(before, after, proof.device)
    outcome.check(proof)
    return outcome
