"""Remotes: how they are kept in the local metastore, and what they may reach (seed 004)."""
