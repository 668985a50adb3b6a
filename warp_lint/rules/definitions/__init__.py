"""Kernels defined where they grow or rebuild their module."""
