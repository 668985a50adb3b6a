"""The linter on real packages, pinned, against what a person reads in them."""
