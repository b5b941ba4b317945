"""Write the marks of copies, and take them away: in a table of ours, never in an object that anybody else wrote."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from twinhive.core.model.errors import AlreadyThere, Missing, TryAgain
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.placement.copy_marks import CopyMark, mark_name, object_name
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.model.thrift_objects import new_partition
from twinhive.core.ports import MetastoreReader, MetastoreWriter
from twinhive.core.ports.own_table_lookup import find_own_table, make_own_table
from twinhive.federation.placement.copied_objects import Marked

_TIMES = 3
One = TypeVar("One")


def objects_now(
    metastore: MetastoreReader, name: TableName, values: Iterable[Values]
) -> tuple[Table | None, dict[Values, Marked]]:
    """Return a table, and those of its objects that are there, as they are."""
    table = metastore.table(name)
    if table is None:
        return None, {}
    if not table.partition_keys:
        return table, {None: table}
    names = [partition_name(table.partition_keys, one) for one in values if one and _fits(table, one)]
    return table, {one.values: one for one in metastore.partitions(name, names)}


def _fits(table: Table, values: tuple[str, ...]) -> bool:
    return len(values) == len(table.partition_keys)


def write_marks(
    metastore: MetastoreWriter,
    policy: Policy,
    name: TableName,
    marks: Mapping[Values, CopyMark],
    cluster: str | None = None,
) -> None:
    """Write marks of objects of a table for a cluster, the policy's own if none is named: by as few calls as can be.

    Raises TryAgain when others write and drop them all the time, and ActNow for a table that is not ours.
    """
    if marks:
        table = make_own_table(metastore, COPY_MARKS, name.database, None)
        writing = _Writing(metastore, table, name, cluster or policy.replica.cluster)
        for some in in_pieces(marks, policy.options.partitions_per_call):
            writing.write({values: marks[values] for values in some})


def date_marks(
    metastore: MetastoreWriter, policy: Policy, name: TableName, marks: Mapping[Values, CopyMark], event_id: int
) -> int:
    """Let marks bear another event; one that is not there any more as it was read stays as it is. Return how many."""
    table = find_own_table(metastore, COPY_MARKS, name.database)
    if table is None:
        return 0
    writing = _Writing(metastore, table, name, policy.replica.cluster, marks)
    pieces = in_pieces(marks, policy.options.partitions_per_call)
    return sum(writing.write({values: replace(marks[values], event_id=event_id) for values in some}) for some in pieces)


def remove_marks(metastore: MetastoreWriter, policy: Policy, table: str, objects: Sequence[str]) -> int:
    """Take marks for the policy's cluster away, by what the table of marks calls the objects; return how many."""
    if not objects or (own := find_own_table(metastore, COPY_MARKS, policy.source.database)) is None:
        return 0
    names = [mark_name(table, policy.replica.cluster, one) for one in objects]
    for some in in_pieces(names, policy.options.partitions_per_call):
        metastore.drop_partitions(own.name, some, delete_data=False)
    return len(names)


@dataclass(frozen=True)
class _Writing:
    """Marks of one table for one cluster. `before`: only those are written that are there, and what they were."""

    metastore: MetastoreWriter
    own: Table
    of: TableName
    cluster: str
    before: Mapping[Values, CopyMark] | None = None

    def write(self, marks: Mapping[Values, CopyMark]) -> int:
        """Write some, by one call for new ones and one for others. Raises TryAgain."""
        for _ in range(_TIMES):
            new, changed = self._due(marks)
            try:
                if new:
                    self.metastore.add_partitions(new)
                if changed:
                    self.metastore.alter_partitions(changed)
            except (AlreadyThere, Missing):
                continue  # marked, or taken away, by somebody else meanwhile
            return len(new) + len(changed)
        raise TryAgain(
            f"copies of {self.of} on {self.cluster} are marked and unmarked by others all the time",
            found=f"another mark, or none, after each of {_TIMES} tries",
            expected="marks that stay while they are written",
            next_step="see who else runs a placement of this table, then run the same again",
        )

    def _due(self, marks: Mapping[Values, CopyMark]) -> tuple[list[Partition], list[Partition]]:
        names = {mark_name(self.of.table, self.cluster, object_name(values)): values for values in marks}
        found = self.metastore.partitions(self.own.name, list(names))
        there = {names[one.name(self.own.partition_keys)]: one for one in found}
        new, changed = [], []
        for values, mark in marks.items():
            kept = there.get(values)
            now = kept and CopyMark.read(kept.parameters)
            if self.before is not None and now != self.before[values]:
                continue
            if kept is None:
                new.append(self._partition(values, mark))
            elif now != mark:
                changed.append(kept.with_parameters({**kept.parameters, **mark.parameters()}))
        return new, changed

    def _partition(self, values: Values, mark: CopyMark) -> Partition:
        return own_partition(self.own, (self.of.table, self.cluster, object_name(values)), mark.parameters())


def own_partition(own: Table, values: Sequence[str], parameters: Mapping[str, str]) -> Partition:
    """Return a partition of a table of marks: all lie in the table's own directory, so that none has one of its own."""
    return new_partition(own, values, parameters).at(own.name, own.location)


def in_pieces(values: Iterable[One], most: int) -> Iterator[list[One]]:
    """Cut objects into lists of at most so many."""
    waiting = iter(values)
    while some := list(islice(waiting, most)):
        yield some
