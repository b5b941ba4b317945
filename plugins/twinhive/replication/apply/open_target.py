"""Build what every change of a published or loading replica needs."""

from twinhive.core.model.policy import Policy
from twinhive.core.ports import Lease, WritePorts
from twinhive.replication.apply.file_moves import Placing
from twinhive.replication.apply.function_files import FunctionSources
from twinhive.replication.apply.managed_locations import managed_root
from twinhive.replication.apply.replica_cache import ReplicaCache
from twinhive.replication.apply.target import Target
from twinhive.replication.notification_log.dump_checksums import change_manager_root
from twinhive.transfer.staged.ownership import ownership_of


def open_target(ports: WritePorts, policy: Policy, log_id: str, lease: Lease, staging: str | None = None) -> Target:
    """Return the replica of a policy, to be changed under its lease. Raises Missing without its database.

    `staging` is where the copies wait that are placed, None: in the policy's own.
    """
    return Target(
        policy=policy,
        log_id=log_id,
        replica=ports.replica,
        files=ports.replica_files,
        source_files=ports.source_files,
        lease=lease,
        twin=ReplicaCache(ports.replica, policy, log_id),
        placing=Placing(
            ports.replica_files,
            ports.source_files,
            staging or policy.staging,
            ownership_of(policy.options, ports.trees.source, ports.trees.replica),
        ),
        root=managed_root(ports.replica, policy),
        functions=FunctionSources(
            ports.source_files, policy, lambda: change_manager_root(ports.source, ports.source_files.root)
        ),
    )
