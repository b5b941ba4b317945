"""Find sets that are marked, or unmarked, while a replica takes over: they have a way of their own, and no window.

A replica shows a set at the end of an incremental run. What is marked after its last look never comes to it once it
has taken over, and the log of events in scope does not tell of it.
"""

from twinhive.core.model.changes.affected_objects import partitions_named
from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.errors import ActNow, Unexplained
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.set_mark import SETS_TABLE
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.step_base import Work
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_scope import is_of_default_catalog
from twinhive.hive.events.reader import read_events
from twinhive.operations.failover.promote import replica_alone
from twinhive.publishing.set_visibility.show_sets import ShowSets


def set_news(ports: ReadPorts, policy: Policy, begin: Position) -> tuple[EventRow, ...]:
    """Return the events after one that change sets of the policy's tables. Raises LogBroken."""
    return tuple(row for row in read_events(ports.source, begin) if _is_news(row, policy))


def unshown_sets(ports: WritePorts, work: Work) -> list[str]:
    """Return the sets that the replica is to show, or to hide, and does not yet. Those that it holds are none.

    Judged as a run would: what was noted of an earlier look does not count, as nobody knows how that run has ended.
    """
    _, state = replica_alone(ports, work.policy)
    try:
        plan = ShowSets(work, ports, state).plan()
    except Unexplained:
        raise
    except ActNow:  # another table of that name: no sets are shown
        return []
    return [f"{mark.table.table} {mark.spec}" for mark in (*plan.show, *plan.hide)]


def _is_news(row: EventRow, policy: Policy) -> bool:
    named = ((row.database or "").lower(), (row.table or "").lower())
    if not is_of_default_catalog(row) or named != (policy.source.database, SETS_TABLE):
        return False
    try:
        marks = partitions_named(decode_event(row).change)
    except ActNow:  # it may be of any set
        return True
    return not marks or any(policy.selects(table) for table, *_ in marks)
