"""What users say of objects: parameters, owners, columns, functions, statistics, constraints."""

from functools import partial

from tests.checker.random_users.present_objects import Looking
from tests.checker.random_users.statement import DATABASE, Statement, alone, alone_within
from tests.checker.states import TableState, Values


class DefinitionStatements(Looking):
    """Alter what is there; its rows stay."""

    def set_parameters(self) -> Statement | None:
        name, value = self._one([name for name, _ in self.state.tables]), self.crowd.fresh()
        return name and alone(f"set k of {name}", lambda: self.users.set_parameters(name, {"k": value}), name)

    def set_owner(self) -> Statement | None:
        name, value = self._one(list(self.tables)), f"user{self.crowd.fresh()}"
        return name and alone(f"set owner of {name}", lambda: self.users.set_owner(name, value), name)

    def add_columns(self) -> Statement | None:
        name, column = self._one(list(self.tables)), f"c{self.crowd.fresh()}"
        cascade = self.random.random() < 0.6
        return name and alone(
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
            return alone_within(
                f"alter {name} {values}",
                lambda: self.users.alter_partition(name, values[0], {"k": value}),
                *(name, *values),
            )
        return alone_within(
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
        return alone(f"{do.__name__} {name} {values}", lambda: do(name, values), name)

    def _constraint(self, name: str) -> Statement:
        """Constrain a table, and drop the constraint again."""
        there = self.tables[name].constraints
        if there and self.random.random() < 0.5:
            gone = self.random.choice(there).split()[1]
            return alone(f"drop {gone} of {name}", lambda: self.users.drop_constraint(name, gone), name)
        kind = self.random.choice(["not_null", "default", "check"])
        constraint = f"c{self.crowd.fresh()}"
        if self.crowd.has_keys and self.random.random() < 0.7:
            return self._key(name, constraint)
        return alone(f"constraint of {name}", lambda: self.users.add_constraint(name, kind, constraint), name)

    def _key(self, name: str, constraint: str) -> Statement:
        """Give a table a primary key, or a foreign key to one that has such."""
        has_key = [other for other, table in self.tables.items() if _has_primary_key(table)]
        parents = [other for other in has_key if other != name]
        if parents and (name in has_key or self.random.random() < 0.7):
            parent = self.random.choice(parents)
            add = partial(self.users.add_constraint, name, "foreign_key", constraint, parent=parent)
            return alone(f"foreign key of {name} to {parent}", add, name, parent)
        add = partial(self.users.add_constraint, name, "primary_key", constraint)
        return alone(f"primary key of {name}", add, name)


def _has_primary_key(table: TableState) -> bool:
    return any(one.startswith("primary_key ") for one in table.constraints)
