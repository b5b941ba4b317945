"""Read which tables of the source a policy replicates, and how large they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from twinhive.core.model.batches import TableSize
from twinhive.core.model.errors import InvalidSettings, Missing, UnreadableObject
from twinhive.core.model.files import Usage, is_elsewhere
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Function, Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, MetastoreReader
from twinhive.core.threads.parallel_map import in_threads
from twinhive.replication.dump.manifest import LeftOutObject
from twinhive.replication.replica.unusable_tables import UnusableTables

_TABLES_PER_CALL = 200
_THREADS = 8


@dataclass(frozen=True)
class SourceScope:
    """The objects of a policy's scope: tables, managed and external, views, and what is left out."""

    tables: tuple[Table, ...]
    views: tuple[Table, ...]
    left_out: tuple[LeftOutObject, ...]

    @property
    def managed(self) -> tuple[Table, ...]:
        """The tables whose files follow the log."""
        return tuple(table for table in self.tables if not table.is_external)

    @property
    def external(self) -> tuple[Table, ...]:
        """The tables whose files somebody else owns."""
        return tuple(table for table in self.tables if table.is_external)


def read_scope(source: MetastoreReader, policy: Policy) -> SourceScope:
    """Read all tables and views that the policy selects.

    Raises Missing without the database, and UnreadableObject where the policy stops at a table that cannot be read.
    """
    unusable = UnusableTables(policy)
    scope = readable_scope(source, policy, unusable)
    unusable.refuse()
    return replace(scope, left_out=(*scope.left_out, *unusable.left_out()))


def readable_scope(source: MetastoreReader, policy: Policy, unusable: UnusableTables) -> SourceScope:
    """Read all tables and views that the policy selects and that can be read; the others become `unusable`.

    Raises Missing without the database.
    """
    database = policy.source.database
    found, unreadable = readable_tables(source, database, selected_names(source, policy, database))
    for name, problem in unreadable.items():
        with unusable.if_unusable(TableName(database, name)):
            raise problem
    followed = [table for table in found if policy.left_out(table) is None]
    return SourceScope(
        tables=tuple(table for table in followed if table.kind.has_files),
        views=tuple(table for table in followed if not table.kind.has_files),
        left_out=tuple(LeftOutObject(str(table.name), why) for table in found if (why := policy.left_out(table))),
    )


def usable_scope(source: MetastoreReader, root: str, policy: Policy, unusable: UnusableTables) -> SourceScope:
    """Read the same without managed tables that lie on another file system than `root`, the source's."""
    scope = readable_scope(source, policy, unusable)
    for table in scope.managed:
        unusable.check_places(table, (), root)
    return replace(scope, tables=tuple(table for table in scope.tables if table.name not in unusable))


def refuse_unselected(policy: Policy, table: str) -> None:
    """Refuse a table, by its name alone, that the policy does not select. Raises InvalidSettings."""
    if not policy.selects(table):
        raise InvalidSettings(
            f"table: policy {policy.name} does not select {table!r}",
            found=f"include {', '.join(policy.include)}; exclude {', '.join(policy.exclude) or 'nothing'}",
            expected="a table or view that tables.include of the policy file selects",
            next_step="correct the table's name, or the policy file",
        )


def read_selected(metastore: MetastoreReader, policy: Policy, database: str | None = None) -> list[Table]:
    """Read all tables and views whose names the policy selects, also those of kinds that it leaves out.

    They are those of its source's database, or of another one.
    """
    database = database or policy.source.database
    return tables_in_bulk(metastore, database, selected_names(metastore, policy, database))


def selected_names(metastore: MetastoreReader, policy: Policy, database: str) -> list[str]:
    """Return the names of the tables and views of a database that a policy selects."""
    return [name for name in metastore.table_names(database) if policy.selects(name)]


def readable_tables(
    metastore: MetastoreReader, database: str, names: Sequence[str]
) -> tuple[list[Table], dict[str, UnreadableObject]]:
    """Return the named tables that exist, and by name what is wrong with those that cannot be read."""
    found, unreadable = list[Table](), dict[str, UnreadableObject]()
    for some in _chunks(names, _TABLES_PER_CALL):
        try:
            found += metastore.tables(database, some)
        except UnreadableObject:
            for name in some:
                try:
                    found += metastore.tables(database, [name])
                except UnreadableObject as problem:
                    unreadable[name] = problem
    return found, unreadable


def readable_functions(
    metastore: MetastoreReader, database: str
) -> tuple[tuple[Function, ...], dict[str, UnreadableObject]]:
    """Return the functions of a database, sorted by name, and by name what is wrong with those that cannot be read."""
    try:
        return tuple(metastore.functions(database)), {}
    except UnreadableObject:
        found, unreadable = list[Function](), dict[str, UnreadableObject]()
    for name in metastore.function_names(database):
        try:
            function = metastore.function(database, name)
        except UnreadableObject as problem:
            unreadable[name] = problem
        else:
            found += [function] if function else []
    return tuple(found), unreadable


def tables_in_bulk(metastore: MetastoreReader, database: str, names: Sequence[str]) -> list[Table]:
    """Return the named tables that exist, read by as few calls as metastores like."""
    return list(each_table(metastore, database, names))


def each_table(metastore: MetastoreReader, database: str, names: Sequence[str] | None = None) -> Iterator[Table]:
    """Yield the named tables that exist, all of a database by default; memory holds those of one call."""
    for some in _chunks(metastore.table_names(database) if names is None else names, _TABLES_PER_CALL):
        yield from metastore.tables(database, some)


@dataclass(frozen=True)
class SizedTable:
    """A table with its constraints, the names of its partitions, and what of its files is to be copied with it."""

    table: Table
    partitions: tuple[str, ...]
    usage: Usage

    @property
    def size(self) -> TableSize:
        """Return what the planner of batches needs."""
        return TableSize(self.table.name, len(self.partitions), self.usage.length, self.usage.files)


def measure(
    source: MetastoreReader,
    files: FileReader,
    tables: Sequence[Table],
    known: Mapping[TableName, Usage],
    unusable: UnusableTables,
) -> dict[TableName, SizedTable]:
    """Ask metastore and file system for size and constraints of each table, several at a time.

    Of tables whose sizes are known the file system is not asked: what that takes it counts file by file.
    A table dropped meanwhile is left out of the answer: its event tells. So is one that becomes `unusable`.
    """

    def one(table: Table) -> SizedTable | None:
        try:
            names = tuple(source.partition_names(table.name)) if table.partition_keys else ()
        except Missing:
            return None
        with unusable.if_unusable(table.name):
            constrained = table.with_constraints(source.constraints(table.name))
            usage = known.get(table.name) or table_usage(files, table)
            return SizedTable(constrained, names, usage)
        return None

    return {sized.table.name: sized for sized in in_threads(one, tables, _THREADS) if sized}


def table_usage(files: FileReader, table: Table) -> Usage:
    """Return what is below a managed table's location; of one elsewhere, as a partitioned table's may be, nothing."""
    is_here = not table.is_external and table.location and not is_elsewhere(table.location, files.root)
    return usage_or_nothing(files, table.location if is_here else None)


def usage_or_nothing(files: FileReader, location: str | None) -> Usage:
    """Return what is below a location, nothing for one that does not exist."""
    try:
        return files.usage(location) if location else Usage(0, 0, 0)
    except Missing:
        return Usage(0, 0, 0)


def _chunks(names: Sequence[str], size: int) -> list[Sequence[str]]:
    return [names[start : start + size] for start in range(0, len(names), size)]
