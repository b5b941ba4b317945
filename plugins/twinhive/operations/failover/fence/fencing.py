"""Keep writers away from a source, rung by rung; each is noted before, and can be taken away again."""

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from twinhive.core.model.errors import ActNow, Missing
from twinhive.core.model.failover.fence import COMMAND, FULL, QUOTA, FenceMark, FenceNote
from twinhive.core.model.files import join
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.next_steps import command
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text
from twinhive.core.ports import Lease, NameQuotas, ReadPorts, WritePorts
from twinhive.operations.actions.operation import Holder
from twinhive.operations.failover.fence.fence_command import RunCommand, run_command
from twinhive.operations.failover.fence.fence_snapshots import keep_snapshots, said_without, without_snapshots
from twinhive.operations.failover.fence.fenced_directories import directories_to_fence, source_database
from twinhive.operations.failover.fence.note import mark_of, note_of, note_path
from twinhive.replication.replica.begun_failover import begin_failover, token_of, token_path, void_token

FENCE = "fence"
"""The task of the DAG <policy>.failover that sets it."""
_NAMED = 5


def fence_lease(policy: Policy) -> str:
    """Return where the lease of fences is kept: setting one and taking it away exclude each other."""
    return join(policy.staging, "fence")


def or_abort(policy: Policy) -> Text:
    """Return how to give a failover up."""
    if not policy.fence.rungs:
        return "or leave it at that: nothing was changed"
    return "or let the writers in again: " + command("twinhive", "failover", policy.name, "--abort")


def prove_again(policy: Policy, task: str) -> Text:
    """Return how all that a failover has proved is proved again, wherever the message is read."""
    return (
        "prove it again with: "
        + command("twinhive", "failover", policy.name)
        + f"; or, in a run of the DAG {policy.name}.failover, clear the task {task} with all tasks after it; "
        + or_abort(policy)
    )


def environment_of(policy: Policy) -> dict[str, str]:
    """Return what the operator's command is told."""
    return {
        "TWINHIVE_POLICY": policy.name,
        "TWINHIVE_CLUSTER": policy.source.cluster,
        "TWINHIVE_DATABASE": policy.source.database,
    }


@dataclass(frozen=True)
class Fence:
    """Keep writers away from a policy's source, as `failover.fence` of its file says.

    The note says what was there before; then comes the mark at the database; then what keeps writers out. A second run
    goes on where a first one was killed.
    """

    policy: Policy
    holder: Holder
    run_command: RunCommand = run_command
    clock: Callable[[], float] = time.time

    def plan(self, ports: WritePorts) -> list[str]:
        """Say what would be done."""
        policy, rules = self.policy, self.policy.fence
        if not rules.rungs:
            return [f"no fence (failover.fence): people keep writers away from {policy.source}"]
        database = source_database(ports, policy)
        mark = mark_of(policy, database.parameters)
        lines = [f"{policy.source} is fenced since {int(self.clock()) - mark.since} s"] if mark else []
        for rung in rules.rungs:
            if rung == QUOTA:
                found = directories_to_fence(ports, policy, database)
                lines += [f"would let no new file into {directory} (quota of names 1)" for directory in found]
                barred = without_snapshots(ports.trees.source, found)
                lines += [f"would keep what {one} holds in a snapshot" for one in found if one not in barred]
                lines += [said_without(barred)] if barred else []
            elif rung == COMMAND:
                lines.append(f"would run: {' '.join(rules.close)}")
        return [*lines, f"until then it can be given up: twinhive failover {policy.name} --abort"]

    def run(self, ports: WritePorts) -> list[str]:
        """Set all rungs, and let the failover begin: what is found at the source from then on can prove something.

        Where a quota stands whole the token stays, else there is a new one. Raises what keeps it from that; what was
        set until then stays, and can be taken away.
        """
        policy, files = self.policy, ports.replica_files
        with ports.lease.hold(fence_lease(policy), self.holder, LeaseKind.PROMOTE) as lease:
            stands = self._stands(ports)
            if not stands:
                lease.confirm()
                void_token(files, policy)
            if policy.fence.rungs:
                self._set(ports, lease)
            if not stands:
                refuse_open_files(ports, policy)
                lease.confirm()
                begin_failover(files, policy)
            return list(self._said(ports))

    def _stands(self, ports: WritePorts) -> bool:
        """Tell whether nobody can have written since the token was made: of a quota, which HDFS itself keeps."""
        holes = _holes(ports, self.policy) if QUOTA in self.policy.fence.rungs else [FENCE]
        return not holes and bool(token_of(ports.replica_files, self.policy))

    def _set(self, ports: WritePorts, lease: Lease) -> None:
        note = self._begun(ports, lease)
        for rung in self.policy.fence.rungs:
            if rung == QUOTA:
                note = self._without_room(ports, lease, note)
            elif rung == COMMAND:
                note = self._shut(ports, lease, note)

    def _said(self, ports: WritePorts) -> Iterator[str]:
        policy = self.policy
        mark = mark_of(policy, source_database(ports, policy).parameters) if policy.fence.rungs else None
        if mark is None:
            yield f"no fence (failover.fence): people keep writers away from {policy.source}"
            return
        note = note_of(ports.replica_files, mark)
        yield f"{policy.source} is marked as fenced"
        for rung in policy.fence.rungs:
            if rung == QUOTA:
                yield from (f"no new file gets into {directory}" for directory in note.names)
                barred = without_snapshots(ports.trees.source, note.names, note.snapshot)
                yield from [said_without(barred)] if barred else []
            elif rung == COMMAND:
                yield f"done: {' '.join(note.rules.close)}"

    def _begun(self, ports: WritePorts, lease: Lease) -> FenceNote:
        policy = self.policy
        mark = mark_of(policy, source_database(ports, policy).parameters)
        if mark is not None:
            note = note_of(ports.replica_files, mark)
            # What was begun by the rules of then is taken away by them.
            opened = note.rules.open if note.is_shut else policy.fence.open
            return replace(note, rules=replace(policy.fence, open=opened))
        note, path = FenceNote(uuid.uuid4().hex[:12], policy.fence), note_path(policy)
        lease.confirm()
        ports.replica_files.write(path, note.written())
        lease.confirm()
        said = FenceMark(policy.name, note.token, int(self.clock()), path)
        ports.source_marker.fence(policy.source.database, str(said))
        return note

    def _without_room(self, ports: WritePorts, lease: Lease, note: FenceNote) -> FenceNote:
        files, policy = ports.trees.source, self.policy
        found = directories_to_fence(ports, policy, source_database(ports, policy))
        note = keep_snapshots(ports, policy, lease, note, found)
        names = {one: files.name_quota(one) for one in found if one not in note.names}
        if names:
            note = replace(note, names={**note.names, **names})
            lease.confirm()
            ports.replica_files.write(note_path(policy), note.written())
        for directory in note.names:
            with suppress(Missing):
                if files.name_quota(directory) != FULL:
                    lease.confirm()
                    files.set_name_quota(directory, FULL)
        return note

    def _shut(self, ports: WritePorts, lease: Lease, note: FenceNote) -> FenceNote:
        note = replace(note, is_shut=True)
        lease.confirm()
        ports.replica_files.write(note_path(self.policy), note.written())
        self.run_command(note.rules.close, environment_of(self.policy))
        return note


def begun(ports: ReadPorts, policy: Policy) -> str:
    """Return the token of the failover that has begun. Raises ActNow where none has, or where it was given up."""
    token = token_of(ports.replica_files, policy)
    if not token:
        raise ActNow(
            f"no failover of policy {policy.name} has begun, or it was given up",
            found=f"no token in {token_path(policy)}",
            expected="the one that is written when nobody may write the source any more",
            next_step=prove_again(policy, FENCE),
        )
    return token


def standing_fence(ports: WritePorts, policy: Policy) -> str:
    """Return the token of the failover that has begun, behind the fence that its policy wants, if it wants one.

    The servers are asked, not the note alone. Raises ActNow for a hole, and where no failover has begun.
    """
    if holes := _holes(ports, policy):
        raise ActNow(
            f"{policy.source} is not fenced as its policy says",
            found="; ".join(first_of(holes, _NAMED)),
            expected=f"the fence of policy {policy.name}: {', '.join(policy.fence.rungs)}",
            next_step=prove_again(policy, FENCE),
        )
    # Read last: who lets writers in takes it away first.
    return begun(ports, policy)


def _holes(ports: WritePorts, policy: Policy) -> list[str]:
    if not policy.fence.rungs:
        return []
    database = source_database(ports, policy)
    mark = mark_of(policy, database.parameters)
    if mark is None:
        return ["no mark at the database"]
    note = note_of(ports.replica_files, mark)
    holes = []
    if COMMAND in policy.fence.rungs and not note.is_shut:
        holes.append(f"not run: {' '.join(policy.fence.close)}")
    if QUOTA in policy.fence.rungs:
        found = directories_to_fence(ports, policy, database)
        holes += [f"not fenced: {directory}" for directory in found if directory not in note.names]
        holes += _opened(ports.trees.source, note)
    return holes


def _opened(files: NameQuotas, note: FenceNote) -> Iterator[str]:
    for directory in note.names:
        with suppress(Missing):
            if (names := files.name_quota(directory)) != FULL:
                yield f"somebody has opened the fence of {directory}: quota of names {names or 'none'}"


def refuse_open_files(ports: WritePorts, policy: Policy) -> None:
    """Refuse a fenced source below whose directories somebody still writes a file that was open before."""
    mark = mark_of(policy, source_database(ports, policy).parameters) if QUOTA in policy.fence.rungs else None
    if mark is None:
        return
    for directory in note_of(ports.replica_files, mark).names:
        with suppress(Missing):
            if found := ports.trees.source.open_files(directory, _NAMED):
                raise ActNow(
                    f"files of {policy.source} are open for writing",
                    found=", ".join(found),
                    expected="no open file: who holds one goes on writing behind the fence",
                    next_step="stop these writers (a file that nobody closes: hdfs debug recoverLease -path FILE); "
                    + prove_again(policy, FENCE),
                )
