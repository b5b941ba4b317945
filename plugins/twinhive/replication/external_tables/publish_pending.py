"""Publish external tables whose data has come, at the end of a window or between two."""

from collections.abc import Iterator
from contextlib import suppress

from twinhive.core.model.errors import Missing, raise_one
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import Phase
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Report, Work
from twinhive.replication.apply.apply_failures import Quarantine
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.external.external_target import ExternalTarget
from twinhive.replication.apply.external.pending_publication import Published, ready_parts
from twinhive.replication.apply.external.pending_store import PendingStore
from twinhive.replication.apply.open_target import open_target
from twinhive.replication.external_tables.pending_index import PendingWaits
from twinhive.replication.external_tables.publish_tables import publish_ready
from twinhive.replication.notification_log.source_log import SourceLog
from twinhive.replication.replica.pending_files import PendingFiles, read_pending
from twinhive.replication.replica.replica_state import read_state
from twinhive.replication.replica.sync_records import Synced

_NAMED = 10


def publish(external: ExternalTarget, synced: Synced, quarantine: Quarantine, report: Report) -> tuple[str, ...]:
    """Publish what is ready, and say so; return the tables of which something waits still.

    The records are written already. Raises the first error of a table that the replica does not take, after all others
    are published, or freezes it.
    """
    published = _publish_ready(external, synced, quarantine)
    for table, error in published.refused.items():
        if quarantine.accepts(error):
            quarantine.freeze(table, error)
            report(f"QUARANTINED: {table}: " + error.what)
    if published.tables or published.partitions:
        report(f"published: {published.tables} external tables, {published.partitions} partitions")
    for detail in published.left_out:
        report(f"left out: {detail}")
    if left := published.left:
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        report(f"{len(left)} external tables wait for their data: {', '.join(left[:_NAMED])}{more}")
    raise_one(error for error in published.refused.values() if not quarantine.accepts(error))
    return left


def _publish_ready(external: ExternalTarget, synced: Synced, quarantine: Quarantine) -> Published:
    """Publish what is ready of the tables that may have something, and remember what waits then."""
    target, frozen = external.target, frozen_tables(quarantine.parameters)
    waits = PendingWaits.load(target.files, target.policy)
    ready = [table for table in sorted(waits.candidates(synced)) if table not in frozen]
    published = publish_ready(external, ready, quarantine.is_final)
    if published.tables or published.partitions:
        waits = PendingWaits.load(target.files, target.policy)
    target.lease.confirm()
    waits.write(target.files)
    return published


def publish_between_windows(work: Work, ports: WritePorts, log_id: str) -> None:
    """Publish what is ready while there is nothing to apply; without anything that is, this only reads."""
    policy = work.policy
    if next(ready_tables(ports, policy, is_last_try=work.is_last_try), None) is None:
        return
    with hold_lease(ports, work, LeaseKind.EVENTS) as lease:
        database = ports.replica.database(policy.replica.database)
        if database is None or read_state(ports.replica, policy, log_id).phase is not Phase.FOLLOWING:
            return
        target = open_target(ports, policy, log_id, lease)
        pending = PendingStore(PendingFiles(ports.replica_files, policy, lease))
        synced = Synced(ports.replica_files, policy, SourceLog(ports.source, is_last_try=work.is_last_try).has)
        progress = Progress(ports.replica, database.name, database.parameters)
        publish(
            ExternalTarget(target, pending, synced.covers),
            synced,
            Quarantine(policy, progress, is_last_try=work.is_last_try),
            work.report,
        )


def ready_tables(ports: ReadPorts, policy: Policy, *, is_last_try: bool = False) -> Iterator[str]:
    """Yield the waiting external tables of which something has its data by now."""
    files = ports.replica_files
    waits = PendingWaits.load(files, policy)
    if not waits.known:
        return
    database = ports.replica.database(policy.replica.database)
    frozen = frozen_tables(database.parameters if database else {})
    synced = Synced(files, policy, SourceLog(ports.source, is_last_try=is_last_try).has)
    for name in sorted(waits.candidates(synced)):
        if name not in frozen:
            with suppress(Missing):
                record = read_pending(files, policy, name)
                if not ready_parts(policy.external, record, synced.covers).is_empty:
                    yield name
