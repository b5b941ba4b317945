"""Whether the external tables of a replica hold what was written at the source before a certain time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from twinhive.core.model.marks import ReplicaState
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.replication.dump.dump_store import newest_pass
from twinhive.replication.dump.passes.external_entries import Entry
from twinhive.replication.dump.passes.external_passes import kept_records, locations_of_pass
from twinhive.replication.dump.passes.pass_manifest import PassManifest
from twinhive.replication.replica.pending_files import pending_names
from twinhive.replication.replica.replica_state import refuse_promoted
from twinhive.replication.replica.sync_records import Synced, SyncedEntry


def why_not_in_sync(ports: ReadPorts, policy: Policy, since: float, table: str | None = None) -> str | None:
    """Say what is missing of the external tables, or of one of them; None when nothing is.

    Nothing is missing when a pass was listed after `since` (seconds since 1970), each directory of its list was copied
    by a sync that began after that, the replica's metadata has come to the pass, and no table waits for its data.
    Events out of the policy's scope are not waited for: the metadata passes them when it is worth a window. The source
    itself is not asked: whoever waits for hours does not disturb it. A time is enough to wait by; it proves nothing.
    """
    return (
        _why(ports, policy, _Wanted.since(since), table)
        or _metadata_behind(ports, policy)
        or _pending(ports, policy, table)
    )


def why_data_is_older(ports: ReadPorts, policy: Policy, since: float) -> str | None:
    """Say the same of the data alone; None also where the policy brings none.

    How far the metadata is, who asks that knows by the log.
    """
    return _why_data(ports, policy, _Wanted.since(since))


def why_data_is_late(ports: ReadPorts, policy: Policy, token: str) -> str | None:
    """Say what of the data was not looked at since a failover has begun, by its token; None as `why_data_is_older`.

    The pass, and the copy of each directory, must have seen that token before they asked the source for anything.
    """
    return _why_data(ports, policy, _Wanted.behind(token))


@dataclass(frozen=True)
class _Wanted:
    """Which pass and which copies are late enough, and since when they would be, in words."""

    is_listed: Callable[[PassManifest], bool]
    is_copied: Callable[[SyncedEntry], bool]
    words: str

    @classmethod
    def since(cls, seconds: float) -> "_Wanted":
        return cls(lambda one: one.began >= seconds, lambda one: one.began >= seconds, f"since {_time(seconds)}")

    @classmethod
    def behind(cls, token: str) -> "_Wanted":
        words = "since this failover has begun"
        return cls(lambda one: one.failover == token != "", lambda one: one.failover == token != "", words)


def _why_data(ports: ReadPorts, policy: Policy, wanted: _Wanted) -> str | None:
    if not policy.external.brings_data:
        return None
    return _why(ports, policy, wanted, None) or _pending(ports, policy, None)


def _why(ports: ReadPorts, policy: Policy, wanted: _Wanted, table: str | None) -> str | None:
    listed = newest_pass(ports.dump_files, policy)
    if listed is None or not wanted.is_listed(listed.manifest):
        return f"the external tables of {policy.source} were not listed {wanted.words}"
    entries = locations_of_pass(ports.dump_files, policy, listed.name)
    if table:
        entries = tuple(entry for entry in entries if entry.table.table == table.lower())
        if not entries:
            return f"{table} is not in the list of {listed.name}: its data is not copied, or there is no such table"
    return _not_copied(ports, policy, entries, wanted)


def _not_copied(ports: ReadPorts, policy: Policy, entries: Sequence[Entry], wanted: _Wanted) -> str | None:
    synced = Synced(ports.replica_files, policy)
    late = [entry for entry in entries if not synced.has(entry.location, wanted.is_copied)]
    if late:  # of what was equal only the pass may know
        synced.take(kept_records(ports.dump_files, ports.replica_files, policy))
    missing = [entry.key for entry in late if not synced.has(entry.location, wanted.is_copied)]
    return f"{_some(missing)}: no complete copy began {wanted.words}" if missing else None


def _metadata_behind(ports: ReadPorts, policy: Policy) -> str | None:
    listed = newest_pass(ports.dump_files, policy)
    assert listed is not None, "asked only where there is one"
    database = ports.replica.database(policy.replica.database)
    state = ReplicaState.read(database.parameters if database else None)
    refuse_promoted(state, policy)
    at = state.last_event_id
    if at is None:
        return f"the replica of policy {policy.name} is not published yet"
    if at < listed.manifest.in_scope:
        return f"the replica is at event {at}, and the data of its external tables at {listed.manifest.in_scope}"
    return None


def _pending(ports: ReadPorts, policy: Policy, table: str | None) -> str | None:
    waiting = [name for name in pending_names(ports.replica_files, policy) if table is None or name == table.lower()]
    return f"{_some(waiting)}: waits for its data" if waiting else None


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"{names[0]}{more}"


def _time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
