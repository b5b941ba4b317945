"""Look at a table: which of its objects have a copy that is whole and fresh, which have a stale one, which need one."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from twinhive.core.model.files import is_elsewhere, join, qualified
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.placement.copy_marks import LONGEST, CopyMark, KeptMark, object_name, primary_of
from twinhive.core.model.placement.kept_copies import why_never_copied
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.policy import Policy
from twinhive.core.model.thrift_objects import TableIdentity, named_locations
from twinhive.core.ports import FileReader, MetastoreReader, ReadPorts
from twinhive.federation.placement.copied_objects import CopyObject, Marked, values_of
from twinhive.federation.placement.copy_lists import content_of, listed_files
from twinhive.federation.placement.placement_events import CopyNews
from twinhive.federation.placement.placement_layout import copies_directory, kept
from twinhive.federation.placement.placement_state import CopyRecorded
from twinhive.federation.routing.marks_table import MarksTable
from twinhive.federation.routing.nested_directories import directory_states, look_below, states_like

_AHEAD = "its directory is of a time to come: by its time nobody could see that it is written again before then"
"""HDFS never sets the time of a directory back."""


@dataclass(frozen=True)
class TableFound:
    """What a look at a table has found.

    fresh    what has a whole copy
    stale    whose marks have to go, by the names that the table of marks has for objects: the copy is not what the
             object is, or nobody wants it any more, or there is no such object
    needed   what is to be copied
    left_out why something of the table is not copied, by what it is
    marks    of what is fresh
    same     those of them that events have touched, and that hold what their objects hold all the same
    is_settled   only an event, or a write into a directory with a copy, makes another look find anything else
    """

    name: TableName
    fresh: tuple[CopyRecorded, ...] = ()
    stale: tuple[str, ...] = ()
    needed: tuple[CopyObject, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    is_settled: bool = False
    marks: Mapping[Values, CopyMark] = field(default_factory=dict)
    same: frozenset[Values] = frozenset()


def look_at_table(
    ports: ReadPorts, policy: Policy, name: TableName, news: CopyNews, kept_marks: MarksTable | None = None
) -> TableFound:
    """Look at a table, the marks of all its objects, and the directories of those that are wanted."""
    marked = kept_marks or marks_table(ports.source, policy)
    table = ports.source.table(name)
    move = marked.move(table) if table else None
    if move is not None and policy.selects(name.table) and not kept(policy).takes_over:
        # Whoever moves it uses the copies that there are.
        return TableFound(name, left_out={str(name): f"it is being moved {move}"})
    found = MarksFound.read(marked, policy, name, table)
    if table is None:
        return TableFound(name, stale=tuple(found.ours))
    if why := _not_copied(table, policy):
        said = {str(name): why} if policy.selects(name.table) else {}
        return TableFound(name, stale=tuple(found.ours), left_out=said, is_settled=True)
    return _Look(ports, policy, table, news, found).found()


@dataclass(frozen=True)
class MarksFound:
    """The marks of a table for the placement's cluster, by the names of their objects.

    ours    of the placement, or of one that it adopts, but those of an earlier table of the same name: these only go
    others  of other placements, with the places of their copies
    """

    ours: Mapping[str, CopyMark | None]
    others: Mapping[str, str]

    @classmethod
    def read(cls, marked: MarksTable, policy: Policy, name: TableName, table: Table | None) -> "MarksFound":
        """Read the marks of a table; None: there is no such table."""
        identity = None if table is None else TableIdentity.of(table)
        ours: dict[str, CopyMark | None] = {}
        others: dict[str, str] = {}
        for one in marked.every(policy.replica.cluster, name.table):
            if one.mark is None:
                continue  # nobody can read it, and nobody believes it
            if is_ours(one.mark, policy, name.table):
                ours[one.object] = None if one.mark.table.is_another(identity) else one.mark
            elif not one.mark.table.is_another(identity):
                others[one.object] = one.mark.location
        return cls(ours, others)

    def of(self, values: Values) -> CopyMark | None:
        """Return the mark of an object, None without one."""
        return self.ours.get(object_name(values))


@dataclass(frozen=True)
class _Look:
    """A look at a table that may have copies."""

    ports: ReadPorts
    policy: Policy
    table: Table
    news: CopyNews
    marked: MarksFound
    now_ms: float = field(default_factory=lambda: time.time() * 1_000)
    """Before any directory is looked at."""

    def found(self) -> TableFound:
        table, files = self.table, self.ports.source_files
        objects = list(marked_objects(self.ports.source, table, self.policy))
        chosen = set(_wanted(table, objects, self.policy))
        wanted = [one for one in objects if values_of(one) in chosen]
        left_out = _left_out(table, wanted, files, self.policy, self.marked)
        places = {values_of(one): _place(one, files) for one in wanted if values_of(one) not in left_out}
        marks = {values: mark for values in places if (mark := self.marked.of(values))}
        known = {places[values]: mark.directory for values, mark in marks.items()}
        states = directory_states(files, places.values(), [at for at, state in known.items() if state.below])
        left_out |= {values: "it has no directory" for values, place in places.items() if place not in states}
        there = places.keys() - left_out.keys()
        left_out |= {values: _AHEAD for values in there if states[places[values]].modified_ms >= self.now_ms}
        seen = {
            values: CopyObject(table.name, table.partition_keys, values, place, states[place])
            for values, place in places.items()
            if values not in left_out
        }
        marks = {values: mark for values, mark in marks.items() if values in seen}
        whole = self._whole(marks, seen)
        same = self._same(whole, seen)
        fresh = {
            values: mark
            for values, mark in whole.items()
            if values in same or self.news.is_current(table.name.table, self._cluster, values, mark)
        }
        stale = self.marked.ours.keys() - {object_name(values) for values in fresh}
        needed, ahead = self._with_all_below([what for values, what in seen.items() if values not in fresh])
        left_out |= dict.fromkeys(ahead, _AHEAD)
        said = {_told(table, values): why for values, why in left_out.items()}
        return TableFound(
            table.name,
            tuple(CopyRecorded(seen[values], mark.location, mark.copy) for values, mark in fresh.items()),
            tuple(sorted(stale)),
            tuple(needed),
            said,
            is_settled=not needed and not left_out,
            marks=fresh,
            same=frozenset(same),
        )

    def _with_all_below(self, needed: Sequence[CopyObject]) -> tuple[list[CopyObject], list[Values]]:
        """Return what is to be copied with the directories below its own, as they were before it is listed.

        Likewise what is not, because some of these are of a time to come.
        """
        below = look_below(self.ports.source_files, [one.location for one in needed])
        ahead = [one.values for one in needed if one.location in below and below[one.location].newest_ms >= self.now_ms]
        with_all = [
            replace(one, directory=replace(one.directory, below=below[one.location].digest))
            if one.location in below
            else one
            for one in needed
            if one.values not in ahead
        ]
        return with_all, ahead

    @property
    def _cluster(self) -> str:
        return self.policy.replica.cluster

    def _whole(self, marks: Mapping[Values, CopyMark], seen: Mapping[Values, CopyObject]) -> dict[Values, CopyMark]:
        """Return the marks whose directories, the object's own and the copy's, are what they say."""
        same = {values: mark for values, mark in marks.items() if mark.directory == seen[values].directory}
        copies = states_like(self.ports.replica_files, {mark.location: mark.copy for mark in same.values()})
        return {values: mark for values, mark in same.items() if copies.get(mark.location) == mark.copy}

    def _same(self, marks: Mapping[Values, CopyMark], seen: Mapping[Values, CopyObject]) -> set[Values]:
        """Return those that an event has touched, and that hold what their objects hold: file by file, in one place.

        A comment, a property and statistics change neither.
        """
        touched = [
            seen[values]
            for values, mark in marks.items()
            if mark.original == seen[values].location
            and self.news.is_touched(self.table.name.table, self._cluster, values, mark)
        ]
        files = listed_files(self.ports.source_files, touched)
        return {one.values for one in touched if content_of(files[one]) == marks[one.values].content}


def _not_copied(table: Table, policy: Policy) -> str | None:
    """Say why a table has no copies, None for one that may have."""
    if not policy.selects(table.name.table):
        return "the placement does not name it"
    if why := why_never_copied(table):
        return why
    primary = primary_of(table.parameters, kept(policy).default_cluster)
    return None if primary == policy.source.cluster else f"it belongs to cluster {primary}"


def marks_table(metastore: MetastoreReader, policy: Policy) -> MarksTable:
    """Return the marks of the placement's database; a table of somebody else in their place is an error."""
    return MarksTable(metastore, policy.source.database, strict=True, most=policy.options.partitions_per_call)


def our_marks(marked: MarksTable, policy: Policy) -> Iterator[tuple[KeptMark, CopyMark]]:
    """Yield all marks of the placement, whatever they are worth."""
    for one in marked.every(policy.replica.cluster):
        if one.mark and is_ours(one.mark, policy, one.table):
            yield one, one.mark


def oldest_mark(marked: MarksTable, policy: Policy) -> int | None:
    """Return the oldest event as of which something is marked by the placement, None when nothing is."""
    return min((mark.event_id for _, mark in our_marks(marked, policy)), default=None)


def marked_objects(metastore: MetastoreReader, table: Table, policy: Policy) -> Iterator[Marked]:
    """Yield what may have a copy: the partitions of a table, or the table."""
    if not table.partition_keys:
        yield table
        return
    names, most = metastore.partition_names(table.name), policy.options.partitions_per_call
    for start in range(0, len(names), most):
        yield from metastore.partitions(table.name, names[start : start + most])


def is_ours(mark: CopyMark, policy: Policy, table: str) -> bool:
    """True for the mark of a copy of the placement, or of one that it adopts.

    Of a table that it does not name nothing is adopted: those copies are another placement's.
    """
    holds = kept(policy).holds if policy.selects(table) else kept(policy).made
    return holds(policy.name, mark.location)


def _wanted(table: Table, objects: Sequence[Marked], policy: Policy) -> Iterator[Values]:
    if not table.partition_keys:
        yield None
        return
    by_name = {_said(table, values_of(one)): values_of(one) for one in objects}
    yield from (by_name[name] for name in kept(policy).wanted(by_name))


def _left_out(
    table: Table, wanted: Sequence[Marked], files: FileReader, policy: Policy, marked: MarksFound
) -> dict[Values, str]:
    """Say which objects cannot be copied, and why."""
    found: dict[Values, str] = {}
    places: list[tuple[str, Values]] = []
    for one in wanted:
        values = values_of(one)
        if why := _why_left_out(table, one, files, policy, marked):
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


def _why_left_out(table: Table, one: Marked, files: FileReader, policy: Policy, marked: MarksFound) -> str | None:
    place = _place(one, files)
    other = marked.others.get(object_name(values_of(one)))
    if not one.location:
        return "it has no location"
    if is_elsewhere(place, files.root):
        return f"its location is not on the file system of cluster {policy.source.cluster}: {place}"
    if elsewhere := _read_elsewhere(one, place, files):
        return f"Spark reads its rows elsewhere, where the serde's path says: {elsewhere}"
    if other and not kept(policy).takes_over:
        return f"its copy there is not one of this placement: {other}"
    if len(_longest_place(policy, table.name, _said(table, values_of(one)))) > LONGEST:
        return f"the place of its copy is longer than a parameter may be ({LONGEST} characters)"
    return None


def _longest_place(policy: Policy, name: TableName, what: str) -> str:
    return join(copies_directory(policy), name.table, what) + "0" * 40  # an event's number, a token


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
