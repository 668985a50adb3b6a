"""Replacing files on the disk: whole, or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from warp_lint.splicing import Change

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class ReplaceError(Exception):
    """Why a file is left as it was, in one line that names it."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


def replace_files(changes: Sequence[Change]) -> None:
    """Put the new bytes of files in place of the old, in all of the files or in none.

    Each file is replaced in one step, with its mode, owner and extended attributes, so that whoever reads it
    meanwhile, or after the process was killed, reads the old or the new bytes. A link stays a link to the
    file. Raises `ReplaceError` when a file cannot be replaced, or no longer holds its old bytes.
    """
    with ExitStack() as stack:
        prepared = [(change, _beside(change.path, change.after, stack)) for change in changes]
        for change in changes:
            _check_unchanged(change)
        done: list[Change] = []
        for change, new in prepared:
            try:
                new.replace(_target(change.path))
            except OSError as error:
                _take_back(done)
                raise ReplaceError(change.path, f"cannot be replaced: {error.strerror or error}") from error
            done.append(change)


def leads_out(path: str, directory: str) -> bool:
    """Whether links on the way lead from a path in a directory to a file that is not in it."""
    return not _target(path).is_relative_to(_target(directory))


def _target(path: str) -> Path:
    """The file that a path stands for, links followed."""
    return Path(os.path.realpath(path))


def _beside(path: str, data: bytes, stack: ExitStack) -> Path:
    """A new file in the directory of the one at ``path``, with its mode and owner, that holds ``data``.

    When the stack unwinds it is removed, unless it has taken the place of the other.
    """
    target = _target(path)
    try:
        old = target.stat()
        if not (old.st_mode & _WRITABLE and os.access(target, os.W_OK)):
            raise ReplaceError(path, "is read-only")
        descriptor, name = tempfile.mkstemp(prefix=".warp-lint-", dir=target.parent)
        new = Path(name)
        stack.callback(new.unlink, missing_ok=True)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if hasattr(os, "fchown"):  # not on Windows
                os.fchown(file.fileno(), old.st_uid, old.st_gid)
            shutil.copystat(target, new)
            os.utime(new)
            os.fsync(file.fileno())
    except OSError as error:
        raise ReplaceError(path, f"cannot be written: {error.strerror or error}") from error
    return new


def _check_unchanged(change: Change) -> None:
    try:
        data = Path(change.path).read_bytes()
    except OSError as error:
        raise ReplaceError(change.path, f"cannot be read again: {error.strerror or error}") from error
    if data not in (change.before, change.after):  # two links can lead to one file
        raise ReplaceError(change.path, "was changed by something else meanwhile")


def _take_back(changes: Sequence[Change]) -> None:
    """Give files their old bytes again; as they could just be replaced, they can be once more."""
    for change in changes:
        with suppress(OSError, ReplaceError), ExitStack() as stack:
            _beside(change.path, change.before, stack).replace(_target(change.path))
