"""Whose the tables of a replica's database are, and how those that replication did not make become the policy's.

What a policy replicates is stamped so that it can be followed from one event on; nothing else of the database is.
People may write it meanwhile: a stamp is a change of one key of ours on what the object is at that moment. No directory
is marked: a stamp is no proof that we made what lies in it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from twinhive.core.model.errors import Missing
from twinhive.core.model.marks import STAMP, Stamp
from twinhive.core.model.objects import Parameters, Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.set_mark import SETS_TABLE, is_sets_table
from twinhive.core.ports import Lease, WritePorts
from twinhive.core.step.parameter_changes import change_partitions, change_table
from twinhive.replication.replica.source_scope import each_table


def brings(policy: Policy, table: Table) -> bool:
    """True for what a policy brings to its replica: tables and views that it replicates, and the table of sets."""
    return policy.replicates(table) or is_sets_table(table)


def is_ours(policy: Policy, table: Table, log_id: str | None) -> bool:
    """True for a table of the replica that came from the source's log, and is of those that the policy brings.

    A stamp alone does not say it: people make another kind of a table, and policies come to select fewer.
    """
    return log_id is not None and Stamp.log_of(table.parameters.get(STAMP)) == log_id and brings(policy, table)


def stamp_everything(
    ports: WritePorts,
    policy: Policy,
    lease: Lease,
    stamp: Stamp,
    is_kept: Callable[[str | None], bool],
    was_held: Callable[[Table], bool] = lambda table: True,
) -> int:
    """Stamp what the policy brings of the replica's database, but what bears a stamp that is kept.

    A table comes after its partitions, so that a second try finds those that a first one has left. What the source
    never held (`was_held`) is not the policy's: a stamp of an earlier time is taken off it. Returns how many tables
    were stamped.
    """
    stamping = _Stamping(ports, policy, lease, str(stamp), is_kept, was_held)
    replica, database = ports.replica, policy.replica.database
    names = [name for name in replica.table_names(database) if policy.selects(name) or name == SETS_TABLE]
    return sum(stamping.table(table) for table in each_table(replica, database, names))


@dataclass(frozen=True)
class _Stamping:
    ports: WritePorts
    policy: Policy
    lease: Lease
    stamp: str
    is_kept: Callable[[str | None], bool]
    was_held: Callable[[Table], bool]

    def table(self, table: Table) -> bool:
        """Stamp a table as it is by now, its partitions first; False where it stays as it is."""
        if not brings(self.policy, table):
            return False
        if self._was_held(table):
            with suppress(Missing):  # dropped meanwhile, or its keys are gone
                self._partitions(table)
            if self.is_kept(table.parameters.get(STAMP)):
                return False
        elif STAMP not in table.parameters:
            return False
        self.lease.confirm()
        written = change_table(self.ports.replica, table.name, self._of_table)
        return written is not None and written.parameters.get(STAMP) == self.stamp

    def _partitions(self, table: Table) -> None:
        """Stamp the partitions, as long as the table is one that the policy brings."""
        replica, per_call = self.ports.replica, self.policy.options.partitions_per_call
        for some in _chunks(replica.partition_names(table.name) if table.partition_keys else (), per_call):
            now = replica.table(table.name)
            if now is None or not brings(self.policy, now):
                return
            self.lease.confirm()
            change_partitions(replica, table.name, some, self._stamped)

    def _was_held(self, table: Table) -> bool:
        return is_sets_table(table) or self.was_held(table)

    def _of_table(self, table: Table) -> Parameters | None:
        if not brings(self.policy, table):
            return None
        if not self._was_held(table):
            return {key: value for key, value in table.parameters.items() if key != STAMP}
        return self._stamped(table)

    def _stamped(self, thing: Table | Partition) -> Parameters | None:
        return None if self.is_kept(thing.parameters.get(STAMP)) else {**thing.parameters, STAMP: self.stamp}


def _chunks(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (names[start : start + size] for start in range(0, len(names), size))
