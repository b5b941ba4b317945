"""Drop the tables of a replica that its policy does not select any more (REPLACE; seed 002, example h).

Hive drops them before it loads the events (ReplLoadTask.dropTablesExcludedInReplScope), and so does this. Directories
stay for the grace, as those of every dropped table do.
"""

from collections.abc import Iterator

from twinhive.applying.external_target import ExternalTarget
from twinhive.applying.progress import Progress
from twinhive.domain.marks import QUARANTINE, STAMP, Stamp
from twinhive.domain.names import TableName
from twinhive.domain.pending import PendingTable


def drop_excluded(external: ExternalTarget, progress: Progress) -> Iterator[str]:
    """Drop them one by one; yield their names. Tables without a stamp of the source's log are somebody else's."""
    target = external.target
    policy, database = target.policy, target.policy.replica.database
    outside = [table for table in target.replica.table_names(database) if not policy.selects(table)]
    for table in target.replica.tables(database, outside):
        stamp = Stamp.parse(table.parameters.get(STAMP))
        if stamp is None or stamp.log_id != target.log_id:
            continue
        progress.before_removal()
        target.lease.confirm()
        target.replica.drop_table(table.name, delete_data=False)
        target.twin.forget_table(table.name)
        yield table.name.table
    for name in external.pending.tables:
        if not policy.selects(name):
            external.pending.put(PendingTable(TableName(policy.source.database, name)))
    frozen = [QUARANTINE + table for table in outside if QUARANTINE + table in progress.parameters]
    if frozen:
        progress.set_parameters({key: value for key, value in progress.parameters.items() if key not in frozen})
