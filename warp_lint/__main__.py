"""The console script, and ``python -m warp_lint``."""

import sys

from warp_lint import repetition


def main() -> None:
    """Do what the command line asks for, and exit with its status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # paths and sources hold what they hold
    arguments = sys.argv[1:]
    status = repetition.answer(arguments)
    if status is None:
        from warp_lint.cli import run  # what is known already can do without all that this imports

        status = run(arguments)
    sys.exit(status)


if __name__ == "__main__":
    main()
