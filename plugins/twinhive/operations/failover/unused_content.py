"""Remove what no table uses any more of a replica that takes over, or is given up.

Where it lies at the default place of a partition, whoever drops that partition and adds it again, as one does with a
database of his own, would have rows back that the source has removed long ago.

The database may be people's already. So nothing goes that anything in the whole metastore uses; nothing in Hive's own
places that was written within the grace, as a running insert does before it tells the metastore; and where a replica
has taken over, only what its last sweep before that has seen unused. All else stays, and is named.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from twinhive.core.directory_marks.directories import table_of
from twinhive.core.model.errors import LeaseLost, Refused, TwinhiveError, UnreadableObject, together
from twinhive.core.model.files import quoted_path
from twinhive.core.model.human_readable import first_of, spoken_time
from twinhive.core.model.marks import STAMP, Phase, ReplicaState
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import Lease, WritePorts
from twinhive.core.threads.lazy_property import lazy_property
from twinhive.replication.apply.managed_locations import managed_root
from twinhive.replication.replica.source_scope import readable_tables
from twinhive.replication.replica.used_directories import UsedPlaces
from twinhive.replication.scan.default_locations import unused_in_default_places
from twinhive.replication.scan.unused_directories import bears_event, take_unused, unused_directories
from twinhive.replication.scan.unused_note import UnusedNote, modified_since, time_now

_NAMED = 20
_WHERE = "to the trash, or for good where none is kept"
_LOOK_SECONDS = 60.0
"""So long a promotion looks for what is unused: a switch does not wait for that."""
_COMES_BACK = "what is there becomes rows when a partition of that name is added"


def plan_leftovers(ports: WritePorts, policy: Policy) -> list[str]:
    """Say which directories nothing uses any more. How old what they hold is, is asked when they go."""
    found = _Leftovers(ports, policy)
    lines = (f"would be removed, {_WHERE}: {one}, which no table uses any more" for one in found.that_may_go())
    named = first_of(lines, _NAMED)
    stay = (f"would stay: {line}" for line in found.stay)
    return [*named, *first_of(stay, _NAMED), *first_of(found.not_looked_through(), _NAMED)]


def remove_leftovers(ports: WritePorts, policy: Policy, lease: Lease) -> list[str]:
    """Take away what nothing uses any more. Raises Refused when some cannot be, after all others."""
    found = _Leftovers(ports, policy)
    refused = found.take_away(lease, found.that_may_go())
    if refused:
        raise together(refused, f"{len(refused)} directories that no table uses any more cannot be removed")
    return [*found.said(), *first_of(found.not_looked_through(), _NAMED)]


def remove_from_default_places(ports: WritePorts, policy: Policy, lease: Lease) -> list[str]:
    """Take away what nothing uses any more where Hive would put the next table or partition, as well as that goes.

    Nobody writes yet, so this comes before the switch, and never keeps it from happening: what cannot be removed, or
    asked about in a minute, is named. What bears an event in its name comes back with nothing: it stays until the
    policy is ended, or the replica follows again and sweeps.
    """
    found, until = _Leftovers(ports, policy), time.monotonic() + _LOOK_SECONDS
    try:
        unproven = first_of(found.not_looked_through(), _NAMED)
        directories = found.in_default_places(lambda: time.monotonic() < until)
        found.stay += [f"{render(error.words.what)}; {_COMES_BACK}" for error in found.take_away(lease, directories)]
    except LeaseLost:
        raise
    except TwinhiveError as error:
        found.stay.append(f"what nothing uses in Hive's own places: {render(error.words.what)}; {_COMES_BACK}")
        return found.said()
    return [*found.said(), *unproven]


@dataclass
class _Leftovers:
    """What is left over of one replica: what went, in words, and what stays, and why."""

    ports: WritePorts
    policy: Policy
    gone: list[str] = field(default_factory=list)
    stay: list[str] = field(default_factory=list)

    def said(self) -> list[str]:
        """Return what went, and the first of what stays."""
        return [*self.gone, *first_of((f"left in place: {line}" for line in self.stay), _NAMED)]

    def that_may_go(self) -> list[str]:
        """Return what nothing in the whole metastore uses, and is not people's; where no event comes, of any event.

        What was made for an event that is later than the last one is left over too.
        """
        ports, policy = self.ports, self.policy
        try:
            found = unused_directories(ports.replica, ports.replica_files, policy, sys.maxsize, in_hives_places=True)
            ours = [one for one in found if self._is_ours(one)]
            return self._that_nobody_uses(ours) if ours else []
        except UnreadableObject as problem:
            self.stay.append(f"what nothing uses: nobody knows where all tables lie: {problem.words.what}")
            return []

    def in_default_places(self, may_go_on: Callable[[], bool]) -> list[str]:
        """Return what nothing in the whole metastore uses, and lies where Hive puts things by itself."""
        found = list(unused_in_default_places(self.ports, self.policy, self._root, self._tables, may_go_on))
        if not may_go_on():
            said = f"not all of {self._root} was looked through within {spoken_time(_LOOK_SECONDS)}"
            self.stay.append(f"what nothing uses in Hive's own places: {said}; {_COMES_BACK}")
        return self._that_nobody_uses(found, may_go_on) if found else []

    def take_away(self, lease: Lease, directories: Sequence[str]) -> list[Refused]:
        """Take away, of some directories, those that nobody may be writing; return what the file system refused."""
        refused: list[Refused] = []
        for directory in directories:
            try:
                if self._may_be_written(directory):
                    continue
                how = take_unused(self.ports, self.policy, self._root, lease, directory)
            except Refused as error:
                refused.append(error)
                continue
            if how is None:
                self._keep(directory, "something uses it by now")
            else:
                self.gone.append(f"{how}, no table uses it any more: {directory}")
        return refused

    def not_looked_through(self) -> Iterator[str]:
        """Name the tables in whose directories old content of partitions may lie that nothing proves to be ours."""
        for table in () if self._is_peoples else self._tables:
            is_ours = STAMP in table.parameters and self.policy.replicates(table)
            if not is_ours or table.is_external or not table.partition_keys or not table.location:
                continue
            if table_of(self.ports.replica_files, self._root, table.location, self.policy.name) is None:
                yield (
                    f"not looked through: {table.location} of {table.name}, which bears no mark of ours; what "
                    "people have left there becomes rows when a partition of that name is added: "
                    f"hdfs dfs -ls {quoted_path(table.location)}"
                )

    @lazy_property
    def _root(self) -> str:
        return managed_root(self.ports.replica, self.policy)

    @lazy_property
    def _tables(self) -> list[Table]:
        database = self.policy.replica.database
        return readable_tables(self.ports.replica, database, self.ports.replica.table_names(database))[0]

    @lazy_property
    def _is_peoples(self) -> bool:
        """True where the replica has taken over: then a mark of ours proves nothing but what was noted before."""
        database = self.ports.replica.database(self.policy.replica.database)
        return ReplicaState.read(database.parameters if database else None).phase is Phase.PROMOTED

    @lazy_property
    def _note(self) -> UnusedNote:
        """What the last sweep has written down; none is made once the replica has taken over."""
        return UnusedNote.read(self.ports.replica_files, self.policy)

    @lazy_property
    def _grace_begins(self) -> int:
        return time_now(self.ports.replica_files, self.policy) - self.policy.options.grace_seconds * 1000

    def _is_ours(self, directory: str) -> bool:
        if not self._is_peoples or (directory in self._note.since and bears_event(directory, self._root)):
            return True
        self._keep(directory, "people write this database, and it was not seen unused before they did")
        return False

    def _that_nobody_uses(self, directories: Sequence[str], may_go_on: Callable[[], bool] = lambda: True) -> list[str]:
        """Return those that nothing in the whole metastore uses; none where a part of it cannot be asked."""
        try:
            places = UsedPlaces.read_whole(self.ports.replica, self.policy, self._root, may_go_on)
            why = f"the whole metastore could not be asked within {spoken_time(_LOOK_SECONDS)} whether it is used"
        except Refused as error:
            places, why = None, f"not all of the metastore can be asked whether it is used: {render(error.words.what)}"
        for directory in directories:
            if places is None or places.uses(directory):
                self._keep(directory, why if places is None else "another database uses it")
        return [] if places is None else [one for one in directories if not places.uses(one)]

    def _may_be_written(self, directory: str) -> bool:
        """True for what was written since it was seen unused, or in Hive's own places within the grace; it stays."""
        if not self._is_peoples and bears_event(directory, self._root):
            return False
        moment = self._note.written if self._is_peoples else self._grace_begins
        is_written = modified_since(self.ports.replica_files, directory, moment)
        if is_written and self._is_peoples:
            self._keep(directory, "it was written after it was seen unused")
        elif is_written:
            grace = spoken_time(self.policy.options.grace_seconds)
            self._keep(directory, f"it was written within {grace}, maybe by a running insert; if not, {_COMES_BACK}")
        return is_written

    def _keep(self, directory: str, why: str) -> None:
        self.stay.append(f"{directory}: {why}; look: hdfs dfs -ls {quoted_path(directory)}")
