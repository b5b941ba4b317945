"""Make several tables equal again: what of them differs from the source, and nothing else, is brought over."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from twinhive.core.model.changes.contents import Content, TableState
from twinhive.core.model.errors import ActNow, InvalidSettings, Refused
from twinhive.core.model.human_readable import first_of, readable
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.model.text import render, text_of
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.operations.actions.operation import Holder, following_state
from twinhive.operations.actions.resync import Resync
from twinhive.replication.bootstrap.source_states import read_state_of
from twinhive.replication.comparison.leaf_reader import sides_of
from twinhive.replication.comparison.leaf_records import OWN_LEAF
from twinhive.replication.comparison.reconcile_table import plan_table
from twinhive.replication.replica.source_scope import read_selected, tables_in_bulk, usage_or_nothing
from twinhive.replication.verify.verification_outcome import last_outcome

_TOLD = 200
_NAMED = 5


@dataclass(frozen=True)
class Repair:
    """Ask for tables; the next window that reaches the newest event makes them equal, leaf by leaf.

    tables       names, or regular expressions for whole names, in any case; none: those in which the last
                 verification has found something
    quarantined  those that are frozen, instead
    """

    policy: Policy
    tables: tuple[str, ...]
    holder: Holder
    quarantined: bool = False

    def plan(self, ports: WritePorts) -> list[str]:
        """Say of each leaf that differs now what would become of it."""
        lines = (line for table in self._wanted(ports) for line in self._plan_of(ports, table))
        return first_of(chain(lines, self._beside_tables(ports)), _TOLD, "more lines")

    def run(self, ports: WritePorts) -> list[str]:
        """Write the requests down. What somebody named and cannot be asked for is refused before any is written."""
        requests: list[Resync] = []
        left_out: list[str] = []
        wanted = self._wanted(ports)
        self._refuse_without_room(ports, wanted)
        for table in wanted:
            request = Resync(self.policy, table, self.holder)
            try:
                request.plan(ports)
                requests.append(request)
            except ActNow as error:
                if self.tables:
                    raise
                left_out.append(f"left out: {render(error.text)}")
        return [*(request.run(ports)[-1] for request in requests), *left_out, *self._beside_tables(ports)]

    def _beside_tables(self, ports: ReadPorts) -> list[str]:
        """Say what the last verification has found that is no table's, where that is asked for."""
        found = None if self.tables or self.quarantined else last_outcome(ports.replica_files, self.policy)
        if found is None or not found.beside_tables:
            return []
        way = render(text_of(found.way_to_mend(self.policy.name)))
        return [f"left out: the database, or its functions, differ, and are no table: {way}"]

    def _refuse_without_room(self, ports: ReadPorts, tables: Sequence[str]) -> None:
        """Refuse what has no room to be copied into. Only where the whole tables have none they are compared first."""
        policy = self.policy
        space = ports.replica_files.space(policy.staging, policy.staging_root)
        left = [space.free_bytes] + ([] if space.quota_bytes_left is None else [space.quota_bytes_left])
        there = tables_in_bulk(ports.source, policy.source.database, tables)
        places = [one.location for one in there if one.location and not one.is_external]
        if sum(usage_or_nothing(ports.source_files, place).length for place in places) <= min(left):
            return
        needed = sum(self._to_copy(ports, state) for table in tables if (state := self._read(ports, table)))
        if needed > min(left):
            raise Refused(
                f"there is no room below {policy.staging_root} for a repair of {', '.join(first_of(tables, _NAMED))}",
                found=f"{readable(min(left))} left",
                expected=f"{readable(needed)}: what is brought over lies beside what it replaces until that is swept",
                next_step="free space, or raise the quota (hdfs dfsadmin -setSpaceQuota); then the same command again",
            )

    def _read(self, ports: ReadPorts, table: str) -> TableState | None:
        name = TableName(self.policy.source.database, table)
        state = read_state_of(ports, self.policy, name)
        return None if state is None or state.table.is_external or self.policy.left_out(state.table) else state

    def _to_copy(self, ports: ReadPorts, state: TableState) -> int:
        """Return the bytes of those leaves that have to be copied."""
        plan = plan_table(sides_of(ports, self.policy), state)
        parts = {name: one.content for name, one in state.partitions.items()} | {OWN_LEAF: state.content}
        return _bytes_of(content for name, content in parts.items() if plan is None or plan.needs_files(name))

    def _plan_of(self, ports: WritePorts, table: str) -> Iterator[str]:
        request = Resync(self.policy, table, self.holder)
        said = request.plan(ports)
        state = read_state_of(ports, self.policy, request.name)
        is_there = state is not None and self.policy.left_out(state.table) is None
        plan = plan_table(sides_of(ports, self.policy), state) if state is not None and is_there else None
        yield from said if plan is None else plan.lines()

    def _wanted(self, ports: ReadPorts) -> list[str]:
        """Return the tables by their names. Raises ActNow, InvalidSettings."""
        policy = self.policy
        following_state(ports, policy, "a repair")
        if self.quarantined:
            database = ports.replica.database(policy.replica.database)
            return sorted(filter(policy.selects, frozen_tables(database.parameters if database else {})))
        if not self.tables:
            found = last_outcome(ports.replica_files, policy)
            return list(found.tables_with_findings) if found else []
        there = {one.name.table for one in read_selected(ports.source, policy)}
        there |= set(filter(policy.selects, ports.replica.table_names(policy.replica.database)))
        return sorted({table for pattern in self.tables for table in self._named(pattern, there)})

    def _named(self, pattern: str, there: set[str]) -> list[str]:
        """Return the tables that a name, or a pattern, means; a name of none is left to be refused as such."""
        name = pattern.lower().removeprefix(f"{self.policy.source.database}.")
        if name in there:
            return [name]
        try:
            found = [table for table in there if re.fullmatch(pattern, table, re.IGNORECASE)]
        except re.error as error:
            raise InvalidSettings(
                f"table: {pattern!r} is neither a table's name nor a regular expression",
                found=str(error),
                expected="a table of the policy, or a regular expression for whole names",
                next_step="correct it, and quote it for the shell",
            ) from error
        return found or [name]


def _bytes_of(contents: Iterable[Content]) -> int:
    return sum(file.length for content in contents for file in content.files.values())
