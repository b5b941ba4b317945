"""Find out, before a window is applied, what its lost files do then: which tables they freeze, where they end it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import takewhile

from twinhive.core.model.changes.kinds import Event
from twinhive.core.model.policy import WINDOW_END, Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.ports import ReadPorts
from twinhive.replication.apply.actions import Action, actions
from twinhive.replication.apply.apply_failures import tables_touched, trouble_table
from twinhive.replication.apply.event_coalescing import segments
from twinhive.replication.apply.lane import why_not_replicated
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.incremental.resync_filter import beside_whole
from twinhive.replication.notification_log.skipped_events import skips_of_window
from twinhive.replication.notification_log.window_events import told_events


@dataclass(frozen=True)
class LostFilesMet:
    """The tables that are frozen, and the event that cannot be applied, None where all can be passed.

    Where tables are frozen, nothing that comes after the event `reached` is applied: it would only freeze.
    """

    tables: frozenset[str] = frozenset()
    stops_at: int | None = None
    reached: int = 0


def lost_files_met(
    ports: ReadPorts, policy: Policy, dump: Dump, lost: Collection[int], after: int, until: int
) -> LostFilesMet:
    """Return what an apply of the events (after, until] meets; `lost` are events of the window whose files are lost."""
    if not any(after < event_id <= until for event_id in lost):
        return LostFilesMet()
    database = ports.replica.database(policy.replica.database)
    before = frozen_tables(database.parameters if database else {}).keys()
    reached, frozen, quarantines = after, set(before), policy.options.on_object_error == "quarantine"
    for action in _actions(ports, policy, dump, after, until):
        names = tables_touched(policy, action)
        gone = [event.event_id for event in action.events if event.event_id in lost]
        if not names.isdisjoint(frozen):
            frozen |= names  # passed over; a rename freezes its other name
        elif gone and not (quarantines and trouble_table(policy, action)):
            return LostFilesMet(frozenset(frozen - before), gone[0], reached)
        elif gone:
            frozen |= names
        else:
            reached = action.events[-1].event_id
    return LostFilesMet(frozenset(frozen - before), None, reached)


def _actions(ports: ReadPorts, policy: Policy, dump: Dump, after: int, until: int) -> Iterator[Action]:
    """Yield what the lane makes of the events."""
    window = dump.manifest.window
    wanted, cascades = _wanted(ports, policy, dump, after, until), frozenset(window.cascades)
    if window.consistency != WINDOW_END:
        yield from actions(wanted, cascades)
        return
    for left, _ in segments(wanted):
        yield from actions(left, cascades)


def _wanted(ports: ReadPorts, policy: Policy, dump: Dump, after: int, until: int) -> Iterator[Event]:
    skipped = frozenset(skips_of_window(ports, policy, dump))
    for event in takewhile(lambda told: told.event_id <= until, told_events(ports.dump_files, dump.layout)):
        left = beside_whole(policy, event, dump.manifest.window.snapshots) if event.event_id > after else None
        if left is not None and why_not_replicated(policy, left, skipped) is None:
            yield left
