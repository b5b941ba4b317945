"""Record what a source was after each of its events.

Metadata is read after each call of its users. Of files only those count that an event has told: a
writer's files lie in the directory before its event says so, and what an overwrite removes is gone
before its event. `Moment` keeps apart what readers of the source could see of that meanwhile.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.checker.states import NO_FILES, DatabaseState, Files, Pairs, TableState, Values, Viewer
from tests.source_writer import SourceMetastore
from twinhive.domain.files import base_name, is_below, relative_to
from twinhive.domain.names import TableName, default_directory, unescape_path_name
from twinhive.domain.objects import Partition, Table
from twinhive.ports import FileWriter

Key = tuple[str, Values | None]
"""What has files: a table, or a partition by its values."""
Told = dict[Key, Files]


@dataclass(frozen=True)
class Append:
    """The files that one event adds to one object."""

    key: Key
    files: Files


@dataclass
class Moment:
    """What the source was after an event, and until the next one.

    `append` is what the event itself added to an object. `untold` are files that were there without an event,
    `gone` those that an event has told and that were not there any more. `late` are the columns that a
    partition had before changes of its table's columns that no event has told of it (CASCADE).
    """

    event_id: int
    state: DatabaseState
    what: str = ""
    append: Append | None = None
    untold: set[tuple[str, str]] = field(default_factory=set)
    gone: set[tuple[str, str]] = field(default_factory=set)
    late: Mapping[Key, frozenset[Pairs]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"event {self.event_id} ({self.what})"


class Timeline:
    """Hold the moments in the order of their events."""

    def __init__(self, moments: Iterable[Moment] = ()) -> None:
        self.moments = list(moments)

    def add(self, moment: Moment) -> None:
        """Add the newest moment."""
        assert not self.moments or moment.event_id > self.newest.event_id
        self.moments.append(moment)

    @property
    def newest(self) -> Moment:
        """Return the newest moment."""
        return self.moments[-1]

    def index_at(self, event_id: int) -> int:
        """Return the index of the newest moment that is not after an event; 0 before all."""
        return max(bisect_right(self.moments, event_id, key=lambda moment: moment.event_id) - 1, 0)


class Recorder:
    """Keep the timeline of one source database, told of each call that changes it."""

    def __init__(self, metastore: SourceMetastore, files: FileWriter, database: str) -> None:
        self.timeline = Timeline()
        self._metastore = metastore
        self._viewer = Viewer(metastore, files, database)
        self._there = self._viewer.state()
        self._told: Told = dict(files_of(self._there))
        self._late: dict[Key, frozenset[Pairs]] = {}
        self._root = f"{files.root}/warehouse/managed/{database}.db"
        self._note("the beginning", None)

    @property
    def there(self) -> DatabaseState:
        """Return what readers of the source see."""
        return self._there

    def called(
        self, what: str, tables: Collection[str], told: Mapping[Key, Files | None], append: Append | None
    ) -> None:
        """Note a call that concerned some tables; `told` are files as its events tell them, None for all there are."""
        self.look(tables)
        there = files_of(self._there)
        self._told |= {key: there.get(key, NO_FILES) if files is None else files for key, files in told.items()}
        self._told = {key: self._told.get(key, NO_FILES) for key in there}
        self._late = {key: late for key, late in self._late.items() if key in there}
        self._note(what, append)

    def look(self, tables: Collection[str]) -> None:
        """Read tables again; what is there without an event is noted with the newest moment."""
        tables = {*tables, *self._referring_to(tables)}
        database = self._viewer.state(only=())
        kept = {name: table for name, table in self._there.tables if name not in tables}
        self._there = database.with_tables(kept | self._viewer.tables(tables))
        if self.timeline.moments:
            self._note_untold()

    def _referring_to(self, tables: Collection[str]) -> list[str]:
        """Return the tables with foreign keys to others: what becomes of those becomes of these."""
        endings = tuple(f" in {table}" for table in tables)
        return [name for name, state in self._there.tables if any(one.endswith(endings) for one in state.constraints)]

    def look_at(self, path: str) -> None:
        """Read the table again in whose default place a path is."""
        if is_below(path, self._root):
            directory = relative_to(path, self._root).partition("/")[0]
            self.look([name for name, _ in self._there.tables if default_directory(name) == directory])

    def rename(self, names: Mapping[Key, Key]) -> None:
        """Give what is told of objects to their new names."""
        moved = {new: self._told.pop(old, NO_FILES) for old, new in names.items()}
        self._told |= moved
        late = {new: self._late.pop(old) for old, new in names.items() if old in self._late}
        self._late |= late

    def cascaded(self, table: str) -> None:
        """Note that the columns of a table's partitions are about to change without a word in the log."""
        for values, partition in dict(self._there.tables)[table].partitions:
            late = self._late.get((table, values), frozenset())
            self._late[table, values] = late | {partition.columns}

    def spelled_out(self, keys: Iterable[Key]) -> None:
        """Note that an event tells all of some partitions."""
        for key in keys:
            self._late.pop(key, None)

    def keys_of(self, table: str) -> list[Key]:
        """Return the keys of a table and of its partitions."""
        return [key for key in self._told if key[0] == table]

    def told(self, key: Key) -> Files:
        """Return the files of an object as events tell them."""
        return self._told.get(key, NO_FILES)

    def between(self, what: str, event_id: int, tables: Mapping[str, TableState]) -> None:
        """Add a moment within a call, of which only the log tells: the newest one with these tables."""
        state = self.timeline.newest.state
        changed = state.with_tables(dict(state.tables) | tables)
        self.timeline.add(Moment(event_id, changed, what, late=dict(self._late)))

    def assert_whole(self) -> None:
        """Assert that reading only what a call concerns has missed nothing."""
        assert self._viewer.state() == self._there

    def _note(self, what: str, append: Append | None) -> None:
        event_id = self._metastore.current_event_id()
        if not self.timeline.moments or event_id > self.timeline.newest.event_id:
            state = with_files(self._there, self._told)
            self.timeline.add(Moment(event_id, state, what, append, late=dict(self._late)))
        self._note_untold()

    def _note_untold(self) -> None:
        newest = self.timeline.newest
        for key, files in files_of(self._there).items():
            newest.untold |= files - self.told(key)
            newest.gone |= self.told(key) - files


def files_of(state: DatabaseState) -> Told:
    """Return the files of each object."""
    found: Told = {}
    for name, table in state.tables:
        if not table.keys:
            found[name, None] = table.files
        for values, partition in table.partitions:
            found[name, values] = partition.files
    return found


def with_files(state: DatabaseState, files: Mapping[Key, Files]) -> DatabaseState:
    """Return a state with other files."""
    return state.with_tables({name: table_with_files(name, table, files) for name, table in state.tables})


def table_with_files(name: str, table: TableState, files: Mapping[Key, Files]) -> TableState:
    """Return a table with other files."""
    partitions = {values: replace(one, files=files.get((name, values), NO_FILES)) for values, one in table.partitions}
    return replace(table, files=files.get((name, None), NO_FILES)).with_partitions(partitions)


class RecordedSource:
    """Be a source metastore whose every change is recorded; the rest is passed on."""

    _OF_ONE_TABLE = (
        *("drop_table", "alter_partitions", "alter_partition", "drop_partitions", "add_constraints"),
        *("drop_constraint", "set_statistics", "delete_statistics"),
    )
    _OF_THE_DATABASE = ("set_database_parameters", "alter_database", "create_function", "drop_function")

    def __init__(self, metastore: SourceMetastore, recorder: Recorder) -> None:
        self._metastore = metastore
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._metastore, name)
        if name in self._OF_ONE_TABLE or name in self._OF_THE_DATABASE:
            return lambda *args, **kwargs: self._passed_on(name, value, *args, **kwargs)
        return value

    def _passed_on(self, name: str, call: Any, *args: Any, **kwargs: Any) -> None:
        call(*args, **kwargs)
        if name in ("alter_partition", "alter_partitions"):
            partitions = [args[0]] if name == "alter_partition" else args[0]
            self._recorder.spelled_out((one.table.table, one.values) for one in partitions)
        tables = _tables_of(args[0]) if name in self._OF_ONE_TABLE else ()
        self._recorder.called(f"{name} {', '.join(tables)}", tables, {}, None)

    def create_table(self, table: Table) -> None:
        self._metastore.create_table(table)
        self._recorder.called(f"create_table {table.name}", [table.name.table], {(table.name.table, None): None}, None)

    def add_partitions(self, partitions: Sequence[Partition]) -> None:
        self._metastore.add_partitions(partitions)
        (table,) = {one.table.table for one in partitions}
        told = {(table, one.values): None for one in partitions}
        self._recorder.called(f"add_partitions {table} {sorted(v for _, v in told)}", [table], told, None)

    def truncate_table(self, name: TableName, partition_names: Sequence[str] | None = None) -> None:
        self._metastore.truncate_table(name, partition_names)
        told: dict[Key, Files | None] = dict.fromkeys(self._recorder.keys_of(name.table), NO_FILES)
        if partition_names is not None:
            chosen = {
                tuple(unescape_path_name(part.partition("=")[2]) for part in one.split("/")) for one in partition_names
            }
            told = {key: files for key, files in told.items() if key[1] in chosen}
        self._recorder.called(f"truncate {sorted(told, key=str)}", [name.table], told, None)

    def alter_table(self, name: TableName, table: Table, **options: Any) -> None:
        if options.get("cascade"):
            self._recorder.cascaded(name.table)
        self._metastore.alter_table(name, table, **options)
        old, new = name.table, table.name.table
        if old != new:
            self._recorder.rename({(old, values): (new, values) for _, values in self._recorder.keys_of(old)})
        what = f"rename {old} to {new}" if old != new else f"alter_table {old} {options or ''}"
        self._recorder.called(what, {old, new}, {}, None)

    def rename_partition(self, values: Sequence[str], partition: Partition) -> None:
        self._metastore.rename_partition(values, partition)
        table = partition.table.table
        self._recorder.rename({(table, tuple(values)): (table, partition.values)})
        self._recorder.called(f"rename_partition {table} {values} to {partition.values}", [table], {}, None)

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
        there.called(f"exchange {values} out of {given}", [given, taking], {(taking, values): None}, None)

    def cm_recycle(self, path: str) -> None:
        self._metastore.cm_recycle(path)
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


def _tables_of(first: Any) -> Iterable[str]:
    """Return the table that a call's first argument names."""
    if isinstance(first, TableName):
        return [first.table]
    if isinstance(first, Partition):
        return [first.table.table]
    return sorted({one.table.table for one in first})
