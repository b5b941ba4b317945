"""Look at a table: which of its objects have a copy that is whole and fresh, which have a stale one, which need one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from twinhive.core.model.files import is_elsewhere, join, qualified
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.placement.copy_marks import LONGEST, CopyMark, mark_on, primary_of
from twinhive.core.model.placement.kept_copies import why_never_copied
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.policy import Policy
from twinhive.core.model.thrift_objects import named_locations
from twinhive.core.ports import FileReader, MetastoreReader, ReadPorts
from twinhive.federation.placement.copied_objects import CopyObject, Marked, table_of, values_of
from twinhive.federation.placement.placement_events import CopyNews
from twinhive.federation.placement.placement_layout import copies_directory, kept
from twinhive.federation.placement.placement_state import CopyRecorded
from twinhive.federation.routing.move_mark import move_of
from twinhive.federation.routing.nested_directories import digests_below, directory_states


@dataclass(frozen=True)
class TableFound:
    """What a look at a table has found.

    fresh    what has a whole copy
    stale    whose marks have to go: the copy is not what the object is, or nobody wants it any more
    needed   what is to be copied
    left_out why something of the table is not copied, by what it is
    marks    of what is fresh
    is_settled   only an event, or a write into a directory with a copy, makes another look find anything else
    """

    name: TableName
    fresh: tuple[CopyRecorded, ...] = ()
    stale: tuple[Values, ...] = ()
    needed: tuple[CopyObject, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    is_settled: bool = False
    marks: Mapping[Values, CopyMark] = field(default_factory=dict)


def look_at_table(ports: ReadPorts, policy: Policy, name: TableName, news: CopyNews) -> TableFound:
    """Look at a table, the marks of all its objects and the directories of those that are wanted."""
    table = ports.source.table(name)
    if table is None:
        return TableFound(name)
    move = move_of(table.parameters)
    if move is not None and policy.selects(name.table) and not kept(policy).takes_over:
        # Whoever moves it uses the copies that there are.
        return TableFound(name, left_out={str(name): f"it is being moved {move}"})
    if why := _not_copied(table, policy):
        stale = [values_of(one) for one in marked_objects(ports.source, table, policy) if our_mark(one, policy)]
        said = {str(name): why} if policy.selects(name.table) else {}
        return TableFound(name, stale=tuple(stale), left_out=said, is_settled=True)
    objects = list(marked_objects(ports.source, table, policy))
    chosen = set(_wanted(table, objects, policy))
    wanted = [one for one in objects if values_of(one) in chosen]
    left_out = _left_out(table, wanted, ports.source_files, policy)
    places = {values_of(one): _place(one, ports.source_files) for one in wanted if values_of(one) not in left_out}
    marks = {values_of(one): mark for one in wanted if values_of(one) in places and (mark := our_mark(one, policy))}
    known = {places[values]: mark.directory for values, mark in marks.items()}
    states = directory_states(ports.source_files, places.values(), [at for at, state in known.items() if state.below])
    left_out |= {values: "it has no directory" for values, place in places.items() if place not in states}
    fresh, stale, needed = [], [], []
    for one in objects:
        values, mark = values_of(one), our_mark(one, policy)
        if values not in chosen or values in left_out:
            stale += [values] if mark else []
            continue
        what = CopyObject(name, table.partition_keys, values, places[values], states[places[values]])
        if mark and _is_fresh(mark, what, news):
            fresh.append(CopyRecorded(what, mark.location))
        else:
            stale += [values] if mark else []
            needed.append(what)
    needed = _with_all_below(ports.source_files, needed)
    said = {_told(table, values): why for values, why in left_out.items()}
    is_settled = not needed and not left_out
    kept_marks = {one.what.values: marks[one.what.values] for one in fresh}
    return TableFound(name, tuple(fresh), tuple(stale), tuple(needed), said, is_settled, kept_marks)


def _with_all_below(files: FileReader, needed: Sequence[CopyObject]) -> list[CopyObject]:
    """Return what is to be copied with the directories below its own, as they were before it is listed."""
    below = digests_below(files, [one.location for one in needed])
    return [replace(one, directory=replace(one.directory, below=below[one.location])) for one in needed]


def _not_copied(table: Table, policy: Policy) -> str | None:
    """Say why a table has no copies, None for one that may have."""
    if not policy.selects(table.name.table):
        return "the placement does not name it"
    if why := why_never_copied(table):
        return why
    primary = primary_of(table.parameters, kept(policy).default_cluster)
    return None if primary == policy.source.cluster else f"it belongs to cluster {primary}"


def oldest_mark(metastore: MetastoreReader, policy: Policy, names: Iterable[str]) -> int | None:
    """Return the oldest event as of which something is marked by the placement, None when nothing is."""
    database = policy.source.database
    tables = (metastore.table(TableName(database, name)) for name in names)
    marks = (our_mark(one, policy) for table in tables if table for one in marked_objects(metastore, table, policy))
    return min((mark.event_id for mark in marks if mark), default=None)


def marked_objects(metastore: MetastoreReader, table: Table, policy: Policy) -> Iterator[Marked]:
    """Yield what may have a copy: the partitions of a table, or the table."""
    if not table.partition_keys:
        yield table
        return
    names, most = metastore.partition_names(table.name), policy.options.partitions_per_call
    for start in range(0, len(names), most):
        yield from metastore.partitions(table.name, names[start : start + most])


def our_mark(one: Marked, policy: Policy) -> CopyMark | None:
    """Return the mark of a copy of the placement, or of one that it adopts; None without one.

    Of a table that it does not name nothing is adopted: those copies are another placement's.
    """
    mark = mark_on(one.parameters, policy.replica.cluster)
    holds = kept(policy).holds if policy.selects(table_of(one).table) else kept(policy).made
    return mark if mark and holds(policy.name, mark.location) else None


def _wanted(table: Table, objects: Sequence[Marked], policy: Policy) -> Iterator[Values]:
    if not table.partition_keys:
        yield None
        return
    by_name = {_said(table, values_of(one)): values_of(one) for one in objects}
    yield from (by_name[name] for name in kept(policy).wanted(by_name))


def _left_out(table: Table, wanted: Sequence[Marked], files: FileReader, policy: Policy) -> dict[Values, str]:
    """Say which objects cannot be copied, and why."""
    found: dict[Values, str] = {}
    places: list[tuple[str, Values]] = []
    for one in wanted:
        values = values_of(one)
        if why := _why_left_out(table, one, files, policy):
            found[values] = why
        else:
            places.append((f"{_place(one, files)}/", values))
    places.sort(key=lambda pair: pair[0])
    around: tuple[str, Values] | None = None
    for place, values in places:
        if around and place.startswith(around[0]):
            found[values] = f"its directory is, or lies in, that of {_said(table, around[1])}"
        else:
            around = place, values
    return found


def _why_left_out(table: Table, one: Marked, files: FileReader, policy: Policy) -> str | None:
    place = _place(one, files)
    other = mark_on(one.parameters, policy.replica.cluster)
    if not one.location:
        return "it has no location"
    if is_elsewhere(place, files.root):
        return f"its location is not on the file system of cluster {policy.source.cluster}: {place}"
    if elsewhere := _read_elsewhere(one, place, files):
        return f"Spark reads its rows elsewhere, where the serde's path says: {elsewhere}"
    if other and not our_mark(one, policy) and not kept(policy).takes_over:
        return f"its copy there is not one of this placement: {other.location}"
    if len(_longest_place(policy, table.name, _said(table, values_of(one)))) > LONGEST:
        return f"the place of its copy is longer than a parameter may be ({LONGEST} characters)"
    return None


def _longest_place(policy: Policy, name: TableName, what: str) -> str:
    # An event's number, a token, and what else a mark says.
    return join(copies_directory(policy), name.table, what) + "0" * 300


def _place(one: Marked, files: FileReader) -> str:
    return qualified(one.location or "", files.root)


def _read_elsewhere(one: Marked, place: str, files: FileReader) -> str | None:
    """Return where Spark reads the rows of an object whose location it does not believe.

    A partition may name its own place, or the table's around it.
    """
    location, path = named_locations(one)
    if path is None:
        return None
    there, here = qualified(path, files.root).rstrip("/"), qualified(location or place, files.root).rstrip("/")
    around = isinstance(one, Partition) and here.startswith(f"{there}/")
    return None if there == here or around else path


def _said(table: Table, values: Values) -> str:
    return str(table.name) if values is None else partition_name(table.partition_keys, values)


def _told(table: Table, values: Values) -> str:
    return str(table.name) if values is None else f"{table.name} {_said(table, values)}"


def _is_fresh(mark: CopyMark, what: CopyObject, news: CopyNews) -> bool:
    return mark.directory == what.directory and news.is_current(what.table.table, what.values, mark)
