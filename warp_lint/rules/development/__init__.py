"""Settings left from development."""
