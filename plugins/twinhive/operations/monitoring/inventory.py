"""What each table of a policy is on the replica: in bulk calls, for people."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from twinhive.core.model.files import Usage
from twinhive.core.model.marks import STAMP, Stamp
from twinhive.core.model.objects import Parameters, Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.model.table_status import TableStanding
from twinhive.core.ports import ReadPorts
from twinhive.replication.operator_requests.request_files import requested_tables
from twinhive.replication.replica.pending_files import pending_names
from twinhive.replication.replica.source_scope import readable_tables


@dataclass(frozen=True)
class InventoryEntry:
    """One table or view that the policy selects.

    kind        a value of `TableKind`
    reason      why it is in its state, where there is more to say
    files, bytes   as the scan counted them, else by the source's statistics; None where nobody knows
    last_event  the event that last shaped the replica's table, None without one
    """

    table: str
    kind: str
    state: TableStanding
    reason: str | None = None
    files: int | None = None
    bytes: int | None = None
    last_event: int | None = None


def read_tables(
    ports: ReadPorts,
    policy: Policy,
    sizes: Mapping[str, Usage] | None = None,
    only: Collection[str] | None = None,
) -> list[InventoryEntry]:
    """Return the tables of the source that the policy selects, sorted by name; `only` some of them, by name.

    sizes   what the tables hold, by name, where the caller knows more than the tables' own statistics
    """
    here = _selected(ports, policy, only)
    names = [table.name.table for table in here if policy.left_out(table) is None]
    database = ports.replica.database(policy.replica.database)
    there, _ = readable_tables(ports.replica, policy.replica.database, names if database else [])
    standing = _Standing(
        policy,
        {table.name.table: table for table in there},
        frozen_tables(database.parameters if database else {}),
        frozenset(requested_tables(ports.replica_files, policy)),
        frozenset(pending_names(ports.replica_files, policy)),
    )
    return [standing.of(table, (sizes or {}).get(table.name.table)) for table in here]


def _selected(ports: ReadPorts, policy: Policy, only: Collection[str] | None) -> list[Table]:
    """Return the tables that are selected and can be read: of the others runs tell, and `status`."""
    database = policy.source.database
    some = ports.source.table_names(database) if only is None else only
    readable, _ = readable_tables(ports.source, database, sorted(name for name in some if policy.selects(name)))
    return readable


@dataclass(frozen=True)
class _Standing:
    """What is known of a policy's replica: its tables, and what people and errors have said of them."""

    policy: Policy
    there: Mapping[str, Table]
    frozen: Mapping[str, str]
    requested: frozenset[str]
    pending: frozenset[str]

    def of(self, table: Table, usage: Usage | None) -> InventoryEntry:
        """Say what one table is."""
        name = table.name.table
        twin = self.there.get(name)
        stamp = Stamp.parse(twin.parameters.get(STAMP)) if twin else None
        state, reason = self._state(table, twin)
        return InventoryEntry(
            name,
            table.kind.value,
            state,
            reason,
            usage.files if usage else _count(table.parameters, "numFiles"),
            usage.length if usage else _count(table.parameters, "totalSize"),
            stamp.event_id if stamp else None,
        )

    def _state(self, table: Table, twin: Table | None) -> tuple[TableStanding, str | None]:
        name = table.name.table
        if left_out := self.policy.left_out(table):
            return TableStanding.LEFT_OUT, left_out
        if name in self.requested:
            return TableStanding.WAITS_FOR_RESYNC, "the next incremental run brings it over as it is"
        if name in self.frozen:
            return TableStanding.QUARANTINED, self.frozen[name]
        if name in self.pending:
            return TableStanding.PENDING, "something of it waits for its data"
        if twin is None:
            return TableStanding.NOT_THERE_YET, None
        return TableStanding.PUBLISHED, None


def _count(parameters: Parameters, key: str) -> int | None:
    said = parameters.get(key, "")
    return int(said) if said.isdigit() else None
