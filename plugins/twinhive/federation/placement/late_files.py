"""Look at the old place of a table that was moved: what came there late is told, what equals the new one is a copy."""

from collections.abc import Mapping
from dataclasses import replace

from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.placement.copy_marks import CopyMark, DirectoryState, mark_on, with_mark
from twinhive.core.model.placement.touches import Values, ticket_of
from twinhive.core.ports import WritePorts
from twinhive.federation.placement.copied_objects import Marked, values_of
from twinhive.federation.placement.copy_freshness import marked_objects
from twinhive.federation.placement.former_locations import Known, OldPlace, late_paths, remembered_old
from twinhive.federation.placement.lost_updates import restore_overwritten
from twinhive.federation.placement.marking_copies import in_pieces, objects_now
from twinhive.federation.placement.primary_switch import Switching, lengths, statuses_below
from twinhive.federation.routing.nested_directories import states_like

UNTOLD = DirectoryState(0, 0)
"""In the mark of an old place that holds what the new one does not: no directory is like that, so nobody reads it."""


def settle_old_place(ports: WritePorts, switching: Switching) -> list[str]:
    """Correct the marks of the old place; return the files there that came too late: the new place has them not."""
    table = ports.replica.table(switching.name)
    if table is None:
        return []
    late: list[str] = []
    known = remembered_old(ports.replica_files, switching.policy)
    moved = [values_of(one) for one in marked_objects(ports.source, table, switching.policy) if switching.is_moved(one)]
    for some in in_pieces(moved, switching.policy.options.partitions_per_call):
        event_id = ports.source.current_event_id()
        there = objects_now(ports.replica, switching.name, some)
        changed, files = _judged(ports, switching, there, known)
        late += files
        _write(ports, switching, {values: (there[values], mark) for values, mark in changed.items()}, event_id)
    return late


def _judged(
    ports: WritePorts, switching: Switching, there: Mapping[Values, Marked], known: Mapping[OldPlace, Known]
) -> tuple[dict[Values, CopyMark | None], list[str]]:
    """Return the marks that are to be others, and the files that came late."""
    marks = {values: mark for values, one in there.items() if (mark := mark_on(one.parameters, switching.move.source))}
    homes = {values: str(there[values].location) for values in marks}
    old = statuses_below(ports.source_files, {values: mark.location for values, mark in marks.items()})
    new = statuses_below(ports.replica_files, homes)
    states = states_like(ports.replica_files, {homes[values]: mark.directory for values, mark in marks.items()})
    changed: dict[Values, CopyMark | None] = {}
    late: list[str] = []
    for values, mark in marks.items():
        is_written = mark.directory not in (UNTOLD, states.get(homes[values]))
        held = known.get(OldPlace(values, mark.location))
        if is_written and held is None:
            continue  # An earlier version has written nothing down: the new place tells no more what was copied.
        came = late_paths(ports, switching.policy, old[values], new[values], held)
        late += [f"{mark.location}/{path}" for path in came]
        if is_written:
            continue  # The new place has been written since: nobody takes the old one for a copy.
        if came:
            changed |= {values: replace(mark, directory=UNTOLD)} if mark.directory != UNTOLD else {}
        elif mark.directory == UNTOLD or lengths(old[values]) != lengths(new[values]):
            changed[values] = None
    return changed, late


def _write(
    ports: WritePorts,
    switching: Switching,
    marks: Mapping[Values, tuple[Marked, CopyMark | None]],
    event_id: int,
) -> None:
    ticket = ticket_of(event_id, switching.policy.replica.cluster)
    partitions = []
    for one, mark in marks.values():
        changed = one.with_parameters(with_mark(one.parameters, switching.move.source, mark, ticket))
        if isinstance(changed, Table):
            switching.alter(ports, changed, event_id)
        elif isinstance(changed, Partition):
            partitions.append(changed)
    if partitions:
        ports.replica.alter_partitions(partitions)
        # What others have altered meanwhile makes its old place no copy by itself.
        list(restore_overwritten(ports, switching.policy, switching.name, marks.keys(), event_id))
