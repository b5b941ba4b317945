"""Apply what staging holds of the source's events, when the source itself is not asked any more.

A window is kept beside its copies (`kept_windows.py`). One that is copied as a whole is applied to its end, also where
a killed run has begun it; of one that is not, the events before the first whose files are missing. An event whose
files are lost freezes its table, or is where it ends, as the policy says. For nothing else a table is frozen: whoever
approved it was told of lost files alone.
"""

from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from twinhive.apply.open_target import open_target
from twinhive.bootstrap.gate import check_window, lost_events
from twinhive.dump.batch_records import CopiedBatch, copied_batch
from twinhive.dump.staged_events import absent_events, needed_items
from twinhive.dump.store import Dump
from twinhive.incremental import apply
from twinhive.incremental.apply import ApplyStage, is_asked_for
from twinhive.incremental.applying import Applying
from twinhive.incremental.kept_windows import kept_windows
from twinhive.incremental.lost_files import lost_files_met
from twinhive.incremental.no_source import without_source
from twinhive.incremental.salvage_notes import NotedStaging, note_refused, note_staged, noted_staging
from twinhive.log.told_events import told_events
from twinhive.model.changes.events import Position
from twinhive.model.errors import ActNow, Foreign, LogBroken, LostFile, Unexplained, may_pass
from twinhive.model.files import quoted_path
from twinhive.model.lease_kinds import LeaseKind
from twinhive.model.marks import ReplicaState
from twinhive.model.policy import EVERY_EVENT, Policy
from twinhive.model.text import Text, render
from twinhive.ports import ReadPorts, WritePorts
from twinhive.replica.replica_state import read_state
from twinhive.step.base import Work
from twinhive.step.holding import hold_lease


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


@dataclass(frozen=True)
class NotBrought:
    """Tables that come whole with a window and cannot be brought; `is_told` where whoever promotes knows of it."""

    tables: tuple[str, ...]
    error: ActNow
    is_told: bool


@dataclass(frozen=True)
class Salvaged:
    """What became of it: the event that the replica is at, lines to say, and what could not be applied, if anything."""

    event_id: int
    lines: tuple[str, ...] = ()
    trouble: ActNow | NotBrought | None = None


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
    place = dump.layout.directory
    return Unexplained(
        f"of the window {dump.key} nobody knows what is staged: {render(error.what)}",
        found=error.found or error.what,
        expected="an answer that says what was copied of it",
        next_step="run it again. If it goes on, see the message and the file system's log, or do without the window: "
        f"hdfs dfs -mv {quoted_path(place)} {quoted_path(f'{place}.aside')}. Nothing of it is applied then, and an "
        "event of it that a killed run has begun stays there in part",
    )


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


@dataclass(frozen=True)
class Salvage:
    """Bring a replica to an event with what staging holds, and with nothing else.

    until   no event after this one is applied
    is_last_try   nothing repeats this by itself when it fails
    """

    policy: Policy
    holder: dict[str, str]
    until: int
    is_last_try: bool = True

    def run(self, ports: WritePorts, state: ReplicaState) -> Salvaged:
        """Apply it under the lease. Raises what may pass; what a person must see is returned.

        An event that cannot be applied is taken back, so that no half of it is seen: the replica is at the one before.
        """
        log_id = str(state.log_id)
        alone, lines = without_source(ports, self.policy, log_id), list[Text]()
        work = Work(
            self.policy,
            holder=self.holder,
            report=lines.append,
            is_last_try=self.is_last_try,
            part_of=LeaseKind.PROMOTE,
        )
        with hold_lease(ports, work, LeaseKind.PROMOTE) as lease, ExitStack() as held:
            begin = ApplyStage(work, alone, held, taken=lease, log_id=log_id)
            trouble: ActNow | NotBrought | None = None
            done_without = set[str]()
            while trouble is None:
                state = read_state(ports.replica, self.policy, log_id)
                staged = staged_window(alone, self.policy, state)
                if staged is None or staged.dump.key in done_without or state.position.event_id > self.until:
                    break
                lease.confirm()
                note_staged(ports.replica_files, staged.dump, NotedStaging(staged.end, staged.lost))
                trouble = self._apply(begin, staged, state)
                if isinstance(trouble, NotBrought) and trouble.is_told:
                    done_without.add(staged.dump.key)
                    trouble = None
                if not staged.is_whole or staged.end.event_id > self.until:
                    break
            at = read_state(ports.replica, self.policy, log_id).position.event_id
        return Salvaged(at, tuple(map(render, lines)), trouble)

    def _apply(self, begin: ApplyStage, staged: StagedWindow, state: ReplicaState) -> ActNow | NotBrought | None:
        """Apply a window as far as it is staged and wanted; return what stands in the way."""
        # Whose directories the source's are can be asked of nobody any more; files have their owners in staging.
        policy = replace(staged.policy, options=replace(staged.policy.options, permissions="replica"))
        run = replace(begin, work=replace(begin.work, policy=policy), found=(staged.dump, state), lost=staged.lost)
        target, until = open_target(run.ports, policy, run.log_id, run.lease), min(self.until, staged.end.event_id)
        opened = Applying(run.work, run.ports, staged.dump, target, until=until, freezes=LostFile)
        run = replace(run, opened=opened)
        is_whole = staged.is_whole and staged.end.event_id <= self.until
        try:
            if is_whole:
                run = apply.apply_events(apply.record_skipped_events(run))
            elif staged.dump.manifest.window.consistency == EVERY_EVENT:
                self._apply_part(run, staged)
        except (Foreign, LogBroken):
            raise
        except ActNow as error:
            position, taken = run.applying.give_up()
            if may_pass(error, is_last_try=self.is_last_try):
                raise
            begin.work.report(f"from staging: up to event {position.event_id}; then: " + error.text)
            for path in taken:
                begin.work.report(f"taken back, as its event is not applied: {path}")
            return error
        return _end(run) if is_whole else None

    def _apply_part(self, run: ApplyStage, staged: StagedWindow) -> None:
        """Apply the events up to one in the middle of a window."""
        last = _last_told(run.ports, staged.dump, min(self.until, staged.end.event_id))
        if last is not None and last.event_id > run.applying.position.event_id:
            run.applying.record_skipped()
            run.applying.apply_events(staged.lost)
            run.applying.stop_at(last)
        run.applying.give_up()


def _end(run: ApplyStage) -> NotBrought | None:
    """Bring the tables that come whole, and end a window whose events are applied; return what cannot be brought.

    The position is the window's end all the same: these tables are asked for still, so that another run tries them.
    """
    try:
        run = apply.finish_window(apply.replace_whole_tables(run))
    except (Foreign, LogBroken):
        raise
    except Unexplained as error:
        raise _not_ended(run.dump, error) from error
    except ActNow as error:
        end = run.dump.manifest.end
        run.applying.stop_at(end)
        run.work.report(f"from staging: up to event {end.event_id}; then: " + error.text)
        return _not_brought(run, error)
    _tidy(run)
    return None


def _not_brought(run: ApplyStage, error: ActNow) -> NotBrought:
    """Note the refusal. The plan has told of a window without events, as long as the tables are still there."""
    tables, (begin, end) = tuple(sorted(run.dump.manifest.window.snapshots)), run.dump.layout.bounds
    there = run.ports.replica.tables(run.policy.replica.database, tables)
    was_planned = begin == end and len(there) == len(tables)
    return NotBrought(tables, error, note_refused(run.ports.replica_files, run.dump) or was_planned)


def _tidy(run: ApplyStage) -> None:
    """Do what comes after the end of a window; trouble is only said, as all of the window is there."""
    try:
        apply.clean_staging(apply.publish_waiting_tables(run))
    except (Foreign, LogBroken):
        raise
    except ActNow as error:
        run.work.report(f"from staging: up to event {run.dump.manifest.end.event_id}; then: " + error.text)


def _not_ended(dump: Dump, error: Unexplained) -> Unexplained:
    """Return what is said of a window whose events are applied, and not what comes whole, with a way to do without."""
    place = dump.layout.directory
    return Unexplained(
        f"the window {dump.key} cannot be ended: {render(error.what)}",
        found=error.found or error.what,
        expected="the tables that come whole, as they are at its end",
        next_step="run it again. If it goes on, see the message and the metastore's log, or do without the window: "
        f"hdfs dfs -mv {quoted_path(place)} {quoted_path(f'{place}.aside')}. What of it is on the replica stays, and "
        "these tables are not brought",
    )


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
    last = _last_told(ports, dump, met.reached if met.tables else first - 1) if _has_parts(dump) else None
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


def _last_told(ports: ReadPorts, dump: Dump, until: int) -> Position | None:
    """Return the last event of a window up to one, None when it tells none so early."""
    told = (event.position for event in told_events(ports.dump_files, dump.layout))
    return max((one for one in told if one.event_id <= until), key=lambda one: one.event_id, default=None)
