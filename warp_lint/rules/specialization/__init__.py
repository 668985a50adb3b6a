"""Variants of a module for each block dimension."""
