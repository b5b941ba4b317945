"""Obey what people ask for when a window is cut: tables to resync, events to pass over."""

from collections.abc import Collection, Mapping, Sequence

from twinhive.core.model.errors import TryAgain
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.objects import Database, Parameters
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables, with_frozen
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.parameter_changes import change_database
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.replication.dump.batch_records import copied_batch
from twinhive.replication.dump.dump_layout import WHOLE_TABLES
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.manifest import DumpManifest
from twinhive.replication.incremental.tables_to_resync import stamps_of
from twinhive.replication.notification_log.skipped_events import obeyed_skips
from twinhive.replication.operator_requests.request_files import everything_requested, requested_tables
from twinhive.replication.replica.replica_state import state_of

_WAITING = "waits to be brought over as it is (twinhive resync)"


def reason_to_plan_again(ports: ReadPorts, policy: Policy, dump: Dump) -> str | None:
    """Say why a window that was begun cannot come to its end as it is, None when it can."""
    manifest = dump.manifest
    if why := _on_other_terms(ports, policy, manifest):
        return why
    requested = set(requested_tables(ports.replica_files, policy))
    if dump.layout.is_eventless:
        return "its tables are read again" if requested else "its tables are brought over"
    if tables := _brought_over(ports, policy, dump, requested):
        return f"brought over by another window since: {', '.join(tables)}"
    if moved := _moved_snapshots(ports, policy, dump):
        return f"the source changed while tables were copied as a whole: {'; '.join(moved)}"
    database = ports.replica.database(policy.replica.database)
    frozen = frozen_tables(database.parameters if database else {})
    if tables := sorted(requested - set(manifest.window.snapshots) - frozen.keys()):
        return f"to be brought over as they are: {', '.join(tables)}"
    if events := _newly_skipped(ports, policy, dump):
        return f"to be passed over: {', '.join(map(str, events))}"
    return None


def _on_other_terms(ports: ReadPorts, policy: Policy, manifest: DumpManifest) -> str | None:
    if manifest.fingerprint != policy.fingerprint:
        return "the policy file has changed"
    if manifest.window.consistency != policy.options.consistency:
        return f"consistency is {policy.options.consistency} now"
    everything = everything_requested(ports.replica_files, policy)
    if everything and everything != manifest.window.everything:
        return "all that the policy selects is to be compared (resync --all)"
    return None


def _brought_over(ports: ReadPorts, policy: Policy, dump: Dump, requested: Collection[str]) -> list[str]:
    """Return the whole tables of a window that the replica has already, from another one that ended earlier.

    A run that was frozen for a while may publish a window that others have overtaken.
    """
    fulfilled = set(dump.manifest.window.snapshots) - set(requested)
    database = ports.replica.database(policy.replica.database)
    stamps = stamps_of(ports, policy, ReplicaState.read(database.parameters if database else None), fulfilled)
    begin, end = dump.layout.bounds
    return sorted(table for table, stamp in stamps.items() if begin < stamp < end)


def _moved_snapshots(ports: ReadPorts, policy: Policy, dump: Dump) -> list[str]:
    whole = [batch for batch in dump.manifest.batches if batch.name.startswith(WHOLE_TABLES)]
    found = ((one, copied_batch(ports.replica_files, policy.staging, dump.key, one.name)) for one in whole)
    return [batch.label for batch, copied in found if copied and copied.failures]


def _newly_skipped(ports: ReadPorts, policy: Policy, dump: Dump) -> list[int]:
    begin, end = dump.layout.bounds
    wanted = [event_id for event_id in obeyed_skips(ports, policy) if begin < event_id <= end]
    if not wanted:
        return []
    held = {row.event_id for row in dump.rows(ports.dump_files)}
    return sorted(held.intersection(wanted))


def freeze_requested(
    ports: WritePorts, work: Work, tables: Sequence[str], why: Mapping[str, str] | None = None
) -> frozenset[str]:
    """Freeze tables that wait for a later window, so that none of their events stops it; return all frozen tables.

    Raises Promoted for a replica that has taken over meanwhile, TryAgain for one that does not follow any more.
    """
    policy = work.policy
    database = ports.replica.database(policy.replica.database)
    frozen = frozen_tables(database.parameters if database else {})
    new = [table for table in tables if table not in frozen]
    if new:
        log_id = ports.source.log_id()

        def with_new(database: Database) -> Parameters:
            _refuse_other_phase(policy, state_of(database, policy, log_id))
            parameters = database.parameters
            for table in new:
                parameters = with_frozen(parameters, table, (why or {}).get(table, _WAITING))
            return parameters

        with hold_lease(ports, work, LeaseKind.EVENTS) as lease:
            lease.confirm()
            change_database(ports.replica, policy.replica.database, with_new)
        work.report(f"frozen until a window reaches the newest event: {', '.join(new)}")
    return frozenset({*frozen, *new})


def _refuse_other_phase(policy: Policy, state: ReplicaState) -> None:
    if state.phase is not Phase.FOLLOWING:
        raise TryAgain(
            f"the replica of policy {policy.name} is being built again: no window is cut for it",
            found=f"phase {state.phase.value}",
            expected=Phase.FOLLOWING.value,
            next_step="wait until it follows",
        )
