"""Directories that are proven ours: the only ones that are removed whole, and the only place that does it."""
