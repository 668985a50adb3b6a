"""The action for GitHub: its files follow GitHub's schemas, and its scripts do what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parent.parent
ACTION = ROOT / "action.yml"


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.github-actions", ACTION),
        ("vendor.github-workflows", ROOT / ".github" / "workflows" / "ci.yml"),
    ],
)
def test_file_follows_the_schema(schema: str, file: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def step(name: str) -> dict[str, Any]:
    steps = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["runs"]["steps"]
    found: dict[str, Any] = next(step for step in steps if step.get("name") == name)
    return found


def lint(directory: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the last step as GitHub does."""
    defaults = {"PATHS": ".", "OPTIONS": "", "OUTPUT_FORMAT": "github", "OUTPUT_FILE": ""}
    assert step("Lint")["env"].keys() == defaults.keys()
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("Lint")["run"]],
        cwd=directory,
        env={**os.environ, **defaults, **inputs, "WARP_LINT_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )


def test_findings_become_annotations(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("# warp-lint: ignore[nothing]\n")
    run = lint(tmp_path, PATHS="a.py b.py", OPTIONS="--isolated --exit-zero")
    assert run.returncode == 0, run.stderr
    assert [line.split(",")[1] for line in run.stdout.splitlines()] == [
        f"file={tmp_path / name}" for name in ("a.py", "b.py")
    ]
    run = lint(tmp_path, OUTPUT_FORMAT="sarif", OUTPUT_FILE="report.sarif")
    assert (run.returncode, run.stdout) == (1, "")
    assert (tmp_path / "report.sarif").is_file()


def test_installation(tmp_path: Path) -> None:
    """All of it but what pip does."""
    script = step("Install warp-lint")["run"]
    script = script.replace("-m pip install", "-c 'import sys; print(sys.argv)'")
    script = script.replace("-m venv", "-m venv --without-pip")
    output = tmp_path / "output"
    inputs = {
        "PYTHON": sys.executable,
        "SOURCE": "/src",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_ENV": str(output),
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    run = subprocess.run(command, env={**os.environ, **inputs}, capture_output=True, text=True, check=True)
    assert "'/src'" in run.stdout
    name, _, python = output.read_text().strip().partition("=")
    assert name == "WARP_LINT_PYTHON"
    assert Path(python).resolve() == Path(sys.executable).resolve()
