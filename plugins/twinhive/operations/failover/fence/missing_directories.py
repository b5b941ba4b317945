"""Name tables and partitions whose directories are gone: a TRUNCATE behind a fence cannot make them again."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import base_name, directory_around, is_below, qualified
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, ReadPorts
from twinhive.replication.replica.source_scope import tables_in_bulk

_NAMED = 10


def without_directories(ports: ReadPorts, policy: Policy) -> Iterator[str]:
    """Yield the names of tables of the source without a directory; of the policy's tables also of partitions."""
    source, database = ports.source, policy.source.database
    for table in tables_in_bulk(source, database, source.table_names(database)):
        if not table.location:
            continue
        place = qualified(table.location, ports.source_files.root)
        if is_below(place, ports.source_files.root) and ports.source_files.status(place) is None:
            yield table.name.table
        elif policy.selects(table.name.table) and (partitions := _gone_partitions(ports, table)):
            yield f"{table.name.table} ({', '.join(first_of(partitions, _NAMED))})"


def _gone_partitions(ports: ReadPorts, table: Table) -> list[str]:
    if not table.partition_keys:
        return []
    with suppress(Missing):
        found = [(name, place) for name, place in ports.source.partition_locations(table) if place]
        gone = _gone(ports.source_files, (place for _, place in found))
        return [name for name, place in found if place in gone]
    return []


def _gone(files: FileReader, places: Iterable[str]) -> set[str]:
    """Return those that are not there; the directories around them are listed, so that a million is a few calls.

    What lies on another file system is passed over.
    """
    gone: dict[tuple[str, str], str] = {}
    for place in places:
        path = qualified(place, files.root).rstrip("/")
        if is_below(path, files.root):
            gone[directory_around(path), base_name(path)] = place
    for around, page in files.list_pages(dict.fromkeys(around for around, _ in gone)):
        for child in page or ():
            gone.pop((around, base_name(child.path)), None)
    return set(gone.values())
