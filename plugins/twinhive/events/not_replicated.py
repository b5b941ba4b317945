"""Name the event types whose effect is not carried over, and say why."""

_TRANSACTION = "transactions stay at the source, because transactional tables are left out"
_SCHEMA_REGISTRY = "the schema registry is not replicated"
_CATALOG = "catalogs are not replicated, only databases of the catalog hive"
_CONNECTOR = "data connectors are not replicated"

REASONS = {
    "OPEN_TXN": _TRANSACTION,
    "COMMIT_TXN": _TRANSACTION,
    "ABORT_TXN": _TRANSACTION,
    "ALLOC_WRITE_ID_EVENT": _TRANSACTION,
    "ACID_WRITE_EVENT": _TRANSACTION,
    "BATCH_ACID_WRITE_EVENT": _TRANSACTION,
    "COMMIT_COMPACTION_EVENT": "a compaction rewrites the files of a transactional table, which is left out",
    "RELOAD": "a reload tells caches to read a table again and changes nothing",
    "CREATE_ISCHEMA": _SCHEMA_REGISTRY,
    "ALTER_ISCHEMA": _SCHEMA_REGISTRY,
    "DROP_ISCHEMA": _SCHEMA_REGISTRY,
    "ADD_SCHEMA_VERSION": _SCHEMA_REGISTRY,
    "ALTER_SCHEMA_VERSION": _SCHEMA_REGISTRY,
    "DROP_SCHEMA_VERSION": _SCHEMA_REGISTRY,
    "CREATE_CATALOG": _CATALOG,
    "ALTER_CATALOG": _CATALOG,
    "DROP_CATALOG": _CATALOG,
    "CREATE_DATACONNECTOR": _CONNECTOR,
    "ALTER_DATACONNECTOR": _CONNECTOR,
    "DROP_DATACONNECTOR": _CONNECTOR,
}
"""Event type -> the reason, for people."""
