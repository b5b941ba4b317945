"""Keep what no policy replicates at one side, with users who act on it, and see that nobody else has changed it.

In the replicated database: an ACID table, one of a storage handler, Iceberg's, excluded ones, external ones that are
out of scope; beside it, a database of other people, with a function. Whatever users move there is theirs too.
"""

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random
from typing import Any

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hive import metastore_objects as objects
from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.support.users.source_writer import SourceWriter
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database

BESIDE = "archive"
EXCLUDED = "private.*"
KEPT = "__diverged_"
ICEBERG = {"table_type": "ICEBERG", "metadata_location": "v0", "storage_handler": "HiveIcebergStorageHandler"}
Look = dict[Any, Any]


class ForeignThings:
    """The tables of others at one side; `left` is what their users have left them as."""

    def __init__(
        self, metastore: InMemoryMetastore, files: InMemoryFiles, database: str, chance: Random, *, has_external: bool
    ) -> None:
        self.metastore, self.files, self.database, self.chance = metastore, files, database, chance
        self.users = SourceWriter(metastore, files, database)
        self._number = itertools.count(1)
        self._names = {TableName(database, name) for name in ("acid", "ice", "handled", "private", "private_plain")}
        self._make()
        if has_external:
            self._names |= {TableName(database, "ext_logs"), TableName(database, "outside")}
            self._make_external()
        self.left = self.look()

    @property
    def names(self) -> set[TableName]:
        """Return the tables of others in the replicated database."""
        return self._names

    def act(self) -> str:
        """Let one of their users do something; return what. What cannot be done now is left."""
        acts: list[Callable[[], object]] = [
            self.commit,
            self.commit,
            self._write_acid,
            self._add_acid,
            self._alter,
            self._add_columns,
            self._insert,
            self._add_partition,
            self._fly,
            self._land,
            self._stage_query,
            self._move_partition,
            self._insert_beside,
        ]
        chosen = self.chance.choice(acts)
        with suppress(TwinhiveError, KeyError, IndexError, ValueError, AssertionError):
            chosen()
        self.left = self.look()
        return chosen.__name__.strip("_")

    def changed(self) -> list[str]:
        """Return what is not as it was left, in words."""
        now, left = self.look(), self.left
        gone = [f"{self._called(key)} is gone" for key in left if key not in now]
        other = [
            f"{self._called(key)}: {_difference(left[key], now[key])}"
            for key in left
            if key in now and left[key] != now[key]
        ]
        new = [f"{self._called(key)} has come" for key in now if key not in left]
        return gone + other + new

    def look(self) -> Look:
        """Return all of it: tables and partitions whole, files with their bytes, directories with their marks."""
        metastore, found, places = self.metastore, {}, [f"{self.files.root}/user/people"]
        for name, database in metastore._databases.items():
            if name == self.database or KEPT in name:
                continue
            found["database", name] = database
            places += [one for one in (database.location, metastore._managed_directory(database)) if one]
        for table in self._tables():
            found["table", str(table.name)] = table
            places += [table.location] if table.location else []
            for part, partition in metastore._partitions[table.name].items():
                found["partition", f"{table.name} {part}"] = partition
                places += [partition.location] if partition.location else []
        found |= {("function", key): one for key, one in metastore._functions.items() if key[0] != self.database}
        return found | dict(self._files(places))

    def commit(self) -> None:
        """Commit a snapshot of the Iceberg table: files first, then the pointer to them."""
        number, place = next(self._number), self.users.location("ice")
        self.files.put(f"{place}/data/{number}.parquet", f"iceberg {number}".encode())
        self.files.put(f"{place}/metadata/v{number}.json", b"{}")
        self.users.set_parameters("ice", {"metadata_location": f"{place}/metadata/v{number}.json"})

    def touch(self, name: TableName) -> None:
        """Alter this very table, if it is one of theirs."""
        with suppress(TwinhiveError, KeyError, AssertionError):
            if name.table == "ice":
                self.commit()
            elif name in self._names:
                self.users.set_parameters(name.table, {"x": str(next(self._number))})
        self.left = self.look()

    def _make(self) -> None:
        users = self.users
        for name, parameters in {
            "acid": {"transactional": "true"},
            "handled": {"storage_handler": "org.apache.hadoop.hive.hbase.HBaseStorageHandler"},
            "private": {},
        }.items():
            users.create_table(name, ("p",), parameters=parameters)
            self._partition(name, "1", f"{self.files.root} {name}".encode())
        users.create_table("ice", parameters=ICEBERG)
        self.commit()
        users.create_table("private_plain", files={"rows": b"private rows"})
        beside = SourceWriter(self.metastore, self.files, BESIDE)
        self.metastore.create_database(Database(BESIDE, None, None, {"x": "theirs"}, "{}"))
        beside.create_table("old", files={"rows": b"archived rows"})
        beside.create_function("theirs")
        self.files.put(f"{self.files.root}/user/people/notes", b"notes")

    def _make_external(self) -> None:
        place = f"{self.files.root}/data/ext_logs"
        made = objects.a_table(
            self.database,
            "ext_logs",
            ("p",),
            location=place,
            table_type="EXTERNAL_TABLE",
            parameters={"EXTERNAL": "TRUE"},
        )
        self.metastore.create_table(made)
        self._partition("ext_logs", "1", b"external rows")
        if self.metastore.table(TableName(self.database, "outside")) is not None:
            self.files.put(f"{self.users.location('outside')}/rows", b"outside")

    def _partition(self, table: str, value: str, content: bytes) -> None:
        """Add a partition as Hive does: files first, which no event names for such tables."""
        found = self.users.table(table)
        place = f"{found.location}/p={value}"
        self.files.put(f"{place}/rows_{next(self._number)}", content)
        self.metastore.add_partitions([objects.a_partition(found, value, location=place)])

    def _add_acid(self) -> None:
        number = next(self._number)
        self._partition(self.chance.choice(("acid", "handled")), f"n{number}", f"acid {number}".encode())

    def _write_acid(self) -> None:
        number, found = next(self._number), self._a_partition("acid")
        self.files.put(f"{found.location}/delta_{number:07}/bucket_0", f"delta {number}".encode())

    def _alter(self) -> None:
        name = self.chance.choice(sorted(self._names))
        self.users.set_parameters(name.table, {"x": str(next(self._number))})

    def _add_columns(self) -> None:
        table = self.chance.choice(("private", "private_plain", "acid"))
        self.users.add_columns(table, [(f"c{next(self._number)}", "string")])

    def _insert(self) -> None:
        number = next(self._number)
        self.users.insert("private_plain", None, {f"rows_{number}": f"private {number}".encode()})

    def _add_partition(self) -> None:
        number = next(self._number)
        self._partition("private", f"n{number}", f"private {number}".encode())

    def _fly(self) -> None:
        number, place = next(self._number), self.users.location(self.chance.choice(("private", "acid")))
        self.files.put(f"{place}/p=flying{number}/rows_{number}", f"in flight {number}".encode())

    def _land(self) -> None:
        found = self.users.table("private")
        flying = {path.rpartition("/")[0] for path in self.files.paths() if f"{found.location}/p=flying" in path}
        known = {one.location for one in self.metastore._partitions[found.name].values()}
        place = self.chance.choice(sorted(flying - known))
        self.metastore.add_partitions([objects.a_partition(found, place.rpartition("=")[2], location=place)])

    def _stage_query(self) -> None:
        number, place = next(self._number), self.users.location(self.chance.choice(("private", "private_plain")))
        self.files.put(f"{place}/.hive-staging_hive_{number}/-ext-10000/000000_0", b"of a running query")

    def _move_partition(self) -> None:
        """Switch a partition to a new directory, as an overwrite of Spark or Impala does."""
        number, found = next(self._number), self._a_partition("private")
        place = f"{self.users.location('private')}_new/{number}"
        self.files.put(f"{place}/rows_{number}", f"switched {number}".encode())
        self.users.set_partition_location("private", found.values, place)

    def _insert_beside(self) -> None:
        number = next(self._number)
        SourceWriter(self.metastore, self.files, BESIDE).insert("old", None, {f"rows_{number}": b"archived"})

    def _a_partition(self, table: str) -> Any:
        return self.chance.choice(sorted(self.metastore._partitions[TableName(self.database, table)].items()))[1]

    def _tables(self) -> Iterator[Any]:
        for name, table in self.metastore._tables.items():
            if name in self._names or (name.database != self.database and KEPT not in name.database):
                yield table

    def _files(self, places: list[str]) -> Iterator[tuple[tuple[str, str], Any]]:
        above = ""
        for root in sorted({f"{place.rstrip('/')}/" for place in places}):
            if above and root.startswith(above):
                continue
            above = root
            for path in self.files._tree.below(root.rstrip("/")):
                node = self.files._nodes[path]
                marks = {key: value for key, value in node.attributes.items() if value}
                what = None if node.status.is_directory else (node.content, node.status.file_id)
                yield ("file", path), (what, marks, node.status.permission, node.status.owner)

    def _called(self, key: Any) -> str:
        return f"{self.files.root.removeprefix('hdfs://')}: {key[0]} {key[1]}"


def _difference(before: Any, now: Any) -> str:
    fields = [
        name
        for name in ("parameters", "location", "columns", "thrift", "managed_location", "owner")
        if hasattr(before, name) and getattr(before, name) != getattr(now, name)
    ]
    if "parameters" in fields:
        was, is_ = dict(before.parameters), dict(now.parameters)
        keys = sorted(key for key in was.keys() | is_.keys() if was.get(key) != is_.get(key))
        return f"parameters {', '.join(f'{key}: {was.get(key)} -> {is_.get(key)}' for key in keys)}"[:300]
    return f"{', '.join(fields)} changed" if fields else f"{before} -> {now}"[:200]
