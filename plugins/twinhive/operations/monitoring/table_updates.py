"""Which tables of a replica have changed, and which of them are not whole."""

from collections.abc import Iterable
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.ports import ReadPorts
from twinhive.hive.events.event_message import names_touched
from twinhive.replication.dump.dump_store import windows_ending_at
from twinhive.replication.replica.pending_files import pending_names


@dataclass(frozen=True)
class TableNews:
    """A table of the replica that may have changed.

    quarantined  why it is frozen in an older state, None for one that follows
    incomplete   parts of it (an external table's partitions, or its newest definition) wait for their data
    """

    table: str
    quarantined: str | None = None
    incomplete: bool = False


@dataclass(frozen=True)
class Shortcomings:
    """What of a replica is not as its event id says: quarantined tables with reasons, tables that wait for data."""

    quarantined: dict[str, str]
    pending: tuple[str, ...]


def shortcomings_of(ports: ReadPorts, policy: Policy) -> Shortcomings:
    """Read what is not whole."""
    database = ports.replica.database(policy.replica.database)
    frozen = frozen_tables(database.parameters if database else {})
    return Shortcomings(frozen, pending_names(ports.replica_files, policy))


def tables_of_window(ports: ReadPorts, policy: Policy, event_id: int) -> frozenset[str]:
    """Return the tables that the newest window concerned, which ended at an event; none if it is gone."""
    tables: set[str] = set()
    for dump in windows_ending_at(ports.dump_files, policy, event_id):
        tables.update(dump.manifest.window.snapshots)
        for row in dump.rows(ports.dump_files):
            try:
                names = names_touched(row)
            except ActNow:  # it was skipped by a person
                continue
            tables |= policy.followed(names)
    return frozenset(tables)


def news_of(ports: ReadPorts, policy: Policy, tables: Iterable[str], found: Shortcomings) -> list[TableNews]:
    """Return those of the tables that readers of the replica can see, sorted.

    A table that was dropped is no news, nor is one that waits for its first data: it will be when that has come.
    """
    database = policy.replica.database
    there = {table.name.table for table in ports.replica.tables(database, sorted(tables))}
    return [TableNews(name, found.quarantined.get(name), name in found.pending) for name in sorted(there)]


def replicated_tables(ports: ReadPorts, policy: Policy) -> frozenset[str]:
    """Return the names of all tables of the replica."""
    return frozenset(ports.replica.table_names(policy.replica.database))
