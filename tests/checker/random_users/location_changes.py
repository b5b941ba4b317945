"""Tables and partitions that get other locations."""

from tests.checker.random_users.present_objects import Looking
from tests.checker.random_users.statement import ELSEWHERE, Choice, Statement, alone, alone_within
from twinhive.core.model.names import partition_name


class Moving:
    """What Spark and Thrift clients may do at a source of replication: SET LOCATION of what is managed."""

    def __init__(self, statements: Looking) -> None:
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
        return name and alone(f"move {name}", lambda: self._users.set_location(name, self._filled()), name)

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

        return alone_within(f"move {name} {values}", move, name, values)
