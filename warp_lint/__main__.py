"""``python -m warp_lint``."""

from warp_lint.cli import main

main()
