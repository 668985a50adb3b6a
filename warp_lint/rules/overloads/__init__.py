"""Instances of generic kernels."""
