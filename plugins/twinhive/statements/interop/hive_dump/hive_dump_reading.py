"""Read the dumps that Hive's own REPL DUMP writes: what one is of, its objects, its events."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import base_name
from twinhive.core.model.objects import Database, Function, Partition, Table
from twinhive.core.ports import FileReader, children
from twinhive.core.threads.parallel_map import in_threads
from twinhive.statements.interop.hive_dump.constraint_descriptions import decode_constraints
from twinhive.statements.interop.hive_dump.dump_metadata import Description, EventsCount
from twinhive.statements.interop.hive_dump.hive_dump_errors import incomplete, unreadable
from twinhive.statements.interop.hive_dump.hive_layout import HivePlaces, description_in, event_description_in
from twinhive.statements.interop.hive_dump.hive_objects import function_of, partition_of, source_database, table_of
from twinhive.statements.interop.hive_dump.object_descriptions import decode_struct, decode_table

_BATCH = "events_batch_"
_KINDS = ("BOOTSTRAP", "INCREMENTAL")
THREADS = 8


@dataclass(frozen=True)
class HiveDump:
    """A finished dump of Hive.

    A bootstrap holds objects as they were read after event `begin`, at the latest some time after `end`; an
    incremental dump holds the events (begin, end], and whole tables that came into its scope. `include` and
    `exclude` are the patterns of its policy, None for all tables, and for none.
    """

    places: HivePlaces
    description: Description

    @property
    def is_bootstrap(self) -> bool:
        """True for a dump of objects, False for one of events."""
        return self.description.kind == "BOOTSTRAP"

    @property
    def is_exact(self) -> bool:
        """True for a bootstrap during which the source's log did not move: it is the source as of event `begin`."""
        return self.is_bootstrap and self.begin == self.end

    @property
    def begin(self) -> int:
        """The event that a bootstrap's replica is at; or after which the events begin."""
        return self.description.begin

    @property
    def end(self) -> int:
        """The newest event when a bootstrap had been written; or the last event."""
        return self.description.end

    @property
    def database(self) -> str:
        """The source's database."""
        return self.description.database

    @property
    def include(self) -> str | None:
        """The pattern of the tables that it is of."""
        return self.description.include

    @property
    def exclude(self) -> str | None:
        """The pattern of tables that it is not of."""
        return self.description.exclude

    @property
    def cmroot(self) -> str:
        """The directory of the source's change manager."""
        return self.description.cmroot


@dataclass(frozen=True)
class HiveTable:
    """A table or view with all its partitions."""

    table: Table
    partitions: tuple[Partition, ...]


@dataclass(frozen=True)
class EventPlace:
    """The directory of one event."""

    event_id: int
    directory: str


def is_hive_dump(files: FileReader, directory: str) -> bool:
    """True when a directory, or `hive` below it, holds a dump of Hive's, finished or not."""
    return any(files.status(places.metadata) is not None for places in _candidates(directory))


def read_hive_dump(files: FileReader, directory: str) -> HiveDump:
    """Read what a dump is of, by the directory that REPL DUMP returned or by `hive` in it.

    Raises Missing for none and for one that was never finished, ActNow for a kind that cannot be loaded.
    """
    places = next((one for one in _candidates(directory) if files.status(one.metadata) is not None), None)
    if places is None:
        raise incomplete(directory, "no _dumpmetadata", "the directory that REPL DUMP returned")
    if files.status(places.finished) is None:
        raise incomplete(places.directory, "no _finished_dump", "a dump that Hive has finished")
    description = Description.decode(files.read(places.metadata), places.metadata)
    if description.kind not in _KINDS:
        raise unreadable(places.metadata, f"a dump of the kind {description.kind}", f"one of {', '.join(_KINDS)}")
    if not description.database:
        raise unreadable(places.metadata, "no second line", "the name of the database in the second line")
    return HiveDump(places, description)


def read_database(files: FileReader, dump: HiveDump) -> Database:
    """Read the database of a bootstrap."""
    path = dump.places.database(dump.database)
    return source_database(decode_struct(_read(files, dump, path), path, "db"), path)


def read_tables(files: FileReader, dump: HiveDump, places: HivePlaces) -> Iterator[HiveTable]:
    """Yield the tables and views of a dump in the order of their names, one in memory at a time."""
    constrained = {base_name(entry.path) for entry in children(files, places.constraints(dump.database))}
    for entry in children(files, places.database_objects(dump.database)):
        if entry.is_directory and not base_name(entry.path).startswith("_"):
            path = description_in(entry.path)
            described = decode_table(_read(files, dump, path), path)
            table = table_of(described.table, path)
            partitions = tuple(partition_of(text, table, path) for text in described.partitions)
            yield HiveTable(_constrained(files, dump, places, table, constrained), partitions)


def _constrained(
    files: FileReader, dump: HiveDump, places: HivePlaces, table: Table, described: Collection[str]
) -> Table:
    """Return a table with its constraints, which are in files of the names `described`; a view has none."""
    if not table.has_files:
        return table
    both = (place(dump.database, table.name.table) for place in (places.constraints_of, places.foreign_keys_of))
    paths = [path for path in both if base_name(path) in described]
    return table.with_constraints(
        tuple(one for path in paths for one in decode_constraints(_read(files, dump, path), path))
    )


def read_functions(files: FileReader, dump: HiveDump) -> Iterator[Function]:
    """Yield the functions of a bootstrap."""
    for entry in children(files, dump.places.functions(dump.database)):
        path = description_in(entry.path)
        yield function_of(decode_struct(_read(files, dump, path), path, "function"), path)


def events_of(files: FileReader, dump: HiveDump) -> list[EventPlace]:
    """Return the events of an incremental dump in their order. Raises Missing when some are not there."""
    top = [entry for entry in children(files, dump.places.directory) if entry.is_directory]
    batches = [entry for entry in top if base_name(entry.path).startswith(_BATCH)]
    inner = [entry for batch in batches for entry in children(files, batch.path)]
    named = [entry.path for entry in (*top, *inner) if base_name(entry.path).isdigit()]
    places = [EventPlace(int(base_name(path)), path) for path in named]
    described = in_threads(lambda place: files.status(event_description_in(place.directory)), places, THREADS)
    found = [place for place, status in zip(places, described, strict=True) if status is not None]
    expected = _count(files, dump, bool(places))
    if len(found) != expected:
        raise incomplete(dump.places.directory, f"{len(found)} events", f"{expected}, as _events_dump says")
    outside = [place.event_id for place in found if not dump.begin < place.event_id <= dump.end]
    if outside:
        raise incomplete(dump.places.directory, f"event {outside[0]}", f"events after {dump.begin} up to {dump.end}")
    return sorted(found, key=lambda place: place.event_id)


def _count(files: FileReader, dump: HiveDump, has_events: bool) -> int:
    path = dump.places.events_count
    if not has_events and files.status(path) is None:
        return 0
    return EventsCount.decode(_read(files, dump, path), path).count


def _candidates(directory: str) -> tuple[HivePlaces, HivePlaces]:
    return HivePlaces.below(directory), HivePlaces(directory)


def _read(files: FileReader, dump: HiveDump, path: str) -> bytes:
    try:
        return files.read(path)
    except Missing as error:
        raise incomplete(dump.places.directory, f"no {path}", "that file") from error
