"""What an external table will be on the replica as soon as its data is there (design, 'External tables')."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from twinhive.core.model.changes.kinds import OfDetails
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table

T = TypeVar("T", Table, Partition)


@dataclass(frozen=True)
class Waiting(Generic[T]):
    """A source object that waits for its data.

    event_id  the event that last shaped the object: its stamp when it is published
    since     the event since which its location is wanted: a copy that began after it brings what is needed
    """

    thing: T
    event_id: int
    since: int


@dataclass(frozen=True)
class PendingTable:
    """What waits of one source table.

    table       the table itself, None while only partitions wait. It may be on the replica in an older state, at its
                old place
    partitions  by name. Of a table that is not on the replica yet: all of them
    replaces    the replica's table of that name is another one (older, or managed): it is dropped first
    details     what was said meanwhile, by event, in the order of the log; a detail's own table name means nothing
    """

    name: TableName
    table: Waiting[Table] | None = None
    partitions: Mapping[str, Waiting[Partition]] = field(default_factory=dict)
    replaces: bool = False
    details: Mapping[int, OfDetails] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """True when nothing waits any more."""
        return self.table is None and not self.partitions


@dataclass(frozen=True)
class PurgeNote:
    """Data of a dropped object that is to be deleted on the replica: its source location, a full URI."""

    location: str
    event_id: int
    table: str
