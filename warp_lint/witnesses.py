"""All paths that had a say in what trees are, and in what is found in them.

Beside the files and the directories that were searched these are settings, ignore files and what tells of the
project, in these directories and, there or not, in those above.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from warp_lint.cache import libcst_version_file, sources
from warp_lint.settings import SETTINGS_FILES
from warp_lint.trees import Trees

_GIT_EXCLUDE = os.path.join(".git", "info", "exclude")
_NAMES = (
    *SETTINGS_FILES, "__init__.py", "setup.py", "setup.cfg", "tox.ini", ".flake8", "ruff.toml", ".ruff.toml",
    ".gitignore", _GIT_EXCLUDE,
)  # fmt: skip
"""Files that may say something of the files beside and below them."""


def paths_with_a_say(trees: Trees) -> tuple[set[str], set[str]]:
    """The paths whose time and size tell, and those that only need to be there, or not to be."""
    paths = {path for tree in trees.trees for path in (*tree.asked, *tree.others)}
    above = {os.path.dirname(path) for tree in trees.trees for path in tree.named} | {os.getcwd()}
    for tree in trees.trees:
        above.add(tree.settings.root)
        if tree.settings.file is not None:
            paths.add(tree.settings.file)
    for directory in trees.searched:
        # A name that comes or goes changes the time of a directory.
        paths.update((directory, *_told_in(directory)))
        above.add(os.path.dirname(directory))
    above = {outer for directory in above for outer in _at_and_above(directory)} - trees.searched
    for directory in above:
        paths.update(os.path.join(directory, name) for name in _NAMES)
        told = set(_told_in(directory))
        if told:  # it may be the project's, and get more of what tells of it
            paths.update((directory, *told))
    paths.update(path for path, _, _ in sources())
    version = libcst_version_file()
    if version is not None:
        paths.add(str(version))
    return paths, {os.path.join(directory, ".git") for directory in above}


def _at_and_above(directory: str) -> Iterator[str]:
    yield directory
    outer = os.path.dirname(directory)
    while outer != directory:
        yield outer
        directory, outer = outer, os.path.dirname(outer)


def _told_in(directory: str) -> Iterator[str]:
    """The files of a directory that say something, and are there."""
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in names:
        if name in _NAMES or (name.startswith("requirements") and name.endswith(".txt")):
            yield os.path.join(directory, name)
        elif name == ".git":
            yield os.path.join(directory, _GIT_EXCLUDE)
