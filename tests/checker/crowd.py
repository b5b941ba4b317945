"""Be the users of a source: writers who do random things at the same time, paused between any two calls.

They keep the locks that Hive keeps: nobody drops or renames what another one writes to, nobody overwrites
what another one appends to.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, cast

from tests.checker.marked import MarkedSets
from tests.checker.pauses import Pausable, pause
from tests.checker.places import Places
from tests.checker.recorded import RecordedFiles, RecordedSource
from tests.checker.states import DatabaseState, TableState, Values
from tests.checker.timeline import Recorder
from tests.support.users.source_writer import SourceMetastore, SourceWriter
from twinhive.model.errors import TwinhiveError
from twinhive.model.names import TableName, partition_name
from twinhive.model.sets.mark import FOREVER
from twinhive.ports import FileWriter
from twinhive.sets.listing import SetsOfDatabase, left_behind, take_away
from twinhive.sets.marking import MarkSet, UnmarkSet

NAMES = ("a", "b", "c", "d")
ODD_NAMES = ("a.b", "c/d e", "..", "x#%'$(y)")
"""Names that Hive takes, and that are something else in a path, a regular expression or a shell."""
VIEWS = ("v", "w")
ELSEWHERE = "elsewhere"
"""Another database of the source, which nobody replicates."""
OTHERS = (ELSEWHERE, "beyond")
VALUES: tuple[Values, ...] = (("1",), ("2",), ("a b",), ("ü=%",))
FIRST = "000000_0"

Lock = tuple[str, Values | None]
Choice = tuple[int, Callable[[], "Statement | None"]]
DATABASE: Lock = ("", None)


@dataclass(frozen=True)
class Statement:
    """What a user does, and what others must keep away from meanwhile, or must not take for themselves."""

    what: str
    run: Callable[[], Any]
    alone: frozenset[Lock] = frozenset()
    shared: frozenset[Lock] = frozenset()

    def conflicts(self, other: "Statement") -> bool:
        """True when the two cannot run at the same time."""
        return bool(self.alone & (other.alone | other.shared) or self.shared & other.alone)


class _Paused:
    """Pass calls on, with a pause before each one that changes something."""

    CHANGES = (
        *("create_table", "drop_table", "alter_table", "add_partitions", "drop_partitions", "alter_partition"),
        *("alter_partitions", "rename_partition", "exchange_partitions", "truncate_table", "fire_insert"),
        *("recycle", "set_database_parameters", "write", "delete", "set_statistics", "add_constraints"),
        "drop_constraint",
    )

    def __init__(self, port: Any) -> None:
        self._port = port

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if name not in self.CHANGES:
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            pause()
            return value(*args, **kwargs)

        return call


@dataclass
class Crowd:
    """Hold the writers of one database. Of a thousand steps, so many `deaths` end with their writer's.

    With `has_keys` tables refer to each other. With `is_odd` they do what few users do: names that look like paths,
    views with partitions, renames out of the database, statistics of partitions, columns of another type. With `nests`
    some files lie deeper in the directories of what is made. With `crosses` tables and views are renamed between this
    database, `elsewhere` and `beyond`; with `moves` tables and partitions get other locations. With `marks` sets are
    said to be done, and not to be done any more, at any moment.
    """

    random: Random
    metastore: SourceMetastore
    files: FileWriter
    database: str
    statements: int
    writers: int = 2
    deaths: int = 0
    has_keys: bool = False
    is_odd: bool = False
    nests: bool = False
    crosses: bool = False
    moves: bool = False
    marks: bool = False
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = ODD_NAMES if self.is_odd else NAMES
        for other in OTHERS if self.crosses else (ELSEWHERE,) if self.is_odd else ():
            if self.metastore.database(other) is None:
                SourceWriter.with_database(self.metastore, self.files, other)
        self.recorder = Recorder(self.metastore, self.files, self.database)
        self.sets = MarkedSets(self.recorder.timeline)
        if self.marks:
            self.sets.look(self.recorder.there, self.recorder.tables)
            self.recorder.followers.append(self.sets)
        source: Any = _Paused(RecordedSource(self.metastore, self.recorder, self.sets if self.marks else None))
        files: Any = _Paused(RecordedFiles(self.files, self.recorder))
        self.users = SourceWriter(source, files, self.database)
        self.others = {other: SourceWriter(source, files, other) for other in OTHERS if self.crosses}
        self._running: list[tuple[Statement, Pausable]] = []
        self.taken: dict[Lock, set[str]] = {}
        self._number = 0
        self._contents = 0

    @property
    def is_busy(self) -> bool:
        """True while statements are left over, or under way."""
        return bool(self.statements or self._running)

    def tick(self) -> None:
        """Let one writer go one step on."""
        if self.statements and len(self._running) < self.writers and self.random.random() < 0.6:
            self._begin()
        elif self._running:
            self._step(self.random.choice(self._running))

    def run(self, statements: int) -> None:
        """Let some statements be done now, beside those that are to come."""
        left, self.statements = self.statements, statements
        while self.is_busy:
            self.tick()
        self.statements = left

    def finish(self) -> None:
        """Do all that is left over."""
        while self.is_busy:
            self.tick()

    def _begin(self) -> None:
        self.statements -= 1
        if not self._running:
            self.taken.clear()
        for _ in range(10):
            statement = Statements(self).choose()
            if statement and not any(statement.conflicts(other) for other, _ in self._running):
                self.log.append(f"{statement.what} begins")
                running = (statement, Pausable(statement.run, statement.what))
                self._running.append(running)
                self._step(running)
                return

    def _step(self, running: tuple[Statement, Pausable]) -> None:
        statement, writer = running
        # One that dies in an overwrite has removed files without a word: that is for the scan to find.
        if self.random.randrange(1000) < self.deaths and not statement.what.startswith("overwrite"):
            self.log.append(f"{statement.what}: its writer dies")
            writer.abandon()
        else:
            writer.step()
        if writer.ended:
            self._running.remove(running)
            if writer.error is not None and not isinstance(writer.error, TwinhiveError):
                raise writer.error
            outcome = f"refused: {str(writer.error).splitlines()[0]}" if writer.error else "done"
            self.log.append(f"{statement.what}: {outcome} at event {self.recorder.timeline.newest.event_id}")

    def content(self) -> bytes:
        """Return the content of a new file; sometimes one that another file had."""
        if not self._contents or self.random.random() < 0.85:
            self._contents += 1
            return f"rows {self._contents}\n".encode() * self.random.randint(1, 3)
        return f"rows {self.random.randint(1, self._contents)}\n".encode()

    def fresh(self) -> str:
        """Return a value that nobody had."""
        self._number += 1
        return str(self._number)


class Statements:
    """Choose a statement that makes sense at this moment."""

    def __init__(self, crowd: Crowd) -> None:
        self.crowd = crowd
        self.random = crowd.random
        self.users = crowd.users
        self.state: DatabaseState = crowd.recorder.there
        self.tables: dict[str, TableState] = {
            name: table for name, table in self.state.tables if table.kind == "MANAGED_TABLE"
        }

    def choose(self) -> Statement | None:
        """Return a statement, None when the first choice has nothing to be done to."""
        weighted: list[Choice] = [
            (3, self.create_table),
            (1, self.create_view),
            (2, self.drop_table),
            (2, self.rename),
            (1, self.swap),
            (2, self.replace_table),
            (5, self.insert),
            (5, self.overwrite),
            (2, self.truncate),
            (5, self.add_partitions),
            (3, self.drop_partitions),
            (3, self.replace_partition),
            (2, self.rename_partition),
            (2, self.exchange),
            (3, self.set_parameters),
            (1, self.set_owner),
            (2, self.add_columns),
            (2, self.alter_partitions),
            (1, self.database_parameters),
            (1, self.function),
            (8 if self.crowd.has_keys or self.crowd.is_odd else 1, self.details),
        ]
        if self.crowd.is_odd:
            weighted += [(2, self.move_out), (3, self.partitions_of_a_view), (2, self.change_type)]
        weighted += Crossing(self).weighted() if self.crowd.crosses else []
        weighted += Moving(self).weighted() if self.crowd.moves else []
        weighted += Marking(self).weighted() if self.crowd.marks else []
        weights, choices = zip(*weighted, strict=True)
        (choice,) = self.random.choices(choices, weights)
        return choice()

    # What there is to choose from.

    def _one(self, choices: Sequence[Any]) -> Any:
        return self.random.choice(choices) if choices else None

    def _free_name(self, names: Sequence[str]) -> str | None:
        taken, places = dict(self.state.tables), self._places()
        return self._one([name for name in names if name not in taken and not self._users_of(name, places)])

    def _places(self) -> Places:
        return Places.of(self.users.metastore, self.users.database)

    def _users_of(self, name: str, places: Places) -> set[str]:
        """Return the tables that lie where Hive puts one of that name."""
        return places.users(self.users.default_location(name))

    def _free_table(self) -> str | None:
        return self._free_name(self.crowd.names)

    def _partitioned(self) -> str | None:
        return self._one([name for name, table in self.tables.items() if table.keys])

    def _partitions(self, table: str) -> list[Values]:
        return [values for values, _ in self.tables[table].partitions]

    def _object(self) -> tuple[str, Values | None] | None:
        name = self._one(list(self.tables))
        if name is None or not self.tables[name].keys:
            return name and (name, None)
        values = self._one(self._partitions(name))
        return values and (name, values)

    def _contents(self, most: int = 2) -> dict[str, bytes]:
        number = self.random.choice([0, 1, 1, most])
        # What was moved away from leaves its files behind, which nobody writes over.
        writer = f"_{self.crowd.fresh()}" if self.crowd.moves else ""
        return {f"{index:06d}_0{writer}": self.crowd.content() for index in range(number)}

    def _made(self) -> dict[str, bytes]:
        """Return the files of a table or partition that is made; some lie deeper, as UNION ALL leaves them."""
        files = self._contents()
        if self.crowd.nests and self.random.random() < 0.2:
            directory = f"HIVE_UNION_SUBDIR_{self.crowd.fresh() if self.crowd.moves else 1}"
            files[f"{directory}/000000_0"] = self.crowd.content()
        return files

    def _new_files(self, table: str, values: Values | None) -> dict[str, bytes]:
        """Name files as Hive does, which never overwrites one in an INSERT INTO."""
        taken = self.crowd.taken.setdefault((table, values), set())
        taken |= {entry.path.rpartition("/")[2] for entry in self._listed(table, values)}
        names = [name for name in (FIRST, *(f"{FIRST}_copy_{number}" for number in range(1, 60))) if name not in taken]
        chosen = names[: self.random.randint(1, 3)]
        taken.update(chosen)
        return {name: self.crowd.content() for name in chosen}

    def _listed(self, table: str, values: Values | None) -> Iterator[Any]:
        ((_, found),) = self.users.files.list_directories([self.users.location(table, values)])
        yield from found or ()

    def _keys(self) -> tuple[str, ...]:
        return self.random.choice([(), ("p",), ("p",)])

    # Tables.

    def create_table(self) -> Statement | None:
        name, keys = self._free_table(), self._keys()
        if name is None:
            return None
        files = {} if keys else self._made()
        parameters = {"made": self.crowd.fresh()}
        return _alone(f"create {name} {keys}", lambda: self.users.create_table(name, keys, files, parameters), name)

    def create_view(self) -> Statement | None:
        name = self._free_name(VIEWS)
        keys = self._keys() if self.crowd.is_odd else ()
        return name and _alone(f"create view {name} {keys}", lambda: self.users.create_view(name, keys), name)

    def drop_table(self) -> Statement | None:
        name = self._one([name for name, _ in self.state.tables])
        return name and _alone(f"drop {name}", lambda: self.users.drop_table(name), name)

    def rename(self) -> Statement | None:
        old = self._one([name for name, _ in self.state.tables])
        new = self._free_name(VIEWS if old in VIEWS else self.crowd.names)
        if old is None or new is None:
            return None
        return _alone(f"rename {old} to {new}", lambda: self.users.rename_table(old, new), old, new)

    def swap(self) -> Statement | None:
        if len(self.tables) < 2:
            return None
        one, other = self.random.sample(sorted(self.tables), 2)

        def swap() -> None:
            self.users.rename_table(one, "between")
            self.users.rename_table(other, one)
            self.users.rename_table("between", other)

        return _alone(f"swap {one} and {other}", swap, one, other, "between")

    def replace_table(self) -> Statement | None:
        name, keys = self._one(list(self.tables)), self._keys()
        if name is None or self._users_of(name, self._places()) - {name}:
            return None
        files = {} if keys else self._made()

        def replace() -> None:
            self.users.drop_table(name)
            self.users.create_table(name, keys, files)
            if keys:
                first = f"{FIRST}_{self.crowd.fresh()}" if self.crowd.moves else FIRST
                self.users.add_partitions(name, {VALUES[0]: {first: self.crowd.content()}})

        return _alone(f"drop and create {name} {keys}", replace, name)

    # Rows.

    def insert(self) -> Statement | None:
        chosen = self._object()
        if chosen is None:
            return None
        table, values = chosen
        return Statement(
            f"insert {table} {values}",
            lambda: self.users.insert(table, values, self._new_files(table, values)),
            shared=frozenset({(table, None), (table, values)}),
        )

    def overwrite(self) -> Statement | None:
        chosen = self._object()
        if chosen is None:
            return None
        table, values = chosen
        files = self._contents()
        return _alone_within(
            f"overwrite {table} {values}", lambda: self.users.overwrite(table, values, files), table, values
        )

    def truncate(self) -> Statement | None:
        name = self._one(list(self.tables))
        if name is None:
            return None
        if not self.tables[name].keys:
            return _alone(f"truncate {name}", lambda: self.users.truncate(name), name)
        values = self._some(self._partitions(name))
        return values and _alone_within(
            f"truncate {name} {values}", lambda: self.users.truncate(name, values), name, *values
        )

    def _some(self, choices: Sequence[Any], most: int = 3) -> list[Any]:
        return self.random.sample(choices, min(len(choices), self.random.randint(1, most)))

    # Partitions.

    def add_partitions(self) -> Statement | None:
        name = self._partitioned()
        if name is None:
            return None
        free = [values for values in VALUES if values not in self._partitions(name)]
        added = {values: self._made() for values in self._some(free)}
        return (
            _alone_within(f"add {name} {list(added)}", lambda: self.users.add_partitions(name, added), name, *added)
            if added
            else None
        )

    def drop_partitions(self) -> Statement | None:
        name = self._partitioned()
        values = self._some(self._partitions(name)) if name else []
        if not name or not values:
            return None
        return _alone_within(f"drop {name} {values}", lambda: self.users.drop_partitions(name, values), name, *values)

    def replace_partition(self) -> Statement | None:
        name = self._partitioned()
        values = self._one(self._partitions(name)) if name else None
        if not name or values is None:
            return None
        files = {f"{FIRST}_{self.crowd.fresh()}" if self.crowd.moves else FIRST: self.crowd.content()}

        def replace() -> None:
            self.users.drop_partitions(name, [values])
            self.users.add_partitions(name, {values: files})

        return _alone_within(f"drop and add {name} {values}", replace, name, values)

    def rename_partition(self) -> Statement | None:
        name = self._partitioned()
        old = self._one(self._partitions(name)) if name else None
        new = self._one([values for values in VALUES if name and values not in self._partitions(name)])
        if not name or old is None or new is None:
            return None
        return _alone_within(
            f"rename {name} {old} to {new}", lambda: self.users.rename_partition(name, old, new), name, old, new
        )

    def exchange(self) -> Statement | None:
        names = [name for name, table in self.tables.items() if table.keys]
        if len(names) < 2:
            return None
        given, taking = self.random.sample(names, 2)
        values = self._one([one for one in self._partitions(given) if one not in self._partitions(taking)])
        return values and _alone(
            f"exchange {values} of {given} into {taking}",
            lambda: self.users.exchange_partition(given, taking, values),
            *(given, taking),
        )

    # Definitions.

    def set_parameters(self) -> Statement | None:
        name, value = self._one([name for name, _ in self.state.tables]), self.crowd.fresh()
        return name and _alone(f"set k of {name}", lambda: self.users.set_parameters(name, {"k": value}), name)

    def set_owner(self) -> Statement | None:
        name, value = self._one(list(self.tables)), f"user{self.crowd.fresh()}"
        return name and _alone(f"set owner of {name}", lambda: self.users.set_owner(name, value), name)

    def add_columns(self) -> Statement | None:
        name, column = self._one(list(self.tables)), f"c{self.crowd.fresh()}"
        cascade = self.random.random() < 0.6
        return name and _alone(
            f"add column to {name}, cascade {cascade}",
            lambda: self.users.add_columns(name, [(column, "string")], cascade=cascade),
            name,
        )

    def alter_partitions(self) -> Statement | None:
        name = self._partitioned()
        values, value = self._some(self._partitions(name)) if name else [], self.crowd.fresh()
        if not name or not values:
            return None
        if len(values) == 1:
            return _alone_within(
                f"alter {name} {values}",
                lambda: self.users.alter_partition(name, values[0], {"k": value}),
                *(name, *values),
            )
        return _alone_within(
            f"alter {name} {values}",
            lambda: self.users.alter_partitions(name, values, {"k": value}),
            *(name, *values),
        )

    def database_parameters(self) -> Statement:
        value = self.crowd.fresh()
        return Statement(
            "set k of the database",
            lambda: self.users.alter_database_parameters({"k": value}),
            alone=frozenset({DATABASE}),
        )

    def function(self) -> Statement:
        there = dict(self.state.functions)
        name = self.random.choice(["f", "g"])
        if name in there:
            return Statement(f"drop function {name}", lambda: self.users.drop_function(name), frozenset({(name, None)}))
        return Statement(
            f"create function {name}", lambda: self.users.create_function(name, []), frozenset({(name, None)})
        )

    def details(self) -> Statement | None:
        name = self._one(list(self.tables))
        if name is None:
            return None
        if self.random.random() < 0.5 and not self.tables[name].keys:
            return self._statistics(name, None)
        if self.crowd.is_odd and self.tables[name].partitions and self.random.random() < 0.5:
            return self._statistics(name, self._one(self._partitions(name)))
        return self._constraint(name)

    def _statistics(self, name: str, values: Values | None) -> Statement:
        """Compute the statistics of a table or partition, or delete them."""
        do = self.users.delete_statistics if self.random.random() < 0.2 else self.users.update_statistics
        return _alone(f"{do.__name__} {name} {values}", lambda: do(name, values), name)

    # What few users do.

    def move_out(self) -> Statement | None:
        """Rename a view into another database. Hive refuses it for a table of a source that is in its default place."""
        name = self._one([name for name, _ in self.state.tables if name in VIEWS])
        new = f"n{self.crowd.fresh()}"
        return name and _alone(
            f"rename {name} to {ELSEWHERE}.{new}", lambda: self.users.rename_table(name, new, ELSEWHERE), name
        )

    def partitions_of_a_view(self) -> Statement | None:
        views = {name: table for name, table in self.state.tables if name in VIEWS and table.keys}
        name = self._one(sorted(views))
        if name is None:
            return None
        there = [values for values, _ in views[name].partitions]
        if there and self.random.random() < 0.4:
            gone = self._some(there)
            return _alone(f"drop {name} {gone}", lambda: self.users.drop_partitions(name, gone), name)
        added: dict[Values, dict[str, bytes]] = {
            values: {} for values in self._some([values for values in VALUES if values not in there])
        }
        return (
            _alone(f"add {name} {list(added)}", lambda: self.users.add_partitions(name, added), name) if added else None
        )

    def change_type(self) -> Statement | None:
        name, kind = self._one(list(self.tables)), self.random.choice(["int", "bigint", "string"])
        return name and _alone(f"type of {name}: {kind}", lambda: self.users.change_type(name, kind), name)

    def _constraint(self, name: str) -> Statement:
        """Constrain a table, and drop the constraint again."""
        there = self.tables[name].constraints
        if there and self.random.random() < 0.5:
            gone = self.random.choice(there).split()[1]
            return _alone(f"drop {gone} of {name}", lambda: self.users.drop_constraint(name, gone), name)
        kind = self.random.choice(["not_null", "default", "check"])
        constraint = f"c{self.crowd.fresh()}"
        if self.crowd.has_keys and self.random.random() < 0.7:
            return self._key(name, constraint)
        return _alone(f"constraint of {name}", lambda: self.users.add_constraint(name, kind, constraint), name)

    def _key(self, name: str, constraint: str) -> Statement:
        """Give a table a primary key, or a foreign key to one that has such."""
        has_key = [other for other, table in self.tables.items() if _has_primary_key(table)]
        parents = [other for other in has_key if other != name]
        if parents and (name in has_key or self.random.random() < 0.7):
            parent = self.random.choice(parents)
            add = partial(self.users.add_constraint, name, "foreign_key", constraint, parent=parent)
            return _alone(f"foreign key of {name} to {parent}", add, name, parent)
        add = partial(self.users.add_constraint, name, "primary_key", constraint)
        return _alone(f"primary key of {name}", add, name)


class Crossing:
    """What users of several databases do: tables and views come into the database, leave it, and come back.

    Hive moves no table of a source that is in its default place, so these lie elsewhere.
    """

    def __init__(self, statements: "Statements") -> None:
        self._of = statements
        self._crowd, self._users = statements.crowd, statements.users
        self._other = statements.random.choice(OTHERS)
        self._others = self._crowd.others[self._other]

    def weighted(self) -> list[Choice]:
        """Return what there is to choose from."""
        ours = [(2, self.make_movable), (3, self.go), (2, self.promote)]
        return [*ours, (4, self.make), (5, self.come), (2, self.write), (1, self.drop), (1, self.go_on)]

    def _place(self) -> str:
        return f"{self._crowd.files.root}/{ELSEWHERE}/{self._crowd.database}/{self._crowd.fresh()}"

    def _made(self, users: SourceWriter, name: str) -> Callable[[], Any]:
        if name in VIEWS:
            return partial(users.create_view, name, self._of._keys())
        keys, place = self._of._keys(), self._place()
        files, partition = {} if keys else self._of._made(), self._of._made()

        def make() -> None:
            users.create_table(name, keys, files, location=place)
            if keys:
                users.add_partitions(name, {VALUES[0]: partition})

        return make

    def _one_elsewhere(self) -> str | None:
        return cast("str | None", self._of._one(self._others.metastore.table_names(self._other)))

    def _free_elsewhere(self, name: str) -> str | None:
        taken = self._others.metastore.table_names(self._other)
        names = VIEWS if name in VIEWS else self._crowd.names
        return cast("str | None", self._of._one([one for one in names if one not in taken]))

    def _lock(self, name: str, other: str = "") -> str:
        return f"{other or self._other}.{name}"

    def make_movable(self) -> Statement | None:
        name = self._of._free_table()
        return name and _alone(f"create {name} elsewhere", self._made(self._users, name), name)

    def make(self) -> Statement | None:
        name = self._free_elsewhere(self._of.random.choice([*self._crowd.names, VIEWS[0]]))
        return name and _alone(f"create {self._lock(name)}", self._made(self._others, name), self._lock(name))

    def come(self) -> Statement | None:
        old = self._one_elsewhere()
        new = self._of._free_name(VIEWS if old in VIEWS else self._crowd.names)
        if old is None or new is None:
            return None
        come = partial(self._others.rename_table, old, new, self._users.database)
        return _alone(f"rename {self._lock(old)} to {new}", come, self._lock(old), new)

    def promote(self) -> Statement | None:
        """Let a table of another database take the place of one of ours."""
        new, old, kept = self._one_elsewhere(), self._of._one(list(self._of.tables)), self._of._free_table()
        if new is None or new in VIEWS or old is None or kept is None:
            return None

        def promote() -> None:
            self._users.rename_table(old, kept)
            self._others.rename_table(new, old, self._users.database)

        return _alone(f"rename {old} to {kept}, {self._lock(new)} to {old}", promote, self._lock(new), old, kept)

    def go(self) -> Statement | None:
        old = self._of._one([name for name, _ in self._of.state.tables])
        new = self._free_elsewhere(old) if old else None
        if old is None or new is None:
            return None
        go = partial(self._users.rename_table, old, new, self._other)
        return _alone(f"rename {old} to {self._lock(new)}", go, old, self._lock(new))

    def go_on(self) -> Statement | None:
        old = self._one_elsewhere()
        other = next(one for one in OTHERS if one != self._other)
        if old is None or old in self._others.metastore.table_names(other):
            return None
        go_on = partial(self._others.rename_table, old, old, other)
        return _alone(f"rename {self._lock(old)} to {other}", go_on, self._lock(old), self._lock(old, other))

    def write(self) -> Statement | None:
        name = self._one_elsewhere()
        table = self._others.metastore.table(self._others.name(name)) if name else None
        if name is None or table is None or table.location is None or table.partition_keys:
            return None
        files = {f"n{self._crowd.fresh()}": self._crowd.content()}
        return _alone(f"insert {self._lock(name)}", partial(self._others.insert, name, None, files), self._lock(name))

    def drop(self) -> Statement | None:
        name = self._one_elsewhere()
        return name and _alone(f"drop {self._lock(name)}", partial(self._others.drop_table, name), self._lock(name))


class Moving:
    """What Spark and Thrift clients may do at a source of replication: SET LOCATION of what is managed."""

    def __init__(self, statements: "Statements") -> None:
        self._of = statements
        self._crowd, self._users = statements.crowd, statements.users

    def weighted(self) -> list[Choice]:
        """Return what there is to choose from."""
        return [(2, self.move_table), (8, self.move_partition)]

    def _filled(self) -> str:
        """Return a new directory with files in it."""
        place = f"{self._crowd.files.root}/{ELSEWHERE}/{self._crowd.database}/{self._crowd.fresh()}"
        for name, content in self._of._made().items():
            self._crowd.files.write(f"{place}/{name}", content)
        return place

    def move_table(self) -> Statement | None:
        name = self._of._one(list(self._of.tables))
        return name and _alone(f"move {name}", lambda: self._users.set_location(name, self._filled()), name)

    def move_partition(self) -> Statement | None:
        name = self._of._partitioned()
        values = self._of._one(self._of._partitions(name)) if name else None
        if not name or values is None:
            return None
        says_before, back = self._of.random.random() < 0.4, self._of.random.random() < 0.3

        def move() -> None:
            table = self._users.table(name)
            default = f"{table.location}/{partition_name(table.partition_keys, values)}"
            place = default if back and default != self._users.location(name, values) else self._filled()
            self._users.set_partition_location(name, values, place, says_before=says_before)

        return _alone_within(f"move {name} {values}", move, name, values)


class Marking:
    """What producers do who say that sets are done; they may say so while others write."""

    def __init__(self, statements: "Statements") -> None:
        self._of = statements
        self._crowd, self._users = statements.crowd, statements.users

    def weighted(self) -> list[Choice]:
        """Return what there is to choose from."""
        return [(10, self.mark), (3, self.unmark), (5, self.write_again), (1, self.tidy)]

    def _set(self) -> tuple[TableName, str] | None:
        name = self._of._one(list(self._of.tables))
        if name is None:
            return None
        values = [None, *VALUES] if self._of.tables[name].keys else [None]
        value = self._of.random.choice(values)
        return self._users.name(name), "*" if value is None else partition_name(("p",), value)

    def mark(self) -> Statement | None:
        chosen = self._set()
        if chosen is None:
            return None
        table, spec = chosen
        token = self._crowd.fresh()
        mark = MarkSet(table, spec, token, clock=lambda: 1_000 + int(token))
        return Statement(f"mark {table.table} {spec} with {token}", partial(mark.run, self._users.metastore))

    def unmark(self) -> Statement | None:
        listed = SetsOfDatabase(self._crowd.metastore, self._crowd.database).read()
        mark = self._of._one([one.mark for one in listed])
        if mark is None:
            return None
        unmark = UnmarkSet(mark.table, mark.spec)
        return Statement(f"unmark {mark.table.table} {mark.spec}", partial(unmark.run, self._users.metastore))

    def write_again(self) -> Statement | None:
        """Take a mark away, write what it promised anew, and mark it again, as one does who has found a mistake."""
        chosen = self._of._object()
        if chosen is None:
            return None
        (table, values), token = chosen, self._crowd.fresh()
        spec = "*" if values is None else partition_name(("p",), values)
        files = self._of._contents()

        def write_again() -> None:
            name = self._users.name(table)
            UnmarkSet(name, spec).run(self._users.metastore)
            self._users.overwrite(table, values, files)
            MarkSet(name, spec, token, clock=lambda: 1_000 + int(token)).run(self._users.metastore)

        what = f"overwrite {table} {values} between unmark and mark with {token}"
        return _alone_within(what, write_again, table, values)

    def tidy(self) -> Statement | None:
        """Do what the hourly round does for marks of tables that are gone, new or renamed."""

        def tidy() -> None:
            listed = SetsOfDatabase(self._crowd.metastore, self._crowd.database, keep=FOREVER)
            take_away(self._users.metastore, self._crowd.database, left_behind(listed))

        return Statement("tidy sets up", tidy)


def _has_primary_key(table: TableState) -> bool:
    return any(one.startswith("primary_key ") for one in table.constraints)


def _alone(what: str, run: Callable[[], Any], *tables: str) -> Statement:
    return Statement(what, run, frozenset((table, None) for table in tables))


def _alone_within(what: str, run: Callable[[], Any], table: str, *partitions: Values | None) -> Statement:
    """Keep others from some partitions of a table, or, with None, from an unpartitioned one."""
    if None in partitions:
        return _alone(what, run, table)
    alone = frozenset((table, values) for values in partitions)
    return Statement(what, run, alone, frozenset({(table, None)}))
