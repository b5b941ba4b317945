"""Read a table with its files as of one event of its metastore's log."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.errors import ActNow, Missing, TryAgain
from twinhive.core.model.files import is_elsewhere, qualified
from twinhive.core.model.marks import without_marks
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.thrift_objects import named_locations
from twinhive.core.ports import FileReader, MetastoreReader
from twinhive.hive.events.reader import position_at
from twinhive.replication.notification_log.log_tail import is_touched
from twinhive.statements.table_exports.export_metadata import Described, refuse_kind
from twinhive.statements.table_exports.listed_files import ListingSums
from twinhive.transfer.staged.listing import list_files
from twinhive.transfer.staged.staged_files import CopyItem

_MOST_READINGS = 10
_AT_ONCE = 1_000
PartitionSpec = Mapping[str, str]
"""Values by partition keys; some of the keys will do."""


@dataclass(frozen=True)
class TableFiles:
    """A table as of an event, its directories by what the export calls them, and what was listed of its files."""

    event_id: int
    described: Described
    places: Mapping[str, str]
    listed: ListingSums


KeepFiles = Callable[[Iterable[CopyItem]], ListingSums]
"""Goes through a listing, and keeps of it what it needs; each item says to which directory of the export it goes."""


def read_table_files(
    metastore: MetastoreReader,
    files: FileReader,
    name: TableName,
    spec: PartitionSpec,
    refuse: Callable[[Described, Mapping[str, str]], None],
    keep: KeepFiles,
) -> TableFiles:
    """Read a table and list its files between two looks at the log that show no change of it.

    `refuse` raises for places that do not do, before a file is listed; `keep` is given the listing, of each look again.
    Raises Missing, ActNow, and TryAgain for a table that changes all the time.
    """
    for _ in range(_MOST_READINGS):
        begin = position_at(metastore, metastore.current_event_id())
        described = _described(metastore, name, spec)
        places = _places(described, files)
        refuse(described, places)
        listed = keep(listed_items(files, name, places))
        if not is_touched(metastore, name, begin):
            return TableFiles(begin.event_id, described, places, listed)
    raise TryAgain(
        f"{name} changes faster than it can be read",
        found=f"a change of it in the log during each of {_MOST_READINGS} readings",
        expected="a moment without one",
        next_step="run the statement again when less is written",
    )


def listed_items(
    files: FileReader,
    name: TableName,
    places: Mapping[str, str],
    on_missing: Callable[[str], object] = lambda directory: None,
) -> Iterator[CopyItem]:
    """Yield the files that readers see below directories; `places` are these by what they are called.

    What is said to `on_missing` is called by a directory that is not there.
    """
    for owner, relative, status in list_files(files, list(places.items()), on_missing):
        yield CopyItem.of(SourceFile.of_listing(status, relative), name, owner)


def wanted_partitions(table: Table, partitions: Sequence[Partition], spec: PartitionSpec) -> list[Partition]:
    """Return the partitions with these values. Raises ActNow for a key that is none, or without such a partition."""
    values = _values(table, spec)
    found = [one for one in partitions if all(v in ("", have) for v, have in zip(values, one.values, strict=True))]
    if spec and not found:
        raise _no_partition(table, spec)
    return found


def _described(metastore: MetastoreReader, name: TableName, spec: PartitionSpec) -> Described:
    table = metastore.table(name)
    if table is None:
        raise Missing(
            f"there is no table {name} to export",
            found=f"no such table at {', '.join(metastore.addresses())}",
            expected="database.table",
            next_step="correct the name; without a database it is one of 'default'",
        )
    refuse_kind(table, "exported")
    table = table.with_parameters(without_marks(table.parameters))
    values = _values(table, spec)
    if not table.partition_keys:
        return Described(table)
    names = metastore.partition_names_with(name, values) if spec else metastore.partition_names(name)
    if spec and not names:
        raise _no_partition(table, spec)
    pieces = (names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE))
    found = (one for some in pieces for one in metastore.partitions(name, some))
    return Described(table, tuple(replace(one, parameters=without_marks(one.parameters)) for one in found))


def _values(table: Table, spec: PartitionSpec) -> list[str]:
    said = {key.lower(): value for key, value in spec.items()}
    keys = [key.lower() for key in table.partition_keys]
    if others := sorted(said.keys() - set(keys)):
        raise ActNow(
            f"{table.name} has no partition key {others[0]}",
            found=f"PARTITION ({', '.join(f'{key}={value}' for key, value in spec.items())})",
            expected=f"some of {', '.join(keys)}" if keys else "no PARTITION: the table has none",
            next_step="correct the partition",
        )
    return [said.get(key, "") for key in keys]


def _no_partition(table: Table, spec: PartitionSpec) -> Missing:
    return Missing(
        f"{table.name} has no such partition",
        found=f"none with {', '.join(f'{key}={value}' for key, value in spec.items())}",
        expected="at least one",
        next_step="correct the values; SHOW PARTITIONS lists those there are",
    )


def _places(described: Described, files: FileReader) -> dict[str, str]:
    places = {}
    for directory, partition in described.directories.items():
        one = partition or described.table
        place = qualified(one.location or "", files.root)
        _, elsewhere = (None, None) if partition else named_locations(one)
        if is_elsewhere(place, files.root) or not one.location:
            raise ActNow(
                f"{described.table.name} cannot be exported as a whole",
                found=f"{directory} lies at {one.location}",
                expected=f"a directory of {files.root}",
                next_step="export from the cluster where it lies, or only partitions that lie here",
            )
        if elsewhere and qualified(elsewhere, files.root).rstrip("/") != place.rstrip("/"):
            raise ActNow(
                f"{described.table.name} cannot be exported",
                found=f"its location is {one.location}, and Spark reads its rows at {elsewhere} (the serde's path)",
                expected="one place",
                next_step="correct the location, or the serde's property 'path'",
            )
        places[directory] = place
    return places
