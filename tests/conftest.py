"""What every test may use."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest

from tests.proofs.harness import RECORDINGS_FOLDER


def pytest_configure(config: pytest.Config) -> None:
    """Let the processes of one run share what they record of programs."""
    if RECORDINGS_FOLDER not in os.environ:
        folder = tempfile.mkdtemp(prefix="warp_proof_recordings_")
        os.environ[RECORDINGS_FOLDER] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
