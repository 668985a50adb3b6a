"""Python imports this file before a program when its folder is on ``PYTHONPATH``: it starts the recorder."""

from __future__ import annotations

from tests.proofs.recorder import recording

recording.start()
