"""Call the replica's metastore under the lease, and keep the twin in step with what was written."""

from collections.abc import Sequence

from twinhive.core.model.errors import ActNow, Missing, Refused
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import resync
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.create_guard import absent_before, is_as_made, made_otherwise
from twinhive.replication.apply.left_places import leave_for, leave_partitions, leave_table
from twinhive.replication.apply.target import Target
from twinhive.replication.replica.column_types import with_columns_that_stay


def create_table(target: Target, made: Table) -> None:
    """Create a table, and look what the metastore made of it.

    One that changes type or place of tables is not followed: raises ActNow, without the table.
    """
    with absent_before():
        target.replica.create_table(made)
    target.twin.forget_table(made.name)
    found = target.twin.existing(made.name)
    if is_as_made(made, found):
        return
    target.replica.drop_table(made.name, delete_data=False)
    target.twin.drop_table(made.name)
    raise made_otherwise(made, found, "apply")


def alter_table(target: Target, there: Table, after: Table, *, cascade: bool = False) -> None:
    """Replace a table, unless somebody else has changed it meanwhile.

    Columns that the metastore does not let become others in one call become them in two, as their owner has done it:
    first the table loses them, as it is otherwise. Its files and partitions stay, and who was killed in between is
    followed by one call.
    """
    leave_for(target, there, after)
    expected = there.parameters.get(STAMP)
    try:
        target.replica.alter_table(there.name, after, expected=expected, cascade=cascade)
    except Refused:
        begun = with_columns_that_stay(there, after)
        if begun is None:
            raise
        target.replica.alter_table(there.name, begun, expected=expected)
        try:
            target.replica.alter_table(there.name, after, expected=expected, cascade=cascade)
        except ActNow:
            # It was something else: what was there is there again.
            target.replica.alter_table(there.name, there, expected=expected)
            raise
    if cascade or after.name != there.name:
        target.twin.drop_table(there.name)
    target.twin.put_table(after)


def remove_table(target: Target, there: Table, progress: Progress) -> None:
    """Drop a table without its data, after the position is written."""
    progress.before_removal()
    drop_table(target, there)


def drop_table(target: Target, there: Table) -> None:
    """Drop a table without its data."""
    leave_table(target, there)
    target.replica.drop_table(there.name, delete_data=False)
    target.twin.drop_table(there.name)


def add_partitions(target: Target, table: Table, partitions: Sequence[Partition]) -> None:
    """Add partitions of one table in one call."""
    if partitions:
        with absent_before():
            target.replica.add_partitions(partitions)
        _remember(target, table, partitions)


def alter_partitions(target: Target, table: Table, partitions: Sequence[Partition]) -> None:
    """Replace partitions of one table in one call."""
    if partitions:
        leave_partitions(target, table, [one.name(table.partition_keys) for one in partitions], partitions)
        target.replica.alter_partitions(partitions)
        _remember(target, table, partitions)


def _remember(target: Target, table: Table, partitions: Sequence[Partition]) -> None:
    for partition in partitions:
        target.twin.put_partition(table.name, partition.name(table.partition_keys), partition)


def drop_partitions(target: Target, table: Table, names: Sequence[str]) -> None:
    """Drop partitions of one table in one call, without their data."""
    leave_partitions(target, table, names)
    target.replica.drop_partitions(table.name, names, delete_data=False)
    for name in names:
        target.twin.put_partition(table.name, name, None)


def rename_partition(target: Target, table: Table, old: Partition, renamed: Partition) -> None:
    """Give a partition another name, and read back where the metastore has put it."""
    old_name, new_name = (each.name(table.partition_keys) for each in (old, renamed))
    target.replica.rename_partition(old.values, renamed)
    target.twin.put_partition(table.name, old_name, None)
    target.twin.put_partition(table.name, new_name, target.replica.partitions(table.name, [new_name])[0])


def missing_partition(policy: Policy, table: TableName, name: str) -> Missing:
    """Return the error of a partition that the events so far have made, and that is not there."""
    return Missing(
        f"partition {name} of {table} is missing on {policy.replica.cluster}",
        found="no such partition",
        expected="the partition as the events so far have made it",
        next_step="bring the table back with: " + resync(policy.name, table.table),
    )
