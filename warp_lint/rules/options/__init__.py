"""Module options and configuration, in time and in the right place."""
