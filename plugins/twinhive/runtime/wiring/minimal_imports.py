"""Prepare a process that runs for weeks beside others: nothing but the client of a metastore is loaded yet."""

from twinhive.hive.adapters.hive.client_bindings import keep_client_alone

__all__ = ["keep_client_alone"]
