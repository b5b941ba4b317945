"""Write the history of a busy database: mixed changes of its tables, in one order, with small files."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.users.source_writer import SourceWriter

Values = tuple[str, ...]

_ROW = b"1,one\n"
_FIRST_PARTITIONS = 5
# How often each kind of change is made, of all changes.
_WEIGHTS = {
    "add_partitions": 22,
    "insert_into_partition": 20,
    "insert_into_table": 10,
    "alter_partitions": 12,
    "set_parameters": 10,
    "overwrite_partition": 6,
    "overwrite_table": 3,
    "drop_partitions": 6,
    "truncate": 2,
    "create_table": 4,
    "drop_table": 3,
    "rename_table": 2,
}


@dataclass
class History:
    """Change some tables at random, always the same for one seed; every third table has no partitions."""

    writer: SourceWriter
    tables: int
    seed: int = 1
    partitions: dict[str, list[Values]] = field(default_factory=dict)
    plain: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311 (a mixture, not a secret)
        self._serial = 0
        self._created = 0

    def begin(self) -> None:
        """Create the tables, each partition and each table with one file."""
        for _ in range(self.tables):
            self._create()

    def go_on(self, events: int) -> None:
        """Make changes until the log has so many more events, or one or two above that."""
        metastore = self.writer.metastore
        end = metastore.current_event_id() + events
        kinds, weights = list(_WEIGHTS), list(_WEIGHTS.values())
        while metastore.current_event_id() < end:
            for kind in self._random.choices(kinds, weights, k=4):
                change: Callable[[], None] = getattr(self, f"_{kind}")
                change()

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    def _file(self) -> list[bytes]:
        return [_ROW * self._random.randint(50, 400)]

    def _new_values(self) -> Values:
        return (f"{self._next():07d}",)

    def _partitioned(self) -> str:
        return self._random.choice([name for name, there in self.partitions.items() if there])

    def _partition(self) -> tuple[str, Values]:
        table = self._partitioned()
        return table, self._random.choice(self.partitions[table])

    def _create(self) -> None:
        number = self._next()
        self._created += 1
        if self._created % 3 == 0:
            self.plain.append(f"plain_{number}")
            self.writer.create_table(self.plain[-1], files=self._file())
            return
        name = f"parted_{number}"
        self.writer.create_table(name, keys=("p",))
        self.partitions[name] = []
        self._add(name, _FIRST_PARTITIONS)

    def _add(self, table: str, count: int) -> None:
        added = [self._new_values() for _ in range(count)]
        self.writer.add_partitions(table, {values: self._file() for values in added})
        self.partitions[table] += added

    def _add_partitions(self) -> None:
        self._add(self._partitioned(), self._random.randint(1, 3))

    def _insert_into_partition(self) -> None:
        self.writer.insert(*self._partition(), self._file())

    def _insert_into_table(self) -> None:
        self.writer.insert(self._random.choice(self.plain), None, self._file())

    def _alter_partitions(self) -> None:
        table = self._partitioned()
        there = self.partitions[table]
        some = self._random.sample(there, min(len(there), self._random.randint(1, 4)))
        self.writer.alter_partitions(table, some, {"note": str(self._next())})

    def _set_parameters(self) -> None:
        table = self._random.choice([*self.partitions, *self.plain])
        self.writer.set_parameters(table, {"note": str(self._next())})

    def _overwrite_partition(self) -> None:
        self.writer.overwrite(*self._partition(), self._file())

    def _overwrite_table(self) -> None:
        self.writer.overwrite(self._random.choice(self.plain), None, self._file())

    def _drop_partitions(self) -> None:
        table, values = self._partition()
        if len(self.partitions[table]) > 1:
            self.writer.drop_partitions(table, [values])
            self.partitions[table].remove(values)

    def _truncate(self) -> None:
        if self._random.random() < 0.5:
            self.writer.truncate(self._random.choice(self.plain))
        else:
            table, values = self._partition()
            self.writer.truncate(table, [values])

    def _create_table(self) -> None:
        self._create()

    def _drop_table(self) -> None:
        """Drop a table, as long as there are as many as at the beginning."""
        everything = [*self.partitions, *self.plain]
        name = self._random.choice(everything)
        rest = self.plain if name in self.plain else self.partitions
        if len(everything) <= self.tables or len(rest) == 1:
            return
        self.writer.drop_table(name)
        self.partitions.pop(name, None)
        self.plain = [other for other in self.plain if other != name]

    def _rename_table(self) -> None:
        old = self._random.choice([*self.partitions, *self.plain])
        new = f"{old.partition('_')[0]}_{self._next()}"
        self.writer.rename_table(old, new)
        if old in self.partitions:
            self.partitions[new] = self.partitions.pop(old)
        else:
            self.plain[self.plain.index(old)] = new
