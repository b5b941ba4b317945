"""Remove directories that no table or partition of the whole metastore uses any more, after a time of grace.

Replaced and dropped content stays for the queries that still read it. A directory is removed only by
name: the first sweep that finds it unused writes it down, a later one, past the grace, looks again and
removes exactly that.

Looking takes no lease, however many partitions there are: nothing that comes uses a directory of an event
before the position that was read first; of the position itself, a window without events does. The places that
bear no event, to which a metastore moves renamed partitions, stay while the log tells of such a rename since.
The replica's own database is asked each time; all others, where users may have taken a table of ours, only when
something is due, and once in a time of grace. Removing takes the lease, for a few directories at a time and from nobody
who works: an apply that comes waits for moments.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from twinhive.core.model.errors import LeaseHeld, LeaseLost, Refused, together
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, Lease, WritePorts
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Detail, Work
from twinhive.replication.apply.managed_locations import managed_root
from twinhive.replication.dump.dump_store import window_at
from twinhive.replication.notification_log.renamed_partitions import RenamedPartitions
from twinhive.replication.replica.replica_state import state_now
from twinhive.replication.replica.used_directories import UsedPlaces
from twinhive.replication.scan.unused_directories import bears_event, take_unused, unused_directories
from twinhive.replication.scan.unused_note import UnusedNote, note_path

_REMOVED_AT_ONCE = 64
# Whoever waits for the lease asks several times in that time.
_BETWEEN_SECONDS = 1.0


def sweep(ports: WritePorts, work: Work, wait: Callable[[float], None] = time.sleep) -> int:
    """Remove what was unused at an earlier sweep, longer ago than the grace, and still is; return how many.

    What is left because others hold the lease is removed by the next sweep. Raises Refused, after all others are
    removed, when some cannot be.
    """
    policy = work.policy
    state = state_now(ports, policy)
    if state.phase is not Phase.FOLLOWING:
        return 0
    before = UnusedNote.read(ports.replica_files, policy)
    unused = set(unused_directories(ports.replica, ports.replica_files, policy, _passed(ports, policy, state)))
    sweeping = _Sweeping(ports, work, state.dump, RenamedPartitions(policy, state.position))
    try:
        sweeping.sweep(before, unused, wait)
    except (LeaseHeld, LeaseLost) as error:
        work.report(f"the sweep leaves the rest to the next one: {error.words.what}, {error.words.found}")
    for directory, how in {**sweeping.gone, **dict.fromkeys(sweeping.refused, "left in place")}.items():
        line = f"{how}, unused for {policy.options.grace_seconds} s: {directory}"
        work.report(Detail("Unused directories", line))
    if refused := sweeping.refused:
        raise together(list(refused.values()), f"{len(refused)} unused directories cannot be removed")
    return len(sweeping.gone)


def _passed(ports: WritePorts, policy: Policy, state: ReplicaState) -> int:
    """Return the last event whose directories nobody fills any more.

    A window without events brings tables over as of the position itself, in directories that an earlier try may have
    left: an apply that is repeated goes on with them.
    """
    position = state.position.event_id
    window = window_at(ports.dump_files, policy, position)
    return position - 1 if window is not None and window.layout.is_eventless else position


@dataclass(frozen=True)
class _Sweeping:
    """One sweep that changes something: what went and how, what stays and why."""

    ports: WritePorts
    work: Work
    dump: str | None
    renames: RenamedPartitions
    gone: dict[str, str] = field(default_factory=dict)
    refused: dict[str, Refused] = field(default_factory=dict)

    def sweep(self, before: UnusedNote, unused: Collection[str], wait: Callable[[float], None]) -> None:
        """Write down what is unused; remove what an earlier sweep has seen and is due, if nobody uses it anywhere."""
        grace = self.work.policy.options.grace_seconds
        note = self._note(before, unused)
        due = [one for one in note.due(grace) if one in before.since] if note is not None else []
        if note is None or not due or not note.may_ask(grace):
            return
        self._remove(self._unused_everywhere(due), wait)
        self._note(replace(note, asked=note.written), note.since.keys() - self.gone.keys())

    def _unused_everywhere(self, directories: Sequence[str]) -> Sequence[str]:
        """Return those that nothing uses in the whole metastore; none where a part of it cannot be asked."""
        policy = self.work.policy
        root = managed_root(self.ports.replica, policy)
        try:
            places = UsedPlaces.read_whole(self.ports.replica, policy, root)
        except Refused as error:
            self.work.report(f"the sweep removes nothing, as not all of the metastore can be asked: {error}")
            return []
        used = {one for one in directories if places is None or places.uses(one)}
        for one in sorted(used):
            self.work.report(Detail("Unused directories", f"left in place, another database uses it: {one}"))
        return [one for one in directories if one not in used]

    def _remove(self, directories: Sequence[str], wait: Callable[[float], None]) -> None:
        """Remove directories, some for each time that the lease is held."""
        self._may_go(directories)  # reads most of the log before there is a lease
        for start in range(0, len(directories), _REMOVED_AT_ONCE):
            if start:
                wait(_BETWEEN_SECONDS)
            with hold_lease(self.ports, self.work, LeaseKind.HOUSEKEEPING) as lease:
                if self._is_as_it_was():
                    self._take_away(lease, self._may_go(directories[start : start + _REMOVED_AT_ONCE]))

    def _may_go(self, directories: Sequence[str]) -> Sequence[str]:
        """Return those that nothing can have come to use since they were found unused."""
        root = managed_root(self.ports.replica, self.work.policy)
        named = [one for one in directories if bears_event(one, root)]
        if len(named) == len(directories) or self.renames.any_by_now(self.ports):
            return named
        return directories

    def _note(self, before: UnusedNote, unused: Collection[str]) -> UnusedNote | None:
        """Write down what is unused, and since when; return the note, None where the replica is not what it was."""
        with hold_lease(self.ports, self.work, LeaseKind.HOUSEKEEPING):
            is_same = self._is_as_it_was()
            return before.write(self.ports.replica_files, self.work.policy, unused) if is_same else None

    def _is_as_it_was(self) -> bool:
        """False for a replica that was loaded anew, or given up, since it was looked at."""
        state = state_now(self.ports, self.work.policy)
        return state.phase is Phase.FOLLOWING and state.dump == self.dump

    def _take_away(self, lease: Lease, directories: Sequence[str]) -> None:
        """Take directories away; note how each went, and of each that stays, why."""
        root = managed_root(self.ports.replica, self.work.policy)
        for directory in directories:
            try:
                how = take_unused(self.ports, self.work.policy, root, lease, directory)
            except Refused as error:
                self.refused[directory] = error
            else:
                if how is not None:
                    self.gone[directory] = how


def last_swept(files: FileReader, policy: Policy) -> float | None:
    """Return when a sweep was last made, in epoch seconds; None before the first one."""
    note = files.status(note_path(policy))
    return None if note is None else note.modified_ms / 1000
