"""Look at the old place of a table that was moved: what came there late is told, what equals the new one is a copy."""

from collections.abc import Iterable, Mapping, Sequence

from twinhive.core.model.files import qualified
from twinhive.core.model.objects import Table
from twinhive.core.model.placement.copy_marks import CopyMark
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.thrift_objects import TableIdentity
from twinhive.core.ports import WritePorts
from twinhive.federation.placement.copied_objects import Marked
from twinhive.federation.placement.former_locations import OldPlace, late_paths, remembered_old
from twinhive.federation.placement.marking_copies import in_pieces, objects_now, write_marks
from twinhive.federation.placement.primary_switch import Switching, lengths
from twinhive.federation.routing.nested_directories import directory_states
from twinhive.transfer.staged.listing import files_below


def settle_old_place(ports: WritePorts, switching: Switching) -> list[str]:
    """Mark old places that equal the new ones as copies; return the files there that came too late for the new ones.

    An object that was tried to be switched twice is what the last try has seen. One that has another place by now was
    changed by somebody since: nothing is told of it.
    """
    calls = remembered_old(ports.replica_files, switching.policy, ports.source)
    every = [place for call in calls for place in call.places]
    places = {place.values: place for place in every if place.files is not None}
    late: list[str] = []
    for some in in_pieces(places, switching.policy.options.partitions_per_call):
        event_id = ports.source.current_event_id()
        table, there = objects_now(ports.source, switching.name, some)
        moved = [places[values] for values in some if _is_at_home(there.get(values), places[values], ports)]
        equal, came = _judged(ports, switching, moved)
        late += came
        if table is not None and not came:
            marks = _marks(ports, table, equal, event_id)
            write_marks(ports.replica, switching.policy, switching.name, marks, switching.move.source)
    return late


def _is_at_home(one: Marked | None, place: OldPlace, ports: WritePorts) -> bool:
    return one is not None and qualified(str(one.location), ports.replica_files.root) == place.home


def _judged(ports: WritePorts, switching: Switching, places: Sequence[OldPlace]) -> tuple[list[OldPlace], list[str]]:
    """Return the places that hold what the new ones hold, and the files that came late."""
    old = files_below(ports.source_files, {place.values: place.location for place in places})
    new = files_below(ports.replica_files, {place.values: place.home for place in places})
    homes = [place.home for place in places]
    states = directory_states(ports.replica_files, homes, deep=homes)
    equal: list[OldPlace] = []
    late: list[str] = []
    for place in places:
        came = late_paths(ports, switching.policy, old[place.values], new[place.values], place.files or {})
        late += [f"{place.location}/{path}" for path in came]
        # Where the new place has been written since nobody takes the old one for a copy.
        is_as_switched = states.get(place.home) == place.directory
        if not came and is_as_switched and lengths(old[place.values]) == lengths(new[place.values]):
            equal.append(place)
    return equal, late


def _marks(ports: WritePorts, table: Table, places: Iterable[OldPlace], event_id: int) -> Mapping[Values, CopyMark]:
    """Return the marks of old places, as of an event before they were compared."""
    log_id, some = ports.source.log_id(), list(places)
    old = [place.location for place in some]
    states = directory_states(ports.source_files, old, deep=old)
    return {
        place.values: CopyMark(
            place.location,
            log_id,
            event_id,
            place.home,
            place.directory,
            states[place.location],
            TableIdentity.of(table),
            len(place.files or {}),
            sum(length for length, _, _ in (place.files or {}).values()),
        )
        for place in some
        if place.location in states
    }
