"""Let objects of a table be at home where their copies are: each must be there whole and fresh when it is switched."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from twinhive.core.model.files import FileStatus, join, qualified
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.placement.copy_marks import CLUSTER, TICKET, CopyMark, with_mark
from twinhive.core.model.placement.touches import Values, ticket_of
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, Lease, ReadPorts, WritePorts
from twinhive.federation.placement.copied_objects import Marked, values_of
from twinhive.federation.placement.copy_freshness import marked_objects, our_mark
from twinhive.federation.placement.former_locations import FilesBelow, OldPlace, remember_old
from twinhive.federation.placement.lost_updates import restore_overwritten
from twinhive.federation.placement.marking_copies import in_pieces, objects_now
from twinhive.federation.placement.placement_events import newest_news
from twinhive.federation.placement.placement_layout import copies_directory, kept
from twinhive.federation.placement.primary_directories import become_homes
from twinhive.federation.routing.move_mark import PrimaryMove
from twinhive.federation.routing.nested_directories import directory_states, states_like
from twinhive.transfer.staged.listing import list_files


@dataclass(frozen=True)
class Switching:
    """The move of one table; `policy` is that of its copies."""

    policy: Policy
    name: TableName
    move: PrimaryMove

    @property
    def root(self) -> str:
        """Where new partitions of a moved table are put."""
        return join(copies_directory(self.policy), self.name.table)

    def is_moved(self, one: Marked) -> bool:
        """True for what is at home where the move brings it."""
        return bool(one.location) and kept(self.policy).holds(self.policy.name, str(one.location))

    def waiting(self, ports: ReadPorts, table: Table) -> list[Values]:
        """Return what is still at home at the old place: partitions, or the table."""
        return [values_of(one) for one in marked_objects(ports.source, table, self.policy) if not self.is_moved(one)]

    def fence(self, ports: WritePorts, table: Table, event_id: int) -> bool:
        """Mark the table, which was read after an event, as being moved; False when it was altered meanwhile."""
        return self.alter(ports, table.with_parameters(self.move.fenced(table.parameters)), event_id)

    def switch_partitions(self, ports: WritePorts, lease: Lease, table: Table) -> bool:
        """Switch the partitions that wait, by as few calls as can be; False when one is not what was copied."""
        for some in in_pieces(self.waiting(ports, table), self.policy.options.partitions_per_call):
            event_id = ports.source.current_event_id()
            there = objects_now(ports.replica, self.name, some)
            switched = self._switched(ports, there, event_id)
            if len(switched) < len(some):
                return False
            lease.confirm()
            become_homes(ports.replica_files, self.policy, [str(one.location) for one in switched])
            ports.replica.alter_partitions([one for one in switched if isinstance(one, Partition)])
            if list(restore_overwritten(ports, self.policy, self.name, there.keys(), event_id)):
                return False
        return True

    def switch_table(self, ports: WritePorts, lease: Lease) -> bool:
        """Let the table belong to the other cluster, by one call; False when it is not what was copied.

        Raises ChangedMeanwhile when another move of the table has begun.
        """
        event_id = ports.source.current_event_id()
        table = ports.replica.table(self.name)
        if table is None or (table.partition_keys and self.waiting(ports, table)):
            return False
        if table.partition_keys:
            ports.replica_files.make_directories(self.root)
            become_homes(ports.replica_files, self.policy, [self.root])
            switched: Marked = table.at(self.name, self.root)
        elif found := self._switched(ports, {None: table}, event_id):
            (switched,) = found
            lease.confirm()
            become_homes(ports.replica_files, self.policy, [str(switched.location)])
        else:
            return False
        assert isinstance(switched, Table)
        belongs = switched.with_parameters({**switched.parameters, CLUSTER: self.move.target})
        return self.alter(ports, belongs, event_id, self.move.stamp)

    def alter(self, ports: WritePorts, changed: Table, event_id: int, expected_stamp: str | None = None) -> bool:
        """Alter the table, of which all was read after an event; False when somebody else has done so meanwhile."""
        ticket = {TICKET: ticket_of(event_id, self.policy.replica.cluster)}
        changed = changed.with_parameters({**changed.parameters, **ticket})
        ports.replica.alter_table(self.name, changed, expected=expected_stamp)
        return not list(restore_overwritten(ports, self.policy, self.name, [None], event_id))

    def _switched(self, ports: WritePorts, there: Mapping[Values, Marked], event_id: int) -> list[Marked]:
        """Return those objects that are whole and fresh at the new place, as they are when they are at home there."""
        marks = self._fresh(ports, there, event_id)
        homes = [mark.location for mark in marks.values()]
        states = directory_states(ports.replica_files, homes, deep=homes)
        ticket = ticket_of(event_id, self.policy.replica.cluster)
        switched = []
        for values, mark in marks.items():
            one = there[values]
            # As of now, and by the directory that is the primary's from now on.
            new = replace(mark, event_id=event_id, directory=states[mark.location])
            old = replace(new, location=qualified(str(one.location), ports.source_files.root))
            # Until the table itself is switched its partitions have a copy at the new place, in the eyes of readers.
            kept = new if isinstance(one, Partition) else None
            parameters = with_mark(one.parameters, self.move.source, old, ticket)
            parameters = with_mark(parameters, self.move.target, kept, ticket)
            name = one.table if isinstance(one, Partition) else one.name
            switched.append(one.at(name, mark.location).with_parameters(parameters))
        return switched

    def _fresh(self, ports: WritePorts, there: Mapping[Values, Marked], event_id: int) -> dict[Values, CopyMark]:
        """Return the marks of copies that hold, file by file, what their objects hold now; remember these files.

        They are listed before the directories are looked at: so they are those that were copied.
        """
        log_id, newest, root = ports.source.log_id(), ports.source.current_event_id(), ports.source_files.root
        marks = {values: mark for values, one in there.items() if (mark := our_mark(one, self.policy))}
        marks = {values: mark for values, mark in marks.items() if mark.is_of(log_id, newest)}
        if not marks:
            return {}
        news = newest_news(ports.source, self.policy, min(mark.event_id for mark in marks.values()), log_id, newest)
        places = {values: qualified(str(there[values].location), root) for values in marks}
        old = statuses_below(ports.source_files, places)
        states = states_like(ports.source_files, {places[values]: mark.directory for values, mark in marks.items()})
        marks = {
            values: mark
            for values, mark in marks.items()
            if states.get(places[values]) == mark.directory and news.is_same(self.name.table, values, mark.event_id)
        }
        new = statuses_below(ports.replica_files, {values: mark.location for values, mark in marks.items()})
        marks = {values: mark for values, mark in marks.items() if lengths(old[values]) == lengths(new[values])}
        if marks:
            held = {OldPlace(values, places[values]): old[values] for values in marks}
            remember_old(ports.replica_files, self.policy, event_id, held)
        return marks


def statuses_below(files: FileReader, places: Mapping[Values, str]) -> dict[Values, dict[str, FileStatus]]:
    """Return the files that readers see below directories, by their paths below these."""
    found: dict[Values, dict[str, FileStatus]] = defaultdict(dict)
    for values, relative, status in list_files(files, list(places.items())):
        found[values][relative] = status
    return {values: found[values] for values in places}


def lengths(files: FilesBelow) -> dict[str, int]:
    """Return the lengths of files, by their paths."""
    return {path: status.length for path, status in files.items()}
