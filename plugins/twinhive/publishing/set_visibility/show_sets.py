"""Show on the replica the sets that are done at the source, each only when what it promises is there.

What is done is read from the source's set table, and what is shown from the replica's: nothing is carried from event to
event, so a run that is killed anywhere leaves nothing to mend. A set that cannot be shown yet is looked at again by the
next run. Which marks are read follows what has changed since the last look (`changed_marks.py`).
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from twinhive.core.model.errors import AlreadyThere
from twinhive.core.model.marks import ReplicaState, Stamp, stamped
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.set_changes import HeldSet, SetChanges, is_marked_anew, set_changes
from twinhive.core.model.sets.set_mark import FOREVER, SETS_TABLE, SetMark, sets_table
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.core.model.text import ResyncTable, Text
from twinhive.core.model.thrift_objects import key_types, new_partition
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Detail, Work
from twinhive.publishing.set_visibility.changed_marks import ToLookAt, find_changed, table_ids
from twinhive.publishing.set_visibility.later_events import LaterEvents
from twinhive.publishing.set_visibility.set_comparison import lacking
from twinhive.publishing.set_visibility.set_inputs import Sides, names_of, read_marks
from twinhive.publishing.sets.sets_table import find_sets_table, make_sets_table
from twinhive.replication.replica.held_sets import write_held_sets
from twinhive.replication.replica.set_checkpoint import write_looked
from twinhive.replication.replica.sets_run import write_run_of_sets

_PER_CALL = 1_000
_ON = "Sets"


@dataclass(frozen=True)
class SetsPlan:
    """What is to be shown, in the words of the replica, what is to be hidden, and what is held; what was looked at."""

    show: tuple[SetMark, ...] = ()
    hide: tuple[SetMark, ...] = ()
    held: tuple[HeldSet, ...] = ()
    of: ToLookAt | None = None

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
        if find_sets_table(ports.source, policy.source.database) is None and not self._has_table():
            return SetsPlan()
        of = find_changed(ports, policy, self.state.log_id or "", self.clock())
        marks = read_marks(ports.source, policy.source.database, of.names)
        shown = self._shown(of, marks)
        sides = Sides.read(ports, policy, [*marks, *shown])
        done = [mark for mark in marks if sides.is_done(mark, policy, self.clock, FOREVER)]
        plan = self._judged(set_changes(done, shown, sides.has, self.clock()), sides)
        return replace(plan, of=self._to_keep(of, plan, sides))

    def hide_unmarked(self) -> None:
        """Hide what was unmarked before its data changes here: who finds a set finds what was promised.

        A set that was unmarked and marked again is hidden too; it shows again behind its data.
        """
        ports, policy = self.ports, self.policy
        if not self._has_table():
            return
        of = find_changed(ports, policy, self.state.log_id or "", self.clock())
        marks = {mark.name: mark for mark in read_marks(ports.source, policy.source.database, of.names)}
        shown = self._shown(of, marks.values())
        gone = [mark for mark in set_changes((), shown, lambda mark: True, self.clock()).hide if mark.name not in marks]
        again = [one for one in shown if one.name in marks and is_marked_anew(one, marks[one.name])]
        self._hide([*gone, *again])
        if of.names is not None and of.is_worth_keeping:
            write_looked(ports.replica_files, policy, replace(of.looked, open=of.names))

    def carry_out(self, plan: SetsPlan) -> None:
        """Show and hide under the lease, at most 1,000 sets a call; say what is held."""
        self._hide(plan.hide)
        if not plan.show or self._show(plan.show):
            self.note(plan)

    def note(self, plan: SetsPlan) -> None:
        """Keep what is held where people are told of it."""
        for one in plan.held:
            self.work.report(
                Detail(_ON, f"set {one.mark.spec} of {one.mark.table.table} is held: {one.why}; next: ") + one.next_step
            )
        write_held_sets(self.ports.replica_files, self.policy, plan.held)
        if plan.of is not None and plan.of.is_worth_keeping:
            write_looked(self.ports.replica_files, self.policy, plan.of.looked)

    @property
    def _table(self) -> TableName:
        return sets_table(self.policy.replica.database)

    def _has_table(self) -> bool:
        return find_sets_table(self.ports.replica, self.policy.replica.database) is not None

    def _shown(self, of: ToLookAt, marks: Iterable[SetMark]) -> list[SetMark]:
        names = None if of.names is None else of.names | names_of(marks)
        return read_marks(self.ports.replica, self.policy.replica.database, names)

    def _to_keep(self, of: ToLookAt, plan: SetsPlan, sides: Sides) -> ToLookAt:
        """Return what the next look is to know, once the plan is carried out."""
        held = names_of(one.mark for one in plan.held)
        ids = {**({} if of.names is None else of.looked.tables), **sides.ids()}
        if SETS_TABLE not in ids:
            ids |= table_ids(self.ports, self.policy, frozenset())
        if plan.show and ids[SETS_TABLE][1] is None:
            # What is shown makes the table: nobody knows it yet, so the next look is of all.
            del ids[SETS_TABLE]
        is_new = of.is_worth_keeping or plan.changes or held != of.looked.open
        return replace(of, looked=replace(of.looked, tables=ids, open=held), is_worth_keeping=is_new)

    def _judged(self, changes: SetChanges, sides: Sides) -> SetsPlan:
        later = LaterEvents(self.ports, self.policy.source.database, self.state.position)
        show: list[tuple[SetMark, Table]] = []
        held: list[HeldSet] = []
        for mark in changes.show:
            source = sides.sources.get(mark.table)
            if source is None or self.policy.left_out(source) is not None:
                continue
            why = self._why_held(mark, source, sides, later)
            if why is None:
                show.append((mark, source))
            else:
                held.append(HeldSet(mark, *why))
        if show:
            later.read_on()  # what was dropped while others were compared was not compared
        told = []
        for mark, source in show:
            if early := later.why_too_early(mark, _spec(mark, source), source.partition_keys):
                held.append(HeldSet(mark, early, RETRIES))
            else:
                shown = sides.told(mark, source, int(self.clock()))
                told.append(replace(shown, shown_by=self.work.holder.get("run")))
        return SetsPlan(tuple(told), changes.hide, tuple(held))

    def _why_held(self, mark: SetMark, source: Table, sides: Sides, later: LaterEvents) -> tuple[str, Text] | None:
        name, policy = mark.table.table, self.policy
        spec = _spec(mark, source)
        if name in sides.frozen:
            return f"table {name} is frozen: {sides.frozen[name]}", ResyncTable(policy.name, name)
        if name in sides.requested:
            return f"table {name} waits for resync", "the next incremental run brings it"
        if sides.waits_for_data(self.ports, policy, name, spec, source):
            return f"table {name} waits for its data", f"the DAG {policy.name}.external copies it"
        if why := later.why_too_early(mark, spec, source.partition_keys):
            return why, RETRIES
        found = lacking(self.ports, policy, source, spec, later)
        if found is None and sides.tables.get(name) is None:
            return f"table {name} is not on the replica", RETRIES
        if found is None:
            return None
        next_step = f"the DAG {policy.name}.scan brings over what no event tells of"
        return str(found), next_step if found.is_there else RETRIES

    def _note_run(self) -> None:
        """Note before a change whose it is."""
        write_run_of_sets(self.ports.replica_files, self.policy, self.work.holder.get("run", ""))

    def _hide(self, marks: Sequence[SetMark]) -> None:
        if marks:
            self._note_run()
        for mark in marks:
            self.work.report(Detail(_ON, f"set {mark.spec} of {mark.table.table} is hidden: the source has it no more"))
        for start in range(0, len(marks), _PER_CALL):
            names = [mark.name for mark in marks[start : start + _PER_CALL]]
            self.ports.replica.drop_partitions(self._table, names, delete_data=True)

    def _show(self, marks: Sequence[SetMark]) -> bool:
        """Return whether all show: somebody may mark on the replica at this moment."""
        replica = self.ports.replica
        self._note_run()
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
            try:
                replica.add_partitions(new)
                replica.alter_partitions(old)
            except AlreadyThere:
                self.work.report(
                    "somebody marks sets on the replica at this moment: they are looked at by the next run"
                )
                return False
        for mark in marks:
            self.work.report(Detail(_ON, f"set {mark.spec} of {mark.table.table} is shown"))
        return True


def _spec(mark: SetMark, table: Table) -> SetSpec:
    return SetSpec.parse(mark.spec, key_types(table))
