"""Be a source whose every change is recorded: its metastore and its file system, for those who use them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.checker.set_judge import MarkedSets
from tests.checker.states import NO_FILES, Files
from tests.checker.timeline import Append, Key, Recorder, files_of, table_with_files
from tests.support.users.source_writer import SourceMetastore
from twinhive.core.model.errors import Refused
from twinhive.core.model.files import base_name
from twinhive.core.model.names import TableName, unescape_path_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.sets.set_mark import sets_table
from twinhive.core.ports import FileWriter


class RecordedSource:
    """Be a source metastore whose every change is recorded; the rest is passed on."""

    _OF_ONE_TABLE = (
        *("drop_table", "alter_partitions", "alter_partition", "drop_partitions", "add_constraints"),
        *("drop_constraint", "set_statistics", "delete_statistics"),
    )
    _OF_THE_DATABASE = ("set_database_parameters", "alter_database", "create_function", "drop_function")

    def __init__(self, metastore: SourceMetastore, recorder: Recorder, sets: MarkedSets | None = None) -> None:
        self._metastore = metastore
        self._recorder = recorder
        self._sets = sets

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._metastore, name)
        if name in self._OF_ONE_TABLE or name in self._OF_THE_DATABASE:
            return lambda *args, **kwargs: self._passed_on(name, value, *args, **kwargs)
        return value

    def _passed_on(self, name: str, call: Any, *args: Any, **kwargs: Any) -> None:
        one_table = name in self._OF_ONE_TABLE
        if one_table and self._is_of_sets(args[0]):
            call(*args, **kwargs)
            self._set_called(name, *args[:2])
            return
        if (one_table and not self._is_ours(args[0])) or (not one_table and _database_of(args[0]) != self._database):
            call(*args, **kwargs)
            return
        moved: dict[Key, None] = {}
        if name in ("alter_partition", "alter_partitions"):
            partitions = [args[0]] if name == "alter_partition" else args[0]
            moved = dict.fromkeys(self._moved(partitions))
            self._recorder.spelled_out((one.table.table, one.values) for one in partitions)
        tables = _tables_of(args[0]) if one_table else ()
        what = f"{name} {', '.join(tables)}{f', moving {list(moved)}' if moved else ''}"
        try:
            call(*args, **kwargs)
        except Refused:
            # Hive drops partitions first and deletes their directories then: it refuses one that is not there too late.
            if name == "drop_partitions" and not self._metastore.partitions(*args):
                self._recorder.called(what, tables, {})
            raise
        self._recorder.called(what, tables, moved, moved=moved)

    def _moved(self, partitions: Sequence[Partition]) -> list[Key]:
        """Return those that are about to get another location."""
        (name,) = {one.table for one in partitions}
        table = self._metastore.table(name)
        names = [one.name(table.partition_keys) for one in partitions] if table else []
        places = {one.values: one.location for one in self._metastore.partitions(name, names)}
        return [(name.table, one.values) for one in partitions if places.get(one.values) != one.location]

    @property
    def _database(self) -> str:
        return self._recorder.database

    def _is_ours(self, first: Any) -> bool:
        """True for a table of the database that is recorded; what happens to others is of nobody's concern."""
        return bool(_name_of(first).database == self._database)

    def _is_of_sets(self, first: Any) -> bool:
        return self._sets is not None and _name_of(first) == sets_table(self._database)

    def _set_called(self, name: str, *args: Any) -> None:
        self._recorder.noted(f"{name} of sets")
        assert self._sets is not None
        if name == "drop_partitions":
            self._sets.unmarked(args[1])
        elif name in ("add_partitions", "alter_partitions"):
            self._sets.marked(args[0])

    def create_table(self, table: Table) -> None:
        self._metastore.create_table(table)
        if self._is_of_sets(table.name):
            self._set_called("create_table")
            return
        if not self._is_ours(table.name):
            return
        self._recorder.called(f"create_table {table.name}", [table.name.table], {(table.name.table, None): None})

    def add_partitions(self, partitions: Sequence[Partition]) -> None:
        self._metastore.add_partitions(partitions)
        if self._is_of_sets(partitions):
            self._set_called("add_partitions", partitions)
            return
        if not self._is_ours(partitions):
            return
        (table,) = {one.table.table for one in partitions}
        told = {(table, one.values): None for one in partitions}
        self._recorder.called(f"add_partitions {table} {sorted(v for _, v in told)}", [table], told)

    def truncate_table(self, name: TableName, partition_names: Sequence[str] | None = None) -> None:
        self._metastore.truncate_table(name, partition_names)
        if not self._is_ours(name):
            return
        told: dict[Key, Files | None] = dict.fromkeys(self._recorder.keys_of(name.table), NO_FILES)
        if partition_names is not None:
            chosen = {
                tuple(unescape_path_name(part.partition("=")[2]) for part in one.split("/")) for one in partition_names
            }
            told = {key: files for key, files in told.items() if key[1] in chosen}
        self._recorder.called(f"truncate {sorted(told, key=str)}", [name.table], told)

    def alter_table(self, name: TableName, table: Table, **options: Any) -> None:
        is_ours, stays_ours = self._is_ours(name), self._is_ours(table.name)
        if options.get("cascade") and is_ours:
            self._recorder.cascaded(name.table)
        before = self._metastore.table(name) if is_ours and stays_ours else None
        self._metastore.alter_table(name, table, **options)
        if not is_ours:
            if stays_ours:
                self._came(name, table)
            return
        old, new = name.table, table.name.table
        if not stays_ours:
            self._recorder.called(f"rename {old} to {table.name}", {old}, {})
            return
        renamed = {old, new} if old != new else set()
        if renamed:
            self._recorder.rename({(old, values): (new, values) for _, values in self._recorder.keys_of(old)})
        moves = before is not None and not renamed and before.location != table.location
        told: dict[Key, Files | None] = {(new, None): None} if moves and not table.partition_keys else {}
        what = f"rename {old} to {new}" if renamed else f"{'move' if moves else 'alter_table'} {old} {options or ''}"
        self._recorder.called(what, {old, new}, told, renamed=renamed, whole={new} if moves else ())

    def _came(self, name: TableName, table: Table) -> None:
        """Note a table of another database that is one of ours now, with all that it holds."""
        new = table.name.table
        self._recorder.look([new])
        told: dict[Key, Files | None] = {key: None for key in files_of(self._recorder.there) if key[0] == new}
        self._recorder.called(f"rename {name} to {new}", {new}, told, whole={new})

    def rename_partition(self, values: Sequence[str], partition: Partition) -> None:
        self._metastore.rename_partition(values, partition)
        if not self._is_ours(partition.table):
            return
        table = partition.table.table
        self._recorder.rename({(table, tuple(values)): (table, partition.values)})
        self._recorder.called(f"rename_partition {table} {values} to {partition.values}", [table], {})

    def exchange_partitions(self, specification: Mapping[str, str], source: TableName, destination: TableName) -> None:
        """Two events: the partition is added, with its files, before it is dropped."""
        before = self._metastore.current_event_id()
        self._metastore.exchange_partitions(specification, source, destination)
        given, taking, values = source.table, destination.table, tuple(specification.values())
        there = self._recorder
        there.look([given, taking])
        state = dict(there.there.tables)[taking]
        told = {key: there.told(key) for key in there.keys_of(taking)}
        told[taking, values] = files_of(there.there)[taking, values]
        there.between(f"exchange {values} into {taking}", before + 1, {taking: table_with_files(taking, state, told)})
        there.called(f"exchange {values} out of {given}", [given, taking], {(taking, values): None})
        *_, between, after = there.timeline.moments
        between.directories = {**after.directories, **between.directories}

    def recycle(self, path: str) -> None:
        self._metastore.recycle(path)
        self._recorder.look_at(path)

    def fire_insert(
        self,
        name: TableName,
        values: Sequence[str] | None,
        files: Sequence[tuple[str, str | None]],
        *,
        replaces: bool = False,
    ) -> None:
        self._metastore.fire_insert(name, values, files, replaces=replaces)
        if not self._is_ours(name):
            return
        key: Key = (name.table, None if values is None else tuple(values))
        self._recorder.look([name.table])
        there = dict(files_of(self._recorder.there)[key])
        new = frozenset((base_name(path), there[base_name(path)]) for path, _ in files)
        told = new if replaces else self._recorder.told(key) | new
        append = None if replaces else Append(key, new)
        self._recorder.called(f"{'overwrite' if replaces else 'insert into'} {key}", [name.table], {key: told}, append)


class RecordedFiles:
    """Be the file system of a source, where writers leave files before their events tell of them."""

    def __init__(self, files: FileWriter, recorder: Recorder) -> None:
        self._files = files
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def write(self, path: str, content: bytes) -> None:
        self._files.write(path, content)
        self._recorder.look_at(path)

    def delete(self, path: str) -> bool:
        deleted = self._files.delete(path)
        self._recorder.look_at(path)
        return deleted


def _name_of(first: Any) -> TableName:
    """Return the table that a call's first argument names, or whose partitions it holds."""
    one = first[0] if isinstance(first, list | tuple) and not isinstance(first, TableName) else first
    name: TableName = one.table if isinstance(one, Partition) else one
    return name


def _database_of(first: Any) -> str:
    """Return the database that a call's first argument names, or is a part of."""
    return str(getattr(first, "database", None) or getattr(first, "name", first)).lower()


def _tables_of(first: Any) -> Iterable[str]:
    """Return the table that a call's first argument names."""
    if isinstance(first, TableName):
        return [first.table]
    if isinstance(first, Partition):
        return [first.table.table]
    return sorted({one.table.table for one in first})
