"""What few users do."""

from tests.checker.random_users.present_objects import Looking
from tests.checker.random_users.statement import ELSEWHERE, VALUES, VIEWS, Statement, alone
from tests.checker.states import Values


class OddStatements(Looking):
    """Rename views out of the database, give views partitions and columns another type."""

    def move_out(self) -> Statement | None:
        """Rename a view into another database. Hive refuses it for a table of a source that is in its default place."""
        name = self._one([name for name, _ in self.state.tables if name in VIEWS])
        new = f"n{self.crowd.fresh()}"
        return name and alone(
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
            return alone(f"drop {name} {gone}", lambda: self.users.drop_partitions(name, gone), name)
        added: dict[Values, dict[str, bytes]] = {
            values: {} for values in self._some([values for values in VALUES if values not in there])
        }
        return (
            alone(f"add {name} {list(added)}", lambda: self.users.add_partitions(name, added), name) if added else None
        )

    def change_type(self) -> Statement | None:
        name, kind = self._one(list(self.tables)), self.random.choice(["int", "bigint", "string"])
        return name and alone(f"type of {name}: {kind}", lambda: self.users.change_type(name, kind), name)
