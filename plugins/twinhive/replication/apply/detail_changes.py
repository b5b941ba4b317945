"""Apply constraints and column statistics."""

from collections import Counter
from typing import assert_never

from twinhive.core.model.changes.kinds import (
    AddConstraints,
    DeleteStatistics,
    DropConstraint,
    Event,
    OfDetails,
    UpdateStatistics,
)
from twinhive.core.model.constraints import constraints_of
from twinhive.core.model.errors import AlreadyThere, Missing, Refused, TwinhiveError
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.replication.apply.apply_failures import IsFinal, why_done_without
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.metadata_calls import missing_partition
from twinhive.replication.apply.target import Target


class DetailChanges:
    """These leave no stamp: each call is one that can be repeated, until a later event shapes what it speaks of.

    One table's events are applied in their order. So a table or partition with a later stamp has been through the
    event, and what the event said may not be true of it any more: the event is passed over.

    Constraints and statistics of a table that is not replicated have nowhere to go, and are passed over. So is what the
    replica's metastore does not take, as a foreign key that has nothing to refer to there: it is counted in `left_out`
    with the reason, when `is_final` says that another try would not help.
    """

    def __init__(self, target: Target, left_out: Counter[str], is_final: IsFinal) -> None:
        self._target = target
        self._left_out = left_out
        self._is_final = is_final

    def change(self, change: OfDetails, event: Event, progress: Progress) -> bool:
        """Apply one change; False when it is passed over."""
        match change:
            case AddConstraints():
                return self._add_constraints(change, event)
            case DropConstraint():
                return self._drop_constraint(change, event, progress)
            case UpdateStatistics():
                return self._set_statistics(change, event)
            case DeleteStatistics():
                return self._delete_statistics(change, event, progress)
            case _:
                assert_never(change)

    def _add_constraints(self, change: AddConstraints, event: Event) -> bool:
        """Add constraints; those that are there already are passed over."""
        target = self._target
        table = self._still_to_change(change.table, event)
        if table is None or self._is_past_parent(change, event):
            return False
        try:
            target.replica.add_constraints(table.name, change.kind, change.constraints)
        except AlreadyThere:
            return False
        except (Missing, Refused) as error:
            return self._leave_out(event, error)
        return True

    def _leave_out(self, event: Event, error: TwinhiveError) -> bool:
        """Do without what the replica's metastore does not take; it is said. Raises what may pass."""
        self._left_out[f"{event.event_type}: {why_done_without(error, self._is_final)}"] += 1
        return False

    def _is_past_parent(self, change: AddConstraints, event: Event) -> bool:
        """True for a foreign key whose other table has been changed since: that may have taken the key away."""
        policy, twin = self._target.policy, self._target.twin
        parents = {one.parent for one in constraints_of(change.kind, change.constraints)}
        return any(
            twin.is_at(twin.any_table(policy.on_replica(parent)), event.event_id)
            for parent in parents
            if parent is not None and parent.database == policy.source.database
        )

    def _drop_constraint(self, change: DropConstraint, event: Event, progress: Progress) -> bool:
        """Drop a constraint."""
        target = self._target
        table = self._still_to_change(change.table, event)
        if table is None:
            return False
        progress.before_removal()
        target.replica.drop_constraint(table.name, change.name)
        progress.after_removal(event.position)
        return True

    def _set_statistics(self, change: UpdateStatistics, event: Event) -> bool:
        """Set statistics of columns."""
        target = self._target
        table = self._still_to_change(change.table, event)
        if table is None:
            return False
        name, partition = self._partition(table, change)
        if name is not None and partition is None:
            raise missing_partition(target.policy, table.name, name)
        if target.twin.is_at(partition, event.event_id):
            return False
        try:
            target.replica.set_statistics(table.name, change.statistics)
        except (Missing, Refused) as error:
            return self._leave_out(event, error)
        target.twin.forget(table.name, name)
        return True

    def _delete_statistics(self, change: DeleteStatistics, event: Event, progress: Progress) -> bool:
        """Delete statistics of columns."""
        target = self._target
        table = self._still_to_change(change.table, event)
        if table is None:
            return False
        name, partition = self._partition(table, change)
        if target.twin.is_at(partition, event.event_id):
            return False
        progress.before_removal()
        try:
            target.replica.delete_statistics(table.name, name, change.column)
        except (Missing, Refused) as error:
            return self._leave_out(event, error)
        target.twin.forget(table.name, name)
        progress.after_removal(event.position)
        return True

    def _still_to_change(self, name: TableName, event: Event) -> Table | None:
        """Return the replica's table, None without one, and for one that is past the event."""
        table = self._target.twin.table(self._target.policy.on_replica(name))
        return None if self._target.twin.is_at(table, event.event_id) else table

    def _partition(
        self, table: Table, change: UpdateStatistics | DeleteStatistics
    ) -> tuple[str | None, Partition | None]:
        """Return name and partition that statistics are of: neither for those of a table, no partition when absent."""
        if not change.values:
            return None, None
        name = partition_name(table.partition_keys, change.values)
        return name, self._target.twin.partitions(table.name, [name])[name]
