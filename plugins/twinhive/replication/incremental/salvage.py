"""Apply what staging holds of the source's events, when the source itself is not asked any more.

A window is kept beside its copies (`kept_windows.py`). One that is copied as a whole is applied to its end, also where
a killed run has begun it; of one that is not, the events before the first whose files are missing. An event whose
files are lost freezes its table, or is where it ends, as the policy says. For nothing else a table is frozen: whoever
approved it was told of lost files alone.
"""

from contextlib import ExitStack
from dataclasses import dataclass, replace

from twinhive.core.model.errors import ActNow, Foreign, LogBroken, LostFile, Unexplained, may_pass
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import ReplicaState
from twinhive.core.model.policy import EVERY_EVENT, Policy
from twinhive.core.model.text import Text, render
from twinhive.core.ports import WritePorts
from twinhive.core.step.promotion_note import refuse_unlike_note
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.replication.apply.open_target import open_target
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.incremental import apply_stage
from twinhive.replication.incremental.apply_stage import ApplyStage
from twinhive.replication.incremental.offline_source import without_source
from twinhive.replication.incremental.salvage_notes import NotedStaging, note_refused, note_staged
from twinhive.replication.incremental.staged_windows import StagedWindow, do_without, last_told, staged_window
from twinhive.replication.incremental.window_apply import Applying
from twinhive.replication.replica.replica_state import read_state


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
            refuse_unlike_note(ports, self.policy)
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
                run = apply_stage.apply_events(apply_stage.record_skipped_events(run))
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
        last = last_told(run.ports, staged.dump, min(self.until, staged.end.event_id))
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
        run = apply_stage.finish_window(apply_stage.replace_whole_tables(run))
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
        apply_stage.clean_staging(apply_stage.publish_waiting_tables(run))
    except (Foreign, LogBroken):
        raise
    except ActNow as error:
        run.work.report(f"from staging: up to event {run.dump.manifest.end.event_id}; then: " + error.text)


def _not_ended(dump: Dump, error: Unexplained) -> Unexplained:
    """Return what is said of a window whose events are applied, and not what comes whole, with a way to do without."""
    return Unexplained(
        f"the window {dump.key} cannot be ended: {render(error.what)}",
        found=error.found or error.what,
        expected="the tables that come whole, as they are at its end",
        next_step=f"run it again. If it goes on, see the message and the metastore's log, or {do_without(dump)}. "
        "What of it is on the replica stays, and these tables are not brought",
    )
