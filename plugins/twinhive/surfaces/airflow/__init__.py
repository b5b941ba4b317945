"""Where Airflow stops: what runs in its tasks, its triggerer and its DAG processor."""

from twinhive.operations.journal.address import find_connections_with


def _journal_of(connection_id: str) -> str:
    # Not every process that imports a part of this package writes the journal.
    from twinhive.surfaces.airflow.connections.journal_connection import journal_of

    return journal_of(connection_id)


find_connections_with(_journal_of)
