"""Repeat two names of our own dumps, which the steps that write those know."""

VIEWS = "views"
"""The shard that holds a dump's views (`steps.list_objects`)."""
WHOLE_TABLES = "s"
"""How batches of a window begin that hold whole tables (`steps.snapshots`)."""
