"""Keep what only an old primary has, before it is replaced: as tables of a database of its own, to be queried.

The files are copied there, within the old primary's file system. People drop that database when they have taken what
they need; nobody else does.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice

from twinhive.core.model.errors import Foreign, Missing
from twinhive.core.model.file_names import partition_path
from twinhive.core.model.files import (
    Creation,
    FileStatus,
    base_name,
    directory_around,
    join,
    parent,
    qualified,
    short_hash,
)
from twinhive.core.model.marks import Stamp, without_marks
from twinhive.core.model.names import TableName, default_directory
from twinhive.core.model.objects import Database, Parameters, Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, Lease, ReadPorts, WritePorts
from twinhive.core.ports.same_content import have_same_content
from twinhive.operations.failover.divergence.diverged_tables import (
    LEAVES_AT_ONCE,
    DivergedLeaf,
    DivergedTables,
    Divergence,
)
from twinhive.operations.failover.divergence.kept_note import KeptNote, read_kept_note
from twinhive.operations.failover.divergence.late_writes import written_since
from twinhive.operations.failover.divergence.old_primary_log import OldPrimaryLog
from twinhive.operations.failover.promotion import Promotion
from twinhive.transfer.engine.copy_engine import CopyEngine
from twinhive.transfer.engine.transfer import Transfer

KEPT_FOR = "twinhive.kept"
"""On a database that holds what an old primary had alone: the failover that parted the two."""
_COUNTED = ("numFiles", "numRows", "rawDataSize", "totalSize", "COLUMN_STATS_ACCURATE", "transactional")
_LONGEST_NAME = 128
"""So many characters a metastore takes for the name of a database."""


def kept_database(policy: Policy, promotion: Promotion) -> str:
    """Return the name of the database that keeps what the policy's replica had alone; a long one is cut."""
    name, end = policy.replica.database, f"__diverged_{promotion.position.event_id}"
    if len(name) + len(end) > _LONGEST_NAME:
        end = f"_{short_hash(name, 8)}{end}"
    return name[: _LONGEST_NAME - len(end)] + end


def old_primary_log(ports: ReadPorts, policy: Policy, promotion: Promotion) -> OldPrimaryLog:
    """Return what is read of the old primary's log: what its users wrote after the failover's event."""
    stamp = Stamp(promotion.log, promotion.begin.event_id)
    return OldPrimaryLog(ports.replica, policy, promotion.position, stamp)


def plan_kept(ports: ReadPorts, policy: Policy, promotion: Promotion) -> list[str]:
    """Say what the old primary has alone, and where it would be kept."""
    log = old_primary_log(ports, policy, promotion)
    log.read_on()
    tables = DivergedTables(ports, policy, promotion, log)
    found: dict[str, Divergence] = {}
    for one in tables.leaves():
        found.setdefault(one.table.name.table, tables.divergence(one.table)).add(one)
    unread = [f"nobody knows what only {policy.replica} has: {one.words.what}" for one in tables.unreadable]
    if not found:
        return unread or [f"{policy.replica} has nothing that {policy.source} has not, or has changed itself"]
    return (
        unread
        + [f"only {policy.replica} has: {one}" for one in found.values()]
        + [f"would be kept in the database {kept_database(policy, promotion)} of cluster {policy.replica.cluster}"]
    )


@dataclass(frozen=True)
class Keeper:
    """Keep what an old primary has alone, pass after pass; killed anywhere, a second run ends in the same.

    log   what the old primary's users wrote, read on by each look
    """

    ports: WritePorts
    policy: Policy
    promotion: Promotion
    log: OldPrimaryLog
    lease: Lease

    @property
    def note(self) -> KeptNote:
        """How far all is kept."""
        return read_kept_note(self.ports.replica_files, self.policy, self.promotion)

    def written_since(self) -> Mapping[str, str] | None:
        """Return the tables that users have written since the last pass, and how that shows; None: any may be."""
        return written_since(self.ports, self.policy, self.log, self.note)

    def keep(self) -> list[str]:
        """Make one pass over the tables that were written since the last one; nothing is done where none was."""
        files, note = self.ports.replica_files, self.note
        self.lease.confirm()
        since_ms = note.write(files, self.policy)  # before the look: what it does not see any more is as young
        late = self.written_since()
        if late is not None and not late:
            return []
        note, until = replace(note, is_final=False), self.log.begin_pass()
        tables = DivergedTables(self.ports, self.policy, self.promotion, self.log)
        lines = []
        for _, leaves in groupby(tables.leaves(late), key=lambda one: one.table.name):
            kept = self._keep_table(leaves, tables)
            lines.append(f"kept in database {self._name} of cluster {self.policy.replica.cluster}: {kept}")
        tables.refuse_unreadable()
        self.lease.confirm()
        replace(note, until=until, since_ms=since_ms).write(files, self.policy)
        return lines

    def end(self) -> None:
        """Note that nobody has written since the last pass, and that nobody is expected to."""
        self.lease.confirm()
        replace(self.note, is_final=True).write(self.ports.replica_files, self.policy)

    @property
    def _name(self) -> str:
        return kept_database(self.policy, self.promotion)

    def _keep_table(self, leaves: Iterator[DivergedLeaf], tables: DivergedTables) -> Divergence:
        first, database = next(leaves), self._database()
        found, name = tables.divergence(first.table), TableName(database.name, first.table.name.table)
        place = join(qualified(database.location or "", self.ports.replica_files.root), default_directory(name.table))
        leaves = chain([first], leaves)
        while some := list(islice(leaves, LEAVES_AT_ONCE)):
            self._copy(some, place)
            self._create_table(first.table, name, place)
            if first.table.partition_keys:
                self._add_partitions(first.table, [one.leaf for one in some if one.leaf], name, place)
            for one in some:
                found.add(one)
        return found

    def _database(self) -> Database:
        metastore, said = self.ports.replica, {KEPT_FOR: str(self.promotion)}
        there = metastore.database(self._name)
        if there is None:
            old = metastore.database(self.policy.replica.database)
            assert old is not None and old.location is not None
            place = join(parent(old.location), f"{self._name}.db")
            self.lease.confirm()
            metastore.create_database(
                replace(old, name=self._name, location=place, managed_location=None, parameters=said)
            )
            there = metastore.database(self._name)
        if there is None or there.parameters.get(KEPT_FOR) != said[KEPT_FOR] or there.location is None:
            raise Foreign(
                f"what only {self.policy.replica} has cannot be kept: a database of that name is somebody else's",
                found=f"database {self._name} of cluster {self.policy.replica.cluster}",
                expected=f"none, or one with {KEPT_FOR} = {said[KEPT_FOR]}",
                next_step="give that database another name, or drop it if nobody needs it; then run this again",
            )
        return there

    def _create_table(self, table: Table, name: TableName, place: str) -> None:
        if self.ports.replica.table(name) is None:
            told = {**_plain(table.parameters), "EXTERNAL": "TRUE", "external.table.purge": "false"}
            typed = replace(table, table_type="EXTERNAL_TABLE", constraints=None)
            self.lease.confirm()
            self.ports.replica.create_table(typed.at(name, place).with_parameters(told))

    def _add_partitions(self, table: Table, leaves: Sequence[str], name: TableName, place: str) -> None:
        metastore, keys, most = self.ports.replica, table.partition_keys, self.policy.options.partitions_per_call
        for start in range(0, len(leaves), most):
            some = leaves[start : start + most]
            there = {one.values for one in metastore.partitions(name, some)}
            made = [
                one.at(name, join(place, partition_path(one.name(keys)))).with_parameters(_plain(one.parameters))
                for one in metastore.partitions(table.name, some)
                if one.values not in there
            ]
            if made:
                self.lease.confirm()
                metastore.add_partitions(made)

    def _copy(self, leaves: Sequence[DivergedLeaf], place: str) -> None:
        """Copy files, several at a time. One that is gone meanwhile is left: what its users did there shows later."""
        options, files = self.policy.options, self.ports.replica_files
        engine = CopyEngine(files, files, options.copy_threads, lambda count: None, options.bytes_per_second)

        def copy(some: Iterator[tuple[FileStatus, str]]) -> None:
            for status, target in some:
                with suppress(Missing):
                    _copy_file(files, engine.transfer, status, target, self.lease)

        engine.run(_copies(leaves, place), copy)


def _copies(leaves: Sequence[DivergedLeaf], place: str) -> Iterator[tuple[FileStatus, str]]:
    for one in leaves:
        directory = join(place, partition_path(one.leaf)) if one.leaf else place
        for relative, status in one.files:
            yield status, join(directory, *relative.split("/"))


def _copy_file(files: FileWriter, transfer: Transfer, original: FileStatus, target: str, lease: Lease) -> None:
    there = files.status(target)
    if there is not None and _is_copy(files, original, there):
        return
    # What a killed try has left of a copy is replaced; readers see whole files only.
    temporary = join(directory_around(target), f".{base_name(target)}.copying")
    # Guarded as the original is: what is guarded in another way does not compare, and is read by each try.
    how = Creation(checksum=transfer.source_checksums(original))
    lease.confirm()
    files.delete_file(temporary)
    transfer.copy(original, temporary, how)
    files.replace(temporary, target)


def _is_copy(files: FileReader, original: FileStatus, there: FileStatus) -> bool:
    return original.length == there.length and have_same_content(files, original.path, files, there.path)


def _plain(parameters: Parameters) -> dict[str, str]:
    plain: Mapping[str, str] = without_marks(parameters)
    return {key: value for key, value in plain.items() if key not in _COUNTED}
