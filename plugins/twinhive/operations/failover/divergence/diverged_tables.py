"""Find what an old primary has and the new one has not: what users wrote there that nobody replicated.

Rows that the new primary's users have replaced or removed are no divergence: its log tells of which tables. Where the
old primary's log does not name such a table, what differs is theirs, unless it lacked rows already when it took over.
All other tables are compared file by file, and external ones always: no log tells who wrote a file of theirs.

Memory holds the files of some partitions at a time.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DetailChange,
    Insert,
)
from twinhive.core.model.errors import LogBroken, Missing, UnreadableObject, together
from twinhive.core.model.files import FileStatus
from twinhive.core.model.human_readable import readable
from twinhive.core.model.marks import SKIPPED, ReplicaState
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters, Table, TableKind
from twinhive.core.model.policy import Policy
from twinhive.core.ports import EventLog, MetastoreReader, ReadPorts, if_there
from twinhive.core.ports.same_content import have_same_content
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_scope import in_scope
from twinhive.hive.events.reader import read_events
from twinhive.operations.failover.divergence.old_primary_log import Mention, OldPrimaryLog
from twinhive.operations.failover.promotion import Promotion, behind_when_promoted
from twinhive.replication.comparison.leaf_reader import LeafState, Side, sides_of
from twinhive.replication.comparison.leaf_records import OWN_LEAF
from twinhive.replication.incremental.scope_check import missing_between_scopes
from twinhive.replication.replica.source_scope import readable_tables

_TABLES_AT_ONCE = 200
LEAVES_AT_ONCE = 200
FilesAlone = tuple[tuple[str, FileStatus], ...]
"""Files with their paths below their leaf."""


@dataclass(frozen=True)
class DivergedLeaf:
    """A table without partitions, or one partition, with rows that the new primary has not.

    leaf     the partition's name, '' for a table without
    files    those that are nowhere in that leaf of the new primary; none for a table without rows that it has not
    """

    table: Table
    leaf: str
    files: FilesAlone


@dataclass
class Divergence:
    """How much of a table only the old primary has; `mention` is what its own log says of it after the failover."""

    table: TableName
    is_partitioned: bool
    mention: Mention | None
    files: int = 0
    length: int = 0
    leaves: int = 0

    def add(self, one: DivergedLeaf) -> None:
        """Count one more leaf."""
        self.leaves += bool(one.files)
        self.files += len(one.files)
        self.length += sum(status.length for _, status in one.files)

    def __str__(self) -> str:
        where = f" in {self.leaves} partitions" if self.is_partitioned else ""
        rows = f"{self.files} files{where}, {readable(self.length)}" if self.leaves else "a table without rows"
        how = str(self.mention) if self.mention else "no event"
        return f"{self.table.table}: {rows}, by {how} of the old primary's log"


@dataclass(frozen=True)
class DivergedTables:
    """Look through the old primary of a reverse policy; `log` is what it tells, read up to now.

    `unreadable` becomes what is wrong with tables that cannot be read: nobody knows what only they have.
    """

    ports: ReadPorts
    policy: Policy
    promotion: Promotion
    log: OldPrimaryLog
    unreadable: list[UnreadableObject] = field(default_factory=list)

    def refuse_unreadable(self) -> None:
        """Raise one error for all tables that cannot be read, after the others were looked through."""
        if self.unreadable:
            what = f"{len(self.unreadable)} tables of {self.policy.replica} cannot be read"
            raise together(self.unreadable, what)

    def leaves(self, only: Collection[str] | None = None) -> Iterator[DivergedLeaf]:
        """Yield what diverged, table after table: of all tables, or of those that are known to be written since."""
        with_external = self.policy.external.brings_data
        new, old = (replace(side, with_external=with_external) for side in sides_of(self.ports, self.policy))
        theirs = self._of_the_new_alone() if only is None else frozenset[str]()
        for table in compared_tables(self.ports.replica, self.policy, self.unreadable, only):
            name, has_rows = table.name.table, False
            if table.kind is TableKind.EXTERNAL or name not in theirs:
                for leaf, files in _own_files(new, old, table):
                    yield DivergedLeaf(table, leaf, files)
                    has_rows = True
            if not has_rows and name not in theirs and new.metastore.table(new.name(name)) is None:
                yield DivergedLeaf(table, OWN_LEAF, ())

    def divergence(self, table: Table) -> Divergence:
        """Return what nothing is counted in yet."""
        return Divergence(table.name, bool(table.partition_keys), self.log.tables.get(table.name.table))

    def _of_the_new_alone(self) -> Collection[str]:
        """Return the tables of which what differs is what the new primary's users have done."""
        behind = self._behind()
        if behind is None or not self.log.is_whole:
            return frozenset()
        theirs = _lost_rows(self.ports.source, self.policy, self.promotion.begin)
        return theirs - self.log.tables.keys() - behind

    def _behind(self) -> frozenset[str] | None:
        """Return the tables that lacked rows of the old primary when the new one took over; None: any may have."""
        database = self.ports.source.database(self.policy.source.database)
        parameters = database.parameters if database else {}
        if missing_between_scopes(ReplicaState.read(parameters)):
            return None
        told, skipped = behind_when_promoted(parameters), _tables_of_skipped(self.ports.replica, parameters)
        if told is None or skipped is None:
            return None
        behind = told | skipped
        # One that is not there may have another name by now.
        is_known = not behind or behind <= set(self.ports.replica.table_names(self.policy.replica.database))
        return behind if is_known else None


def compared_tables(
    old: MetastoreReader, policy: Policy, unreadable: list[UnreadableObject], only: Collection[str] | None = None
) -> Iterator[Table]:
    """Yield the tables of the old primary whose files a failback replaces, some read at a time.

    What is wrong with those that cannot be read becomes `unreadable`.
    """
    database = policy.replica.database
    names = [name for name in old.table_names(database) if policy.selects(name) and (only is None or name in only)]
    for start in range(0, len(names), _TABLES_AT_ONCE):
        readable, others = readable_tables(old, database, names[start : start + _TABLES_AT_ONCE])
        unreadable += others.values()
        for table in readable:
            has_files = table.kind.has_comparable_files or (
                table.kind is TableKind.EXTERNAL and policy.external.brings_data
            )
            if has_files and policy.replicates(table):
                yield table


def _tables_of_skipped(old: EventLog, parameters: Parameters) -> frozenset[str] | None:
    """Return the tables of the events that the new primary never got, because people passed them over.

    None where the old primary's log does not hold one of them any more.
    """
    found: set[str] = set()
    for key in parameters:
        event_id = key.removeprefix(SKIPPED)
        if not key.startswith(SKIPPED) or not event_id.isdigit():
            continue
        rows = old.events_after(int(event_id) - 1, 1)
        if not rows or rows[0].event_id != int(event_id):
            return None
        if rows[0].table:
            found.add(rows[0].table.lower())
    return frozenset(found)


def _lost_rows(log: EventLog, policy: Policy, begin: Position) -> set[str]:
    """Return the tables that may have lost rows after an event of a source's log; none where it does not tell all."""
    try:
        rows = (row for row in read_events(log, begin) if row.table and in_scope(row, policy))
        return {row.table.lower() for row in rows if row.table and not _keeps_rows(decode_event(row).change)}
    except (LogBroken, UnreadableEvent):
        return set()


def _keeps_rows(change: Change) -> bool:
    """True for a change of a table that leaves it all the rows that it had, where they were."""
    match change:
        case Insert():
            return not change.replaces
        case AlterTable():
            return not (change.truncates or change.renames or change.before.location != change.after.location)
        case AlterPartitions():
            before = [one.location for one in change.before]
            return not change.truncates and before == [one.location for one in change.after]
        case _:
            return isinstance(change, CreateTable | AddPartitions | DetailChange)


def _own_files(new: Side, old: Side, table: Table) -> Iterator[tuple[str, FilesAlone]]:
    there = new.metastore.table(new.name(table.name.table))
    is_alike = there is not None and there.partition_keys == table.partition_keys
    with suppress(Missing):
        parts = old.metastore.partition_names(table.name) if table.partition_keys else [OWN_LEAF]
        for start in range(0, len(parts), LEAVES_AT_ONCE):
            some = parts[start : start + LEAVES_AT_ONCE]
            of_new = dict(new.read(there, some, {}, lambda _: True)) if there is not None and is_alike else {}
            for leaf, found in old.read(table, some, {}, lambda _: True):
                if only := _alone(old, found, new, of_new.get(leaf)):
                    yield leaf, only


def _alone(old: Side, found: LeafState, new: Side, other: LeafState | None) -> FilesAlone:
    """Return the files of a leaf that another has not, each file of which answers for one: first that of its name.

    A file without a checksum is like no other. Of those of one name and length whose checksums are of other types, the
    bytes are read.
    """
    own, theirs = _known(found), _known(other) if other else {}
    same = {name for name, content in own.items() if theirs.get(name) == content}
    for name in own.keys() & theirs.keys() - same:
        if other and own[name][0] == theirs[name][0]:
            here, there = found.files[name].path, other.files[name].path
            if if_there(have_same_content, old.files, here, new.files, there):
                same.add(name)
    left = Counter(content for name, content in theirs.items() if name not in same)
    only: list[tuple[str, FileStatus]] = []
    for name, status in found.files.items():
        if name in same:
            continue
        content = own.get(name)
        if content is not None and left[content]:
            left[content] -= 1
        else:
            only.append((name, status))
    return tuple(only)


def _known(state: LeafState) -> Mapping[str, tuple[int, str]]:
    """Return lengths and checksums by name; nothing of a leaf of which one checksum is not known."""
    return {name: (state.files[name].length, checksum) for name, checksum in (state.checksums or {}).items()}
