"""What external tables need beside the replica: their places, what waits of them, and whether data is there."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow
from twinhive.core.model.external.modes import External
from twinhive.core.model.files import is_below
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import resync
from twinhive.core.model.objects import Partition, Table
from twinhive.replication.apply.external.pending_store import PendingStore
from twinhive.replication.apply.target import Target
from twinhive.replication.replica.pending_tables import PendingTable, PurgeNote

IsThere = Callable[[str, int], bool]
"""Says of a source location whether a complete copy of it began after an event."""


def is_ready(external: External, location: str | None, since: int, is_there: IsThere) -> bool:
    """True when the data at a source location is there as of an event, or is not copied at all."""
    return location is None or not external.is_copied(location) or is_there(location, since)


@dataclass(frozen=True)
class ExternalTarget:
    """The external tables of one policy's replica."""

    target: Target
    pending: PendingStore
    is_there: IsThere

    def is_ready(self, location: str | None, since: int) -> bool:
        """True when an object at a source location can be published."""
        return is_ready(self.target.policy.external, location, since, self.is_there)

    def published(self, name: TableName) -> Table | None:
        """Return the replica's table that events of a source table speak of; None for none, and for another one."""
        there = self.target.twin.table(self.target.policy.on_replica(name))
        return None if self.pending.get(name).replaces else there

    def existing(self, table: Table) -> Table:
        """Return the replica's table of a source table of which no other waits. Raises Missing, ActNow (managed)."""
        there = self.target.twin.existing(self.target.policy.on_replica(table.name))
        if not there.is_external:
            raise self.another_way(table, f"is external, and {there.kind.value} on the replica")
        return there

    def another_way(self, table: Table, what: str) -> ActNow:
        """Return the error of a change that only a resync can follow."""
        return ActNow(
            f"table {table.name} {what}: the log does not hold what that takes",
            found="an event that cannot be applied to what the replica has",
            expected="the table resynced",
            next_step="bring it over with: " + resync(self.target.policy.name, table.name.table),
        )

    def table(self, table: Table, event_id: int) -> Table:
        """Return a source table as the replica has it, in its place. Raises InvalidSettings for a place of nobody's."""
        place = self.target.policy.external.place(table.location, f"table {table.name}") if table.location else None
        return self.target.table(table, place, event_id)

    def partition(self, partition: Partition, name: str, event_id: int) -> Partition:
        """Return a source partition as the replica has it, in its place. Raises InvalidSettings."""
        what = f"partition {name} of {partition.table}"
        place = self.target.policy.external.place(partition.location, what) if partition.location else None
        return self.target.partition(partition, place, event_id)

    def note_purge(self, table: TableName, locations: Iterable[str | None], event_id: int) -> None:
        """Ask for copied data at source locations to be deleted, as the source's metastore has deleted its own."""
        external = self.target.policy.external
        for location in sorted({location for location in locations if location}):
            if external.is_copied(location):
                self.pending.note_purge(PurgeNote(location, event_id, table.table))

    def locations_outside(self, table: Table, record: PendingTable, places: Iterable[str | None]) -> set[str]:
        """Return the source locations of partitions, waiting and in places on the replica, outside their table's."""
        found = {waiting.thing.location for waiting in record.partitions.values()}
        found |= {origin for place in places if place for origin in self.target.policy.external.origins(place)}
        return {location for location in found if location and not is_below(location, table.location or "")}
