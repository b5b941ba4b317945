"""Model a metastore with files, small and pure: statements change a state and say so in a log as Hive does.

A state is immutable and is kept for every event id, so that a test can ask what was true after an
event. What Hive does not log is silent here too (columns of partitions with CASCADE, partition
locations after a rename). A statement that Hive would refuse changes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import (
    AddConstraints,
    AddedPartition,
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DropConstraint,
    DropPartitions,
    DropTable,
    Event,
    EventFile,
    Insert,
    NotReplicated,
    RenamePartition,
)
from twinhive.core.model.constraints import FIELDS, Constraint, constraints_of
from twinhive.core.model.files import FileStatus, is_below
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.tjson import to_text

NAMES = tuple(TableName("sales", name) for name in "abc")
VALUES = (("1",), ("2",), ("3",))
MANAGED, EXTERNAL, VIEW = "MANAGED_TABLE", "EXTERNAL_TABLE", "VIRTUAL_VIEW"
SCHEMES: tuple[tuple[str, ...], ...] = ((), ("p",), ("q",))
T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class State:
    """What is there at one moment. A file is a number, its content; `files` is by path."""

    tables: Mapping[TableName, Table] = field(default_factory=dict)
    partitions: Mapping[TableName, Mapping[str, Partition]] = field(default_factory=dict)
    files: Mapping[str, int] = field(default_factory=dict)

    def files_below(self, directory: str) -> dict[str, int]:
        """Return the files below a directory by path."""
        return {path: number for path, number in self.files.items() if is_below(path, directory)}


class Dice:
    """Take small choices out of one number, so that a statement is one number."""

    def __init__(self, number: int) -> None:
        self._number = number

    def below(self, limit: int) -> int:
        """Return the next choice among `limit`."""
        self._number, choice = divmod(self._number, limit)
        return choice

    def of(self, choices: tuple[T, ...]) -> T:
        """Return one of the choices."""
        return choices[self.below(len(choices))]


class ModelMetastore:
    """Hold the present state, all former ones, and the log."""

    def __init__(self) -> None:
        self.state = _a_warehouse()
        self.event_id = 100
        self._log: list[Event] = []
        self._history = {self.event_id: self.state}
        self._fresh = len(self.state.files)

    # Reading, as of now.

    def events(self, after: int) -> list[Event]:
        """Return the events after an id."""
        return [event for event in self._log if event.event_id > after]

    def at(self, event_id: int) -> State:
        """Return the state after an event."""
        return self._history[event_id]

    def table_names(self) -> list[TableName]:
        """Return the names of the tables that exist."""
        return sorted(self.state.tables)

    def table(self, name: TableName) -> Table | None:
        """Return a table, None when there is none."""
        return self.state.tables.get(name)

    def constraints(self, table: TableName) -> tuple[Constraint, ...]:
        """Return the constraints of a table; none of one that does not exist."""
        there = self.state.tables.get(table)
        return (there.constraints if there else None) or ()

    def partition_names(self, table: TableName) -> list[str]:
        """Return the names of a table's partitions; none for a table that does not exist."""
        return sorted(self.state.partitions.get(table, {}))

    def partitions(self, table: TableName, names: list[str]) -> dict[str, Partition]:
        """Return those of the named partitions that exist."""
        there = self.state.partitions.get(table, {})
        return {name: there[name] for name in names if name in there}

    def list_files(self, directory: str) -> list[FileStatus]:
        """List the files below a directory; none when there is no such directory."""
        return [
            FileStatus(path, length=length_of(number), modified_ms=number, file_id=number)
            for path, number in self.state.files_below(directory).items()
        ]

    # Changing.

    def execute(self, number: int) -> None:
        """Execute the statement that a number stands for."""
        dice = Dice(number)
        statement = dice.of(_STATEMENTS)
        statement(self, dice)

    def _become(self, state: State, *changes: Change) -> None:
        self.state = state
        for change in map(_told, changes):
            self.event_id += 1
            self._log.append(Event(Position(self.event_id), type(change).__name__, change))
            self._history[self.event_id] = state

    def _number(self) -> int:
        self._fresh += 1
        return self._fresh

    def _some_table(self, dice: Dice) -> Table | None:
        return dice.of(tuple(self.state.tables.values())) if self.state.tables else None

    def _some_partitioned(self, dice: Dice) -> Table | None:
        known = tuple(table for table in self.state.tables.values() if table.partition_keys)
        return dice.of(known) if known else None

    def _some_partition(self, dice: Dice) -> tuple[Table, Partition] | None:
        known = tuple(
            (self.state.tables[name], partition)
            for name, partitions in self.state.partitions.items()
            for partition in partitions.values()
        )
        return dice.of(known) if known else None

    def _is_free(self, directory: str) -> bool:
        places = [table.location for table in self.state.tables.values()]
        places += [p.location for partitions in self.state.partitions.values() for p in partitions.values()]
        return not any(place and (place == directory or is_below(place, directory)) for place in places)

    def _new_file(self, files: dict[str, int], directory: str, subdirectory: str = "") -> str:
        """Add a file under the first free name, as Hive's writers do."""
        below = f"{directory}/{subdirectory}/" if subdirectory else f"{directory}/"
        path = next(below + str(n) for n in range(len(files) + 1) if below + str(n) not in files)
        files[path] = self._number()
        return path

    # Tables.

    def create_table(self, dice: Dice) -> None:
        """Create a table, empty or with files, managed or external, or a view."""
        name, keys = dice.of(NAMES), dice.of(SCHEMES)
        kind, told = dice.of((MANAGED, MANAGED, EXTERNAL, VIEW)), dice.of(_TOLD)
        location = None if kind == VIEW else f"hdfs://s/{kind}/{name.table}"
        if name in self.state.tables or (location and not self._is_free(location)):
            return
        keys, parameters = () if kind == VIEW else keys, {"v": str(self._number())}
        table = Table(name, kind, location, keys, _columns(1), parameters, "{}", constraints=())
        files = dict(self.state.files)
        if location and not table.partition_keys and dice.below(2):
            self._new_file(files, location)
        self._become(
            replace(
                self.state,
                tables={**self.state.tables, name: table},
                partitions={**self.state.partitions, name: {}},
                files=files,
            ),
            CreateTable(table, _told_at(table, location, files, told)),
        )

    def drop_table(self, dice: Dice) -> None:
        """Drop a table: one event; a managed one's files go."""
        table = self._some_table(dice)
        if table is None:
            return
        places = [table.location, *(p.location for p in self.state.partitions[table.name].values())]
        self._become(
            replace(
                self.state,
                tables=_without(self.state.tables, table.name),
                partitions=_without(self.state.partitions, table.name),
                files=_removed(self.state.files, places) if table.table_type == MANAGED else self.state.files,
            ),
            DropTable(table),
        )

    def rename_table(self, dice: Dice) -> None:
        """Rename a table; a managed one in its default place moves, with the partitions below it, silently."""
        before, name = self._some_table(dice), dice.of(NAMES)
        if before is None or name in self.state.tables:
            return
        old, new = before.location, before.location
        if before.table_type == MANAGED and old == f"hdfs://s/{MANAGED}/{before.name.table}":
            new = f"hdfs://s/{MANAGED}/{name.table}"
            if not self._is_free(new) or self.state.files_below(new):
                return
        after = before.at(name, new)
        partitions = {
            key: partition.at(name, _moved(partition.location, old, new))
            for key, partition in self.state.partitions[before.name].items()
        }
        self._become(
            State(
                {**_without(self.state.tables, before.name), name: after},
                {**_without(self.state.partitions, before.name), name: partitions},
                {str(_moved(path, old, new)): number for path, number in self.state.files.items()},
            ),
            AlterTable(before, after),
        )

    def alter_table(self, dice: Dice) -> None:
        """Change parameters of a table."""
        before = self._some_table(dice)
        if before is not None:
            self._become(*self._altered(before, before.with_parameters({"v": str(self._number())})))

    def add_column(self, dice: Dice) -> None:
        """Add a column; with CASCADE the partitions get it too, which no event says."""
        before, cascade = self._some_table(dice), dice.below(2)
        if before is None:
            return
        after = replace(before, columns=_columns(len(before.columns) + 1))
        state, change = self._altered(before, after)
        if cascade:
            partitions = {
                key: replace(partition, thrift=_struct(after))
                for key, partition in state.partitions[before.name].items()
            }
            state = replace(state, partitions={**state.partitions, before.name: partitions})
        self._become(state, change)

    def change_column(self, dice: Dice) -> None:
        """Give the first column another type; its constraints go, which no event says."""
        before = self._some_table(dice)
        if before is not None:
            (name, _), *others = before.columns
            after = replace(before, columns=((name, f"type{self._number()}"), *others), constraints=())
            self._become(*self._altered(before, after))

    def add_constraint(self, dice: Dice) -> None:
        """Constrain the first column of a table."""
        before = self._some_table(dice)
        if before is not None and before.has_files:
            (made,) = constraints_of("not_null", [_constraint(before, f"k{self._number()}")])
            state, _ = self._altered(before, replace(before, constraints=(*(before.constraints or ()), made)))
            self._become(state, AddConstraints(before.name, made.kind, made.structs))

    def drop_constraint(self, dice: Dice) -> None:
        """Drop a constraint."""
        constrained = tuple(table for table in self.state.tables.values() if table.constraints)
        if constrained:
            before = dice.of(constrained)
            (gone, *kept) = before.constraints or ()
            state, _ = self._altered(before, before.with_constraints(tuple(kept)))
            self._become(state, DropConstraint(before.name, gone.name))

    def move_table(self, dice: Dice) -> None:
        """Set the location of a table, to a new place or back to its default one; no file moves."""
        before = self._some_table(dice)
        if before is None or before.location is None:
            return
        home = f"hdfs://s/{before.table_type}/{before.name.table}"
        location = home if dice.below(2) and self._is_free(home) else f"hdfs://s/elsewhere/{self._number()}"
        if location != before.location:
            self._become(*self._altered(before, before.at(before.name, location)))

    def truncate_table(self, dice: Dice) -> None:
        """Remove the files of an unpartitioned table; a second event follows for the statistics."""
        before = self._some_table(dice)
        if before is None or before.partition_keys or before.location is None:
            return
        state, change = self._altered(before, before.with_parameters({"v": str(self._number())}))
        state = replace(state, files=_removed(state.files, [before.location]))
        self._become(state, AlterTable(before, before, truncates=True), change)

    def _altered(self, before: Table, after: Table) -> tuple[State, AlterTable]:
        return replace(self.state, tables={**self.state.tables, after.name: after}), AlterTable(before, after)

    # Partitions.

    def add_partitions(self, dice: Dice) -> None:
        """Add one or two partitions in one call, empty or with files, in their default places or elsewhere."""
        table = self._some_partitioned(dice)
        if table is None:
            return
        first, told = dice.below(3), dice.of(_TOLD)
        files, added = dict(self.state.files), []
        for values in VALUES[first : first + 1 + dice.below(2)]:
            name = partition_name(table.partition_keys, values)
            home = f"{table.location}/{name}"
            location = home if dice.below(4) and self._is_free(home) else f"hdfs://s/elsewhere/{self._number()}"
            if name in self.state.partitions[table.name]:
                return
            if dice.below(3):
                self._new_file(files, location)
            added.append(Partition(table.name, values, location, {"v": str(self._number())}, _struct(table)))
        entries = tuple(AddedPartition(p, _told_at(table, p.location, files, told)) for p in added)
        state = replace(self._with_partitions(table, *added), files=files)
        self._become(state, AddPartitions(table, entries))

    def drop_partitions(self, dice: Dice) -> None:
        """Drop one partition, or all of a table in one call."""
        chosen, all_of_them = self._some_partition(dice), dice.below(4) == 0
        if chosen is None:
            return
        table, partition = chosen
        gone = tuple(self.state.partitions[table.name].values()) if all_of_them else (partition,)
        state = self._without_partitions(table, *gone)
        if table.table_type == MANAGED:
            state = replace(state, files=_removed(state.files, [p.location for p in gone]))
        self._become(state, DropPartitions(table, tuple(p.values for p in gone)))

    def alter_partition(self, dice: Dice) -> None:
        """Change parameters of a partition."""
        chosen = self._some_partition(dice)
        if chosen is not None:
            table, partition = chosen
            self._become(*self._altered_partition(table, partition))

    def move_partition(self, dice: Dice) -> None:
        """Set the location of a partition, to a new place or back to its default one; no file moves."""
        chosen = self._some_partition(dice)
        if chosen is None:
            return
        table, partition = chosen
        home = f"{table.location}/{partition.name(table.partition_keys)}"
        location = home if dice.below(2) and self._is_free(home) else f"hdfs://s/elsewhere/{self._number()}"
        self._become(*self._altered_partition(table, partition.at(table.name, location)))

    def truncate_partition(self, dice: Dice) -> None:
        """Remove the files of a partition; a second event follows for the statistics."""
        chosen = self._some_partition(dice)
        if chosen is None:
            return
        table, partition = chosen
        state, change = self._altered_partition(table, partition)
        state = replace(state, files=_removed(state.files, [partition.location]))
        self._become(state, AlterPartitions(table, (partition,), truncates=True), change)

    def rename_partition(self, dice: Dice) -> None:
        """Give a partition other values; a managed one goes to its default place with its files."""
        chosen, values = self._some_partition(dice), dice.of(VALUES)
        if chosen is None:
            return
        table, before = chosen
        name = partition_name(table.partition_keys, values)
        if name in self.state.partitions[table.name]:
            return
        place = before.location
        if table.table_type == MANAGED:
            place = f"{table.location}/{name}"
            if not self._is_free(place) or self.state.files_below(place):
                return
        after = replace(before, values=values, location=place)
        state = replace(
            self._with_partitions(table, after, gone=(before,)),
            files={str(_moved(path, before.location, place)): n for path, n in self.state.files.items()},
        )
        self._become(state, RenamePartition(table, before, after))

    def exchange_partition(self, dice: Dice) -> None:
        """Move a partition to another table of the same scheme: ADD there, DROP here."""
        chosen, target = self._some_partition(dice), self._some_partitioned(dice)
        if chosen is None or target is None:
            return
        source, before = chosen
        name = before.name(source.partition_keys)
        place = f"{target.location}/{name}"
        fits = source.partition_keys == target.partition_keys and source.table_type == target.table_type == MANAGED
        taken = name in self.state.partitions[target.name] or not self._is_free(place) or self.state.files_below(place)
        if not fits or taken:
            return
        after = before.at(target.name, place)
        files = {str(_moved(path, before.location, place)): n for path, n in self.state.files.items()}
        state = replace(self._without_partitions(source, before), files=files)
        there = {**state.partitions[target.name], name: after}
        self._become(
            replace(state, partitions={**state.partitions, target.name: there}),
            AddPartitions(target, (AddedPartition(after, _told_at(target, place, files, "with checksums")),)),
            DropPartitions(source, (before.values,)),
        )

    def _altered_partition(self, table: Table, partition: Partition) -> tuple[State, AlterPartitions]:
        after = partition.with_parameters({"v": str(self._number())})
        return self._with_partitions(table, after), AlterPartitions(table, (after,))

    def _with_partitions(self, table: Table, *new: Partition, gone: tuple[Partition, ...] = ()) -> State:
        keys = table.partition_keys
        there = dict(self._without_partitions(table, *gone).partitions[table.name])
        there |= {partition.name(keys): partition for partition in new}
        return replace(self.state, partitions={**self.state.partitions, table.name: there})

    def _without_partitions(self, table: Table, *gone: Partition) -> State:
        names = {partition.name(table.partition_keys) for partition in gone}
        there = {name: p for name, p in self.state.partitions[table.name].items() if name not in names}
        return replace(self.state, partitions={**self.state.partitions, table.name: there})

    # Rows.

    def insert(self, dice: Dice) -> None:
        """Add files to a table or partition, or replace all its files; then its statistics may change."""
        table = self._some_table(dice)
        if table is None or table.location is None:
            return
        there = tuple(self.state.partitions[table.name].values())
        partition = dice.of(there) if there else None
        if table.partition_keys and partition is None:
            return
        overwrites, with_checksums, subdirectory = dice.below(3) == 0, dice.below(4) > 0, dice.of(("", "", "s"))
        directory = str(partition.location if partition else table.location)
        files = _removed(self.state.files, [directory]) if overwrites else dict(self.state.files)
        new = [self._new_file(files, directory, subdirectory) for _ in range(dice.below(3))]
        told = tuple(_event_file(path, files[path], with_checksums) for path in new)
        inserted = Insert(table, partition, told, replaces=overwrites)
        self._become(replace(self.state, files=files), inserted)
        if dice.below(2):
            after = table.with_parameters({"v": str(self._number())})
            self._become(*(self._altered_partition(table, partition) if partition else self._altered(table, after)))

    def something_else(self, dice: Dice) -> None:
        """Take an event id for what concerns no table here."""
        self._become(self.state, NotReplicated(None, "a transaction"))


_TOLD = ("with checksums", "with checksums", "without checksums", "not at all")

_STATEMENTS: tuple[Callable[[ModelMetastore, Dice], None], ...] = (
    ModelMetastore.something_else,
    ModelMetastore.create_table,
    ModelMetastore.add_partitions,
    ModelMetastore.insert,
    ModelMetastore.drop_table,
    ModelMetastore.drop_partitions,
    ModelMetastore.rename_table,
    ModelMetastore.rename_partition,
    ModelMetastore.alter_table,
    ModelMetastore.alter_partition,
    ModelMetastore.add_column,
    ModelMetastore.change_column,
    ModelMetastore.add_constraint,
    ModelMetastore.drop_constraint,
    ModelMetastore.move_table,
    ModelMetastore.move_partition,
    ModelMetastore.truncate_table,
    ModelMetastore.truncate_partition,
    ModelMetastore.exchange_partition,
    # The usual ones once more, so that there is something for the others to change.
    ModelMetastore.create_table,
    ModelMetastore.create_table,
    ModelMetastore.add_partitions,
    ModelMetastore.add_partitions,
    ModelMetastore.insert,
)


def _a_warehouse() -> State:
    """Return a table of two partitions and one without, each directory with a file."""
    a, b = (
        Table(name, MANAGED, f"hdfs://s/{MANAGED}/{name.table}", keys, _columns(1), {}, "{}", constraints=())
        for name, keys in zip(NAMES, (("p",), ()), strict=False)
    )
    partitions = {
        name: Partition(a.name, values, f"{a.location}/{name}", {}, _struct(a))
        for values in VALUES[:2]
        for name in [partition_name(a.partition_keys, values)]
    }
    directories = [*(partition.location for partition in partitions.values()), b.location]
    files = {f"{directory}/0": number for number, directory in enumerate(directories, start=1)}
    return State({a.name: a, b.name: b}, {a.name: partitions, b.name: {}}, files)


def _told(change: Change) -> Change:
    """Return a change as an event tells it: constraints have events of their own."""
    match change:
        case CreateTable(table=table):
            return replace(change, table=table.with_constraints(None))
        case AlterTable(before=before, after=after):
            return replace(change, before=before.with_constraints(None), after=after.with_constraints(None))
    return change


def _constraint(table: Table, name: str) -> str:
    fields = FIELDS["not_null"]
    return to_text({fields.column: {"str": table.columns[0][0]}, fields.name: {"str": name}})


def checksum_of(number: int) -> str:
    """Return the checksum of a file with this content."""
    return f"c{number}"


def length_of(number: int) -> int:
    """Return the length of a file with this content."""
    return 1000 + number


def _told_at(table: Table, location: str | None, files: Mapping[str, int], told: str) -> tuple[EventFile, ...]:
    """Name the files that a creation finds: none of external tables, as Hive does."""
    if location is None or (table.partition_keys and location == table.location):
        return ()
    if table.table_type != MANAGED or told == "not at all":
        return ()
    there = {path: number for path, number in files.items() if is_below(path, location)}
    return tuple(_event_file(path, number, told == "with checksums") for path, number in there.items())


def _event_file(path: str, number: int, with_checksum: bool) -> EventFile:
    return EventFile(path, checksum_of(number), "hdfs://s/cmroot") if with_checksum else EventFile(path)


def _columns(count: int) -> tuple[tuple[str, str], ...]:
    return tuple((f"c{n}", "int") for n in range(count))


def _struct(table: Table) -> str:
    """Stand for the part of a partition's struct that a change of columns changes."""
    return str(table.columns)


def _without(mapping: Mapping[K, V], key: K) -> dict[K, V]:
    return {name: value for name, value in mapping.items() if name != key}


def _removed(files: Mapping[str, int], directories: list[str | None]) -> dict[str, int]:
    return {
        path: number
        for path, number in files.items()
        if not any(directory and is_below(path, directory) for directory in directories)
    }


def _moved(path: str | None, old: str | None, new: str | None) -> str | None:
    inside = path and old and new and is_below(path, old)
    return f"{new}{path[len(old) :]}" if inside and path and old else path
