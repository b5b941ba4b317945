"""Tell which tables need no look: neither an event nor the directories around their own show a change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from twinhive.core.model.placement.copy_marks import DirectoryState
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, ReadPorts
from twinhive.federation.placement.parent_digests import Around, BothSides, look_around, parents
from twinhive.federation.placement.placement_state import CopiedTable, LookedAt, read_record
from twinhive.federation.routing.nested_directories import digests_below, look_below


@dataclass(frozen=True)
class Untouched:
    """Tables that are as they were: what is around each of them, and their copies where anybody needs these."""

    around: Mapping[str, BothSides] = field(default_factory=dict)
    records: Mapping[str, CopiedTable] = field(default_factory=dict)


def untouched_tables(
    ports: ReadPorts, policy: Policy, before: LookedAt, quiet: Sequence[str], *, has_news: bool
) -> Untouched:
    """Return which of the tables without an event are as they were, and so are their copies.

    Where around all of them nothing has changed, no record of copies is read. `has_news`: others have changed, so that
    directories may come out of use, or some have been so for a while; then it has to be known which copies there are.
    """
    known = {name: before.around[name] for name in quiet if name in before.around}
    objects = _same(ports.source_files, {name: both.objects for name, both in known.items()})
    copies = _same(ports.replica_files, {name: both.copies for name, both in known.items()})
    same = {name: both for name, both in known.items() if name in objects and name in copies}
    if not has_news and len(same) == len(quiet):
        return Untouched(same)
    records = _records(ports, policy, before, quiet)
    compared = _as_recorded(ports, {name: record for name, record in records.items() if name not in same})
    around = {name: one for name, one in (same | compared).items() if name in records}
    return Untouched(around, {name: records[name] for name in around})


def _same(files: FileReader, known: Mapping[str, Around]) -> set[str]:
    """Return the tables around which nothing has changed."""
    seen = look_around(files, {one for around in known.values() for one in around.directories})
    return {name for name, around in known.items() if seen.around(around.directories) == around}


def _records(ports: ReadPorts, policy: Policy, before: LookedAt, names: Sequence[str]) -> dict[str, CopiedTable]:
    found = ((name, read_record(ports.replica_files, policy, name, before)) for name in names)
    return {name: record for name, record in found if record is not None}


def _as_recorded(ports: ReadPorts, records: Mapping[str, CopiedTable]) -> dict[str, BothSides]:
    """Return those tables of which each directory is what its copy was made of, and each copy what it was made."""
    places = {name: {one.what.location: one.what.directory for one in found.copies} for name, found in records.items()}
    objects = _as_they_were(ports.source_files, places)
    copies = _as_they_were(
        ports.replica_files,
        {name: {one.copy: one.directory for one in found.copies} for name, found in records.items()},
    )
    return {name: BothSides(objects[name], copies[name]) for name in records if name in objects and name in copies}


def _as_they_were(files: FileReader, tables: Mapping[str, Mapping[str, DirectoryState]]) -> dict[str, Around]:
    """Return what is around the directories of those tables of which all are in the state that is known."""
    known = {place: state for states in tables.values() for place, state in states.items()}
    deep = sorted(place for place, state in known.items() if state.below)
    branches = {place: below.branches for place, below in look_below(files, deep).items()}
    around = {directory for some in branches.values() for directory in some}
    seen = look_around(files, parents(known) | around, known)
    # What has changed since the branches were found was not seen around them: so it has to show here.
    digests = digests_below(files, deep)

    def is_same(place: str, state: DirectoryState) -> bool:
        now = seen.states.get(place)
        return now is not None and replace(now, below=digests.get(place, "")) == state

    return {
        name: seen.around([*parents(states), *(at for place in states for at in branches.get(place, ()))])
        for name, states in tables.items()
        if all(is_same(place, state) for place, state in states.items())
    }
