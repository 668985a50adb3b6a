"""warp-lint: the linter that keeps GPU programs written with NVIDIA Warp fast to start."""

__version__ = "0.1.0"
