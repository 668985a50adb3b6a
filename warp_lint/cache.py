"""What earlier runs found, so that what stayed as it was is neither read nor linted again.

The cache of a project is a folder. It holds the facts of the project's files in one file, and in files of
their own the findings of the last questions: some settings, asked about some files. A run over unchanged
files looks at the times and sizes of the files, reads the findings, and is done. Importing this module
imports neither rules nor LibCST.

A file is as it was when its time and size are; when they are not, or were so young that a second change could
have hidden behind them, its bytes decide. What other versions of the linter, of LibCST or of Python have
stored counts for nothing, nor does what cannot be read or is not what was written. Nothing that is stored can
run: it is MessagePack, which unlike JSON keeps infinite numbers, and takes a third less room.

Files are replaced as a whole, so runs at the same time do each other no harm: the last one counts.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import msgspec

from warp_lint import __version__
from warp_lint.findings import Finding
from warp_lint.repetition import CACHE_FOLDER, YOUNG
from warp_lint.result import Result, SourcesOnDisk, paths_of
from warp_lint.trees import Tree, Trees, is_project

_MOST_QUESTIONS = 32
"""Questions whose findings are kept for one project; the oldest go first."""
_NEVER = -1
"""The time of a file whose time is not to be trusted."""
_DIGEST_SIZE = 16

Content = TypeVar("Content")


class Stamp(NamedTuple):
    """How a file was: its time and size, and what its bytes come to."""

    modified: int
    size: int
    digest: bytes


class KnownFile(msgspec.Struct, frozen=True, array_like=True):
    """What reading a file gave."""

    stamp: Stamp
    concerns_warp: bool
    imports: tuple[tuple[str, tuple[str, ...]], ...]
    may_hold_comments: bool
    """Whether there may be comments for the linter in it."""
    facts: bytes = b""
    """Its facts, encoded, when they were needed."""


class _Answer(msgspec.Struct, frozen=True, array_like=True):
    """The findings of a question, and how all files were when it was asked."""

    files: dict[str, Stamp]
    findings: tuple[Finding, ...]


class Caches:
    """The caches of all projects: each in its project's root, or all in a directory that is given."""

    def __init__(self, directory: str | None = None) -> None:
        self._directory = Path(directory).absolute() if directory is not None else None
        self._of_roots: dict[str, Cache | None] = {}

    def of(self, tree: Tree) -> Cache | None:
        """The cache for a tree; None for files that belong to no project, which leave nothing behind."""
        root = tree.settings.root
        if root not in self._of_roots:
            self._of_roots[root] = self._of(tree)
        return self._of_roots[root]

    def _of(self, tree: Tree) -> Cache | None:
        root = tree.settings.root
        if self._directory is not None:
            return Cache(self._directory, f"{_digest(root.encode()).hex()}-")
        return Cache(Path(root, CACHE_FOLDER)) if is_project(tree.settings) else None

    def directory_of(self, tree: Tree) -> str:
        """Where what is known of a tree is kept; empty where nothing is."""
        cache = self.of(tree)
        return str(cache.directory) if cache is not None else ""

    def result(self, trees: Trees) -> Result | None:
        """What is known of trees in which nothing has changed; None when something has to be linted."""
        if trees.errors:
            return None
        findings: list[Finding] = []
        for tree in trees.trees:
            found = self.of(tree)
            known = found.findings(tree) if found is not None else None
            if known is None:
                return None
            findings += known
        findings.sort(key=lambda finding: finding.sort_key)
        return Result(
            findings=tuple(findings),
            files=tuple(sorted(path for tree in trees.trees for path in tree.asked)),
            problems=(),
            sources=SourcesOnDisk(paths_of(findings)),
        )


class Cache:
    """The cache of one project, in a directory; ``prefix`` begins the names of its files."""

    def __init__(self, directory: Path, prefix: str = "") -> None:
        self.directory = directory
        self._prefix = prefix

    def findings(self, tree: Tree) -> tuple[Finding, ...] | None:
        """The findings of a tree, when they were stored and all its files are as they were then."""
        store = self._answers(tree)
        answer = store.read()
        if answer is None or answer.files.keys() != {*tree.asked, *tree.others}:
            return None
        stamps: dict[str, Stamp] = {}
        for path, stamp in answer.files.items():
            current = stamp_of(path, stamp)
            if current is None or current.digest != stamp.digest:
                return None
            stamps[path] = current
        if stamps != answer.files:
            store.write(_Answer(stamps, answer.findings))
        return answer.findings

    def store_findings(self, tree: Tree, findings: Iterable[Finding], stamps: Mapping[str, Stamp]) -> None:
        """Keep the findings of a tree; ``stamps`` say how all of its files were when they were read."""
        self._answers(tree).write(_Answer(dict(stamps), tuple(findings)))
        self._forget_old_answers()

    def files(self) -> dict[str, KnownFile]:
        """What is known of files, by absolute path, whether they are still like that or not."""
        return self._files.read() or {}

    def store_files(self, files: Mapping[str, KnownFile]) -> None:
        """Keep what is known of files, and nothing else."""
        self._files.write(dict(files))

    @property
    def _files(self) -> _Store[dict[str, KnownFile]]:
        return _Store(self.directory, f"{self._prefix}facts", dict[str, KnownFile])

    def _answers(self, tree: Tree) -> _Store[_Answer]:
        asked = (tree.settings, tree.asked, sorted(tree.named), tree.others, sorted(_package_marks(tree)))
        question = _digest(repr(asked).encode()).hex()
        return _Store(self.directory, f"{self._prefix}findings-{question}", _Answer)

    def _forget_old_answers(self) -> None:
        with suppress(OSError):
            answers = sorted(self.directory.glob(f"{self._prefix}findings-*"), key=os.path.getmtime)
            for answer in answers[:-_MOST_QUESTIONS]:
                answer.unlink()


def stamp_of(path: str, known: Stamp | None) -> Stamp | None:
    """How a file is now; None when it cannot be read. Where time and size are those that are known, it is not
    read."""
    try:
        status = os.stat(path)  # noqa: PTH116 - ten times faster than a Path, and this is all a run does
        if known is not None and (status.st_mtime_ns, status.st_size) == known[:2]:
            return known
        return stamp_of_data(Path(path).read_bytes(), status)
    except OSError:
        return None


def stamp_of_data(data: bytes, status: os.stat_result | None) -> Stamp:
    """How a file is that has these bytes, and had this status before they were read; None for a text that
    comes from elsewhere."""
    is_young = status is None or time.time_ns() - status.st_mtime_ns < YOUNG
    modified = _NEVER if status is None or is_young else status.st_mtime_ns
    return Stamp(modified, len(data), _digest(data))


def _package_marks(tree: Tree) -> Iterator[str]:
    """The directories around the files of a tree that an ``__init__.py`` outside of it makes packages."""
    files = {*tree.asked, *tree.others}
    directories = {os.path.dirname(path) for path in files}  # noqa: PTH120
    pending, seen = list(directories), set(directories)
    while pending:
        directory = pending.pop()
        mark = os.path.join(directory, "__init__.py")  # noqa: PTH118
        if mark not in files and os.path.exists(mark):  # noqa: PTH110
            yield directory
        parent = os.path.dirname(directory)  # noqa: PTH120
        if parent not in seen:
            seen.add(parent)
            pending.append(parent)


class _Store(Generic[Content]):
    """One file of a cache: the salt and the checksum of what follows, then that."""

    def __init__(self, directory: Path, name: str, kind: type[Content]) -> None:
        self._directory = directory
        self._path = directory / name
        self._kind = kind

    def read(self) -> Content | None:
        """What was stored; None when there is nothing that can be relied on."""
        try:
            data = self._path.read_bytes()
        except OSError:
            return None
        head, body = data[: 2 * _DIGEST_SIZE], memoryview(data)[2 * _DIGEST_SIZE :]
        if head != _salt() + _digest(body):
            return None
        try:
            return msgspec.msgpack.decode(body, type=self._kind)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None

    def write(self, content: Content) -> None:
        """Store something. Where that is not possible, or it cannot be expressed, nothing is stored."""
        try:
            import tempfile

            body = msgspec.msgpack.encode(content)
            self._make_directory()
            descriptor, temporary = tempfile.mkstemp(dir=self._directory, prefix=".new-")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(_salt() + _digest(body))
                    file.write(body)
                os.replace(temporary, self._path)  # noqa: PTH105
            except BaseException:
                os.unlink(temporary)  # noqa: PTH108
                raise
        except (OSError, msgspec.MsgspecError, OverflowError, ValueError, RecursionError):
            return

    def _make_directory(self) -> None:
        if not self._directory.is_dir():
            self._directory.mkdir(parents=True, exist_ok=True)
        for name, text in _MARKS.items():
            mark = self._directory / name
            if not mark.exists():
                mark.write_text(text)


_MARKS = {
    ".gitignore": "# Made by warp-lint.\n*\n",
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# Made by warp-lint.\n",
}
"""What tells others that a folder is a cache."""


def _digest(data: bytes | memoryview) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_SIZE).digest()


@cache
def _salt() -> bytes:
    """Stands for the linter itself, LibCST and Python: what others have stored may not hold for these."""
    return _digest(repr((__version__, sys.version, *sources(), _libcst_version())).encode())


def sources() -> Iterator[tuple[str, int, int]]:
    """The files of the linter: while it is worked on, its version says little."""
    pending = [os.path.dirname(__file__)]  # noqa: PTH120
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir():
                    if entry.name != "__pycache__":
                        pending.append(entry.path)
                elif entry.name.endswith(".py"):
                    status = entry.stat()
                    yield entry.path, status.st_mtime_ns, status.st_size


def libcst_version_file() -> Path | None:
    """The file that says which LibCST is installed."""
    spec = find_spec("libcst")
    return Path(spec.origin).with_name("_version.py") if spec is not None and spec.origin else None


def _libcst_version() -> bytes:
    file = libcst_version_file()
    try:
        return file.read_bytes() if file is not None else b""
    except OSError:
        return str(file).encode()
