"""List the sets of a database, and take away what does not count any more."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum

from twinhive.core.model.errors import AlreadyThere, InvalidSettings
from twinhive.core.model.names import TableName, partition_values
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.sets.set_mark import SetMark, is_expired, is_findable, is_sets_table, mark_name, sets_table
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.core.model.thrift_objects import key_types, new_partition, table_id
from twinhive.core.ports import MetastoreReader, MetastoreWriter
from twinhive.publishing.sets.done_sets import DEFAULT_KEEP, how_long
from twinhive.publishing.sets.sets_table import find_sets_table

_PER_CALL = 1_000


class SetStanding(Enum):
    """What a mark is worth."""

    DONE = "done"
    EXPIRED = "expired"
    NO_TABLE = "its table is gone"
    RENAMED = "its table has another name"
    OTHER_TABLE = "its table was dropped and made again"
    UNREADABLE = "no set of its table: nobody can wait for it"


_LEFT_BEHIND = (SetStanding.EXPIRED, SetStanding.NO_TABLE, SetStanding.RENAMED, SetStanding.OTHER_TABLE)


@dataclass(frozen=True)
class ListedSet:
    """A mark and what it is worth; `moved_to` is the name that its table has now, `trouble` what is wrong with it.

    `written` is what plain SQL has written for its table, where that is not in lower case.
    """

    mark: SetMark
    standing: SetStanding
    moved_to: TableName | None = None
    trouble: str | None = None
    written: str | None = None

    @property
    def name(self) -> str:
        """The name of its partition in the set table."""
        return mark_name(self.written or self.mark.table.table, self.mark.spec)


@dataclass(frozen=True)
class SetsOfDatabase:
    """All marks of a database, or of one table of it."""

    metastore: MetastoreReader
    database: str
    table: str | None = None
    keep: str = DEFAULT_KEEP
    clock: Callable[[], float] = time.time

    def read(self) -> Iterator[ListedSet]:
        """Yield the marks in the order of tables and sets; 1,000 are read at a time."""
        sets = find_sets_table(self.metastore, self.database)
        if sets is None:
            return
        by_id: dict[int, Table] = {}
        tables: dict[str, Table] = {}
        for table in self.metastore.tables(self.database, self.metastore.table_names(self.database)):
            tables[table.name.table] = table
            if (number := table_id(table)) is not None:
                by_id[number] = table
        names = self._names(sets.name)
        for start in range(0, len(names), _PER_CALL):
            for partition in self.metastore.partitions(sets.name, names[start : start + _PER_CALL]):
                mark = SetMark.read(partition)
                same = by_id.get(mark.table_id) if mark.table_id is not None else None
                yield self._standing(partition, mark, tables.get(mark.table.table), same)

    def _standing(self, partition: Partition, mark: SetMark, table: Table | None, same: Table | None) -> ListedSet:
        if not is_findable(partition.values):
            return self._unfindable(standing_of(mark, table, self.keep, self.clock()), partition.values[0])
        if (table is None or not mark.is_of(table)) and same is not None and same.name != mark.table:
            return ListedSet(mark, SetStanding.RENAMED, same.name)
        return standing_of(mark, table, self.keep, self.clock())

    def _names(self, sets: TableName) -> list[str]:
        """Return the names of the marks: of one table in any case, as plain SQL may have written it."""
        names = self.metastore.partition_names(sets)
        return names if self.table is None else [one for one in names if partition_values(one)[0].lower() == self.table]

    @staticmethod
    def _unfindable(listed: ListedSet, written: str) -> ListedSet:
        """Return what a mark is worth that names its table otherwise: left behind as others are, or unreadable."""
        if listed.standing in _LEFT_BEHIND:
            return replace(listed, written=written)
        trouble = f"written otherwise its table is {listed.mark.table.table}"
        return ListedSet(listed.mark, SetStanding.UNREADABLE, trouble=trouble, written=written)


def standing_of(mark: SetMark, table: Table | None, keep: str, now: float) -> ListedSet:
    """Judge a mark by the table that has its name now, None for no table."""
    if table is None or not mark.is_of(table):
        return ListedSet(mark, SetStanding.NO_TABLE if table is None else SetStanding.OTHER_TABLE)
    if is_sets_table(table):
        return ListedSet(mark, SetStanding.UNREADABLE, trouble="the table of sets has none itself")
    try:
        if is_expired(mark, how_long(table, keep), now):
            return ListedSet(mark, SetStanding.EXPIRED)
        canonical = str(SetSpec.parse(mark.spec, key_types(table)))
    except InvalidSettings as error:
        return ListedSet(mark, SetStanding.UNREADABLE, trouble=str(error.words.what))
    if canonical != mark.spec:
        return ListedSet(mark, SetStanding.UNREADABLE, trouble=f"written otherwise it is {canonical}")
    return ListedSet(mark, SetStanding.DONE)


def shown_sets(metastore: MetastoreReader, database: str) -> list[SetMark]:
    """Return all marks of a database as they stand there, whatever they are worth."""
    if find_sets_table(metastore, database) is None:
        return []
    table = sets_table(database)
    names = metastore.partition_names(table)
    pages = (names[start : start + _PER_CALL] for start in range(0, len(names), _PER_CALL))
    return [SetMark.read(one) for page in pages for one in metastore.partitions(table, page)]


def left_behind(listed: SetsOfDatabase) -> list[ListedSet]:
    """Return what can be taken away: expired marks, and those of tables that are gone, new or renamed. Reads only."""
    return [one for one in listed.read() if one.standing in _LEFT_BEHIND]


def take_away(metastore: MetastoreWriter, database: str, some: Sequence[ListedSet]) -> list[ListedSet]:
    """Remove marks, at most 1,000 a call, and return them; those of renamed tables are kept under the new name.

    Each is read again in the call before: one that was marked anew since it was found stays.
    """
    sets = find_sets_table(metastore, database)
    if sets is None:
        return []
    found = {one.name: one for one in some}
    moved = [replace(one.mark, table=one.moved_to) for one in some if one.moved_to is not None]
    for mark in moved:
        if mark.name not in found:
            # It is there when it was marked under the new name since, or when this was killed before.
            with suppress(AlreadyThere):
                metastore.add_partitions([_partition(sets, mark)])
    # What lies in the way of others goes with the same call that brings those: of tables that have changed their names
    # among each other, and of one whose name another table has taken.
    taken = {mark.name: mark for mark in moved if mark.name in found}
    gone: list[ListedSet] = []
    for there in _unchanged(metastore, sets, found, sorted(taken)):
        new = [(one, _partition(sets, taken[name])) for name, one in there.items()]
        metastore.alter_partitions([replace(mark, thrift=one.thrift, location=one.location) for one, mark in new])
        gone += [found[name] for name in there]
    for there in _unchanged(metastore, sets, found, [name for name in found if name not in taken]):
        metastore.drop_partitions(sets.name, list(there), delete_data=True)
        gone += [found[name] for name in there]
    return gone


def _unchanged(
    metastore: MetastoreReader, sets: Table, found: Mapping[str, ListedSet], names: Sequence[str]
) -> Iterator[dict[str, Partition]]:
    """Yield marks by their names, 1,000 at a time, as far as they are what was found: the next call is about them."""
    for start in range(0, len(names), _PER_CALL):
        there = {
            mark_name(*one.values): one for one in metastore.partitions(sets.name, names[start : start + _PER_CALL])
        }
        if same := {name: one for name, one in there.items() if SetMark.read(one) == found[name].mark}:
            yield same


def _partition(sets: Table, mark: SetMark) -> Partition:
    return new_partition(sets, (mark.table.table, mark.spec), mark.parameters())
