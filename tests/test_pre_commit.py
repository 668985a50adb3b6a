"""The hooks in the real pre-commit and in prek, at real commits."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HOOKS = ".pre-commit-hooks.yaml"

KERNELS = """\
import warp as wp


@wp.kernel(enable_backward=False)
def scale(x: wp.array(dtype=float)):
    x[wp.tid()] *= 2.0


@wp.kernel(enable_backward=False)
def shift(x: wp.array(dtype=float)):
    x[wp.tid()] += 2.0
"""
GOOD_LAUNCHES = """\
import warp as wp

from kernels import scale, shift


def run(x):
    wp.launch(scale, dim=8, inputs=[x])
    wp.launch(shift, dim=8, inputs=[x])
"""
BAD_LAUNCHES = GOOD_LAUNCHES.replace("inputs=[x])\n    wp", "inputs=[x], block_dim=64)\n    wp")
UNUSED = f"{GOOD_LAUNCHES}    x.numpy()  # warp-lint: ignore[WRP101]\n"
"""What the hook that fixes can repair."""


class Repository:
    """A git repository in which one of the programs runs our hooks."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._environment = {
            **os.environ,
            "PRE_COMMIT_HOME": str(directory.parent / "cache"),
            "PREK_HOME": str(directory.parent / "cache"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.com",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.com",
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        }
        self._environment.pop("PYTHONPATH", None)  # hooks have an environment of their own

    def call(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self._directory,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def commit(self, hook: str, **files: str) -> tuple[int, str]:
        """Commit files with a hook on; the exit status and the output."""
        for name, text in files.items():
            (self._directory / f"{name}.py").write_text(text)
        self.call("git", "add", ".")
        skipped = {"warp-lint": "warp-lint-fix", "warp-lint-fix": "warp-lint"}[hook]
        self._environment["SKIP"] = self._environment["PREK_SKIP"] = skipped
        run = self.call("git", "commit", "--message", "A change")
        return run.returncode, run.stdout

    def read(self, name: str) -> str:
        return (self._directory / f"{name}.py").read_text()


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our repository as users name it: with one commit, of what is needed."""
    directory = tmp_path_factory.mktemp("hooks")
    for name in (HOOKS, "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, directory)
    shutil.copytree(ROOT / "warp_lint", directory / "warp_lint", ignore=shutil.ignore_patterns("__pycache__"))
    return directory


@pytest.fixture(scope="module", params=["pre-commit", "prek"])
def repository(
    request: pytest.FixtureRequest, hooks: Path, tmp_path_factory: pytest.TempPathFactory
) -> Repository:
    if not (hooks / ".git").exists():
        ours = Repository(hooks)
        for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "All"]):
            assert ours.call("git", *command).returncode == 0
    revision = Repository(hooks).call("git", "rev-parse", "HEAD").stdout.strip()
    directory = tmp_path_factory.mktemp(request.param) / "project"
    directory.mkdir()
    (directory / "pyproject.toml").write_text("[tool.warp-lint]\n")
    (directory / ".pre-commit-config.yaml").write_text(
        f"repos: [{{repo: {hooks}, rev: {revision}, hooks: [{{id: warp-lint}}, {{id: warp-lint-fix}}]}}]\n"
    )
    theirs = Repository(directory)
    for command in (["git", "init", "--quiet"], [request.param, "install", "--install-hooks"]):
        run = theirs.call(*command)
        assert run.returncode == 0, run.stdout
    return theirs


def test_commits(repository: Repository) -> None:
    """One test, since the hooks take longer to install than to run."""
    status, output = repository.commit("warp-lint", kernels=KERNELS, launches=GOOD_LAUNCHES)
    assert status == 0, output

    # Only one of the two files changes, and what is wrong with it shows in both.
    status, output = repository.commit("warp-lint", launches=BAD_LAUNCHES)
    assert status == 1
    assert 'launches.py:7:5: WRP201 [*] module "kernels" is built 2 times' in output

    status, output = repository.commit("warp-lint-fix", launches=UNUSED)
    assert (status, "files were modified by this hook" in output) == (1, True)
    assert repository.read("launches") == f"{GOOD_LAUNCHES}    x.numpy()\n"
    status, output = repository.commit("warp-lint-fix")
    assert status == 0, output
