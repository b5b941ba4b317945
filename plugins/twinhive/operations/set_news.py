"""Find sets that are marked, or unmarked, while a replica takes over: they have a way of their own, and no window.

A replica shows a set at the end of an incremental run. What is marked after its last look never comes to it once it
has taken over, and the log of events in scope does not tell of it.
"""

from collections.abc import Iterator

from twinhive.events.decoder import decode_event
from twinhive.model.changes.events import EventRow
from twinhive.model.changes.facts import partitions_named
from twinhive.model.errors import ActNow
from twinhive.model.policy import Policy
from twinhive.model.sets.mark import SETS_TABLE
from twinhive.ports import ReadPorts
from twinhive.replica.looked_sets import read_looked

_PER_CALL = 300


def set_news(ports: ReadPorts, policy: Policy, event_id: int) -> tuple[EventRow, ...]:
    """Return the events after one that change sets of the policy's tables."""
    return tuple(row for row in _rows_after(ports, event_id) if _is_news(row, policy))


def unseen_sets(ports: ReadPorts, policy: Policy, log_id: str | None) -> tuple[EventRow, ...]:
    """Return the events of sets that came after the replica's last look at them; none where it has never looked."""
    looked = read_looked(ports.replica_files, policy)
    if looked is None or looked.log_id != log_id:
        return ()
    return set_news(ports, policy, looked.event_id)


def _rows_after(ports: ReadPorts, event_id: int) -> Iterator[EventRow]:
    while rows := ports.source.events_after(event_id, _PER_CALL):
        yield from rows
        event_id = rows[-1].event_id


def _is_news(row: EventRow, policy: Policy) -> bool:
    if ((row.database or "").lower(), (row.table or "").lower()) != (policy.source.database, SETS_TABLE):
        return False
    try:
        marks = partitions_named(decode_event(row).change)
    except ActNow:  # it may be of any set
        return True
    return not marks or any(policy.selects(table) for table, *_ in marks)
