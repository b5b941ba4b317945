"""What users do to partitions."""

from tests.checker.random_users.present_objects import Looking
from tests.checker.random_users.statement import FIRST, VALUES, Statement, alone, alone_within


class PartitionStatements(Looking):
    """Add, drop, replace, rename and exchange partitions."""

    def add_partitions(self) -> Statement | None:
        name = self._partitioned()
        if name is None:
            return None
        free = [values for values in VALUES if values not in self._partitions(name)]
        added = {values: self._made() for values in self._some(free)}
        return (
            alone_within(f"add {name} {list(added)}", lambda: self.users.add_partitions(name, added), name, *added)
            if added
            else None
        )

    def drop_partitions(self) -> Statement | None:
        name = self._partitioned()
        values = self._some(self._partitions(name)) if name else []
        if not name or not values:
            return None
        return alone_within(f"drop {name} {values}", lambda: self.users.drop_partitions(name, values), name, *values)

    def replace_partition(self) -> Statement | None:
        name = self._partitioned()
        values = self._one(self._partitions(name)) if name else None
        if not name or values is None:
            return None
        files = {f"{FIRST}_{self.crowd.fresh()}" if self.crowd.moves else FIRST: self.crowd.content()}

        def replace() -> None:
            self.users.drop_partitions(name, [values])
            self.users.add_partitions(name, {values: files})

        return alone_within(f"drop and add {name} {values}", replace, name, values)

    def rename_partition(self) -> Statement | None:
        name = self._partitioned()
        old = self._one(self._partitions(name)) if name else None
        new = self._one([values for values in VALUES if name and values not in self._partitions(name)])
        if not name or old is None or new is None:
            return None
        return alone_within(
            f"rename {name} {old} to {new}", lambda: self.users.rename_partition(name, old, new), name, old, new
        )

    def exchange(self) -> Statement | None:
        names = [name for name, table in self.tables.items() if table.keys]
        if len(names) < 2:
            return None
        given, taking = self.random.sample(names, 2)
        values = self._one([one for one in self._partitions(given) if one not in self._partitions(taking)])
        return values and alone(
            f"exchange {values} of {given} into {taking}",
            lambda: self.users.exchange_partition(given, taking, values),
            *(given, taking),
        )
