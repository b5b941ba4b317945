"""Give a placement up: its marks go, then its directories."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from twinhive.core.directory_marks.directories import Owned
from twinhive.core.directory_marks.write_protection import unprotect
from twinhive.core.model.errors import Foreign
from twinhive.core.model.files import is_below
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.placement.copy_marks import primary_of
from twinhive.core.model.policy import Policy
from twinhive.core.ports import Lease, MetastoreReader, ReadPorts, WritePorts
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.federation.placement.copy_freshness import marked_objects, marks_table, our_marks
from twinhive.federation.placement.list_copies import clear_work
from twinhive.federation.placement.marking_copies import remove_marks
from twinhive.federation.placement.placement_layout import copies_directory, kept
from twinhive.federation.placement.unused_copies import homes, owned_copies


@dataclass(frozen=True)
class RetirePlacement:
    """Take all marks of a placement away, and its directories; what the tables hold stays."""

    policy: Policy
    holder: dict[str, str]

    def plan(self, ports: ReadPorts) -> list[str]:
        """Say what would go. Raises Foreign when a table has its data among the copies."""
        marked = _marked(ports.source, self.policy)
        lines = [f"{name}: the marks of {len(some)} copies would be taken away" for name, some in marked.items()]
        directory = copies_directory(self.policy)
        if ports.replica_files.status(directory) is None:
            return [*lines, f"{directory} is not there"]
        there = homes(ports.replica_files, directory)
        but = f", but for {', '.join(there)}: tables that were moved are at home there" if there else ""
        return [*lines, f"{directory} would be removed{but}"]

    def run(self, ports: WritePorts) -> list[str]:
        """Do it; run again after a kill, it goes on. Raises Foreign, LeaseHeld."""
        lines = []
        with hold_lease(ports, Work(self.policy, holder=self.holder), LeaseKind.PLACEMENT) as lease:
            for name, some in _marked(ports.source, self.policy).items():
                removed = remove_marks(ports.replica, self.policy, name.table, some)
                lines.append(f"{name}: the marks of {removed} copies are taken away")
            lease.confirm()
            if owned := owned_copies(ports.replica_files, self.policy):
                lines += _taken_away(ports, lease, owned)
            clear_work(ports, self.policy)
        return lines or [f"placement {self.policy.name} had no copies"]


def _taken_away(ports: WritePorts, lease: Lease, owned: Owned) -> Iterator[str]:
    """Remove the directory, or all in it but what is a table's home; say what was done."""
    stays = homes(ports.replica_files, owned.directory)
    if not stays:
        unprotect(ports.replica_files, owned.directory)
        yield f"{owned.directory}: {owned.take_away()}"
        return
    for _, page in list(ports.replica_files.list_pages([owned.directory])):
        for child in page or ():
            if child.is_directory and child.path not in stays:
                lease.confirm()
                unprotect(ports.replica_files, child.path)
                yield f"{child.path}: {owned.take_away(child.path)}"
    for one in stays:
        yield f"{one} stays: a table that was moved is at home there"


def _marked(metastore: MetastoreReader, policy: Policy) -> dict[TableName, list[str]]:
    """Return what bears marks of the placement, by table. Raises Foreign for data among the copies, before any."""
    for name in metastore.table_names(policy.source.database):
        table = metastore.table(TableName(policy.source.database, name))
        if table is None:
            continue
        _refuse_data(table, table.location, policy)
        for one in marked_objects(metastore, table, policy):
            _refuse_data(table, one.location, policy)
    found: dict[TableName, list[str]] = defaultdict(list)
    for kept_mark, _ in our_marks(marks_table(metastore, policy), policy):
        found[TableName(policy.source.database, kept_mark.table)].append(kept_mark.object)
    return found


def _refuse_data(table: Table, location: str | None, policy: Policy) -> None:
    directory = copies_directory(policy)
    if primary_of(table.parameters, kept(policy).default_cluster) == policy.replica.cluster:
        return  # It was moved here, and its directory says so.
    if location and (location == directory or is_below(location, directory)):
        raise Foreign(
            f"table {table.name} has its data among the copies of placement {policy.name}",
            found=location,
            expected=f"no location in {directory}, which holds copies alone",
            next_step="move the data elsewhere, or let the table name another directory",
        )
