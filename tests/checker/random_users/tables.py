"""What users do to tables, views and their rows."""

from tests.checker.random_users.present_objects import Looking
from tests.checker.random_users.statement import FIRST, VALUES, VIEWS, Statement, alone, alone_within


class TableStatements(Looking):
    """Make, rename, swap, drop tables and views; write rows."""

    def create_table(self) -> Statement | None:
        name, keys = self._free_table(), self._keys()
        if name is None:
            return None
        files = {} if keys else self._made()
        parameters = {"made": self.crowd.fresh()}
        return alone(f"create {name} {keys}", lambda: self.users.create_table(name, keys, files, parameters), name)

    def create_view(self) -> Statement | None:
        name = self._free_name(VIEWS)
        keys = self._keys() if self.crowd.is_odd else ()
        return name and alone(f"create view {name} {keys}", lambda: self.users.create_view(name, keys), name)

    def drop_table(self) -> Statement | None:
        name = self._one([name for name, _ in self.state.tables])
        return name and alone(f"drop {name}", lambda: self.users.drop_table(name), name)

    def rename(self) -> Statement | None:
        old = self._one([name for name, _ in self.state.tables])
        new = self._free_name(VIEWS if old in VIEWS else self.crowd.names)
        if old is None or new is None:
            return None
        return alone(f"rename {old} to {new}", lambda: self.users.rename_table(old, new), old, new)

    def swap(self) -> Statement | None:
        if len(self.tables) < 2:
            return None
        one, other = self.random.sample(sorted(self.tables), 2)

        def swap() -> None:
            self.users.rename_table(one, "between")
            self.users.rename_table(other, one)
            self.users.rename_table("between", other)

        return alone(f"swap {one} and {other}", swap, one, other, "between")

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

        return alone(f"drop and create {name} {keys}", replace, name)

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
        return alone_within(
            f"overwrite {table} {values}", lambda: self.users.overwrite(table, values, files), table, values
        )

    def truncate(self) -> Statement | None:
        name = self._one(list(self.tables))
        if name is None:
            return None
        if not self.tables[name].keys:
            return alone(f"truncate {name}", lambda: self.users.truncate(name), name)
        values = self._some(self._partitions(name))
        return values and alone_within(
            f"truncate {name} {values}", lambda: self.users.truncate(name, values), name, *values
        )
