"""Say what an old primary has that is no row: definitions that its successor has not, and what no policy brings there.

The first go with the next window: they are named before, views with their text. The second is other people's: it is not
stamped, altered, dropped or moved, and named, so that nobody takes it for a part of the replica.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from twinhive.core.model.changes.events import Position
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.marks import ReplicaState
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.scopes.scope_texts import policy_scope
from twinhive.core.model.sets.set_mark import is_sets_table
from twinhive.core.model.thrift_objects import view_text
from twinhive.core.ports import ReadPorts, SourcePorts
from twinhive.operations.failover.promotion import Promotion
from twinhive.replication.incremental.full_resync import functions_alone
from twinhive.replication.notification_log.touched_tables import touched_after
from twinhive.replication.replica.source_scope import each_table
from twinhive.replication.replica.stamping import brings

_NAMED = 20


@dataclass(frozen=True)
class OldPrimary:
    """The database that a failback makes the replica of its successor; `policy` is the reverse one."""

    ports: ReadPorts
    policy: Policy
    promotion: Promotion

    def was_held(self) -> Callable[[Table], bool]:
        """Return what tells whether the successor's scope has ever held a table of the old primary.

        Where it had followed by the scope of this policy, it has: what it has not now, its users have dropped, or it
        came to the old primary alone. Else it has what it has now, and what its own log names since it took over.
        """
        source = self.ports.source.database(self.policy.source.database)
        state = ReplicaState.read(source.parameters if source else None)
        if state.scope_before is None and (state.scope or state.file_scope) == policy_scope(self._backwards):
            return lambda table: True
        names = set(self.ports.source.table_names(self.policy.source.database))
        names |= _touched(self.ports, self.policy, self.promotion.begin) or set()
        return lambda table: table.name.table in names

    def stamped_count(self) -> int:
        """Return how many tables and views become the policy's."""
        was_held = self.was_held()
        return sum(brings(self.policy, one) and (is_sets_table(one) or was_held(one)) for one in self._tables())

    def left_alone(self) -> list[str]:
        """Name the tables that stay other people's, each with the reason, and the functions that nothing drops."""
        was_held = self.was_held()
        found = (f"{one.name.table} ({why})" for one in self._tables() if (why := self._why_left(one, was_held)))
        tables = ", ".join(first_of(found, _NAMED))
        lines = [f"left alone on {self.policy.replica}, which no policy has brought there: {tables}"] if tables else []
        return [*lines, *functions_alone(self.ports, self.policy)]

    def definitions(self) -> Iterator[str]:
        """Name views and columns that the old primary alone has, which nobody's rows keep.

        What only the successor's log names has been changed by its users. Where a log has a gap nobody knows.
        """
        theirs = _touched(self.ports, self.policy, self.promotion.begin) or set()
        own = _touched(self._as_source(), self._backwards, self.promotion.position)
        passed = theirs - own if own is not None else set()
        new = {one.name.table: one.columns for one in each_table(self.ports.source, self.policy.source.database)}
        was_held, here = self.was_held(), self.policy.replica
        for one in self._tables():
            name = one.name.table
            if name in passed or not self.policy.replicates(one) or not was_held(one):
                continue
            if name not in new:
                if not one.has_files:
                    yield f"only {here} has: view {name}, which goes; its text: {view_text(one)}"
            elif more := [column for column in one.columns if column not in new[name]]:
                said = ", ".join(" ".join(column) for column in more)
                yield f"only {here} has: columns of {name}, which go: {said}"

    def _why_left(self, table: Table, was_held: Callable[[Table], bool]) -> str | None:
        if is_sets_table(table):
            return None
        if not self.policy.selects(table.name.table):
            return f"not selected by policy {self.policy.name}"
        never = None if was_held(table) else f"{self.policy.source} never held it"
        return self.policy.left_out(table) or never

    def _tables(self) -> Iterator[Table]:
        return each_table(self.ports.replica, self.policy.replica.database)

    @property
    def _backwards(self) -> Policy:
        return replace(self.policy, source=self.policy.replica, replica=self.policy.source)

    def _as_source(self) -> SourcePorts:
        """Return the old primary as what its successor had followed."""
        return SourcePorts(self.ports.replica, self.ports.replica_files, self.ports.dump_files)


def _touched(ports: SourcePorts, policy: Policy, begin: Position) -> set[str] | None:
    """Return the tables that a log names after an event; None where it has a gap, or does not say all."""
    found = touched_after(ports, policy, begin)
    return None if found is None else {name.table for name in found if name.database == policy.source.database}
