"""Read which tables of the source a policy replicates, and how large they are."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from twinhive.domain.batches import TableSize
from twinhive.domain.errors import Missing
from twinhive.domain.files import Usage
from twinhive.domain.names import TableName
from twinhive.domain.objects import Table, TableKind
from twinhive.domain.policy import Policy
from twinhive.dump.manifest import LeftOut
from twinhive.ports import FileReader, MetastoreReader

_TABLES_PER_CALL = 200
_THREADS = 8
LEFT_OUT_REASONS = {
    TableKind.EXTERNAL: "external table: not replicated yet",
    TableKind.TRANSACTIONAL: "transactional table: not replicated yet",
    TableKind.MATERIALIZED_VIEW: "materialized view: the replica's Hive has to build it",
}


@dataclass(frozen=True)
class SourceScope:
    """The objects of a policy's scope: tables with files of ours, views, and what is left out."""

    tables: tuple[Table, ...]
    views: tuple[Table, ...]
    left_out: tuple[LeftOut, ...]


def read_scope(source: MetastoreReader, policy: Policy) -> SourceScope:
    """Read all tables and views that the policy selects. Raises Missing without the database."""
    database = policy.source.database
    names = [name for name in source.table_names(database) if policy.selects(name)]
    found = [table for some in _chunks(names, _TABLES_PER_CALL) for table in source.tables(database, some)]
    return SourceScope(
        tables=tuple(table for table in found if table.kind is TableKind.MANAGED),
        views=tuple(table for table in found if table.kind is TableKind.VIEW),
        left_out=tuple(LeftOut(str(t.name), LEFT_OUT_REASONS[t.kind]) for t in found if t.kind in LEFT_OUT_REASONS),
    )


@dataclass(frozen=True)
class SizedTable:
    """A table with the names of its partitions and what lies below its location."""

    table: Table
    partitions: tuple[str, ...]
    usage: Usage

    @property
    def size(self) -> TableSize:
        """Return what the planner of batches needs."""
        return TableSize(self.table.name, len(self.partitions), self.usage.length, self.usage.files)


def measure(source: MetastoreReader, files: FileReader, tables: Sequence[Table]) -> dict[TableName, SizedTable]:
    """Ask metastore and file system for the size of each table, several at a time.

    A table dropped meanwhile is left out of the answer: its event tells.
    """

    def one(table: Table) -> SizedTable | None:
        try:
            names = tuple(source.partition_names(table.name)) if table.partition_keys else ()
        except Missing:
            return None
        return SizedTable(table, names, usage_or_nothing(files, table.location))

    with ThreadPoolExecutor(_THREADS) as pool:
        return {sized.table.name: sized for sized in pool.map(one, tables) if sized}


def usage_or_nothing(files: FileReader, location: str | None) -> Usage:
    """Return what is below a location, nothing for one that does not exist."""
    try:
        return files.usage(location) if location else Usage(0, 0, 0)
    except Missing:
        return Usage(0, 0, 0)


def _chunks(names: Sequence[str], size: int) -> list[Sequence[str]]:
    return [names[start : start + size] for start in range(0, len(names), size)]
