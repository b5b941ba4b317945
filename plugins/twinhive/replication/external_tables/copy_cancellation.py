"""Stop copies of external data that are under way, where nobody is to change those directories any more."""

from collections.abc import Iterator, Mapping

from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.replication.replica.sync_records import Synced
from twinhive.transfer.tree.work_directories import Places


def stop_copies(ports: WritePorts, policy: Policy, holder: Mapping[str, str]) -> Iterator[str]:
    """Take the lease of each directory from a copy under way, which stops at its next change; yield what was stopped.

    A directory that was never copied as a whole is left out: its table is not there yet.
    """
    if not policy.external.brings_data:
        return
    for record in Synced(ports.replica_files, policy).records_but(()):
        lease = Places(record.target, is_new=False).lease
        if ports.trees.lease.is_held(lease):
            with ports.trees.lease.hold(lease, dict(holder), LeaseKind.COPY):
                yield f"stopped: a copy into {record.target}"
