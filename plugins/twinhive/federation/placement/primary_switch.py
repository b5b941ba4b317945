"""Let objects of a table be at home where their copies are: each must be there whole and fresh when it is switched."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from twinhive.core.directory_marks.write_protection import protect
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import AlreadyThere, ChangedMeanwhile, Missing
from twinhive.core.model.files import join, qualified
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import DDL_TIME, Partition, Table
from twinhive.core.model.placement.copy_marks import CLUSTER, CopyMark, DirectoryState
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.model.thrift_objects import TableIdentity
from twinhive.core.model.tjson import from_text
from twinhive.core.ports import Lease, ReadPorts, WritePorts
from twinhive.core.ports.own_table_lookup import make_own_table
from twinhive.federation.placement.copied_objects import Marked, values_of
from twinhive.federation.placement.copy_freshness import is_ours, marked_objects, marks_table
from twinhive.federation.placement.former_locations import (
    BeforeSwitch,
    FilesBelow,
    OldPlace,
    known_files,
    remember_old,
)
from twinhive.federation.placement.marking_copies import in_pieces, objects_now, own_partition, write_marks
from twinhive.federation.placement.placement_events import read_news
from twinhive.federation.placement.placement_layout import copies_directory, kept
from twinhive.federation.placement.switch_recovery import give_back
from twinhive.federation.placement.unused_copies import become_homes
from twinhive.federation.routing.marks_table import MarksTable, marks_of, move_name
from twinhive.federation.routing.move_mark import EVERY_CLUSTER, MOVE, PrimaryMove
from twinhive.federation.routing.nested_directories import directory_states, states_like
from twinhive.hive.events.reader import position_at
from twinhive.transfer.staged.listing import files_below


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

    def fence(self, ports: WritePorts, table: Table) -> bool:
        """Mark the table as being moved; False when somebody else has marked a move of it meanwhile."""
        own = make_own_table(ports.replica, COPY_MARKS, self.name.database, None)
        said = self.move.parameters(TableIdentity.of(table))
        try:
            ports.replica.add_partitions([own_partition(own, (self.name.table, EVERY_CLUSTER, MOVE), said)])
        except AlreadyThere:
            if self._marked(ports).move(table) is None:
                self.take_fence_away(ports)  # of an earlier table of this name
            return False
        return True

    def take_fence_away(self, ports: WritePorts) -> None:
        """Take the mark of a move away."""
        if (own := self._marked(ports).table) is not None:
            ports.replica.drop_partitions(own.name, [move_name(self.name.table)], delete_data=False)

    def switch_partitions(self, ports: WritePorts, lease: Lease, table: Table) -> bool:
        """Switch the partitions that wait, by as few calls as can be; False when one is not what was copied."""
        for some in in_pieces(self.waiting(ports, table), self.policy.options.partitions_per_call):
            here = position_at(ports.source, ports.source.current_event_id())
            _, there = objects_now(ports.replica, self.name, some)
            call = self._whole(ports, table, there, here)
            homes = call.homes
            if len(homes) < len(some):
                return False
            become_homes(ports.replica_files, self.policy, homes.values())
            lease.confirm()
            is_switched = self._alter_partitions(ports, there, homes)
            if not is_switched or give_back(ports, self.name, call):
                self.stay_copies(ports, lease, homes)
                return False
            self._mark_at_home(ports, table, homes, here.event_id)
        return True

    def switch_table(self, ports: WritePorts, lease: Lease) -> bool:
        """Let the table belong to the other cluster, by one call; False when it is not what was copied."""
        here = position_at(ports.source, ports.source.current_event_id())
        table = ports.replica.table(self.name)
        if table is None or self._marked(ports).move(table) != self.move:
            return False
        if table.partition_keys:
            if self.waiting(ports, table):
                return False
            ports.replica_files.make_directories(self.root)
            place = OldPlace(None, str(table.location), self.root, DirectoryState(0, 0), None)
            call = BeforeSwitch(here, (place,))
            remember_old(ports.replica_files, self.policy, call)
        else:
            call = self._whole(ports, table, {None: table}, here)
        if (home := call.homes.get(None)) is None:
            return False
        become_homes(ports.replica_files, self.policy, [home])
        lease.confirm()
        is_switched = self._alter_table(ports, table, home) and not give_back(ports, self.name, call)
        if not is_switched and not table.partition_keys:
            self.stay_copies(ports, lease, {None: home})
        return is_switched

    def stay_copies(self, ports: WritePorts, lease: Lease, homes: Mapping[Values, str]) -> None:
        """Let nobody write into directories that were to be homes, and are copies as before. Raises LeaseLost."""
        _, now = objects_now(ports.replica, self.name, homes)
        lease.confirm()
        for values, home in homes.items():
            if values not in now or now[values].location != home:
                protect(ports.replica_files, home)

    def _alter_partitions(self, ports: WritePorts, there: Mapping[Values, Marked], homes: Mapping[Values, str]) -> bool:
        """Switch partitions that are what was judged; False when one of them is not, by a last look right before."""
        _, now = objects_now(ports.replica, self.name, there)
        if not all(_is_same(one, now.get(values)) for values, one in there.items()):
            return False
        switched = [one.at(one.table, homes[values]) for values, one in now.items() if isinstance(one, Partition)]
        try:
            ports.replica.alter_partitions(switched)
        except Missing:
            return False  # dropped meanwhile
        return True

    def _alter_table(self, ports: WritePorts, table: Table, home: str) -> bool:
        """Switch a table that is what was judged, and still is when the metastore compares its time; else False."""
        belongs = table.at(self.name, home).with_parameters({**table.parameters, CLUSTER: self.move.target})
        if self._marked(ports).move(table) != self.move or not _is_same(table, ports.replica.table(self.name)):
            return False
        try:
            ports.replica.alter_table(self.name, belongs, expected=table.parameters.get(DDL_TIME), of_key=DDL_TIME)
        except (ChangedMeanwhile, Missing):
            return False
        return True

    def _mark_at_home(self, ports: WritePorts, table: Table, homes: Mapping[Values, str], event_id: int) -> None:
        """Mark partitions as whole on the other cluster, where they are at home: until the table itself is switched.

        The call itself is the one event that has touched them.
        """
        news = read_news(ports.source, self.policy, Position(event_id), ports.source.log_id())
        states = directory_states(ports.replica_files, homes.values(), deep=homes.values())
        touched = Counter(one.values for _, one in news.of(self.name.table))
        log_id, end, identity = news.tail.log_id, news.end.event_id, TableIdentity.of(table)
        marks = {
            values: CopyMark(home, log_id, end, home, states[home], states[home], identity, 0, 0)
            for values, home in homes.items()
            if touched[values] == 1 and home in states
        }
        write_marks(ports.replica, self.policy, self.name, marks)

    def _marked(self, ports: ReadPorts) -> MarksTable:
        return marks_table(ports.source, self.policy)

    def _whole(self, ports: WritePorts, table: Table, there: Mapping[Values, Marked], here: Position) -> BeforeSwitch:
        """Return the call for objects whose new places hold, file by file, what they hold now; write it down.

        The old files are listed before the directories are looked at: so they are those that were copied.
        """
        log_id, newest, root = ports.source.log_id(), ports.source.current_event_id(), ports.source_files.root
        kept = marks_of(self._marked(ports), table, self.move.target, there)
        marks = {
            values: mark
            for values, mark in kept.items()
            if mark.is_of(log_id, newest) and is_ours(mark, self.policy, self.name.table)
        }
        if not marks:
            return BeforeSwitch(here, ())
        news = read_news(ports.source, self.policy, Position(min(mark.event_id for mark in marks.values())), log_id)
        places = {values: qualified(str(there[values].location), root) for values in marks}
        old = files_below(ports.source_files, places)
        states = states_like(ports.source_files, {places[values]: mark.directory for values, mark in marks.items()})
        copies = states_like(ports.replica_files, {mark.location: mark.copy for mark in marks.values()})
        marks = {
            values: mark
            for values, mark in marks.items()
            if states.get(places[values]) == mark.directory
            and copies.get(mark.location) == mark.copy
            and news.is_same(self.name.table, values, mark.event_id)
        }
        new = files_below(ports.replica_files, {values: mark.location for values, mark in marks.items()})
        marks = {values: mark for values, mark in marks.items() if lengths(old[values]) == lengths(new[values])}
        held = (
            OldPlace(values, places[values], mark.location, mark.copy, known_files(old[values]))
            for values, mark in marks.items()
        )
        call = BeforeSwitch(here, tuple(held))
        if marks:
            remember_old(ports.replica_files, self.policy, call)
        return call


def _is_same(one: Marked | None, other: Marked | None) -> bool:
    """True for an object that was read twice; two servers may tell its parameters in another order."""
    if one is None or other is None:
        return False
    return replace(one, thrift="") == replace(other, thrift="") and from_text(one.thrift) == from_text(other.thrift)


def lengths(files: FilesBelow) -> dict[str, int]:
    """Return the lengths of files, by their paths."""
    return {path: status.length for path, status in files.items()}
