"""Say whether a replica could take over from its source: what keeps it from that, and what would not come along.

It reads only (`twinhive check POLICY --failover`); a planned failover asks it first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from twinhive.core.model.errors import ActNow, Refused, TwinhiveError
from twinhive.core.model.failover.fence import QUOTA
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.next_steps import command
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.promotion_note import disagreement, promotion_note
from twinhive.operations.actions.operation import following_state
from twinhive.operations.actions.replica_status import ReplicaStatus, read_status
from twinhive.operations.failover.fence.fence_snapshots import said_without, without_snapshots
from twinhive.operations.failover.fence.fenced_directories import directories_to_fence, source_database
from twinhive.operations.failover.left_source import left_behind, not_to_be_left
from twinhive.replication.incremental.scope_check import of_another_scope
from twinhive.replication.notification_log.server_settings import log_is_kept_for, not_switched_on, wrong_in_answers
from twinhive.replication.replica.source_scope import read_scope, readable_functions

LEAST_KEPT_SECONDS = 2 * 86_400
"""So long a log has to be kept: whoever fails back has at least two days for it."""
_ALIKE = ("metastore.metadata.transformer.class", "metastore.strict.managed.tables")
"""Settings under which a metastore makes other tables of what it is told (Hive 4: a managed one becomes external)."""
_NAMED = 10


@dataclass(frozen=True)
class Readiness:
    """What was found: problems keep the replica from taking over, `told` is to be known before somebody decides.

    lasting   those of the problems that no run of the policy's own DAGs mends
    """

    problems: tuple[TwinhiveError, ...]
    told: tuple[Text, ...]
    lasting: tuple[TwinhiveError, ...] = ()


def readiness(ports: WritePorts, policy: Policy) -> Readiness:
    """Look at both clusters. Raises ActNow for a replica that does not follow its source."""
    following_state(ports, policy, "a failover")
    status = read_status(ports, policy)
    barred, unfenced = _of_fence(ports, policy)
    of_replica = (*_of_scope(policy, status), *_of_functions(ports, policy), *_of_tables(policy, status))
    restored, cut_off = _of_note(ports, policy)
    lasting = (*restored, *_of_source(ports, policy), *_of_servers(ports, policy), *of_replica, *unfenced)
    told = (*cut_off, *_told(ports, policy, status), *barred)
    return Readiness((*lasting, *_under_way(policy, status)), told, lasting)


def _again(policy: Policy) -> Text:
    return "look again with: " + command("twinhive", "check", policy.name, "--failover")


def _of_note(ports: ReadPorts, policy: Policy) -> tuple[list[TwinhiveError], list[Text]]:
    """Return that it has taken over and does not know it any more; a try that was killed too early is only told."""
    note = promotion_note(ports.replica_files, policy)
    error = disagreement(policy, ports.replica.database(policy.replica.database), note)
    if note is None or error is None:
        return [], []
    return ([error], []) if note.is_done else ([], [error.text])


def _of_source(ports: ReadPorts, policy: Policy) -> Iterator[TwinhiveError]:
    """Yield why the source is none to take over from: another replica has done so, or it is one itself."""
    if (error := not_to_be_left(policy, source_database(ports, policy))) is not None:
        yield error


def _of_servers(ports: ReadPorts, policy: Policy) -> Iterator[TwinhiveError]:
    """Yield what keeps the replica's metastore from being a source."""
    cluster, then = policy.replica.cluster, "and restart it; then " + _again(policy)
    for address in ports.replica.addresses():
        which = f"the replica's metastore {address} of cluster {cluster}"
        looks: Sequence[Callable[[], Iterable[TwinhiveError]]] = (
            partial(not_switched_on, ports.replica, address, which, then),
            partial(_kept_too_shortly, ports, policy, address, which),
            partial(wrong_in_answers, ports.replica, address, cluster, then),
            partial(_log_is_readable, ports, address),
        )
        for look in looks:
            try:
                yield from look()
            except TwinhiveError as error:
                yield error
    yield from _made_otherwise(ports, policy)


def _log_is_readable(ports: ReadPorts, address: str) -> Iterable[TwinhiveError]:
    ports.replica.log_access(address)
    return ()


def _kept_too_shortly(ports: ReadPorts, policy: Policy, address: str, which: str) -> Iterator[Refused]:
    key, seconds = log_is_kept_for(ports.replica, address)
    if seconds is not None and seconds < LEAST_KEPT_SECONDS:
        yield Refused(
            f"{which} keeps its log too shortly to fail back",
            found=f"{key} = {ports.replica.configuration(address, key)}",
            expected=f"at least {LEAST_KEPT_SECONDS // 86_400} days",
            next_step="raise it in that server's metastore-site.xml and restart it; then " + _again(policy),
        )


def _made_otherwise(ports: ReadPorts, policy: Policy) -> Iterator[Refused]:
    """Yield settings that differ, under which the same statement makes another table on the replica."""
    for key in _ALIKE:
        here = {ports.source.configuration(address, key).strip() for address in ports.source.addresses()}
        there = {ports.replica.configuration(address, key).strip() for address in ports.replica.addresses()}
        if here != there:
            yield Refused(
                f"the metastores of policy {policy.name} make tables in different ways",
                found=f"{key} = {_said(here)} at the source, {_said(there)} at the replica",
                expected="the same: what users create after a failover has to be what they created before",
                next_step="make them equal in metastore-site.xml and restart that server; then " + _again(policy),
            )


def _of_scope(policy: Policy, status: ReplicaStatus) -> Iterator[ActNow]:
    """Yield why no window goes on with the replica: only that could bring it to the newest event."""
    if (error := of_another_scope(policy, status.state)) is not None:
        yield error


def _of_functions(ports: ReadPorts, policy: Policy) -> Iterator[ActNow]:
    """Yield functions of the replica whose files are not where it looks for them, and those that it lacks."""
    found, _ = readable_functions(ports.replica, policy.replica.database)
    there = {one.name: one for one in found}
    root = ports.replica_files.root
    for one in there.values():
        gone = [uri for uri in one.resources if uri.startswith(f"{root}/") and ports.replica_files.status(uri) is None]
        if gone:
            yield ActNow(
                f"function {one.name} of {policy.replica} cannot be used: its files are gone",
                found=f"nothing at {', '.join(gone[:_NAMED])}",
                expected="the files that the function names",
                next_step="drop the function at the source and create it again; then " + _again(policy),
            )
    here, unread = readable_functions(ports.source, policy.source.database)
    lacks = sorted(({one.name for one in here} | unread.keys()) - there.keys())
    if lacks:
        yield ActNow(
            f"functions of {policy.source} are not on the replica",
            found=_some(lacks),
            expected="all of them: queries that use them fail after a failover",
            next_step="see why with: " + command("twinhive", "check", policy.name, "--servers"),
        )


def _of_tables(policy: Policy, status: ReplicaStatus) -> Iterator[ActNow]:
    """Yield what of the replica is older than its position says."""
    if status.quarantined:
        yield ActNow(
            f"tables of {policy.replica} are quarantined: they stand still since then",
            found=_some(status.quarantined),
            expected="none",
            next_step="mend the causes; then: " + command("twinhive", "repair", policy.name, "--quarantined"),
        )


def _of_fence(ports: WritePorts, policy: Policy) -> tuple[list[Text], list[TwinhiveError]]:
    """Return what a fence could not bring back after an abort, and why it cannot be set."""
    if QUOTA not in policy.fence.rungs:
        return [], []
    try:
        found = directories_to_fence(ports, policy, source_database(ports, policy))
        barred = without_snapshots(ports.trees.source, found)
    except TwinhiveError as error:
        return [], [error]
    return ([said_without(barred)] if barred else []), []


def _under_way(policy: Policy, status: ReplicaStatus) -> Iterator[ActNow]:
    """Yield what waits for a run of the policy's own DAGs."""
    if status.requested:
        yield ActNow(
            f"tables of {policy.replica} wait to be brought over as they are",
            found=_some(status.requested),
            expected="none",
            next_step=f"start the DAG {policy.name}.incremental, then " + _again(policy),
        )
    if status.pending:
        yield ActNow(
            f"external tables of {policy.replica} wait for their data",
            found=_some(status.pending),
            expected="none",
            next_step=f"start the DAG {policy.name}.external, then " + _again(policy),
        )


def _told(ports: ReadPorts, policy: Policy, status: ReplicaStatus) -> Iterator[Text]:
    yield from left_behind(policy, source_database(ports, policy))
    behind = "an unknown number of" if status.in_scope is None else status.in_scope
    yield f"the replica is at event {status.state.position.event_id}; {behind} events of this policy come after it"
    verified = status.verified
    yield verified.headline if verified else "never verified: run " + command("twinhive", "verify", policy.name)
    if left_out := read_scope(ports.source, policy).left_out:
        yield f"not replicated: {_some([f'{one.name} ({one.reason})' for one in left_out])}"
    if status.held_sets:
        yield f"sets that are held on the replica: {_some(status.held_sets)}"
    if status.skipped:
        yield f"events that were skipped: {_some(map(str, status.skipped))}"
    yield (
        "not replicated by anybody here: grants, Ranger's policies, settings of HiveServer2, scheduled queries, "
        "materialized views"
    )


def _some(names: Iterable[object]) -> str:
    return ", ".join(first_of(names, _NAMED))


def _said(values: set[str]) -> str:
    return ", ".join(sorted(value or "(not set)" for value in values))
