"""Compare a whole replica with its source, bring over what differs, and go on at the newest event."""

from dataclasses import dataclass

from twinhive.core.model.marks import ReplicaState
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.hive.events.reader import newest_position
from twinhive.operations.actions.operation import Holder, following_state, person
from twinhive.operations.actions.repair import Repair
from twinhive.replication.incremental.full_resync import AllTables, functions_alone, read_all_tables, read_database
from twinhive.replication.operator_requests.request_files import is_paused, request_everything


@dataclass(frozen=True)
class ResyncEverything:
    """Ask for all that the policy selects; the next window makes it equal, leaf by leaf.

    No event before the window's end is read: it is the way on after a gap in the log, without a new bootstrap.
    """

    policy: Policy
    holder: Holder

    def plan(self, ports: WritePorts) -> list[str]:
        """Say of each leaf that differs now what would become of it."""
        state = self._checked(ports)
        tables = read_all_tables(ports, self.policy, state)
        plans = Repair(self.policy, tables.compared, self.holder).plan(ports) if tables.compared else []
        return [*self._about(ports, state, tables), *plans]

    def run(self, ports: WritePorts) -> list[str]:
        """Write the request down."""
        state = self._checked(ports)
        request_everything(ports.replica_files, self.policy, person(self.holder))
        tables = read_all_tables(ports, self.policy, state)
        asked = (
            f"asked for: the next run of {self.policy.name}.incremental compares all tables and brings over what "
            "differs; a red run goes on when its task window is cleared with all tasks after it"
        )
        return [*self._about(ports, state, tables), asked]

    def _checked(self, ports: ReadPorts) -> ReplicaState:
        """Return the state of the replica. Raises ActNow for one that does not follow, or follows another log."""
        state = following_state(ports, self.policy, "a resync")
        newest_position(ports.source, state.position)
        read_database(ports, self.policy)
        return state

    def _about(self, ports: ReadPorts, state: ReplicaState, tables: AllTables) -> list[str]:
        newest = ports.source.current_event_id()
        lines = [
            f"the replica is at event {state.position.event_id}, the source at event {newest}; "
            f"{len(tables.compared)} tables and views are compared"
        ]
        if tables.foreign:
            lines.append(
                f"left alone, because policy {self.policy.name} did not make them, or brings none of their kind: "
                + ", ".join(tables.foreign)
            )
        lines += functions_alone(ports, self.policy)
        reason = is_paused(ports.replica_files, self.policy)
        return [*lines, f"but no run begins while the policy is paused: {render(reason)}"] if reason else lines
