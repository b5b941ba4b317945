"""Look how far staging holds the source's events, when the source itself is not asked any more.

A window is kept beside its copies (`kept_windows.py`). Of one that is not copied as a whole the events before the first
whose files are missing are there. What is done with it: `salvage.py`.
"""

from dataclasses import dataclass, field

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow, Unexplained
from twinhive.core.model.files import quoted_path
from twinhive.core.model.marks import ReplicaState
from twinhive.core.model.policy import EVERY_EVENT, Policy
from twinhive.core.model.text import Text, render
from twinhive.core.ports import ReadPorts
from twinhive.replication.bootstrap.gate import check_window, lost_events
from twinhive.replication.dump.batch_records import CopiedBatch, copied_batch
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.staged_events import absent_events, needed_items
from twinhive.replication.incremental.apply_stage import is_asked_for
from twinhive.replication.incremental.kept_windows import kept_windows
from twinhive.replication.incremental.lost_files import lost_files_met
from twinhive.replication.incremental.offline_source import without_source
from twinhive.replication.incremental.salvage_notes import noted_staging
from twinhive.replication.notification_log.window_events import told_events


@dataclass(frozen=True)
class StagedWindow:
    """A window that staging holds, up to an event; `lost` are the events whose files nobody has, with the reasons.

    `policy` is the one whose dumps it is among.
    """

    policy: Policy
    dump: Dump
    end: Position
    lost: dict[int, Text] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """True for one that can be applied to its end."""
        return self.end == self.dump.manifest.end


def staged_window(ports: ReadPorts, policy: Policy, state: ReplicaState) -> StagedWindow | None:
    """Return what of the next window can be applied without the source; None for nothing.

    `ports` ask nothing of the source (`without_source`). Of several windows after the same event, one that was planned
    again and the one before, it is the one that goes farthest. Raises Unexplained where that may be one of which
    nobody knows what is staged.
    """
    found, unknown = list[StagedWindow](), list[tuple[Dump, Unexplained]]()
    for kept, dump in kept_windows(ports.replica_files, policy):
        if dump.manifest.fingerprint != policy.fingerprint or dump.manifest.log_id != state.log_id:
            continue
        try:
            staged = _staged(ports, kept, dump, state)
        except Unexplained as error:
            unknown.append((dump, error))
            continue
        found += [staged] if staged else []
    farthest = max(found, key=_how_far, default=None)
    for dump, trouble in unknown:
        if farthest is None or _how_far(farthest) < (dump.layout.bounds[1], True):
            raise _unknown(dump, trouble) from trouble
    return farthest


def _how_far(one: StagedWindow) -> tuple[int, bool]:
    return one.end.event_id, one.is_whole


def _unknown(dump: Dump, error: Unexplained) -> Unexplained:
    """Return what is said of a window that may be the one to apply, with a way to do without it."""
    return Unexplained(
        f"of the window {dump.key} nobody knows what is staged: {render(error.what)}",
        found=error.found or error.what,
        expected="an answer that says what was copied of it",
        next_step=f"run it again. If it goes on, see the message and the file system's log, or {do_without(dump)}. "
        "Nothing of it is applied then, and an event of it that a killed run has begun stays there in part",
    )


def do_without(dump: Dump) -> str:
    place = dump.layout.directory
    return f"do without the window: hdfs dfs -mv {quoted_path(place)} {quoted_path(f'{place}.aside')}"


def is_of_another_text(ports: ReadPorts, policy: Policy, state: ReplicaState) -> bool:
    """True where a window was begun under another text of the policy: nobody ends it, and it may be there in part."""
    position = state.position.event_id
    return any(
        dump.manifest.fingerprint != policy.fingerprint and dump.layout.bounds[0] <= position < dump.layout.bounds[1]
        for _, dump in kept_windows(ports.replica_files, policy)
    )


def staged_position(ports: ReadPorts, policy: Policy, state: ReplicaState) -> Position:
    """Return the event that a replica can be brought to without its source."""
    staged = staged_window(without_source(ports, policy, str(state.log_id)), policy, state)
    return max(state.position, staged.end, key=lambda one: one.event_id) if staged else state.position


def tables_to_freeze(ports: ReadPorts, policy: Policy, state: ReplicaState, until: int) -> frozenset[str]:
    """Return the tables that bringing a replica to an event without its source freezes: files of theirs are lost."""
    alone = without_source(ports, policy, str(state.log_id))
    staged = staged_window(alone, policy, state)
    if staged is None:
        return frozenset()
    after, end = state.position.event_id, min(until, staged.end.event_id)
    return lost_files_met(alone, staged.policy, staged.dump, staged.lost, after, end).tables


def _staged(ports: ReadPorts, policy: Policy, dump: Dump, state: ReplicaState) -> StagedWindow | None:
    begin, end = dump.layout.bounds
    position = state.position.event_id
    if not begin <= position <= end:
        return None
    # A table that comes whole is replaced when the position has passed the events: until then it is asked for.
    if position == end and not is_asked_for(ports.replica_files, policy, dump):
        return None
    # What a run before this one has found comes first: it may have taken some of it out of staging.
    both = (_noted(ports, policy, dump, position), _staged_now(ports, policy, dump, position))
    return max((one for one in both if one is not None), key=_how_far, default=None)


def _noted(ports: ReadPorts, policy: Policy, dump: Dump, position: int) -> StagedWindow | None:
    noted = noted_staging(ports.replica_files, dump)
    if noted is None or noted.end.event_id <= position:
        return None
    lost = {event_id: reason for event_id, reason in noted.lost.items() if event_id > position}
    return StagedWindow(policy, dump, noted.end, lost)


def _staged_now(ports: ReadPorts, policy: Policy, dump: Dump, position: int) -> StagedWindow | None:
    try:
        lost = check_window(ports, dump, policy, position)
    except Unexplained:  # all of it may be staged
        raise
    except ActNow:
        return _staged_part(ports, policy, dump, position)
    return _staged_until(ports, policy, dump, position, None, lost)


def _staged_part(ports: ReadPorts, policy: Policy, dump: Dump, position: int) -> StagedWindow | None:
    """Return how much of a window is there whose copies have not all said that they are done; it may be all of it."""
    lost, missing = dict[int, Text](), set[int]()
    for batch in dump.manifest.batches:
        copied = copied_batch(ports.replica_files, policy.staging, dump.key, batch.name)
        absent = _absent(ports, policy, dump, batch.name, position, copied)
        gone = lost_events(copied) if copied else {}
        lost |= {event_id: reason for event_id, reason in gone.items() if event_id in absent}
        missing |= absent - gone.keys()
    if missing and not _has_parts(dump):
        return None
    return _staged_until(ports, policy, dump, position, min(missing, default=None), lost)


def _staged_until(
    ports: ReadPorts, policy: Policy, dump: Dump, position: int, hole: int | None, lost: dict[int, Text]
) -> StagedWindow | None:
    """Return a window as far as it can be applied; `hole` is the first event whose files are missing, None for none."""
    until = dump.manifest.end.event_id if hole is None else hole - 1
    met = lost_files_met(ports, policy, dump, lost, position, until)
    first = hole if met.stops_at is None else met.stops_at
    if first is None:
        return StagedWindow(policy, dump, dump.manifest.end, lost)
    last = last_told(ports, dump, met.reached if met.tables else first - 1) if _has_parts(dump) else None
    return StagedWindow(policy, dump, last, lost) if last is not None and last.event_id > position else None


def _has_parts(dump: Dump) -> bool:
    """True for a window that can be applied to an event inside of it; whole tables come with all of it only."""
    window = dump.manifest.window
    return window.consistency == EVERY_EVENT and not window.snapshots and not window.everything


def _absent(
    ports: ReadPorts, policy: Policy, dump: Dump, batch: str, position: int, copied: CopiedBatch | None
) -> set[int]:
    """Return the events of a batch after a position of which a file is not staged."""
    items = needed_items(ports.dump_files, dump, batch, position)
    if copied is not None and not copied.failures and copied.staged >= len(items):
        return set()
    return set(absent_events(ports.replica_files, policy.staging, items))


def last_told(ports: ReadPorts, dump: Dump, until: int) -> Position | None:
    """Return the last event of a window up to one, None when it tells none so early."""
    told = (event.position for event in told_events(ports.dump_files, dump.layout))
    return max((one for one in told if one.event_id <= until), key=lambda one: one.event_id, default=None)
