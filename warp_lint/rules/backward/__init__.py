"""Adjoint code that is built in vain, or missing."""
