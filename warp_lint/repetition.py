"""The same command again, over files that are as they were: it prints what it printed.

Starting Python takes a fiftieth of a second, importing what a command line, settings and findings take ten
times as long. So a run that was answered from the cache leaves behind what it printed, with the time and size
of all that had a say in it: files, directories, settings and ignore files, and the linter itself. The next
run of the same command looks at these, prints the same, and is done; where anything differs it does what it
always does. Only what goes to a file or another program is kept, not what a terminal shows.

What is kept is text that nothing is run of. This module imports next to nothing.
"""

from __future__ import annotations

import binascii
import os
import sys

TYPE_CHECKING = False  # type checkers know the name; the module of that name takes long to import
if TYPE_CHECKING:
    from typing import TextIO

CACHE_FOLDER = ".warp_lint_cache"
"""The folder of a project's cache, where it is kept unless the command says otherwise."""
_PREFIX = "again-"
_MOST = 32
"""Commands of which something is kept in one folder; the oldest go first."""
_FORMAT = "warp-lint again 1"
_VARIABLES = (
    "COLUMNS", "FORCE_COLOR", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "PYTHONIOENCODING", "PYTHONUTF8",
)  # fmt: skip
"""The environment variables that may change what is printed."""
_ABSENT = "-"
_PRESENT = "+"
"""What is only there, or not: its time and size make no difference."""


def answer(arguments: list[str]) -> int | None:
    """Do what the same command did before, and return its exit status; None where that is not known."""
    if _is_on_terminal():
        return None
    key = _key(arguments)
    for folder in _folders(arguments):
        kept = _read(os.path.join(folder, _name(key)))
        if kept is None:
            continue
        stored_key, status, watched, output = kept
        if stored_key == repr(key) and _are_unchanged(watched):
            _print(output)
            return status
    return None


def keep(
    folder: str, arguments: list[str], status: int, output: str, watched: dict[str, str], started: int
) -> None:
    """Keep what a command printed, in a folder; nothing where that is not possible.

    ``watched`` is what `states` gave before the run looked at anything. Whatever has changed since shortly
    before ``started``, in nanoseconds of the clock, may have changed again meanwhile: then nothing is kept.
    """
    if _is_on_terminal() or any(_is_younger(state, started) for state in watched.values()):
        return
    key = _key(arguments)
    lines = [repr(key), str(status), str(len(watched))]
    lines += [f"{state} {path}" for path, state in watched.items()]
    if any("\n" in path for path in watched):
        return
    body = "\n".join([*lines, output]).encode("utf-8", "surrogatepass")
    path = os.path.join(folder, _name(key))
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            file.write(f"{_FORMAT} {binascii.crc32(body):08x}\n".encode() + body)
        os.replace(temporary, path)
        kept = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith(_PREFIX)]
        for old in sorted(kept, key=os.path.getmtime)[:-_MOST]:
            os.unlink(old)
    except OSError:
        return


def states(paths: set[str], present: set[str]) -> dict[str, str]:
    """How paths are now; of those ``present`` only whether they are there."""
    found = {path: _state(path) for path in sorted(paths)}
    there = {path: _ABSENT if _state(path) == _ABSENT else _PRESENT for path in sorted(present)}
    return found | there


def _are_unchanged(watched: list[str]) -> bool:
    """Whether all paths are as the lines say."""
    for line in watched:
        state, _, path = line.partition(" ")
        now = _state(path)
        if now != state and (state != _PRESENT or now == _ABSENT):
            return False
    return True


def _state(path: str) -> str:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return _ABSENT
    return f"{status.st_mtime_ns}:{status.st_size}"


YOUNG = 2_000_000_000
"""For so many nanoseconds after a change another one may leave the same time: file systems count coarsely."""


def _is_younger(state: str, started: int) -> bool:
    return state not in (_ABSENT, _PRESENT) and int(state.partition(":")[0]) > started - YOUNG


def _is_on_terminal() -> bool:
    return any(stream is None or stream.isatty() for stream in (sys.stdout, sys.stderr))


def _key(arguments: list[str]) -> str:
    """What the output may depend on beside files."""
    variables = [f"{name}={os.environ[name]}" for name in _VARIABLES if name in os.environ]
    return "\0".join((sys.version, sys.executable, __file__, os.getcwd(), *variables, "", *arguments))


def _name(key: str) -> str:
    return f"{_PREFIX}{binascii.crc32(key.encode('utf-8', 'surrogatepass')):08x}"


def _folders(arguments: list[str]) -> list[str]:
    """Where the command may have left something: in the folder that it names, or in one at or above the
    working directory and the paths that it names."""
    for position, argument in enumerate(arguments):
        if argument == "--cache-dir":
            return arguments[position + 1 : position + 2]
        if argument.startswith("--cache-dir="):
            return [argument.partition("=")[2]]
    found: dict[str, None] = {}
    for start in ("", *(argument for argument in arguments if not argument.startswith("-"))):
        directory = os.path.abspath(start)
        while directory not in found:
            found[directory] = None
            directory = os.path.dirname(directory)
    return [os.path.join(directory, CACHE_FOLDER) for directory in found]


def _read(path: str) -> tuple[str, int, list[str], str] | None:
    """The key, the exit status, states and paths line by line, and the output; None when there is nothing
    that was written as a whole."""
    try:
        with open(path, "rb") as file:
            head, _, body = file.read().partition(b"\n")
        if head != f"{_FORMAT} {binascii.crc32(body):08x}".encode():
            return None
        key, status, count, rest = body.decode("utf-8", "surrogatepass").split("\n", 3)
        *watched, output = rest.split("\n", int(count))
    except (OSError, ValueError):
        return None
    return key, int(status), watched, output


def _print(output: str) -> None:
    try:
        sys.stdout.write(output)
        sys.stdout.flush()
    except BrokenPipeError:
        give_up(sys.stdout)


def give_up(stream: TextIO) -> None:
    """Leave an output whose reader has seen enough: what Python still holds must not fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
