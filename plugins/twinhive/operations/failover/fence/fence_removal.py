"""Take a fence away: what was there before it is put back, and writers may write again."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from twinhive.core.model.errors import Missing, Promoted, TwinhiveError
from twinhive.core.model.failover.fence import FULL, FenceMark, FenceNote
from twinhive.core.model.human_readable import first_of, spoken_time
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import Phase
from twinhive.core.model.next_steps import command
from twinhive.core.model.policy import Policy
from twinhive.core.ports import NameQuotas, ReadPorts, WritePorts
from twinhive.core.step.promotion_note import end_promotion_note, promotion_note, refuse_unlike_note
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.operation import Holder
from twinhive.operations.failover.fence.fence_command import RunCommand, run_command
from twinhive.operations.failover.fence.fence_snapshots import bring_back, delete_snapshots, would_bring_back
from twinhive.operations.failover.fence.fenced_directories import source_database
from twinhive.operations.failover.fence.fencing import environment_of, fence_lease
from twinhive.operations.failover.fence.missing_directories import without_directories
from twinhive.operations.failover.fence.note import mark_of, note_of, note_path
from twinhive.operations.failover.promote import replica_alone
from twinhive.replication.replica.begun_failover import void_token

_NAMED = 10


@dataclass(frozen=True)
class AbortFailover:
    """Give a failover up before its point of no return: the fence goes, and the source stays the primary."""

    policy: Policy
    holder: Holder
    run_command: RunCommand = run_command
    clock: Callable[[], float] = time.time

    def plan(self, ports: WritePorts) -> list[str]:
        """Say what would be put back."""
        self._refuse_promoted(ports)
        policy = self.policy
        mark = mark_of(policy, source_database(ports, policy).parameters)
        if mark is None:
            return self._nothing
        note = note_of(ports.replica_files, mark)
        lines = [f"{policy.source} is fenced for {spoken_time(max(0.0, self.clock() - mark.since))}"]
        if note.is_shut:
            opened = " ".join(note.rules.open) or "(nothing: there is no failover.open_command)"
            lines.append(f"would run: {opened}")
        lines += [
            f"would let files into {one} again (quota of names {'none' if was is None else was})"
            for one, was in note.names.items()
        ]
        return [*lines, *would_bring_back(ports, policy, note), *self._damaged(ports)]

    def run(self, ports: WritePorts) -> list[str]:
        """Put it back. Waits for a promotion that is under way, and is refused after it."""
        self._refuse_promoted(ports)
        with hold_lease(ports, Work(self.policy, holder=self.holder), LeaseKind.ABORT):
            self._refuse_promoted(ports)
            # Of a try that was killed right before its call: nothing goes on from there.
            end_promotion_note(ports.replica_files, self.policy)
            lines = lift_fence(ports, self.policy, self.holder, self.run_command)
        return [*(lines or self._nothing), *self._damaged(ports)]

    @property
    def _nothing(self) -> list[str]:
        return [f"{self.policy.source} is not fenced: nothing to take back"]

    def _refuse_promoted(self, ports: ReadPorts) -> None:
        _, state = replica_alone(ports, self.policy)
        note = promotion_note(ports.replica_files, self.policy)
        if note is not None and note.is_done:
            refuse_unlike_note(ports, self.policy)
        if state.phase is Phase.PROMOTED:
            reverse = f"{self.policy.name}_back"
            raise Promoted(
                f"the failover of policy {self.policy.name} cannot be aborted: {self.policy.replica} has taken over",
                found=f"phase {state.phase.value}",
                expected=f"phase {Phase.FOLLOWING.value}",
                next_step="fail back, by the policy of the opposite direction: "
                + command("twinhive", "failback", reverse, "--dry-run"),
            )

    def _damaged(self, ports: ReadPorts) -> Iterator[str]:
        """Name tables and partitions whose directories are gone; their rows are, too."""
        try:
            gone = list(without_directories(ports, self.policy))
        except TwinhiveError as error:
            # The fence is away by then, and what was brought back is to be told.
            yield f"tables without a directory, as a TRUNCATE leaves them, could not be looked for: {error.words.what}"
            return
        if gone:
            yield (
                "without a directory, as a TRUNCATE behind the fence leaves them: "
                f"{', '.join(first_of(gone, _NAMED))}; "
                "their files are in the change manager (metastore.repl.cmrootdir), or on the replica"
            )


def lift_fence(ports: WritePorts, policy: Policy, holder: Holder, run: RunCommand = run_command) -> list[str]:
    """Take the policy's fence from its source; nothing where none stands. Killed anywhere, a second run goes on.

    What was proved behind it is void before anything is opened: of a half lifted one no failover goes on.
    """
    with ports.lease.hold(fence_lease(policy), holder, LeaseKind.PROMOTE) as lease:
        lease.confirm()
        void_token(ports.replica_files, policy)
        mark = mark_of(policy, source_database(ports, policy).parameters)
        if mark is None:
            ports.replica_files.delete_file(note_path(policy))
            return []
        note = note_of(ports.replica_files, mark)
        lines = let_files_in(note, ports.trees.source, lease.confirm)
        found = bring_back(ports, policy, note, lease.confirm)
        delete_snapshots(note, ports.trees.source, lease.confirm, found.left)
        # Whoever was kept away by the command comes last, and finds what was there before.
        if note.is_shut and note.rules.open:
            lease.confirm()
            run(note.rules.open, environment_of(policy))
            lines.append(f"done: {' '.join(note.rules.open)}")
        lease.confirm()
        ports.source_marker.fence(policy.source.database, None)
        ports.replica_files.delete_file(note_path(policy))
    return [*lines, *found.lines, f"{policy.source} is not fenced any more: its writers may write"]


def let_files_in(note: FenceNote, files: NameQuotas, confirm: Callable[[], None]) -> list[str]:
    """Put the quotas back that a note tells of."""
    lines = []
    for directory, names in note.names.items():
        with suppress(Missing):
            # What people have set since is theirs.
            if files.name_quota(directory) == FULL and names != FULL:
                confirm()
                files.set_name_quota(directory, names)
            lines.append(f"files get into {directory} again")
    return lines


def is_fenced(ports: ReadPorts, policy: Policy) -> bool:
    """True where the policy's own fence stands at its source."""
    database = ports.source.database(policy.source.database)
    mark = FenceMark.read(database.parameters) if database else None
    return mark is not None and mark.policy == policy.name
