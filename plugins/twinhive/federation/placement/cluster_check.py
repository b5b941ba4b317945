"""Find what does not fit between the clusters of one metastore and what its tables say of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from twinhive.core.model.files import is_below, is_elsewhere, qualified
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Parameters, Table
from twinhive.core.model.placement.copy_marks import PREFIX, ROOT, CopyMark, primary_of
from twinhive.core.ports import MetastoreReader

_AT_ONCE = 1_000


@dataclass(frozen=True)
class Misfit:
    """Something that does not fit: of which object, and what it is."""

    what: str
    trouble: str


def misfits(metastore: MetastoreReader, file_systems: Mapping[str, str], default: str) -> Iterator[Misfit]:
    """Yield what does not fit in a metastore; `file_systems` are those of its clusters by name, `default` is one.

    Every table and partition is read.
    """
    roots: list[tuple[str, str]] = []
    for name in metastore.database_names():
        database = metastore.database(name)
        if database is None:
            continue
        yield from _of_roots(database, file_systems)
        roots += [(database.parameters[key], f"{name} {key}") for key in database.parameters if key.startswith(ROOT)]
        for table_name in metastore.table_names(name):
            table = metastore.table(TableName(name, table_name))
            if table is not None and table.has_files:
                yield from _of_table(metastore, table, file_systems, default)
    yield from _overlaps(roots)


def _of_roots(database: Database, file_systems: Mapping[str, str]) -> Iterator[Misfit]:
    for key, place in database.parameters.items():
        if not key.startswith(ROOT):
            continue
        cluster = key.removeprefix(ROOT)
        if cluster not in file_systems:
            yield Misfit(database.name, f"{key}: there is no cluster {cluster} in this metastore")
        elif is_elsewhere(place, file_systems[cluster]):
            yield Misfit(database.name, f"{key}: {place} is not on {file_systems[cluster]}")


def _overlaps(roots: Sequence[tuple[str, str]]) -> Iterator[Misfit]:
    around: tuple[str, str] | None = None
    for place, whose in sorted(roots, key=lambda root: f"{root[0]}/"):
        if around and (place == around[0] or is_below(place, around[0])):
            yield Misfit(whose, f"{place} is, or lies in, {around[0]} of {around[1]}")
        else:
            around = place, whose


def _of_table(
    metastore: MetastoreReader, table: Table, file_systems: Mapping[str, str], default: str
) -> Iterator[Misfit]:
    primary = primary_of(table.parameters, default)
    if primary not in file_systems:
        yield Misfit(str(table.name), f"it belongs to {primary}, which is no cluster of this metastore")
        return
    yield from _of_object(str(table.name), table.location, table.parameters, primary, file_systems)
    names = metastore.partition_names(table.name) if table.partition_keys else []
    for start in range(0, len(names), _AT_ONCE):
        for one in metastore.partitions(table.name, names[start : start + _AT_ONCE]):
            what = f"{table.name} {one.name(table.partition_keys)}"
            yield from _of_object(what, one.location, one.parameters, primary, file_systems)


def _of_object(
    what: str, location: str | None, parameters: Parameters, primary: str, file_systems: Mapping[str, str]
) -> Iterator[Misfit]:
    root = file_systems[primary]
    place = qualified(location or "", root)
    if location and is_elsewhere(place, root):
        yield Misfit(what, f"it belongs to {primary}, and its location is not on {root}: {place}")
    for key, text in parameters.items():
        if not key.startswith(PREFIX):
            continue
        cluster, mark = key.removeprefix(PREFIX), CopyMark.parse(text)
        if cluster not in file_systems:
            yield Misfit(what, f"{key}: there is no cluster {cluster} in this metastore")
        elif mark is None:
            yield Misfit(what, f"{key}: this is no mark of a copy")
        elif is_elsewhere(mark.location, file_systems[cluster]):
            yield Misfit(what, f"{key}: the copy is not on {file_systems[cluster]}: {mark.location}")
