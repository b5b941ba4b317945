"""Move a replica's tables and partitions to the places where Hive's own REPL LOAD will look for them.

Hive believes that a managed table of a replica lies in its default place, and its partitions below it: replaying an
event, it sets their locations to that. Twinhive gives each content a directory of its own. So a replica is handed back
to Hive only after this. What a table or partition lies in is renamed, then the metastore is told: in between, for the
time of some calls, readers of it find nothing. Of partitions a few are switched at a time, so that it stays short.

What stands in such a place already is taken aside only if it is ours and nothing registered uses it: left by a table
that we dropped, or by content that we replaced. Anything else is somebody's, and the move ends with an error.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from twinhive.core.directory_marks.directories import Owned, is_empty, mark_table, table_mark, table_of
from twinhive.core.model.errors import Foreign, Missing, TryAgain
from twinhive.core.model.file_names import partition_path
from twinhive.core.model.files import base_name, is_below, join
from twinhive.core.model.names import default_directory
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import Lease, MetastoreReader, WritePorts, rename_into
from twinhive.replication.apply.managed_locations import managed_root
from twinhive.replication.replica.replica_locations import silent_key, table_directory
from twinhive.replication.replica.source_scope import tables_in_bulk
from twinhive.replication.replica.stamping import is_ours

_SWITCHED_TOGETHER = 20


def move_to_hives_places(ports: WritePorts, policy: Policy, log_id: str, event_id: int, lease: Lease) -> int:
    """Move what lies elsewhere; return how many tables and partitions were moved. May be repeated from any point.

    Raises Foreign for what is in the way and not ours.
    """
    moving = _Moving(ports, policy, managed_root(ports.replica, policy), event_id, lease)
    database = policy.replica.database
    moved = 0
    for table in tables_in_bulk(ports.replica, database, ports.replica.table_names(database)):
        if table.has_files and not table.is_external and is_ours(policy, table, log_id):
            moved += moving.table(table)
    return moved


@dataclass(frozen=True)
class _Moving:
    ports: WritePorts
    policy: Policy
    root: str
    event_id: int
    lease: Lease
    used: "_Used" = field(default_factory=lambda: _Used())

    def table(self, table: Table) -> int:
        place = join(self.root, default_directory(table.name.table))
        moved = 0
        if table.partition_keys:
            # Its rows are in its partitions, which are moved one by one.
            self._own(table, place)
            moved = sum(self._partitions(table, some, place) for some in self._chunks(table))
        if table.location == place:
            return moved
        if not table.partition_keys:
            self._rename(table.location or "", place)
        self.ports.replica.alter_table(table.name, table.at(table.name, place))
        return moved + 1

    def _chunks(self, table: Table) -> Iterator[Sequence[Partition]]:
        names = self.ports.replica.partition_names(table.name)
        per_call = self.policy.options.partitions_per_call
        for start in range(0, len(names), per_call):
            yield self.ports.replica.partitions(table.name, names[start : start + per_call])

    def _partitions(self, table: Table, partitions: Sequence[Partition], place: str) -> int:
        wanted = [one.at(table.name, join(place, partition_path(one.name(table.partition_keys)))) for one in partitions]
        moves = [(now, then) for now, then in zip(partitions, wanted, strict=True) if now.location != then.location]
        for start in range(0, len(moves), _SWITCHED_TOGETHER):
            some = moves[start : start + _SWITCHED_TOGETHER]
            for now, then in some:
                self._rename(now.location or "", then.location or "")
            self.ports.replica.alter_partitions([then for _, then in some])
        return len(moves)

    def _is_ours(self, place: str) -> bool:
        return table_mark(self.ports.replica_files, place) == self.policy.name

    def _own(self, table: Table, place: str) -> None:
        """Make the directory of a partitioned table, with our mark. Raises Foreign for one of somebody else's.

        One that this very table, which bears our stamp, lies in is ours, whoever made it: we took the replica over.
        """
        files = self.ports.replica_files
        if self._is_ours(place):
            return
        if files.status(place) is None:
            self.lease.confirm()
            files.make_directories(place)
        elif table.location != place and not is_empty(files, place):
            raise self._foreign(place, "a directory without the mark of this policy")
        elif user := self.used.of(self.ports.replica, place, table):
            raise self._foreign(place, f"the data of {user}")
        mark_table(files, place, f"{self.policy.name}:events")

    def _rename(self, directory: str, place: str) -> None:
        """Rename a directory; what stands in its place goes aside first, if it lies in a table's that is ours."""
        files = self.ports.replica_files
        owned = table_of(files, self.root, place, self.policy.name)
        there = files.status(place) is not None
        if files.status(directory) is None:
            # An earlier try has renamed it.
            if not there or owned is None:
                raise self._lost(directory, place)
            return
        self.lease.confirm()
        if there:
            self._take_aside(place, owned)
        if not rename_into(files, directory, place):
            raise TryAgain(
                f"{directory} was not moved to where Hive looks for it",
                found=f"something at {place} that came meanwhile, or nothing at {directory}",
                expected=f"{directory}, which nobody else moves, and nothing at {place}",
                next_step=RETRIES,
            )

    def _take_aside(self, place: str, owned: Owned | None) -> None:
        files = self.ports.replica_files
        if owned is None:
            raise self._foreign(place, "a directory without the mark of this policy")
        if user := self.used.of(self.ports.replica, place):
            raise self._foreign(place, f"the data of {user}")
        aside = table_directory(self.root, base_name(place), silent_key(self.event_id, uuid.uuid4().hex[:8]))
        # Marked before it has its name, so that a sweep finds it whatever happens in between.
        mark_table(files, place, f"{self.policy.name}:events")
        if owned.move_aside(aside, place) is None:
            raise TryAgain(
                f"{place} was not taken aside",
                found=f"nothing there, or {aside}",
                expected="a directory there that nobody else moves",
                next_step=RETRIES,
            )

    def _foreign(self, place: str, found: str) -> Foreign:
        return Foreign(
            f"what Hive is to find at {place} cannot be put there: something is in the way",
            found=found,
            expected="nothing, or what this replica has left there itself",
            next_step=f"look what it is and move it away (hdfs dfs -mv '{place}' ...), then run the statement again",
        )

    def _lost(self, directory: str, place: str) -> Missing:
        return Missing(
            f"the directory of something registered is gone: {directory}",
            found=f"nothing there, and nothing of ours at {place}",
            expected="its files at the one or the other",
            next_step="look who removed it; drop the replica, then dump and load the whole database",
        )


@dataclass
class _Used:
    """The directories of all tables and partitions of a metastore, read when the first thing is in the way."""

    places: dict[str, str] | None = None

    def of(self, replica: MetastoreReader, place: str, beside: Table | None = None) -> str:
        """Say what lies in a directory, around it or in it, beside one table; '' when nothing does."""
        if self.places is None:
            self.places = dict(_places(replica))
        found = (name for at, name in self.places.items() if at == place or is_below(at, place) or is_below(place, at))
        own = f"table {beside.name}" if beside else ""
        return next((name for name in found if not own or not name.endswith(own)), "")


def _places(replica: MetastoreReader) -> Iterator[tuple[str, str]]:
    """Yield where rows are, and whose: of a partitioned table in its partitions alone."""
    for database in replica.database_names():
        for table in tables_in_bulk(replica, database, replica.table_names(database)):
            if not table.location:
                continue
            if not table.partition_keys:
                yield table.location, f"table {table.name}"
                continue
            for name, location in replica.partition_locations(table):
                yield location, f"partition {name} of table {table.name}"
