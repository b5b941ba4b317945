"""Find what does not fit between the clusters of one metastore and what its tables say of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from twinhive.core.model.file_system_names import OneFileSystem
from twinhive.core.model.files import is_below, is_elsewhere, qualified
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Table
from twinhive.core.model.placement.copy_marks import ROOT, primary_of
from twinhive.core.model.sets.own_tables import COPY_MARKS, OWN_TABLES
from twinhive.core.ports import MetastoreReader
from twinhive.federation.routing.marks_table import MarksTable

_AT_ONCE = 1_000


@dataclass(frozen=True)
class Misfit:
    """Something that does not fit: of which object, and what it is."""

    what: str
    trouble: str


def misfits(metastore: MetastoreReader, file_systems: Mapping[str, OneFileSystem], default: str) -> Iterator[Misfit]:
    """Yield what does not fit in a metastore; `file_systems` are those of its clusters by name, `default` is one.

    Every table and partition is read.
    """
    roots: list[tuple[str, str]] = []
    for name in metastore.database_names():
        database = metastore.database(name)
        if database is None:
            continue
        yield from _of_roots(database, file_systems)
        roots += [(place, f"{name} {key}") for key, place in _said_roots(database, file_systems)]
        for table_name in metastore.table_names(name):
            table = metastore.table(TableName(name, table_name))
            if table is not None and table.has_files:
                yield from _of_table(metastore, table, file_systems, default)
        yield from _of_marks(metastore, name, file_systems)
    yield from _overlaps(roots)


def _said_roots(database: Database, file_systems: Mapping[str, OneFileSystem]) -> Iterator[tuple[str, str]]:
    """Yield each parameter that says where a cluster has new tables, and the place by its file system's one name."""
    for key, place in database.parameters.items():
        if key.startswith(ROOT):
            cluster = file_systems.get(key.removeprefix(ROOT))
            yield key, cluster.named(place) if cluster else place


def _of_roots(database: Database, file_systems: Mapping[str, OneFileSystem]) -> Iterator[Misfit]:
    for key, place in _said_roots(database, file_systems):
        cluster = key.removeprefix(ROOT)
        if cluster not in file_systems:
            yield Misfit(database.name, f"{key}: there is no cluster {cluster} in this metastore")
        elif is_elsewhere(place, root := file_systems[cluster].root):
            yield Misfit(database.name, f"{key}: {place} is not on {root}")


def _overlaps(roots: Sequence[tuple[str, str]]) -> Iterator[Misfit]:
    around: tuple[str, str] | None = None
    for place, whose in sorted(roots, key=lambda root: f"{root[0]}/"):
        if around and (place == around[0] or is_below(place, around[0])):
            yield Misfit(whose, f"{place} is, or lies in, {around[0]} of {around[1]}")
        else:
            around = place, whose


def _of_table(
    metastore: MetastoreReader, table: Table, file_systems: Mapping[str, OneFileSystem], default: str
) -> Iterator[Misfit]:
    primary = primary_of(table.parameters, default)
    if primary not in file_systems:
        yield Misfit(str(table.name), f"it belongs to {primary}, which is no cluster of this metastore")
        return
    yield from _of_object(str(table.name), table.location, primary, file_systems)
    if not table.partition_keys or table.name.table in OWN_TABLES:
        return
    names = metastore.partition_names(table.name)
    for start in range(0, len(names), _AT_ONCE):
        for one in metastore.partitions(table.name, names[start : start + _AT_ONCE]):
            what = f"{table.name} {one.name(table.partition_keys)}"
            yield from _of_object(what, one.location, primary, file_systems)


def _of_object(
    what: str, location: str | None, primary: str, file_systems: Mapping[str, OneFileSystem]
) -> Iterator[Misfit]:
    root = file_systems[primary].root
    place = file_systems[primary].named(qualified(location or "", root))
    if location and is_elsewhere(place, root):
        yield Misfit(what, f"it belongs to {primary}, and its location is not on {root}: {place}")


def _of_marks(metastore: MetastoreReader, database: str, file_systems: Mapping[str, OneFileSystem]) -> Iterator[Misfit]:
    table = metastore.table(COPY_MARKS.of(database))
    if table is not None and not COPY_MARKS.is_one(table):
        yield Misfit(str(table.name), "it is a table of somebody else: marks of copies are kept in one of that name")
        return
    marked = MarksTable(metastore, database)
    for one in marked.every():
        what = f"{COPY_MARKS.of(database)} {one.table} {one.object}"
        if one.cluster not in file_systems:
            yield Misfit(what, f"there is no cluster {one.cluster} in this metastore")
        elif one.mark is None:
            yield Misfit(what, "this is no mark of a copy")
        elif is_elsewhere(one.mark.location, root := file_systems[one.cluster].root):
            yield Misfit(what, f"the copy is not on {root}: {one.mark.location}")
