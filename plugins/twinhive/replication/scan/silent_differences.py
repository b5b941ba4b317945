"""Bring differences that no event explains over to the replica: settled, copied without the lease, placed under it.

Everything is decided again under the lease, by the log since the position at which the replica was compared: tables
with events since are left to those, all others follow, however busy the policy is.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from twinhive.core.directory_marks.staging import own_staging
from twinhive.core.model.errors import ActNow, LeaseHeld, LeaseLost
from twinhive.core.model.files import join
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.objects import Parameters
from twinhive.core.model.quarantine import is_frozen
from twinhive.core.ports import WritePorts
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.replication.apply.open_target import open_target
from twinhive.replication.apply.silent_change import SilentChange, apply_silent_change
from twinhive.replication.comparison.leaf_files import Difference, contents
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.notification_log.touched_tables import TouchedTables
from twinhive.replication.replica.replica_state import read_state
from twinhive.replication.scan.silent_writes import unfinished_below
from twinhive.transfer.staged.batch_result import failed_copy
from twinhive.transfer.staged.copy_items import copy_items
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.ownership import ownership_of
from twinhive.transfer.staged.staged_files import CopyItem

# Whoever else wants to change the replica waits for so many tables and partitions at most.
_BROUGHT_AT_ONCE = 16
_LISTED_AT_ONCE = 256
# Whoever waits for the lease asks several times in that time.
_BETWEEN_SECONDS = 1.0


@dataclass(frozen=True)
class SilentDifferences:
    """What differs since the replica was at `state`; `touched` are the tables with events after that.

    refused  why single tables and partitions were not brought over; the others were all the same
    """

    work: Work
    ports: WritePorts
    state: ReplicaState
    touched: TouchedTables
    wait: Callable[[float], None]
    refused: list[ActNow] = field(default_factory=list)

    def settled(self, differences: Sequence[Difference]) -> list[Difference]:
        """Return those that are the same after a while, with no event of their table since."""
        if not differences:
            return []
        self.wait(self.work.policy.options.settle_seconds)
        pieces = (differences[start : start + _LISTED_AT_ONCE] for start in range(0, len(differences), _LISTED_AT_ONCE))
        quiet = [one for some in pieces for one in self._quiet(some)]
        marks = self._marks()
        # Read last: whatever explains these files has had its time to be written.
        self.touched.read_on(EventStream.of(self.ports, self.work.policy))
        return [one for one in quiet if self._is_unexplained(one, marks)]

    def brought_over(self, settled: Sequence[Difference]) -> list[Difference]:
        """Copy and place what the replica lacks; return what it has now."""
        if not settled:
            return []
        staging = join(self.work.policy.staging, "scan", "files")
        ready, followed = self._copied(settled, staging), []
        try:
            for start in range(0, len(ready), _BROUGHT_AT_ONCE):
                if start:
                    self.wait(_BETWEEN_SECONDS)
                followed += self._placed(ready[start : start + _BROUGHT_AT_ONCE], staging)
        except (LeaseHeld, LeaseLost) as error:
            self.work.report(
                f"what differs is looked at again by the next scan: {error.words.what}, {error.words.found}"
            )
        if ours := own_staging(self.ports.replica_files, self.work.policy):
            ours.discard(staging)
        return followed

    def _quiet(self, some: Sequence[Difference]) -> list[Difference]:
        files = self.ports.source_files
        again = contents(files, {one.leaf.location: one.leaf.location for one in some})
        same = [one for one in some if again[one.leaf.location] == one.files]
        return [one for one in same if not unfinished_below(files, one.leaf)]

    def _is_unexplained(self, one: Difference, marks: Parameters) -> bool:
        name = one.leaf.table.name
        return name not in self.touched and not is_frozen(marks, name.table)

    def _marks(self) -> Parameters:
        database = self.ports.replica.database(self.work.policy.replica.database)
        return database.parameters if database else {}

    def _copied(self, settled: Sequence[Difference], staging: str) -> list[Difference]:
        options = self.work.policy.options
        outcome = copy_items(
            [CopyItem.of(file, one.leaf.table.name, one.leaf.name) for one in settled for file in one.wanted],
            self.ports.source_files,
            self.ports.replica_files,
            staging,
            options.copy_threads,
            self.work.report,
            bytes_per_second=options.bytes_per_second,
            ownership=ownership_of(options, self.ports.trees.source, self.ports.trees.replica),
        )
        self._tell_failures(outcome)
        failed = {failure.path for failure in outcome.failures}
        return [one for one in settled if not failed & {file.path for file in one.wanted}]

    def _tell_failures(self, outcome: CopyOutcome) -> None:
        """Say what was not copied; where it takes a person, the scan ends with it when it has done all else."""
        if not outcome.failures:
            return
        failed = failed_copy("what no event has told of", outcome, "mend that", lists_again=True)
        self.work.report(failed.what + ": " + (failed.found or ""))
        if isinstance(failed, ActNow):
            self.refused.append(failed)

    def _placed(self, ready: Sequence[Difference], staging: str) -> list[Difference]:
        """Hold the lease, and change what may be changed still; return what was."""
        policy, ports = self.work.policy, self.ports
        log_id = ports.source.log_id()
        with hold_lease(ports, self.work, LeaseKind.HOUSEKEEPING) as lease:
            now = read_state(ports.replica, policy, log_id)
            if now.phase is not Phase.FOLLOWING or now.dump != self.state.dump:
                return []
            self.touched.read_on(EventStream.of(ports, policy))
            marks, followed = self._marks(), []
            target = open_target(ports, policy, log_id, lease, staging)
            token = uuid.uuid4().hex[:8]
            for one in ready:
                try:
                    if self._is_unexplained(one, marks) and apply_silent_change(
                        target, self._change(one), now.position.event_id, token
                    ):
                        followed.append(one)
                except ActNow as error:
                    # Met by one who has lost the lease, it only shows what the new holder does.
                    lease.confirm()
                    self.refused.append(error)
            return followed

    def _change(self, one: Difference) -> SilentChange:
        replaces, read_at = not one.only_adds, self.state.position.event_id
        return SilentChange(one.leaf.table.name, one.leaf.name, one.wanted, replaces, read_at)
