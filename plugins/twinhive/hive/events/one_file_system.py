"""Read a metastore whose locations call its file system by several names as one that knows a single name.

What is altered keeps its place as people wrote it: another name of the same place is no change of ours.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.errors import ActNow
from twinhive.core.model.file_system_names import OneFileSystem
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Function, Partition, Table
from twinhive.core.ports import MetastoreWriter
from twinhive.hive.events.event_message import message_text

Thing = TypeVar("Thing", Database, Table, Partition)
Written = TypeVar("Written", Table, Partition)
_AS_TEXT = "json-0.2"


class OneNamedMetastore:
    """Pass all calls on; what tells of places has the one name, and what is altered in its place keeps that as it was.

    Events are looked at if they are filed under the database.
    """

    def __init__(self, metastore: MetastoreWriter, files: OneFileSystem, database: str) -> None:
        self._metastore = metastore
        self._files = files
        self._of = database.lower()
        self._has_others = False
        """Whether anything was read so far that has another name: of a replica that we have made nothing has."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._metastore, name)

    def configuration(self, address: str, key: str) -> str:
        """Return one configuration value of one address: many are places."""
        return self._files.named(self._metastore.configuration(address, key))

    def database(self, name: str) -> Database | None:
        """Return a database, or None."""
        found = self._metastore.database(name)
        if found is None:
            return None
        managed = found.managed_location
        return replace(self._named(found), managed_location=None if managed is None else self._files.named(managed))

    def tables(self, database: str, names: Sequence[str]) -> list[Table]:
        """Return the named tables that exist, sorted by name."""
        return [self._named(one) for one in self._metastore.tables(database, names)]

    def table(self, name: TableName) -> Table | None:
        """Return one table or view, or None."""
        found = self._metastore.table(name)
        return None if found is None else self._named(found)

    def partitions(self, table: TableName, names: Sequence[str]) -> list[Partition]:
        """Return the named partitions that exist, in the order of their names."""
        return [self._named(one) for one in self._metastore.partitions(table, names)]

    def partition_locations(self, table: Table) -> Sequence[tuple[str, str]]:
        """Return names and locations of all partitions of a table, sorted by name. Raises Missing without the table."""
        return self._places(self._metastore.partition_locations(table))

    def partition_locations_of(self, table: Table, names: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return names and locations of the named partitions that exist, sorted by name; nothing else is read."""
        return self._places(self._metastore.partition_locations_of(table, names))

    def functions(self, database: str) -> list[Function]:
        """Return all permanent functions of a database, sorted by name."""
        return [self._function(one) for one in self._metastore.functions(database)]

    def function(self, database: str, name: str) -> Function | None:
        """Return one permanent function, or None."""
        found = self._metastore.function(database, name)
        return None if found is None else self._function(found)

    def events_after(self, event_id: int, limit: int) -> list[EventRow]:
        """Return at most `limit` rows with an id above `event_id`, ascending, unfiltered."""
        return [self._event(row) for row in self._metastore.events_after(event_id, limit)]

    def alter_table(self, name: TableName, table: Table, **how: Any) -> None:
        """Replace the table `name` by `table`, which may have another name, location or columns."""
        there = self._metastore.table(name) if self._has_others else None
        self._metastore.alter_table(name, self._as_written(table, there), **how)

    def alter_partitions(self, partitions: Sequence[Partition]) -> None:
        """Replace partitions of one table."""
        name = partitions[0].table if partitions and self._has_others else None
        table = self._metastore.table(name) if name else None
        if table is not None:
            names = [one.name(table.partition_keys) for one in partitions]
            there = {one.values: one for one in self._metastore.partitions(table.name, names)}
            partitions = [self._as_written(one, there.get(one.values)) for one in partitions]
        self._metastore.alter_partitions(partitions)

    def _function(self, one: Function) -> Function:
        return one.at(one.database, tuple(map(self._files.named, one.resources)))

    def _named(self, thing: Thing) -> Thing:
        location = None if thing.location is None else self._files.named(thing.location)
        self._has_others |= location != thing.location
        return replace(thing, location=location, thrift=self._files.named_within(thing.thrift))

    def _places(self, places: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        # Those of many partitions are packed, which a list of them would not be.
        if all(self._files.named(place) == place for _, place in places):
            return places
        self._has_others = True
        return [(name, self._files.named(place)) for name, place in places]

    def _event(self, row: EventRow) -> EventRow:
        if (row.database or "").lower() != self._of:
            return row
        try:
            text = message_text(row)
        except ActNow:
            return row  # whoever needs it says so
        named = self._files.named_within(text)
        if named == text:
            return row
        return replace(row, message=named, message_format=_AS_TEXT, digest=row.position.digest)

    def _as_written(self, thing: Written, there: Table | Partition | None) -> Written:
        if there is None or there.location is None or self._files.named(there.location) != thing.location:
            return thing
        return replace(thing, location=there.location)
