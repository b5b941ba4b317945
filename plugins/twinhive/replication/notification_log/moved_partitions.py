"""Which changes of partitions gave them another location: an event of several says only where they are now."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from twinhive.core.model.changes.affected_objects import partitions_told, table_structs
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    CreateTable,
    DropPartitions,
    DropTable,
    Event,
    Insert,
    NoContent,
    RenamePartition,
)
from twinhive.core.model.files import is_below, relative_to
from twinhive.core.model.marks import SOURCE_PLACE
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import MetastoreReader
from twinhive.replication.notification_log.directory_history import along
from twinhive.replication.replica.replica_locations import CONTENTS, source_place

Moved = tuple[Event, AlterPartitions, Partition]
_Seen = bool | tuple[TableName, str]
"""Whether a partition has moved; or under which name the replica has it, which knows."""
PlacesByName = Mapping[str, str | None]
Ask = Callable[[TableName, list[str]], PlacesByName]
"""Returns where partitions of a table lay before the events, by name (None: in the default place)."""


def moved_partitions(events: Iterable[Event], ask: Ask) -> list[Moved]:
    """Return the partitions of managed tables that got another location, each with its event."""
    following = _Following()
    seen: list[tuple[Moved, _Seen]] = []
    for event in events:
        change = event.change
        if isinstance(change, AlterPartitions) and change.table.kind.has_logged_files and not change.truncates:
            seen += (((event, change, one), following.look(change, one)) for one in change.after)
        following.follow(event)
    asked: dict[TableName, set[str]] = defaultdict(set)
    for _, found in seen:
        if isinstance(found, tuple):
            asked[found[0]].add(found[1])
    places = {name: ask(name, sorted(names)) for name, names in asked.items()}
    return [moved for moved, found in seen if _is_moved(moved, found, places)]


def _is_moved(moved: Moved, found: _Seen, places: Mapping[TableName, PlacesByName]) -> bool:
    if isinstance(found, bool):
        return found
    table, name = found
    _, change, partition = moved
    return name in places[table] and places[table][name] != source_place(change.table, partition)


@dataclass
class _Following:
    """Follow where events put partitions, and which name a table had before them."""

    _locations: dict[TableName, dict[str, str | None]] = field(default_factory=lambda: defaultdict(dict))
    _origins: dict[TableName, TableName | None] = field(default_factory=dict)

    def look(self, change: AlterPartitions, after: Partition) -> _Seen:
        """Return whether a partition moved, or under which table and name the replica has it."""
        name = after.name(change.table.partition_keys)
        for before in change.before:
            return before.location != after.location
        known = self._locations[change.table.name]
        if name in known:
            return known[name] != after.location
        origin = self._origins.get(change.table.name, change.table.name)
        return False if origin is None else (origin, name)

    def follow(self, event: Event) -> None:
        """Note what an event says."""
        change = event.change
        match change:
            case CreateTable(table=table) | DropTable(table=table):
                self._origins[table.name] = None
                self._locations.pop(table.name, None)
            case AlterTable() if change.renames:
                before = change.before.name
                self._origins[change.after.name] = self._origins.get(before, before)
                self._origins[before] = None
                known = self._locations.pop(before, {})
                self._locations[change.after.name] = {one: _along(place, change) for one, place in known.items()}
            case NoContent():
                return
            case AlterTable() | Insert() | AddPartitions() | DropPartitions() | AlterPartitions() | RenamePartition():
                for table in table_structs(change)[-1:]:
                    told = {one.name(table.partition_keys): one.location for one in partitions_told(change)}
                    self._locations[table.name] |= told
            case _:
                assert_never(change)


def _along(place: str | None, rename: AlterTable) -> str | None:
    return along(place, rename.before.location, rename.after.location) if place else None


def places_on_replica(replica: MetastoreReader, policy: Policy) -> Ask:
    """Ask the replica's partitions, which say where the source's lay when they last followed one."""

    def ask(source: TableName, names: list[str]) -> PlacesByName:
        name, per_call = policy.on_replica(source), policy.options.partitions_per_call
        table = replica.table(name)
        if table is None:
            return {}
        chunks = (names[start : start + per_call] for start in range(0, len(names), per_call))
        found = (one for some in chunks for one in replica.partitions(name, some))
        return {one.name(table.partition_keys): _place_of(table, one) for one in found}

    return ask


def _place_of(table: Table, partition: Partition) -> str | None:
    if place := partition.parameters.get(SOURCE_PLACE):
        return place
    # One that Hive or people have loaded says it by its own place.
    if table.location and partition.location and is_below(partition.location, table.location):
        relative = relative_to(partition.location, table.location)
        if relative.partition("/")[0] != CONTENTS and relative != partition.name(table.partition_keys):
            return relative
    return None


def places_unknown(source: TableName, names: list[str]) -> PlacesByName:
    """Ask nobody, for replicas that are not known: what is not in its default place may have been moved there."""
    return dict.fromkeys(names)
