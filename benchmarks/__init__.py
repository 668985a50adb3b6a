"""How long the linter takes beside others: ``python -m benchmarks``."""
