"""The marks of copies as a test reads and writes them, and a guard that lets nobody write an object of people's."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tests.support.hive.fake_metastore import InMemoryMetastore
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.placement.copy_marks import CLUSTER, CopyMark, DirectoryState, KeptMark, mark_name, object_name
from twinhive.core.model.sets.own_tables import COPY_MARKS, OWN_TABLES
from twinhive.core.model.thrift_objects import TableIdentity
from twinhive.core.ports import MetastoreReader
from twinhive.core.ports.own_table_lookup import make_own_table
from twinhive.federation.placement.copied_objects import Marked, table_of, values_of
from twinhive.federation.placement.marking_copies import own_partition
from twinhive.federation.routing.marks_table import MarksTable, move_name
from twinhive.federation.routing.move_mark import EVERY_CLUSTER, MOVE, PrimaryMove

NO_STATE = DirectoryState(0, 0)


def mark_on(metastore: MetastoreReader, one: Marked, cluster: str) -> CopyMark | None:
    """Return the mark of an object for a cluster, if it is one of its table."""
    name, values = table_of(one), values_of(one)
    asked = (name.table, cluster, values)
    mark = MarksTable(metastore, name.database).read([asked]).get(asked)
    table = metastore.table(name)
    return mark if mark and table and not mark.table.is_another(TableIdentity.of(table)) else None


def kept_marks(metastore: MetastoreReader, database: str = "sales", cluster: str = "") -> list[KeptMark]:
    """Return all marks as they stand there, whatever they are worth."""
    return list(MarksTable(metastore, database).every(cluster))


def a_mark(metastore: MetastoreReader, one: Marked, location: str, **more: Any) -> CopyMark:
    """Return a mark of an object as of now."""
    table = metastore.table(table_of(one))
    assert table is not None
    mark = CopyMark(
        location,
        metastore.log_id(),
        metastore.current_event_id(),
        str(one.location),
        NO_STATE,
        NO_STATE,
        TableIdentity.of(table),
        1,
        1,
    )
    return replace(mark, **more)


def put_mark(metastore: InMemoryMetastore, one: Marked, cluster: str, mark: CopyMark | dict[str, str]) -> None:
    """Mark an object, or write what is no mark in its place."""
    said = mark.parameters() if isinstance(mark, CopyMark) else mark
    name = table_of(one)
    own = make_own_table(metastore, COPY_MARKS, name.database, None)
    called = mark_name(name.table, cluster, object_name(values_of(one)))
    metastore.drop_partitions(own.name, [called], delete_data=False)
    metastore.add_partitions([own_partition(own, (name.table, cluster, object_name(values_of(one))), said)])


def put_move(metastore: InMemoryMetastore, table: Table, move: PrimaryMove) -> None:
    """Mark a table as being moved, in the place of whatever mark of a move there is."""
    own = make_own_table(metastore, COPY_MARKS, table.name.database, None)
    metastore.drop_partitions(own.name, [move_name(table.name.table)], delete_data=False)
    said = move.parameters(TableIdentity.of(table))
    metastore.add_partitions([own_partition(own, (table.name.table, EVERY_CLUSTER, MOVE), said)])


def is_moving(metastore: MetastoreReader, table: Table) -> bool:
    """True for a table that is marked as being moved."""
    return MarksTable(metastore, table.name.database).move(table) is not None


class GuardedMetastore:
    """Let nobody write an object of people's, but let it be at home elsewhere, or give back what was at home there."""

    def __init__(self, metastore: InMemoryMetastore, homes: Sequence[str]) -> None:
        self._metastore, self._homes = metastore, tuple(homes)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        check: Callable[..., None] | None = getattr(self, f"_check_{name}", None)
        method = getattr(self._metastore, name)
        if check is None:
            return method

        def checked(*args: Any, **kwargs: Any) -> Any:
            check(*args, **kwargs)
            return method(*args, **kwargs)

        return checked

    def _check_create_table(self, table: Table) -> None:
        assert table.name.table in OWN_TABLES, table.name

    def _check_drop_table(self, name: TableName, **_: Any) -> None:
        raise AssertionError(f"{name} is dropped")

    def _check_add_partitions(self, partitions: Sequence[Partition]) -> None:
        assert all(one.table.table in OWN_TABLES for one in partitions), partitions

    def _check_drop_partitions(self, table: TableName, names: Sequence[str], *, delete_data: bool) -> None:
        assert table.table in OWN_TABLES and not delete_data, (table, names)

    def _check_rename_partition(self, values: Sequence[str], partition: Partition) -> None:
        raise AssertionError(f"{partition} is renamed")

    def _check_alter_partitions(self, partitions: Sequence[Partition]) -> None:
        for one in partitions:
            if one.table.table in OWN_TABLES:
                continue
            table = self._metastore.table(one.table)
            assert table is not None
            (now,) = self._metastore.partitions(one.table, [one.name(table.partition_keys)])
            self._check_switch(now, one)

    def _check_alter_table(self, name: TableName, table: Table, **_: Any) -> None:
        now = self._metastore.table(name)
        assert now is not None and table.name == name
        self._check_switch(now, table)

    def _check_switch(self, now: Marked, after: Marked) -> None:
        if not self._is_home(after):
            assert self._is_home(now), f"only what was switched is given back: {after}"
            return
        parameters = {key: value for key, value in after.parameters.items() if key != CLUSTER}
        assert parameters == {key: value for key, value in now.parameters.items() if key != CLUSTER}
        assert after.thrift == now.thrift

    def _is_home(self, one: Marked) -> bool:
        return str(one.location).startswith(self._homes)
