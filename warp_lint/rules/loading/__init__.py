"""Preloading modules, capturing graphs, building ahead of time."""
