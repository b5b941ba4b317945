"""Telling what happens to tables: the notification log of a metastore, sent to a message broker (docs/messages.md)."""
