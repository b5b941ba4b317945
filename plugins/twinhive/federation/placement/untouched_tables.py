"""Tell which objects need no look: neither an event nor the directories around their own show a change."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from twinhive.core.model.placement.copy_marks import DirectoryState, object_name
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, ReadPorts
from twinhive.federation.placement.copy_freshness import PartlyKnown
from twinhive.federation.placement.parent_digests import Around, BothSides, look_around, parents
from twinhive.federation.placement.placement_events import TouchedObjects
from twinhive.federation.placement.placement_state import CopiedTable, LookedAt, read_record
from twinhive.federation.routing.nested_directories import digests_below, look_below


@dataclass(frozen=True)
class Untouched:
    """Tables that are as they were: what is around each of them, and their copies where anybody needs these.

    partly   tables of which some objects need a look, and no others
    """

    around: Mapping[str, BothSides] = field(default_factory=dict)
    records: Mapping[str, CopiedTable] = field(default_factory=dict)
    partly: Mapping[str, PartlyKnown] = field(default_factory=dict)


def untouched_tables(
    ports: ReadPorts,
    policy: Policy,
    before: LookedAt,
    touched: Mapping[str, TouchedObjects],
    *,
    has_news: bool,
    clock_ms: int,
) -> Untouched:
    """Return which tables are as they were, and so are their copies; and of which others only some objects are not.

    Where around all of them nothing has changed, no record of copies is read. `touched` says of each what events have.
    `has_news`: others have changed, so that directories may come out of use, or some have been so for a while; then it
    has to be known which copies there are. `clock_ms` is what time the primary's file system had before, 0 where nobody
    knows. Where it was set back, a directory whose time has not come yet may have been written without showing it.
    """
    is_set_back = 0 < clock_ms <= before.clock
    quiet = [name for name, one in touched.items() if one == TouchedObjects() and not is_set_back]
    known = {name: before.around[name] for name in quiet if name in before.around}
    objects = _same(ports.source_files, {name: both.objects for name, both in known.items()})
    copies = _same(ports.replica_files, {name: both.copies for name, both in known.items()})
    same = {name: both for name, both in known.items() if name in objects and name in copies}
    if not has_news and len(same) == len(touched):
        return Untouched(same)
    records = {name: one for name in touched if (one := read_record(ports.replica_files, policy, name, before))}
    compared = _compared(ports, {name: record for name, record in records.items() if name not in same}, clock_ms)
    partly = {
        name: some
        for name, other in compared.items()
        if (some := _partly_known(records[name], touched[name], other.objects)).needs_a_look
    }
    around = {name: same[name] if name in same else compared[name].around for name in records if name not in partly}
    return Untouched(around, {name: records[name] for name in around}, partly)


def _partly_known(record: CopiedTable, touched: TouchedObjects, other: frozenset[Values]) -> PartlyKnown:
    """Return which objects of a table are to be looked at: touched, with another directory, or without a copy."""
    marked = {
        one.what.values for one in record.copies if touched.marks and object_name(one.what.values) in touched.marks
    }
    return PartlyKnown(record, touched.values | marked | other | set(record.open), touched.marks)


def _same(files: FileReader, known: Mapping[str, Around]) -> set[str]:
    """Return the tables around which nothing has changed."""
    seen = look_around(files, {one for around in known.values() for one in around.directories})
    return {name for name, around in known.items() if seen.around(around.directories) == around}


@dataclass(frozen=True)
class _Compared:
    """A table that was compared with its record: what is around it, and which objects' directories are others now."""

    around: BothSides
    objects: frozenset[Values]


def _compared(ports: ReadPorts, records: Mapping[str, CopiedTable], clock_ms: int) -> dict[str, _Compared]:
    """Compare each directory with what its copy was made of, and each copy with what it was made."""
    objects = {
        name: {one.what.location: one.what.directory for one in record.copies} for name, record in records.items()
    }
    copies = {name: {one.copy: one.directory for one in record.copies} for name, record in records.items()}
    here, there = _others(ports.source_files, objects, clock_ms), _others(ports.replica_files, copies)
    return {
        name: _Compared(
            BothSides(here[name].around, there[name].around),
            frozenset(
                one.what.values
                for one in record.copies
                if one.what.location in here[name].others or one.copy in there[name].others
            ),
        )
        for name, record in records.items()
    }


@dataclass(frozen=True)
class _Others:
    """What is around the directories of a table, and which of them are not in the state that is known."""

    around: Around
    others: frozenset[str]


def _others(
    files: FileReader, tables: Mapping[str, Mapping[str, DirectoryState]], clock_ms: int = 0
) -> dict[str, _Others]:
    """Compare directories; with a clock one whose time has not come yet is another."""
    known = {place: state for states in tables.values() for place, state in states.items()}
    deep = sorted(place for place, state in known.items() if state.below)
    found = look_below(files, deep)
    branches = {place: below.branches for place, below in found.items()}
    ahead = {place for place, below in found.items() if 0 < clock_ms <= below.newest_ms}
    around = {directory for some in branches.values() for directory in some}
    seen = look_around(files, parents(known) | around, known)
    # What has changed since the branches were found was not seen around them: so it has to show here.
    digests = digests_below(files, deep)

    def is_same(place: str, state: DirectoryState) -> bool:
        now = seen.states.get(place)
        if now is None or place in ahead or 0 < clock_ms <= now.modified_ms:
            return False
        return replace(now, below=digests.get(place, "")) == state

    return {
        name: _Others(
            seen.around([*parents(states), *(at for place in states for at in branches.get(place, ()))]),
            frozenset(place for place, state in states.items() if not is_same(place, state)),
        )
        for name, states in tables.items()
    }
