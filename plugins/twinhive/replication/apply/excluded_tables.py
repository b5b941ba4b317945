"""Drop the tables of a replica that its policy does not select any more (REPLACE; seed 002, example h).

Hive drops them before it loads the events (ReplLoadTask.dropTablesExcludedInReplScope), and so does this. Directories
stay for the grace, as those of every dropped table do. The data of external tables stays for good.
"""

from collections.abc import Iterator, Sequence

from twinhive.core.model.marks import STAMP, Stamp
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.quarantine import is_frozen, without_frozen
from twinhive.core.model.sets.own_tables import OWN_TABLES
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.external.external_target import ExternalTarget
from twinhive.replication.apply.metadata_calls import drop_table
from twinhive.replication.apply.target import Target
from twinhive.replication.replica.pending_tables import PendingTable

_TABLES_PER_CALL = 200


def drop_excluded(external: ExternalTarget, progress: Progress) -> Iterator[str]:
    """Drop them one by one; yield their names. Tables without a stamp of the source's log are somebody else's."""
    target = external.target
    policy = target.policy
    there = target.replica.table_names(policy.replica.database)
    outside = [name for name in there if name not in OWN_TABLES and not policy.selects(name)]
    for table in _ours(target, outside):
        progress.before_removal()
        drop_table(target, table)
        yield table.name.table
    for name in external.pending.tables:
        if not policy.selects(name):
            external.pending.put(PendingTable(TableName(policy.source.database, name)))
    if any(is_frozen(progress.parameters, table) for table in outside):
        progress.set_parameters(without_frozen(progress.parameters, outside))


def _ours(target: Target, names: Sequence[str]) -> Iterator[Table]:
    for start in range(0, len(names), _TABLES_PER_CALL):
        for table in target.replica.tables(target.policy.replica.database, names[start : start + _TABLES_PER_CALL]):
            stamp = Stamp.parse(table.parameters.get(STAMP))
            if stamp is not None and stamp.log_id == target.log_id:
                yield table
