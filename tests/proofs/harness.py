"""Runs a program on the installed Warp and tells what Warp built, loaded and launched.

A program runs in a process of its own, unchanged, twice over one fresh cache: cold, then warm. The
recorder (see `tests.proofs.recorder`) watches from inside. Only counts, hashes and printed text come
back: times vary, these do not.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import getpass
import hashlib
import importlib.metadata
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from tests.proofs.recorder.events import Build, Events, Launch
from tests.proofs.recorder.recording import CUDA_ARCHITECTURE, EVENTS_FILE, HEADERS_FOLDER, LINKS_FOLDER

REPOSITORY = Path(__file__).resolve().parents[2]
RECORDER = Path(__file__).resolve().parent / "recorder"

HOPPER = "90"
"""The architecture that CUDA builds are made for; NVRTC needs no device of it."""
RECORDINGS_FOLDER = "WARP_PROOF_RECORDINGS"
"""Environment: where recordings are kept for other tests of the same run."""
TIME_LIMIT = 900
"""Seconds after which a program counts as hanging; the slowest (MathDx links) takes about a minute."""


class Device(str, enum.Enum):
    """Whose builds are looked at. Programs always compute on the CPU."""

    CPU = "cpu"
    CUDA = "cuda"
    """What the launches would build if they went to a GPU, built by NVRTC without one."""


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of a program in one process."""

    device: Device
    events: Events
    output: str
    """What the program printed; Warp's own messages are in ``messages``."""
    messages: str
    exit_status: int

    @property
    def builds(self) -> list[Build]:
        """The module builds for the device in question."""
        return [build for build in self.events.builds if build.device == self.device.value]

    @property
    def kernel_builds(self) -> int:
        """How often a kernel was compiled, each time its module was built."""
        return sum(len(build.kernels) for build in self.builds)

    @property
    def source_bytes(self) -> int:
        return sum(build.source_bytes for build in self.builds)

    @property
    def links(self) -> int:
        """How many LTO binaries were compiled."""
        return sum(len(build.links) for build in self.builds)

    @property
    def launches(self) -> list[Launch]:
        return self.events.launches


@dataclasses.dataclass(frozen=True)
class Recording:
    """A program's two runs over one kernel cache."""

    program: Path
    cold: Run
    warm: Run


def record(program: Path, device: Device = Device.CPU) -> Recording:
    """Run a program twice over a cache of its own.

    ``program`` is a file, or a folder whose ``main.py`` is run. In a run of the tests, which names a folder
    for that in the environment, the same program is recorded once.
    """
    folder = os.environ.get(RECORDINGS_FOLDER)
    if folder is None:
        return _record(program, device)
    file = Path(folder) / f"{_identity(program, device)}.json"
    if file.exists():
        cold, warm = msgspec.json.decode(file.read_bytes(), type=tuple[Run, Run])
        return Recording(program, cold, warm)
    recording = _record(program, device)
    incoming = file.with_suffix(f".{os.getpid()}")
    incoming.write_bytes(msgspec.json.encode((recording.cold, recording.warm)))
    incoming.replace(file)
    return recording


def _identity(program: Path, device: Device) -> str:
    """What makes a run what it is: the files, and the name, after which Warp names the module."""
    files = sorted(program.rglob("*.py")) if program.is_dir() else [program]
    name = "" if program.is_dir() else program.name
    texts = [(str(file.relative_to(program)), file.read_text(encoding="utf-8")) for file in files]
    return hashlib.sha256(msgspec.json.encode((name, device, texts))).hexdigest()


def _record(program: Path, device: Device) -> Recording:
    with tempfile.TemporaryDirectory(prefix="warp_proof_") as cache:
        cold = run(program, Path(cache), device)
        warm = run(program, Path(cache), device)
    return Recording(program, cold, warm)


def run(program: Path, cache: Path, device: Device = Device.CPU) -> Run:
    """Run a program once over the cache in a folder, empty or left by earlier runs.

    Raises:
        RuntimeError: The recorder left nothing, so the process did not end in an orderly way.
        subprocess.TimeoutExpired: The program hangs.
    """
    script = program / "main.py" if program.is_dir() else program
    with tempfile.TemporaryDirectory(prefix="warp_proof_run_") as working_folder:
        events_file = Path(working_folder) / "events.json"
        process = subprocess.run(
            [sys.executable, str(script.resolve())],
            cwd=working_folder,
            env=environment(cache, events_file, device),
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )
        if not events_file.exists():
            raise RuntimeError(
                f"{script} left no events, exit status {process.returncode}:\n{process.stderr}"
            )
        events = msgspec.json.decode(events_file.read_bytes(), type=Events)
    return Run(device, events, process.stdout, process.stderr, process.returncode)


def environment(cache: Path, events_file: Path, device: Device) -> dict[str, str]:
    """The environment of a run: that of this process, without what steers Python, Warp or CUDA."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "WARP", "CUDA"))
    }
    return (
        inherited
        | {
            "PYTHONPATH": os.pathsep.join((str(RECORDER), str(REPOSITORY))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "WARP_CACHE_PATH": str(cache / "warp"),
            "WARP_CACHE_ROOT": str(cache / "warp"),
            "CUDA_CACHE_PATH": str(cache / "cuda"),
            "CUDA_VISIBLE_DEVICES": "",  # the same run on a machine with a GPU
            EVENTS_FILE: str(events_file),
            HEADERS_FOLDER: headers().name,
            LINKS_FOLDER: str(links()),
        }
        | ({CUDA_ARCHITECTURE: HOPPER} if device is Device.CUDA else {})
    )


@functools.cache
def headers() -> tempfile.TemporaryDirectory[str]:
    """Where Clang's precompiled header is kept between the runs of this process, which follow one another."""
    return tempfile.TemporaryDirectory(prefix="warp_proof_headers_")


def links() -> Path:
    """Where LTO binaries are kept for all runs on this machine, by their symbols, which say all of them."""
    version = importlib.metadata.version("warp-lang")
    folder = Path(tempfile.gettempdir()) / f"warp_proof_links_{version}_{getpass.getuser()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
