"""Show on the replica the sets that are done at the source, each only when what it promises is there.

What is done is read from the source's set table, and what is shown from the replica's: nothing is carried from event to
event, so a run that is killed anywhere leaves nothing to mend. A set that cannot be shown yet is looked at again by the
next run.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from twinhive.model.errors import AlreadyThere
from twinhive.model.frozen import frozen_tables
from twinhive.model.marks import ReplicaState, Stamp, stamped
from twinhive.model.names import TableName, partition_values
from twinhive.model.next_steps import RETRIES
from twinhive.model.objects import Table
from twinhive.model.policy import Policy
from twinhive.model.sets.mark import FOREVER, KEEP, SetMark, sets_table
from twinhive.model.sets.showing import HeldSet, SetChanges, set_changes
from twinhive.model.sets.spec import SetSpec
from twinhive.model.text import ResyncTable, Text
from twinhive.model.thrift_objects import key_types, new_partition, table_id
from twinhive.ports import Lease, ReadPorts, WritePorts
from twinhive.replica.held_sets import write_held_sets
from twinhive.replica.pending_files import pending_names, read_pending
from twinhive.requests.request_files import requested_tables
from twinhive.sets.listing import SetsOfDatabase, SetStanding, shown_sets
from twinhive.sets.table import find_sets_table, make_sets_table
from twinhive.shown_sets.comparing import lacking
from twinhive.shown_sets.later_events import LaterEvents
from twinhive.step.base import Detail, Work

_PER_CALL = 1_000
_ON = "Sets"


@dataclass(frozen=True)
class SetsPlan:
    """What is to be shown, in the words of the replica, what is to be hidden, and what is held."""

    show: tuple[SetMark, ...] = ()
    hide: tuple[SetMark, ...] = ()
    held: tuple[HeldSet, ...] = ()

    @property
    def changes(self) -> bool:
        """True when the replica's metastore is to be changed."""
        return bool(self.show or self.hide)


@dataclass(frozen=True)
class ShowSets:
    """One look at all sets of a policy; `state` is where the replica is."""

    work: Work
    ports: WritePorts
    state: ReplicaState
    clock: Callable[[], float] = field(default=time.time, repr=False)

    @property
    def policy(self) -> Policy:
        """Whose sets they are."""
        return self.work.policy

    def plan(self) -> SetsPlan:
        """Return what is to be done. Reads only. Raises ActNow for a table called twinhive_sets that is none."""
        ports, policy = self.ports, self.policy
        if find_sets_table(ports.source, policy.source.database) is None and not self._shown():
            return SetsPlan()
        listed = SetsOfDatabase(ports.source, policy.source.database, keep=FOREVER, clock=self.clock)
        done = [
            one.mark
            for one in listed.read()
            if one.standing is SetStanding.DONE and policy.selects(one.mark.table.table)
        ]
        shown = self._shown()
        replica = _Replica.read(ports, policy, [*done, *shown])
        changes = set_changes(done, shown, replica.has, self.clock())
        return self._judged(changes, replica)

    def carry_out(self, plan: SetsPlan, lease: Lease) -> None:
        """Show and hide under the lease, at most 1,000 sets a call; say what is held."""
        for mark in plan.hide:
            self.work.report(Detail(_ON, f"set {mark.spec} of {mark.table.table} is hidden: the source has it no more"))
        names = [mark.name for mark in plan.hide]
        for start in range(0, len(names), _PER_CALL):
            lease.confirm()
            self.ports.replica.drop_partitions(self._table, names[start : start + _PER_CALL], delete_data=True)
        if plan.show:
            self._show(plan.show, lease)
        self.note(plan)

    def note(self, plan: SetsPlan) -> None:
        """Keep what is held where people are told of it."""
        for one in plan.held:
            self.work.report(
                Detail(_ON, f"set {one.mark.spec} of {one.mark.table.table} is held: {one.why}; next: ") + one.next_step
            )
        write_held_sets(self.ports.replica_files, self.policy, plan.held)

    @property
    def _table(self) -> TableName:
        return sets_table(self.policy.replica.database)

    def _shown(self) -> list[SetMark]:
        return shown_sets(self.ports.replica, self.policy.replica.database)

    def _judged(self, changes: SetChanges, replica: "_Replica") -> SetsPlan:
        later = LaterEvents(self.ports, self.policy.source.database, self.state.position.event_id)
        show: list[SetMark] = []
        held: list[HeldSet] = []
        for mark in changes.show:
            source = replica.sources.get(mark.table)
            if source is None or self.policy.left_out(source) is not None:
                continue
            why = self._why_held(mark, source, replica, later)
            if why is None:
                told = replica.told(mark, source, int(self.clock()))
                show.append(replace(told, shown_by=self.work.holder.get("run")))
            else:
                held.append(HeldSet(mark, *why))
        return SetsPlan(tuple(show), changes.hide, tuple(held))

    def _why_held(
        self, mark: SetMark, source: Table, replica: "_Replica", later: LaterEvents
    ) -> tuple[str, Text] | None:
        name, policy = mark.table.table, self.policy
        spec = SetSpec.parse(mark.spec, key_types(source))
        if name in replica.frozen:
            return f"table {name} is frozen: {replica.frozen[name]}", ResyncTable(policy.name, name)
        if name in replica.requested:
            return f"table {name} waits for resync", "the next incremental run brings it"
        if replica.waits_for_data(self.ports, policy, name, spec, source):
            return f"table {name} waits for its data", f"the DAG {policy.name}.external copies it"
        found = lacking(self.ports, policy, source, mark, spec, later)
        if found is None and replica.tables.get(name) is None:
            return f"table {name} is not on the replica", RETRIES
        if found is None:
            return None
        next_step = f"the DAG {policy.name}.scan brings over what no event tells of"
        return str(found), next_step if found.is_there else RETRIES

    def _show(self, marks: Sequence[SetMark], lease: Lease) -> None:
        replica = self.ports.replica
        lease.confirm()
        # With a stamp it is the replica's: a load that begins anew drops it with all tables.
        stamp = Stamp(self.state.log_id or "", self.state.position.event_id)
        table = make_sets_table(replica, self.policy.replica.database, None, stamped({}, stamp))
        for start in range(0, len(marks), _PER_CALL):
            some = marks[start : start + _PER_CALL]
            kept = {one.values: one for one in replica.partitions(self._table, [mark.name for mark in some])}
            new, old = [], []
            for mark in some:
                values = (mark.table.table, mark.spec)
                partition = new_partition(table, values, mark.parameters())
                if (there := kept.get(values)) is None:
                    new.append(partition)
                else:
                    old.append(replace(partition, thrift=there.thrift, location=there.location))
            lease.confirm()
            try:
                replica.add_partitions(new)
                replica.alter_partitions(old)
            except AlreadyThere:
                self.work.report(
                    "somebody marks sets on the replica at this moment: they are looked at by the next run"
                )
                return
        for mark in marks:
            self.work.report(Detail(_ON, f"set {mark.spec} of {mark.table.table} is shown"))


@dataclass(frozen=True)
class _Replica:
    """What decides about all sets: tables of both sides by name, and what people and earlier runs say of them."""

    sources: Mapping[TableName, Table]
    tables: Mapping[str, Table]
    frozen: Mapping[str, str]
    requested: frozenset[str]
    pending: frozenset[str]

    @classmethod
    def read(cls, ports: ReadPorts, policy: Policy, marks: Iterable[SetMark]) -> "_Replica":
        names = sorted({mark.table.table for mark in marks})
        database = ports.replica.database(policy.replica.database)
        return cls(
            {table.name: table for table in ports.source.tables(policy.source.database, names)},
            {table.name.table: table for table in ports.replica.tables(policy.replica.database, names)},
            frozen_tables(database.parameters if database else {}),
            frozenset(requested_tables(ports.replica_files, policy)),
            frozenset(pending_names(ports.replica_files, policy)),
        )

    def has(self, shown: SetMark) -> bool:
        """True for a shown mark of the replica's table as it is now."""
        table = self.tables.get(shown.table.table)
        return table is not None and shown.is_of(table_id(table))

    def waits_for_data(self, ports: ReadPorts, policy: Policy, name: str, spec: SetSpec, source: Table) -> bool:
        """True while something of a set waits for files that somebody else owns."""
        if name not in self.pending:
            return False
        record = read_pending(ports.replica_files, policy, name)
        keys = source.partition_keys
        waiting = (partition_values(partition) for partition in record.partitions)
        return record.table is not None or any(spec.matches(values, keys) for values in waiting)

    def told(self, mark: SetMark, source: Table, now: int) -> SetMark:
        """Return a source's mark as the replica says it."""
        table = self.tables[mark.table.table]
        return replace(mark, table=table.name, table_id=table_id(table), shown=now, keep=source.parameters.get(KEEP))
