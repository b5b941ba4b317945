"""Tables and views that go from one database to another."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from tests.checker.random_users.present_objects import Looking
from tests.checker.random_users.statement import ELSEWHERE, OTHERS, VALUES, VIEWS, Choice, Statement, alone
from tests.support.users.source_writer import SourceWriter


class Crossing:
    """What users of several databases do: tables and views come into the database, leave it, and come back.

    Hive moves no table of a source that is in its default place, so these lie elsewhere.
    """

    def __init__(self, statements: Looking) -> None:
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
        return name and alone(f"create {name} elsewhere", self._made(self._users, name), name)

    def make(self) -> Statement | None:
        name = self._free_elsewhere(self._of.random.choice([*self._crowd.names, VIEWS[0]]))
        return name and alone(f"create {self._lock(name)}", self._made(self._others, name), self._lock(name))

    def come(self) -> Statement | None:
        old = self._one_elsewhere()
        new = self._of._free_name(VIEWS if old in VIEWS else self._crowd.names)
        if old is None or new is None:
            return None
        come = partial(self._others.rename_table, old, new, self._users.database)
        return alone(f"rename {self._lock(old)} to {new}", come, self._lock(old), new)

    def promote(self) -> Statement | None:
        """Let a table of another database take the place of one of ours."""
        new, old, kept = self._one_elsewhere(), self._of._one(list(self._of.tables)), self._of._free_table()
        if new is None or new in VIEWS or old is None or kept is None:
            return None

        def promote() -> None:
            self._users.rename_table(old, kept)
            self._others.rename_table(new, old, self._users.database)

        return alone(f"rename {old} to {kept}, {self._lock(new)} to {old}", promote, self._lock(new), old, kept)

    def go(self) -> Statement | None:
        old = self._of._one([name for name, _ in self._of.state.tables])
        new = self._free_elsewhere(old) if old else None
        if old is None or new is None:
            return None
        go = partial(self._users.rename_table, old, new, self._other)
        return alone(f"rename {old} to {self._lock(new)}", go, old, self._lock(new))

    def go_on(self) -> Statement | None:
        old = self._one_elsewhere()
        other = next(one for one in OTHERS if one != self._other)
        if old is None or old in self._others.metastore.table_names(other):
            return None
        go_on = partial(self._others.rename_table, old, old, other)
        return alone(f"rename {self._lock(old)} to {other}", go_on, self._lock(old), self._lock(old, other))

    def write(self) -> Statement | None:
        name = self._one_elsewhere()
        table = self._others.metastore.table(self._others.name(name)) if name else None
        if name is None or table is None or table.location is None or table.partition_keys:
            return None
        files = {f"n{self._crowd.fresh()}": self._crowd.content()}
        return alone(f"insert {self._lock(name)}", partial(self._others.insert, name, None, files), self._lock(name))

    def drop(self) -> Statement | None:
        name = self._one_elsewhere()
        return name and alone(f"drop {self._lock(name)}", partial(self._others.drop_table, name), self._lock(name))
