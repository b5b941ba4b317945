"""Tell people what waits of external tables, and how far the copies of their data are."""

from datetime import UTC, datetime

from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, ReadPorts
from twinhive.replication.dump.dump_store import newest_pass
from twinhive.replication.dump.passes.external_passes import directories_failed
from twinhive.replication.external_tables.list_external import copies_under_way
from twinhive.replication.replica.pending_files import pending_names, read_pending
from twinhive.replication.replica.pending_tables import PendingTable


def pending_objects(files: FileReader, policy: Policy) -> dict[str, str]:
    """Return what waits of each source table, and since which event."""
    return {name: _waits(read_pending(files, policy, name)) for name in pending_names(files, policy)}


def _waits(record: PendingTable) -> str:
    since = [waiting.since for waiting in record.partitions.values()] + ([record.table.since] if record.table else [])
    count = len(record.partitions)
    parts = ["the table"] if record.table else []
    parts += [f"{count:,} partition{'s' if count > 1 else ''}"] if count else []
    return f"{' and '.join(parts)}, for data since event {min(since)}"


def last_pass(ports: ReadPorts, policy: Policy) -> str | None:
    """Return when the newest pass was listed, and what is not copied: tasks that are not done, directories that failed,
    tables that could not be read.
    """
    listed = newest_pass(ports.dump_files, policy)
    if listed is None:
        return None
    under_way = copies_under_way(ports, policy)
    failed = directories_failed(ports.replica_files, policy, listed)
    said = [f"{under_way} copies of it are not done"] if under_way else []
    said += [f"{failed} of its directories failed: its tasks say why, the next pass tries them again"] if failed else []
    if unread := listed.manifest.unread:
        said += [f"{len(unread)} tables could not be read, first {unread[0]}: they are on no list"]
    state = "; ".join(said) or "all of it copied"
    return f"listed {datetime.fromtimestamp(listed.manifest.began, UTC):%Y-%m-%d %H:%M:%S} UTC; {state}"
