"""Bring one table over as the source has it now, and release it from quarantine."""

from dataclasses import dataclass

from twinhive.core.model.errors import Foreign, InvalidSettings, Missing
from twinhive.core.model.marks import STAMP, Stamp
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import resync
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.model.text import render
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.operations.actions.operation import Holder, following_state, person
from twinhive.replication.operator_requests.request_files import is_paused, request_table, requested_tables
from twinhive.replication.replica.source_scope import refuse_unselected
from twinhive.replication.replica.stamping import is_ours


@dataclass(frozen=True)
class Resync:
    """Ask for a table; the next window that reaches the newest event brings it over."""

    policy: Policy
    table: str
    holder: Holder

    @property
    def name(self) -> TableName:
        """The table at the source; its name may be given with or without the database."""
        database = self.policy.source.database
        return TableName(database, self.table.lower().removeprefix(f"{database}."))

    def plan(self, ports: WritePorts) -> list[str]:
        """Say what would become of the table."""
        lines = self._checked(ports)
        table = self.name.table
        if table in requested_tables(ports.replica_files, self.policy):
            lines.append(f"{table} is asked for already")
        lines.append(f"the next incremental run would bring {table} over as it is then, and release it from quarantine")
        return [*lines, *self._paused(ports)]

    def run(self, ports: WritePorts) -> list[str]:
        """Write the request down."""
        lines = self._checked(ports)
        request_table(ports.replica_files, self.policy, self.name.table, person(self.holder), repairs=True)
        lines.append(
            f"asked for: the next run of {self.policy.name}.incremental brings {self.name.table} over; "
            "a red run goes on when its task window is cleared with all tasks after it"
        )
        return [*lines, *self._paused(ports)]

    def _checked(self, ports: ReadPorts) -> list[str]:
        """Return what there is of the table. Raises InvalidSettings, Missing, Foreign, ActNow."""
        policy, name = self.policy, self.name
        refuse_unselected(policy, name.table)
        state = following_state(ports, policy, "a resync")
        source = ports.source.table(name)
        replica = ports.replica.table(policy.on_replica(name))
        database = ports.replica.database(policy.replica.database)
        frozen = frozen_tables(database.parameters if database else {}).get(name.table)
        _refuse_foreign(replica, policy, state.log_id)
        if source is None and replica is None and frozen is None:
            raise Missing(
                f"table: there is no table {name.table} on either side",
                found="no such table, and no frozen one",
                expected=f"a table of {policy.source} or of {policy.replica}",
                next_step="correct the table's name",
            )
        left_out = policy.left_out(source) if source else None
        if left_out and replica is None and frozen is None:
            raise InvalidSettings(
                f"table: {name} is not replicated",
                found=left_out,
                expected="a table without transactions, or a view",
                next_step="nothing can be brought over",
            )
        return [_of_source(policy, name, source), _of_replica(policy, replica, frozen)]

    def _paused(self, ports: ReadPorts) -> list[str]:
        reason = is_paused(ports.replica_files, self.policy)
        return [f"but no run begins while the policy is paused: {render(reason)}"] if reason else []


def _refuse_foreign(table: Table | None, policy: Policy, log_id: str | None) -> None:
    if table is not None and not is_ours(policy, table, log_id):
        stamped = f"{STAMP} = {table.parameters.get(STAMP, '(not set)')}"
        raise Foreign(
            f"table: {table.name} on {policy.replica.cluster} was not made by policy {policy.name}",
            found=policy.left_out(table) or stamped,
            expected=f"no such table, or a stamp of source log {log_id}",
            next_step="move that table away; then: " + resync(policy.name, table.name.table),
        )


def _of_source(policy: Policy, name: TableName, table: Table | None) -> str:
    if table is None:
        return f"the source has no table {name}: it is removed from the replica"
    if policy.left_out(table):
        return f"the source's {name} is not replicated any more ({table.kind.value}): it is removed from the replica"
    return f"the source has {name}: {table.kind.value}, at {table.location or 'no place of its own'}"


def _of_replica(policy: Policy, table: Table | None, frozen: str | None) -> str:
    state = f"quarantined: {frozen}" if frozen else "not quarantined"
    if table is None:
        return f"the replica {policy.replica} does not have it; {state}"
    stamp = Stamp.parse(table.parameters.get(STAMP))
    return f"the replica has it as of event {stamp.event_id if stamp else '?'}; {state}"
