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
from twinhive.core.model.text import Clear, Text
from twinhive.core.ports import Lease, ReadPorts, WritePorts
from twinhive.operations.actions.operation import Holder
from twinhive.operations.failover.fence.fence_command import RunCommand, run_command
from twinhive.operations.failover.fence.fence_snapshots import keep_snapshots, said_without, without_snapshots
from twinhive.operations.failover.fence.fenced_directories import directories_to_fence, source_database
from twinhive.operations.failover.fence.note import mark_of, note_of, note_path

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
        """Set all rungs. Raises what keeps it from that; what was set until then stays, and can be taken away."""
        if not self.policy.fence.rungs:
            return self.plan(ports)
        with ports.lease.hold(fence_lease(self.policy), self.holder, LeaseKind.PROMOTE) as lease:
            note = self._begun(ports, lease)
            lines = [f"{self.policy.source} is marked as fenced"]
            for rung in self.policy.fence.rungs:
                if rung == QUOTA:
                    note = self._without_room(ports, lease, note)
                    lines += [f"no new file gets into {directory}" for directory in note.names]
                    barred = without_snapshots(ports.trees.source, note.names, note.snapshot)
                    lines += [said_without(barred)] if barred else []
                elif rung == COMMAND:
                    note = self._shut(ports, lease, note)
                    lines.append(f"done: {' '.join(note.rules.close)}")
        return lines

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


def standing_fence(ports: ReadPorts, policy: Policy) -> str:
    """Return the token of the fence that stands, '' where the policy has none. Raises ActNow for one with a hole."""
    if not policy.fence.rungs:
        return ""
    database = source_database(ports, policy)
    mark = mark_of(policy, database.parameters)
    holes = (
        ["no mark at the database"] if mark is None else list(_holes(ports, policy, note_of(ports.replica_files, mark)))
    )
    if mark is None or holes:
        raise ActNow(
            f"{policy.source} is not fenced as its policy says",
            found="; ".join(first_of(holes, _NAMED)),
            expected=f"the fence of policy {policy.name}: {', '.join(policy.fence.rungs)}",
            next_step=Clear(f"the task {FENCE} with all tasks after it") + "; " + or_abort(policy),
        )
    return mark.token


def _holes(ports: ReadPorts, policy: Policy, note: FenceNote) -> Iterator[str]:
    if COMMAND in policy.fence.rungs and not note.is_shut:
        yield f"not run: {' '.join(policy.fence.close)}"
    if QUOTA not in policy.fence.rungs:
        return
    for directory in directories_to_fence(ports, policy, source_database(ports, policy)):
        if directory not in note.names:
            yield f"not fenced: {directory}"


def refuse_open_files(ports: WritePorts, policy: Policy) -> None:
    """Refuse a fenced source below whose directories somebody still writes a file that was open before."""
    mark = mark_of(policy, source_database(ports, policy).parameters) if QUOTA in policy.fence.rungs else None
    if mark is None:
        return
    files = ports.trees.source
    for directory in note_of(ports.replica_files, mark).names:
        with suppress(Missing):
            if files.name_quota(directory) != FULL:
                raise ActNow(
                    f"somebody has opened the fence of {policy.source}",
                    found=f"{directory}: quota of names {files.name_quota(directory)}",
                    expected=f"{FULL}",
                    next_step=Clear(f"the task {FENCE} with all tasks after it") + "; " + or_abort(policy),
                )
            if found := files.open_files(directory, _NAMED):
                raise ActNow(
                    f"files of {policy.source} are open for writing",
                    found=", ".join(found),
                    expected="no open file: who holds one goes on writing behind the fence",
                    next_step="stop these writers (a file that nobody closes: hdfs debug recoverLease -path FILE); "
                    "then again: " + command("twinhive", "failover", policy.name) + "; " + or_abort(policy),
                )
