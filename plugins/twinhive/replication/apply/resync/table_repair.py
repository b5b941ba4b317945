"""Make a table of the replica what the source had at one event, leaf by leaf: readers never miss it.

What is equal is not touched. Files of what is not lie in new directories before a call of the metastore switches to
them. Each step leaves what it finds done, so that whoever was killed is followed by another one.
"""

from dataclasses import dataclass

from twinhive.core.model.changes.events import Position
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.quarantine import is_frozen, without_frozen
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.metadata_calls import add_partitions, alter_partitions, alter_table, drop_partitions
from twinhive.replication.apply.resync.table_resync import WholeTable
from twinhive.replication.apply.table_constraints import constrain
from twinhive.replication.apply.target import Target
from twinhive.replication.comparison.canonical_form import canonical_constraints
from twinhive.replication.comparison.leaf_actions import LeafAction, TablePlan
from twinhive.replication.replica.replica_locations import (
    partition_directory,
    silent_key,
    table_directory,
    with_source_place,
)


def repair_table(
    target: Target, progress: Progress, snapshot: WholeTable, plan: TablePlan, end: Position, token: str
) -> tuple[str, ...]:
    """Do what a plan says, and release the table from quarantine. Return constraints that could not be added.

    Raises Missing where the table, or a partition that the plan alters, is gone since it was made.
    """
    assert snapshot.table is not None, "a table that the source does not have is planned as a whole"
    name = target.policy.on_replica(snapshot.name)
    target.twin.forget_table(name)
    repairing = _Repairing(target, snapshot.table, snapshot, plan, end.event_id, silent_key(end.event_id, token))
    repairing.place()
    repairing.alter_table()
    repairing.change_partitions()
    if gone := plan.those(LeafAction.DROP):
        progress.before_removal()
        drop_partitions(target, target.twin.existing(name), gone)
    left_out = repairing.constrain()
    if is_frozen(progress.parameters, snapshot.name.table):
        progress.set_parameters(without_frozen(progress.parameters, [snapshot.name.table]))
    target.twin.forget_table(name)
    return left_out


@dataclass(frozen=True)
class _Repairing:
    """One table under way; `key` names the directories of what is replaced."""

    target: Target
    source: Table
    snapshot: WholeTable
    plan: TablePlan
    event_id: int
    key: str

    @property
    def there(self) -> Table:
        """The replica's table, as it is by now."""
        return self.target.twin.existing(self.target.policy.on_replica(self.source.name))

    def place(self) -> None:
        """Put the files of what is replaced or added into their new directories."""
        target, there = self.target, self.there
        contents = [
            (self._place(there, name), tuple(self.snapshot.files.get(name, ())))
            for name in self.plan.those(LeafAction.ADD, LeafAction.REPLACE)
            if there.location
        ]
        if self.plan.of_table is LeafAction.REPLACE:
            contents.append((self._own_place(there), tuple(self.snapshot.files.get(None, ()))))
        for partition in self.snapshot.partitions:
            target.placing.comes_from(self._place(there, partition.name(there.partition_keys)), partition.location)
        target.placing.comes_from(self._own_place(there), self.source.location)
        target.lease.confirm()
        target.placing.place_all(there.name, [(place, files) for place, files in contents if place])
        if self.plan.of_table is LeafAction.REPLACE:
            target.files.make_directories(self._own_place(there) or "")
            target.own(self._own_place(there) or "")

    def alter_table(self) -> None:
        """Let the metastore say of the table what it is to say, and where its files are."""
        if self.plan.of_table is LeafAction.KEEP:
            return
        there = self.there
        location = self._own_place(there) if self.plan.of_table is LeafAction.REPLACE else there.location
        alter_table(self.target, there, self.target.table(self.source, location, self.event_id))

    def change_partitions(self) -> None:
        """Add what is missing, and switch what differs, in as few calls as may be."""
        target, there = self.target, self.there
        wanted = {one.name(there.partition_keys): one for one in self.snapshot.partitions}
        names = self.plan.those(LeafAction.ADD, LeafAction.REPLACE, LeafAction.ALTER)
        per_call = target.policy.options.partitions_per_call
        for start in range(0, len(names), per_call):
            some = names[start : start + per_call]
            found = target.twin.partitions(there.name, some)
            made = [self._partition(there, name, wanted[name], found[name]) for name in some]
            present = [one for name, one in zip(some, made, strict=True) if found[name] is not None]
            alter_partitions(target, there, present)
            add_partitions(target, there, [one for one in made if one not in present])

    def constrain(self) -> tuple[str, ...]:
        """Drop constraints that are not the source's, and add those that are missing."""
        target, name = self.target, self.there.name
        if self.plan.of_table is LeafAction.KEEP or not self.source.has_files:
            return ()
        wanted = canonical_constraints(self.source.constraints or ())
        there = target.replica.constraints(name)
        for one in there:
            if canonical_constraints([one])[one.kind][one.name] != wanted.get(one.kind, {}).get(one.name):
                target.replica.drop_constraint(name, one.name)
        return tuple(constrain(target.replica, self.source.at(name, None)))

    def _partition(self, there: Table, name: str, source: Partition, found: Partition | None) -> Partition:
        is_new = found is None or self.plan.needs_files(name)
        place = self._place(there, name) if is_new or found is None else found.location
        return with_source_place(self.target.partition(source, place, self.event_id), self.source, source)

    def _place(self, there: Table, name: str) -> str | None:
        return partition_directory(there.location, self.key, name) if there.location else None

    def _own_place(self, there: Table) -> str | None:
        return table_directory(self.target.root, there.name.table, self.key)
