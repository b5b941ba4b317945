"""Pretend to write a metastore: what is written is kept in memory, and later reads find it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from twinhive.core.model.constraints import Constraint, constraints_of
from twinhive.core.model.errors import AlreadyThere, Missing
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName, partition_name, partition_values
from twinhive.core.model.objects import Database, Function, Parameters, Partition, Table
from twinhive.core.ports import MetastoreReader, UnreadWriter

_READING = frozenset(name for name in dir(MetastoreReader) if not name.startswith("_"))
_UNREAD = frozenset(name for name in dir(UnreadWriter) if not name.startswith("_"))
Call = tuple[str, str]
"""A method and the object that it is about."""


class PretendedMetastore:
    """Implement MetastoreWriter over a metastore that is only read; what is read is as the calls so far would make it.

    calls   the changes that were asked for, in their order, but for the parameters of databases
    """

    def __init__(self, replica: MetastoreReader) -> None:
        self._replica = replica
        self._databases: dict[str, Database] = {}
        self._tables: dict[TableName, Table | None] = {}
        self._partitions: dict[TableName, dict[str, Partition | None]] = defaultdict(dict)
        self._origins: dict[TableName, TableName | None] = {}
        """Which table in truth has the partitions and constraints of one of now; None: none has."""
        self._constraints: dict[TableName, tuple[Constraint, ...]] = {}
        self._functions: dict[str, dict[str, Function | None]] = defaultdict(dict)
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> Any:
        """Pass on what only reads, note what nobody reads. What else would write, and is not below, is our mistake."""
        if name in _UNREAD:
            return lambda about, *_, **__: self._says(name, about)
        if name not in _READING:
            raise NotImplementedError(f"a rehearsal cannot pretend {name}")
        return getattr(self._replica, name)

    # Reading.

    def database(self, name: str) -> Database | None:
        """Return a database as it would be."""
        return self._databases.get(name) or self._replica.database(name)

    def table_names(self, database: str) -> list[str]:
        """Return the names of the tables that a database would have."""
        names = set(self._replica.table_names(database))
        for name, table in self._tables.items():
            if name.database == database:
                names = names - {name.table} if table is None else names | {name.table}
        return sorted(names)

    def tables(self, database: str, names: Sequence[str]) -> list[Table]:
        """Return those tables that would be there."""
        wanted = [TableName(database, name) for name in names]
        known = {name: self._tables[name] for name in wanted if name in self._tables}
        read = self._replica.tables(database, [name.table for name in wanted if name not in known])
        found = {table.name: table for table in read} | known
        return [table for name in wanted if (table := found.get(name)) is not None]

    def table(self, name: TableName) -> Table | None:
        """Return a table as it would be, None for an absent one."""
        return self._tables[name] if name in self._tables else self._replica.table(name)

    def partition_names(self, table: TableName) -> list[str]:
        """Return the names of the partitions that a table would have."""
        there = self._existing(table)
        origin = self._origin(table)
        names = set(self._replica.partition_names(origin)) if origin and there.partition_keys else set()
        for name, partition in self._partitions[table].items():
            names = names - {name} if partition is None else names | {name}
        return sorted(names)

    def partition_names_with(self, table: TableName, values: Sequence[str]) -> list[str]:
        """Return the names of the partitions with these values that a table would have; '' stands for any value."""
        names = self.partition_names(table)
        return [name for name in names if all(map(_is_asked, values, partition_values(name)))]

    def partitions(self, table: TableName, names: Sequence[str]) -> list[Partition]:
        """Return those partitions that would be there."""
        known = self._partitions[table]
        origin = self._origin(table)
        read: dict[str, Partition] = {}
        if origin and (unknown := [name for name in names if name not in known]):
            keys = self._existing(table).partition_keys
            found = self._replica.partitions(origin, unknown)
            read = {one.name(keys): one.at(table, one.location) for one in found}
        every = {**read, **known}
        return [partition for name in names if (partition := every.get(name)) is not None]

    def partition_locations(self, table: Table) -> Sequence[tuple[str, str]]:
        """Return the locations that the partitions of a table would have, by name."""
        found = self.partitions(table.name, self.partition_names(table.name))
        return [(one.name(table.partition_keys), one.location or "") for one in found]

    def partition_locations_of(self, table: Table, names: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return the locations that some partitions of a table would have, by name."""
        wanted = set(names)
        return [(name, location) for name, location in self.partition_locations(table) if name in wanted]

    def constraints(self, table: TableName) -> tuple[Constraint, ...]:
        """Return the constraints that a table would have."""
        origin = self._origin(table)
        if table not in self._constraints:
            self._constraints[table] = self._replica.constraints(origin) if origin else ()
        return self._constraints[table]

    def functions(self, database: str) -> list[Function]:
        """Return the functions that a database would have."""
        every: dict[str, Function | None] = {one.name: one for one in self._replica.functions(database)}
        every |= self._functions[database]
        return [found for name in sorted(every) if (found := every[name]) is not None]

    def function_names(self, database: str) -> list[str]:
        """Return the names of the functions that a database would have."""
        return [one.name for one in self.functions(database)]

    def function(self, database: str, name: str) -> Function | None:
        """Return a function as it would be, None for an absent one."""
        return next((one for one in self.functions(database) if one.name == name.lower()), None)

    # Writing.

    def set_database_parameters(self, name: str, parameters: Parameters) -> None:
        """Remember the parameters of a database."""
        found = self.database(name)
        if found is None:
            raise Missing(f"database {name} does not exist")
        self._databases[name] = replace(found, parameters=parameters)

    def alter_database(self, database: Database) -> None:
        """Remember a database."""
        self._says("alter_database", database.name)
        self._databases[database.name] = database

    def create_table(self, table: Table) -> None:
        """Remember a table. Raises AlreadyThere."""
        if self.table(table.name) is not None:
            raise AlreadyThere(f"table {table.name} exists")
        self._says("create_table", table.name)
        self._put(table, None)

    def drop_table(self, name: TableName, *, delete_data: bool) -> None:
        """Let a table be gone."""
        self._says("drop_table", name)
        self._forget(name)

    def alter_table(
        self, name: TableName, table: Table, *, expected: str | None = None, of_key: str = STAMP, cascade: bool = False
    ) -> None:
        """Remember a table, perhaps under another name. Raises Missing, AlreadyThere."""
        self._existing(name)
        self._says("alter_table", name if table.name == name else f"{name} to {table.name}")
        if table.name == name:
            self._tables[name] = table
            return
        if self.table(table.name) is not None:
            raise AlreadyThere(f"table {table.name} exists")
        partitions, origin, constraints = self._partitions[name], self._origin(name), self.constraints(name)
        self._forget(name)
        self._put(table, origin)
        keys = table.partition_keys
        moved = ((part, one and one.at(table.name, one.location)) for part, one in partitions.items())
        self._partitions[table.name] = dict(moved) if keys else {}
        self._constraints[table.name] = constraints

    def add_partitions(self, partitions: Sequence[Partition]) -> None:
        """Remember partitions of one table. Raises AlreadyThere, Missing."""
        named = self._named(partitions)
        table = partitions[0].table
        if there := self.partitions(table, list(named)):
            raise AlreadyThere(f"partition {there[0].values} of {table} exists")
        self._partitions[table] |= named
        self._say_each("add_partitions", table, named)

    def alter_partitions(self, partitions: Sequence[Partition]) -> None:
        """Remember partitions of one table. Raises Missing."""
        named = self._named(partitions)
        table = partitions[0].table
        if len(self.partitions(table, list(named))) < len(named):
            raise Missing(f"a partition of {table} does not exist")
        self._partitions[table] |= named
        self._say_each("alter_partitions", table, named)

    def rename_partition(self, values: Sequence[str], partition: Partition) -> None:
        """Remember a partition under other values. Raises Missing, AlreadyThere."""
        table = self._existing(partition.table)
        keys = table.partition_keys
        old, new = partition_name(keys, tuple(values)), partition.name(keys)
        if not self.partitions(table.name, [old]):
            raise Missing(f"partition {old} of {table.name} does not exist")
        if self.partitions(table.name, [new]):
            raise AlreadyThere(f"partition {new} of {table.name} exists")
        self._partitions[table.name] |= {old: None, new: partition}
        self._says("rename_partition", f"{table.name} {old} to {new}")

    def drop_partitions(self, table: TableName, names: Sequence[str], *, delete_data: bool) -> None:
        """Let partitions be gone."""
        self._existing(table)
        self._partitions[table] |= dict.fromkeys(names)
        self._say_each("drop_partitions", table, names)

    def create_function(self, function: Function) -> None:
        """Remember a function. Raises AlreadyThere."""
        if any(one.name == function.name for one in self.functions(function.database)):
            raise AlreadyThere(f"function {function.name} exists")
        self._functions[function.database][function.name] = function
        self._says("create_function", function.name)

    def drop_function(self, database: str, name: str) -> None:
        """Let a function be gone."""
        self._functions[database][name] = None
        self._says("drop_function", name)

    def add_constraints(self, table: TableName, kind: str, constraints: Sequence[str]) -> None:
        """Remember constraints; a foreign key's other table is not looked at. Raises Missing, AlreadyThere."""
        self._existing(table)
        there, new = self.constraints(table), constraints_of(kind, constraints)
        if {one.name for one in there} & {one.name for one in new}:
            raise AlreadyThere(f"a constraint of {table} exists")
        self._constraints[table] = (*there, *new)
        self._says("add_constraints", table)

    def drop_constraint(self, table: TableName, name: str) -> None:
        """Let a constraint be gone."""
        self._constraints[table] = tuple(one for one in self.constraints(table) if one.name != name)
        self._says("drop_constraint", table)

    def _put(self, table: Table, origin: TableName | None) -> None:
        self._forget(table.name)
        self._tables[table.name], self._origins[table.name] = table, origin

    def _forget(self, name: TableName) -> None:
        self._tables[name] = self._origins[name] = None
        self._partitions[name] = {}
        self._constraints[name] = ()

    def _existing(self, name: TableName) -> Table:
        found = self.table(name)
        if found is None:
            raise Missing(f"table {name} does not exist")
        return found

    def _origin(self, name: TableName) -> TableName | None:
        return self._origins.get(name, name)

    def _named(self, partitions: Sequence[Partition]) -> dict[str, Partition | None]:
        keys = self._existing(partitions[0].table).partition_keys
        return {one.name(keys): one for one in partitions}

    def _says(self, method: str, what: object) -> None:
        self.calls.append((method, str(what)))

    def _say_each(self, method: str, table: TableName, names: Sequence[str] | dict[str, Any]) -> None:
        for name in names:
            self._says(method, f"{table} {name}")


def _is_asked(asked: str, value: str) -> bool:
    return asked in ("", value)
