"""Read the marks of copies, and of moves of primaries, of a database: partitions of its table `twinhive_copies`."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from twinhive.core.model.errors import ActNow, Missing
from twinhive.core.model.names import partition_values
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.placement.copy_marks import CopyMark, KeptMark, mark_name, object_name
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.model.thrift_objects import TableIdentity
from twinhive.core.ports import MetastoreReader
from twinhive.core.ports.own_table_lookup import find_own_table
from twinhive.federation.routing.move_mark import EVERY_CLUSTER, MOVE, PrimaryMove

_PER_CALL = 1_000
AskedMark = tuple[str, str, Values]
"""A table, a cluster, and which object of the table."""


@dataclass
class MarksTable:
    """The marks of one database. Whether it has such a table is asked once; the marks are read anew each time.

    strict   a table of somebody else with that name is an error; else there are no marks
    """

    metastore: MetastoreReader
    database: str
    strict: bool = False
    most: int = _PER_CALL
    _found: list[Table | None] = field(default_factory=list, init=False)

    @property
    def table(self) -> Table | None:
        """The table, None where nothing was marked yet. Raises ActNow for a table of somebody else."""
        if not self._found:
            self._found.append(self._find())
        return self._found[0]

    def _find(self) -> Table | None:
        try:
            return find_own_table(self.metastore, COPY_MARKS, self.database)
        except ActNow:
            if self.strict:
                raise
            return None

    def read(self, asked: Collection[AskedMark]) -> dict[AskedMark, CopyMark]:
        """Return the marks of objects that have one: one call for each 1,000 objects."""
        names = {
            mark_name(table, cluster, object_name(values)): (table, cluster, values) for table, cluster, values in asked
        }
        found = map(KeptMark.read, self._partitions(list(names)))
        return {names[mark_name(one.table, one.cluster, one.object)]: one.mark for one in found if one.mark}

    def names(self, cluster: str = "", table: str = "") -> list[str]:
        """Return the names of the marks for a cluster, or of a table; '' stands for any. One call."""
        if self.table is None:
            return []
        try:
            names = self.metastore.partition_names_with(self.table.name, (table, cluster, ""))
        except Missing:
            return []  # dropped meanwhile
        return [name for name in names if _is_one(name, table, cluster)]

    def every(self, cluster: str = "", table: str = "") -> Iterator[KeptMark]:
        """Yield all marks for a cluster, or of a table."""
        yield from map(KeptMark.read, self._partitions(self.names(cluster, table)))

    def some(self, cluster: str, table: str, objects: Sequence[str]) -> Iterator[KeptMark]:
        """Yield those marks of a table for a cluster that name some objects as marks do: a call for each 1,000."""
        yield from map(KeptMark.read, self._partitions([mark_name(table, cluster, one) for one in objects]))

    def move(self, table: Table) -> PrimaryMove | None:
        """Return the move that a table is in; None without one, and for one of an earlier table of this name."""
        for one in self._partitions([move_name(table.name.table)]):
            return PrimaryMove.read(one.parameters, TableIdentity.of(table))
        return None

    def _partitions(self, names: Sequence[str]) -> Iterator[Partition]:
        if not names or self.table is None:
            return
        for start in range(0, len(names), self.most):
            yield from self.metastore.partitions(self.table.name, names[start : start + self.most])


def move_name(table: str) -> str:
    """Return the name of the mark of a table's move: there is one at most, wherever it goes."""
    return mark_name(table, EVERY_CLUSTER, MOVE)


def marks_of(marks: MarksTable, table: Table, cluster: str, values: Iterable[Values]) -> dict[Values, CopyMark]:
    """Return the marks of some objects of a table for a cluster; those of an earlier table of its name are none."""
    identity = TableIdentity.of(table)
    found = marks.read([(table.name.table, cluster, one) for one in values])
    return {one: mark for (_, _, one), mark in found.items() if not mark.table.is_another(identity)}


def _is_one(name: str, table: str, cluster: str) -> bool:
    """Judge a name by itself: how a metastore compares texts is its own affair."""
    of_table, of_cluster, one = partition_values(name)
    return table in ("", of_table) and cluster in ("", of_cluster) and one != MOVE
