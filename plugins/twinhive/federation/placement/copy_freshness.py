"""Look at a table: which of its objects have a copy that is whole and fresh, which have a stale one, which need one."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

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
from twinhive.federation.placement.copy_lists import contents_of
from twinhive.federation.placement.marking_copies import in_pieces
from twinhive.federation.placement.placement_events import CopyNews
from twinhive.federation.placement.placement_layout import copies_directory, kept
from twinhive.federation.placement.placement_state import CopiedTable, CopyRecorded
from twinhive.federation.routing.marks_table import MarksTable
from twinhive.federation.routing.nested_directories import directory_states, look_below, states_like

AHEAD = "its directory is of a time to come: by its time nobody could see that it is written again before then"
"""HDFS never sets the time of a directory back. One that is written after the clock was read is of such a time, too."""


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
    waiting  the objects that are to have a copy and have none: what is needed, and what of it is left out
    unseen   how many of `fresh` were not looked at, as nothing has touched them
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
    waiting: tuple[Values, ...] = ()
    unseen: int = 0

    @property
    def is_ahead(self) -> bool:
        """True where a directory is left out because of its time."""
        return AHEAD in self.left_out.values()


@dataclass(frozen=True)
class PartlyKnown:
    """What is remembered of a table, and of which partitions that is not enough.

    asked   partitions that may be others by now, or had no copy
    marks   what marks that were written or taken away call their objects
    """

    record: CopiedTable
    asked: frozenset[Values]
    marks: frozenset[str]

    @property
    def needs_a_look(self) -> bool:
        """True where anything of the table does."""
        return bool(self.asked or self.marks)

    def kept(self, keys: tuple[str, ...]) -> list[CopyRecorded] | None:
        """Return the copies that are as they were; None where the table has other keys by now."""
        found = [one for one in self.record.copies if one.what.values not in self.asked]
        return found if all(one.what.keys == keys for one in found) else None

    @property
    def wanted(self) -> set[Values]:
        """All that the placement wanted of the table."""
        return {one.what.values for one in self.record.copies} | set(self.record.open)


def look_at_table(
    ports: ReadPorts,
    policy: Policy,
    name: TableName,
    news: CopyNews,
    kept_marks: MarksTable | None = None,
    known: PartlyKnown | None = None,
    clock_ms: int = 0,
) -> TableFound:
    """Look at a table, the marks of all its objects, and the directories of those that are wanted.

    With what is known of it only at the others, unless these concern what is known. `clock_ms` is what time the
    primary's file system had before; 0: who only tells what there is goes by the time of this machine.
    """
    now_ms = clock_ms or time.time() * 1_000
    marked = kept_marks or marks_table(ports.source, policy)
    table = ports.source.table(name)
    move = marked.move(table) if table else None
    if move is not None and policy.selects(name.table) and not kept(policy).takes_over:
        # Whoever moves it uses the copies that there are.
        return TableFound(name, left_out={str(name): f"it is being moved {move}"})
    why = _not_copied(table, policy) if table else None
    if known is not None and table is not None and why is None and table.partition_keys:
        names = known.marks | {object_name(values) for values in known.asked}
        kept_some = marked.some(policy.replica.cluster, name.table, sorted(names))
        some = MarksFound.judged(kept_some, policy, name, table)
        if (partly := _Look(ports, policy, table, news, some, now_ms).partly(known)) is not None:
            return partly
    found = MarksFound.read(marked, policy, name, table)
    if table is None:
        return TableFound(name, stale=tuple(found.ours))
    if why:
        said = {str(name): why} if policy.selects(name.table) else {}
        return TableFound(name, stale=tuple(found.ours), left_out=said, is_settled=True)
    return _Look(ports, policy, table, news, found, now_ms).whole()


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
        return cls.judged(marked.every(policy.replica.cluster, name.table), policy, name, table)

    @classmethod
    def judged(cls, marks: Iterable[KeptMark], policy: Policy, name: TableName, table: Table | None) -> "MarksFound":
        """Judge marks of a table for the placement's cluster."""
        identity = None if table is None else TableIdentity.of(table)
        ours: dict[str, CopyMark | None] = {}
        others: dict[str, str] = {}
        for one in marks:
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
    now_ms: float
    """Before any directory is looked at."""

    def whole(self) -> TableFound:
        """Look at all objects of the table."""
        objects = list(marked_objects(self.ports.source, self.table, self.policy))
        chosen = set(_wanted(self.table, map(values_of, objects), self.policy))
        wanted = [one for one in objects if values_of(one) in chosen]
        return self._found(wanted, _left_out(self.table, wanted, self.ports.source_files, self.policy, self.marked))

    def partly(self, known: PartlyKnown) -> TableFound | None:
        """Look at some partitions; None where they concern others, which have to be looked at then."""
        table, files = self.table, self.ports.source_files
        kept_copies = known.kept(table.partition_keys)
        if kept_copies is None:
            return None
        objects = list(_partitions(self.ports.source, table, known.asked, self.policy))
        there = {one.values for one in objects}
        unwanted: set[Values] = set()
        if kept(self.policy).newest is None:
            chosen = set(_wanted(table, there, self.policy))
        elif known.wanted & (known.asked - there):
            return None  # of those that were not wanted another one is among the newest now
        else:
            copied = {one.what.values for one in kept_copies}
            chosen = set(_wanted(table, there | copied, self.policy))
            unwanted = copied - chosen
            kept_copies = [one for one in kept_copies if one.what.values in chosen]
        wanted = [one for one in objects if one.values in chosen]
        places = {one.what.values: one.what.location for one in kept_copies}
        left_out = _left_out(table, wanted, files, self.policy, self.marked, places)
        if not places.keys().isdisjoint(left_out):
            return None
        found = self._found(wanted, left_out)
        return replace(
            found,
            fresh=(*kept_copies, *found.fresh),
            stale=tuple(sorted({*found.stale, *map(object_name, unwanted)})),
            unseen=len(kept_copies),
        )

    def _found(self, wanted: Sequence[Marked], left_out: dict[Values, str]) -> TableFound:
        table, files = self.table, self.ports.source_files
        places = {values_of(one): _place(one, files) for one in wanted if values_of(one) not in left_out}
        marks = {values: mark for values in places if (mark := self.marked.of(values))}
        known = {places[values]: mark.directory for values, mark in marks.items()}
        states = directory_states(files, places.values(), [at for at, state in known.items() if state.below])
        left_out |= {values: "it has no directory" for values, place in places.items() if place not in states}
        there = places.keys() - left_out.keys()
        left_out |= {values: AHEAD for values in there if states[places[values]].modified_ms >= self.now_ms}
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
        left_out |= dict.fromkeys(ahead, AHEAD)
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
            waiting=(*(one.values for one in needed), *left_out),
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
        contents = contents_of(self.ports.source_files, touched)
        return {one.values for one in touched if contents[one] == marks[one.values].content}


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
    for names in in_pieces(metastore.partition_names(table.name), policy.options.partitions_per_call):
        yield from metastore.partitions(table.name, names)


def _partitions(
    metastore: MetastoreReader, table: Table, asked: Iterable[Values], policy: Policy
) -> Iterator[Partition]:
    """Yield those of some partitions that are there."""
    keys = table.partition_keys
    names = sorted(partition_name(keys, values) for values in asked if values and len(values) == len(keys))
    for some in in_pieces(names, policy.options.partitions_per_call):
        yield from metastore.partitions(table.name, some)


def is_ours(mark: CopyMark, policy: Policy, table: str) -> bool:
    """True for the mark of a copy of the placement, or of one that it adopts.

    Of a table that it does not name nothing is adopted: those copies are another placement's.
    """
    holds = kept(policy).holds if policy.selects(table) else kept(policy).made
    return holds(policy.name, mark.location)


def _wanted(table: Table, objects: Iterable[Values], policy: Policy) -> Iterator[Values]:
    if not table.partition_keys:
        yield None
        return
    by_name = {_said(table, values): values for values in objects}
    yield from (by_name[name] for name in kept(policy).wanted(by_name))


def _left_out(
    table: Table,
    wanted: Sequence[Marked],
    files: FileReader,
    policy: Policy,
    marked: MarksFound,
    others: Mapping[Values, str] = MappingProxyType({}),
) -> dict[Values, str]:
    """Say which objects cannot be copied, and why; also of others, by their places, which lie in a wanted one's."""
    found: dict[Values, str] = {}
    places: list[tuple[str, Values]] = [(f"{place}/", values) for values, place in others.items()]
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
