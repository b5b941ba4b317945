"""Give a placement up: its marks go, then its directories."""

from collections.abc import Iterator
from dataclasses import dataclass

from twinhive.copies.layout import copies_directory
from twinhive.copies.list_copies import clear_work
from twinhive.copies.looking import marked_objects, our_mark
from twinhive.copies.marking import remove_marks
from twinhive.copies.objects import values_of
from twinhive.copies.unused import owned_copies
from twinhive.model.copies.touches import Values
from twinhive.model.errors import Foreign
from twinhive.model.files import is_below
from twinhive.model.lease_kinds import LeaseKind
from twinhive.model.names import TableName
from twinhive.model.objects import Table
from twinhive.model.policy import Policy
from twinhive.ports import MetastoreReader, ReadPorts, WritePorts
from twinhive.step.base import Work
from twinhive.step.holding import hold_lease


@dataclass(frozen=True)
class RetirePlacement:
    """Take all marks of a placement away, and its directories; what the tables hold stays."""

    policy: Policy
    holder: dict[str, str]

    def plan(self, ports: ReadPorts) -> list[str]:
        """Say what would go. Raises Foreign when a table has its data among the copies."""
        marked = dict(_marked(ports.source, self.policy))
        lines = [f"{name}: the marks of {len(some)} copies would be taken away" for name, some in marked.items()]
        directory = copies_directory(self.policy)
        there = ports.replica_files.status(directory) is not None
        return [*lines, f"{directory} would be removed" if there else f"{directory} is not there"]

    def run(self, ports: WritePorts) -> list[str]:
        """Do it; run again after a kill, it goes on. Raises Foreign, LeaseHeld."""
        lines = []
        with hold_lease(ports, Work(self.policy, holder=self.holder), LeaseKind.PLACEMENT) as lease:
            event_id = ports.source.current_event_id()
            for name, some in dict(_marked(ports.source, self.policy)).items():
                removed = remove_marks(ports, lease, self.policy, name, some, event_id)
                lines.append(f"{name}: the marks of {removed} copies are taken away")
            lease.confirm()
            if owned := owned_copies(ports.replica_files, self.policy):
                lines.append(f"{owned.directory}: {owned.take_away()}")
            clear_work(ports, self.policy)
        return lines or [f"placement {self.policy.name} had no copies"]


def _marked(metastore: MetastoreReader, policy: Policy) -> Iterator[tuple[TableName, list[Values]]]:
    """Yield what bears marks of the placement, by table. Raises Foreign for data among the copies, before any."""
    found = []
    for name in metastore.table_names(policy.source.database):
        table = metastore.table(TableName(policy.source.database, name))
        if table is None:
            continue
        _refuse_data(table, table.location, policy)
        some = []
        for one in marked_objects(metastore, table, policy):
            _refuse_data(table, one.location, policy)
            some += [values_of(one)] if our_mark(one, policy) else []
        found += [(table.name, some)] if some else []
    yield from found


def _refuse_data(table: Table, location: str | None, policy: Policy) -> None:
    directory = copies_directory(policy)
    if location and (location == directory or is_below(location, directory)):
        raise Foreign(
            f"table {table.name} has its data among the copies of placement {policy.name}",
            found=location,
            expected=f"no location in {directory}, which holds copies alone",
            next_step="move the data elsewhere, or let the table name another directory",
        )
