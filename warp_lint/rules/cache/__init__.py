"""The kernel cache."""
