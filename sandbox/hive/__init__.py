"""Hive's metastore, and Hive's own statements as the peer."""
