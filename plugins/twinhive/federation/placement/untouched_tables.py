"""Tell which tables need no look: neither an event nor the directories around their own show a change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.federation.placement.parent_digests import Around, Seen, look_around, parents
from twinhive.federation.placement.placement_state import CopiedTable, LookedAt, read_record
from twinhive.federation.routing.nested_directories import digests_below, look_below


@dataclass(frozen=True)
class Untouched:
    """Tables that are as they were: what is around each of them, and their copies where anybody needs these."""

    around: Mapping[str, Around] = field(default_factory=dict)
    records: Mapping[str, CopiedTable] = field(default_factory=dict)


def untouched_tables(
    ports: ReadPorts, policy: Policy, before: LookedAt, quiet: Sequence[str], *, has_news: bool
) -> Untouched:
    """Return which of the tables without an event are as they were.

    Where around all of them nothing has changed, no record of copies is read. `has_news`: others have changed, so that
    directories may come out of use, or some have been so for a while; then it has to be known which copies there are.
    """
    known = {name: before.around[name] for name in quiet if name in before.around}
    seen = look_around(ports.source_files, {one for around in known.values() for one in around.directories})
    same = {name: around for name, around in known.items() if seen.around(around.directories) == around}
    if not has_news and len(same) == len(quiet):
        return Untouched(same)
    records = _records(ports, policy, before, quiet)
    compared = _as_recorded(ports, {name: record for name, record in records.items() if name not in same})
    around = {name: one for name, one in (same | compared).items() if name in records}
    return Untouched(around, {name: records[name] for name in around})


def _records(ports: ReadPorts, policy: Policy, before: LookedAt, names: Sequence[str]) -> dict[str, CopiedTable]:
    found = ((name, read_record(ports.replica_files, policy, name, before)) for name in names)
    return {name: record for name, record in found if record is not None}


def _as_recorded(ports: ReadPorts, records: Mapping[str, CopiedTable]) -> dict[str, Around]:
    """Return those tables of which each directory is what its copy was made of."""
    copies = [one for record in records.values() for one in record.copies]
    places = {one.what.location for one in copies}
    deep = sorted(one.what.location for one in copies if one.what.directory.below)
    branches = {place: below.branches for place, below in look_below(ports.source_files, deep).items()}
    around = {directory for some in branches.values() for directory in some}
    seen = look_around(ports.source_files, parents(places) | around, places)
    # What has changed since the branches were found was not seen around them: so it has to show here.
    digests = digests_below(ports.source_files, deep)
    return {
        name: seen.around(
            [*parents(_places(record)), *(at for place in _places(record) for at in branches.get(place, ()))]
        )
        for name, record in records.items()
        if _is_same(seen, digests, record)
    }


def _places(record: CopiedTable) -> list[str]:
    return [one.what.location for one in record.copies]


def _is_same(seen: Seen, digests: Mapping[str, str], record: CopiedTable) -> bool:
    for one in record.copies:
        state = seen.states.get(one.what.location)
        if state is None or replace(state, below=digests.get(one.what.location, "")) != one.what.directory:
            return False
    return True
