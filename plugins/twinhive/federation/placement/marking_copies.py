"""Mark copies: each object is read again just before, so that nothing else of it changes."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.placement.copy_marks import CopyMark, mark_on, with_mark
from twinhive.core.model.placement.touches import Values, ticket_of
from twinhive.core.model.policy import Policy
from twinhive.core.ports import MetastoreReader, WritePorts
from twinhive.federation.placement.copied_objects import Marked

Marks = Mapping[Values, CopyMark | None]
"""The mark that each object is to have; None: none."""


def objects_now(metastore: MetastoreReader, name: TableName, values: Iterable[Values]) -> dict[Values, Marked]:
    """Return those of the objects of a table that are there, as they are."""
    table = metastore.table(name)
    if table is None:
        return {}
    if not table.partition_keys:
        return {None: table}
    names = [partition_name(table.partition_keys, one) for one in values if one and _fits(table, one)]
    return {one.values: one for one in metastore.partitions(name, names)}


def _fits(table: Table, values: tuple[str, ...]) -> bool:
    return len(values) == len(table.partition_keys)


def write_marks(ports: WritePorts, policy: Policy, there: Mapping[Values, Marked], marks: Marks, event_id: int) -> None:
    """Write marks, by one call; `there` are the objects as they have just been read, `event_id` was the newest then."""
    cluster = policy.replica.cluster
    ticket = ticket_of(event_id, cluster)
    partitions = []
    for values, mark in marks.items():
        one = there[values]
        parameters = with_mark(one.parameters, cluster, mark, ticket)
        if isinstance(one, Partition):
            partitions.append(one.with_parameters(parameters))
        else:
            ports.replica.alter_table(one.name, one.with_parameters(parameters))
    if partitions:
        ports.replica.alter_partitions(partitions)


def has_mark(one: Marked, policy: Policy) -> bool:
    """True for an object with a mark of a copy on the policy's cluster."""
    return mark_on(one.parameters, policy.replica.cluster) is not None


def in_pieces(values: Iterable[Values], most: int) -> Iterator[list[Values]]:
    """Cut objects into lists of at most so many."""
    waiting = iter(values)
    while some := list(islice(waiting, most)):
        yield some
