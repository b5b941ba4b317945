"""Keep functions and column statistics of a metastore in memory."""

import json

from tests.support.hive.fake_state import MetastoreState
from twinhive.core.model.errors import AlreadyThere, Missing, Refused
from twinhive.core.model.marks import SOURCE_FOR
from twinhive.core.model.names import TableName, unescape_path_name
from twinhive.core.model.objects import Function, Partition, Table
from twinhive.core.model.thrift_objects import fresh_function, read_function, read_partition, read_table
from twinhive.core.model.tjson import Tree, from_text, to_text

_ACCURATE = "COLUMN_STATS_ACCURATE"


class DetailsInMemory(MetastoreState):
    """Be the calls for what hangs on databases, tables and columns."""

    def functions(self, database: str) -> list[Function]:
        """Return all permanent functions of a database, sorted by name."""
        with self._call():
            return [function for (where, _), function in sorted(self._functions.items()) if where == database.lower()]

    def function_names(self, database: str) -> list[str]:
        """Return the names of all permanent functions, sorted: also of those that cannot be read."""
        with self._call():
            return sorted(name for where, name in self._functions if where == database.lower())

    def function(self, database: str, name: str) -> Function | None:
        """Return one permanent function, or None."""
        with self._call():
            return self._functions.get((database.lower(), name.lower()))

    def create_function(self, function: Function) -> None:
        """Create a permanent function. Raises AlreadyThere, and Missing without the database."""
        with self._call():
            database = self._existing_database(function.database)
            key = (database.name, function.name.lower())
            if key in self._functions:
                raise AlreadyThere(f"function {function.database}.{function.name} exists already")
            tree = fresh_function(function) | {"6": {"i32": self._log.now()}}
            self._functions[key] = read_function(tree | {"1": {"str": key[1]}, "9": {"str": "hive"}})
            # The event keeps the name as it was written.
            self.emit("CREATE_FUNCTION", key[0], None, {"db": key[0], "functionObjJson": to_text(tree)})

    def drop_function(self, database: str, name: str) -> None:
        """Drop a permanent function; one that does not exist is fine."""
        with self._call():
            key = (database.lower(), name.lower())
            function = self._functions.get(key)
            if function:
                self._keep_resources(function)
                del self._functions[key]
                self.emit("DROP_FUNCTION", key[0], None, {"db": key[0], "functionName": key[1]})

    def _keep_resources(self, function: Function) -> None:
        """Copy the files of a function of a source of replication; one that is gone keeps it from being dropped."""
        if not self._existing_database(function.database).parameters.get(SOURCE_FOR):
            return
        for resource in function.resources:
            try:
                self._storage.keep_copy(resource)
            except Missing as error:
                raise Refused(f"function {function.name} cannot be dropped: {error.what}") from error

    def set_statistics(self, table: TableName, statistics: str) -> None:
        """Write column statistics of the table or of one of its partitions. Raises Missing, Refused."""
        with self._call():
            found = self._existing(table)
            tree = from_text(statistics)
            description: Tree = tree["1"]["rec"]
            description |= {"2": {"str": table.database}, "3": {"str": table.table}, "6": {"str": "hive"}}
            partition = None if description["1"]["tf"] else str(description["4"]["str"])
            columns = {column["1"]["str"] for column in tree["2"]["lst"][2:]}
            if unknown := columns - {name for name, _ in found.columns}:
                raise Refused(f"{table} has no column {', '.join(sorted(unknown))}")
            parameters, values = self._note_statistics(found, partition, columns)
            message = {
                "writeId": -1,
                "database": table.database,
                "colStatsJson": to_text(tree),
                "parameters": parameters,
                **({"partVals": list(values)} if values is not None else {}),
                "tableObjJson": self._tables[table].thrift,
            }
            kind = "TBL" if partition is None else "PART"
            self.emit(f"UPDATE_{kind}_COL_STAT_EVENT", table.database, table.table, message)

    def delete_statistics(self, table: TableName, partition: str | None, column: str | None) -> None:
        """Delete the statistics of one column (None: all) of a table or partition; absent ones are fine."""
        with self._call():
            if table not in self._tables:
                return
            for name in [column] if column else [name for name, _ in self._tables[table].columns]:
                self._delete_of_column(table, partition, name)

    def _delete_of_column(self, table: TableName, partition: str | None, column: str) -> None:
        self._statistics.get((table, partition), set()).discard(column)
        message: dict[str, object] = {"database": table.database, "colName": column}
        kind = "TBL"
        if partition is not None:
            kind = "PART"
            message |= {
                "partName": partition,
                "partValues": [unescape_path_name(part.partition("=")[2]) for part in partition.split("/")],
            }
        # Hive 4.1 writes this event twice.
        for _ in range(2):
            self.emit(f"DELETE_{kind}_COL_STAT_EVENT", table.database, table.table, message)

    def column_statistics(self, table: TableName, partition: str | None = None) -> set[str]:
        """Return the names of the columns that have statistics."""
        with self._call():
            return set(self._statistics.get((table, partition), ()))

    def _note_statistics(
        self, table: Table, partition: str | None, columns: set[str]
    ) -> tuple[dict[str, str], tuple[str, ...] | None]:
        """Keep the columns, claim them in the object's parameters, return these and the partition's values."""
        described: Table | Partition = table
        if partition is not None:
            if partition not in self._partitions[table.name]:
                raise Missing(f"{table.name} has no partition {partition}")
            described = self._partitions[table.name][partition]
        self._statistics.setdefault((table.name, partition), set()).update(columns)
        parameters = _claiming(dict(described.parameters), columns)
        tree = from_text(described.thrift)
        if isinstance(described, Partition):
            tree["7"]["map"] = ["str", "str", len(parameters), parameters]
            self._partitions[table.name][str(partition)] = read_partition(tree)
            return parameters, described.values
        tree["9"]["map"] = ["str", "str", len(parameters), parameters]
        self._tables[table.name] = read_table(tree)
        return parameters, None


def _claiming(parameters: dict[str, str], columns: set[str]) -> dict[str, str]:
    claims = json.loads(parameters.get(_ACCURATE, "{}"))
    claims["COLUMN_STATS"] = dict.fromkeys(sorted({*claims.get("COLUMN_STATS", {}), *columns}), "true")
    return {**parameters, _ACCURATE: json.dumps(claims, separators=(",", ":"))}
