"""Remove directories that no table or partition of the replica uses any more, after a time of grace.

Replaced and dropped content stays for the queries that still read it. A directory is removed only by
name: the first sweep that finds it unused writes it down, a later one, past the grace, looks again and
removes exactly that.

Looking takes no lease, however many partitions there are: nothing that comes uses a directory of an event
before the position that was read first; of the position itself, a window without events does. The places that
bear no event, to which a metastore moves renamed partitions, stay while the log tells of such a rename since.
Removing takes the lease, for a few directories at a time and from nobody who works: an apply that comes waits
for moments.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from twinhive.core.directory_marks.directories import table_mark, table_of
from twinhive.core.model.errors import LeaseHeld, LeaseLost, Refused, together
from twinhive.core.model.files import base_name, join, parent, relative_to
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, Lease, MetastoreReader, WritePorts
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Detail, Work
from twinhive.replication.apply.managed_locations import managed_root
from twinhive.replication.dump.dump_store import window_at
from twinhive.replication.dump.json_files import read_json, write_json
from twinhive.replication.notification_log.renamed_partitions import RenamedPartitions
from twinhive.replication.replica.replica_locations import CONTENTS, event_of_directory
from twinhive.replication.replica.replica_state import state_now
from twinhive.replication.replica.used_directories import UsedPlaces

_REMOVED_AT_ONCE = 64
# Whoever waits for the lease asks several times in that time.
_BETWEEN_SECONDS = 1.0


def sweep(ports: WritePorts, work: Work, now: float, wait: Callable[[float], None] = time.sleep) -> int:
    """Remove what was unused at an earlier sweep, longer ago than the grace, and still is; return how many.

    What is left because others hold the lease is removed by the next sweep. Raises Refused, after all others are
    removed, when some cannot be.
    """
    policy = work.policy
    state = state_now(ports, policy)
    if state.phase is not Phase.FOLLOWING:
        return 0
    seen = read_json(ports.replica_files, _note(policy)) or {}
    unused = set(unused_directories(ports.replica, ports.replica_files, policy, _passed(ports, policy, state)))
    due = sorted(one for one in unused if one in seen and now - seen[one] >= policy.options.grace_seconds)
    sweeping = _Sweeping(ports, work, state.dump, RenamedPartitions(policy, state.position))
    try:
        sweeping.remove(due, wait)
        sweeping.note({one: seen.get(one, now) for one in sorted(unused - sweeping.gone.keys())})
    except (LeaseHeld, LeaseLost) as error:
        work.report(f"the sweep leaves the rest to the next one: {error.words.what}, {error.words.found}")
    for directory, how in {**sweeping.gone, **dict.fromkeys(sweeping.refused, "left in place")}.items():
        line = f"{how}, unused for {policy.options.grace_seconds} s: {directory}"
        work.report(Detail("Unused directories", line))
    if refused := sweeping.refused:
        raise together(list(refused.values()), f"{len(refused)} unused directories cannot be removed")
    return len(sweeping.gone)


def _passed(ports: WritePorts, policy: Policy, state: ReplicaState) -> int:
    """Return the last event whose directories nobody fills any more.

    A window without events brings tables over as of the position itself, in directories that an earlier try may have
    left: an apply that is repeated goes on with them.
    """
    position = state.position.event_id
    window = window_at(ports.dump_files, policy, position)
    return position - 1 if window is not None and window.layout.is_eventless else position


@dataclass(frozen=True)
class _Sweeping:
    """One sweep that changes something: what went and how, what stays and why."""

    ports: WritePorts
    work: Work
    dump: str | None
    renames: RenamedPartitions
    gone: dict[str, str] = field(default_factory=dict)
    refused: dict[str, Refused] = field(default_factory=dict)

    def remove(self, directories: Sequence[str], wait: Callable[[float], None]) -> None:
        """Remove directories, some for each time that the lease is held."""
        self._may_go(directories)  # reads most of the log before there is a lease
        for start in range(0, len(directories), _REMOVED_AT_ONCE):
            if start:
                wait(_BETWEEN_SECONDS)
            with hold_lease(self.ports, self.work, LeaseKind.HOUSEKEEPING) as lease:
                if self._is_as_it_was():
                    self._remove(lease, self._may_go(directories[start : start + _REMOVED_AT_ONCE]))

    def _may_go(self, directories: Sequence[str]) -> Sequence[str]:
        """Return those that nothing can have come to use since they were found unused."""
        root = managed_root(self.ports.replica, self.work.policy)
        named = [one for one in directories if _bears_event(one, root)]
        if len(named) == len(directories) or self.renames.any_by_now(self.ports):
            return named
        return directories

    def note(self, unused: Mapping[str, float]) -> None:
        """Write down what is unused, and since when."""
        with hold_lease(self.ports, self.work, LeaseKind.HOUSEKEEPING):
            if self._is_as_it_was():
                write_json(self.ports.replica_files, _note(self.work.policy), dict(unused))

    def _is_as_it_was(self) -> bool:
        """False for a replica that was loaded anew, or given up, since it was looked at."""
        state = state_now(self.ports, self.work.policy)
        return state.phase is Phase.FOLLOWING and state.dump == self.dump

    def _remove(self, lease: Lease, directories: Sequence[str]) -> None:
        """Take directories away; note how each went, and of each that stays, why."""
        root = managed_root(self.ports.replica, self.work.policy)
        for directory in directories:
            lease.confirm()
            # The mark is read again: what was found may be gone, and another in its place.
            owned = table_of(self.ports.replica_files, root, directory, self.work.policy.name)
            try:
                if owned is not None:
                    self.gone[directory] = owned.take_away(directory)
            except Refused as error:
                self.refused[directory] = error


def last_swept(files: FileReader, policy: Policy) -> float | None:
    """Return when a sweep was last made, in epoch seconds; None before the first one."""
    note = files.status(_note(policy))
    return None if note is None else note.modified_ms / 1000


def _note(policy: Policy) -> str:
    return join(policy.staging, "scan", "unused.json")


def unused_directories(
    replica: MetastoreReader, files: FileReader, policy: Policy, position: int, *, in_hives_places: bool = False
) -> Iterator[str]:
    """Yield the topmost directories of ours, made by events up to a position, that nothing registered needs.

    What is in Hive's places bears no event in its name; it is left out, unless it is asked for.
    """
    root = managed_root(replica, policy)
    places = UsedPlaces.read(replica, policy, root)
    for _, children in files.list_pages([root]):
        made = (
            child.path
            for child in children or ()
            if child.is_directory and _is_of(child.path, position, in_hives_places)
        )
        ours = [path for path in made if table_mark(files, path) == policy.name]
        yield from _unused(files, ours, places, position)


def _is_of(path: str, position: int, in_hives_places: bool) -> bool:
    """True for a directory that is named as one of ours and made by an event up to the position."""
    event_id = event_of_directory(base_name(path))
    return in_hives_places if event_id is None else event_id <= position


def _unused(files: FileReader, directories: Sequence[str], places: UsedPlaces, position: int) -> Iterator[str]:
    """Yield those of some directories that nothing needs, and what nothing needs below the others."""
    in_part = []
    for directory in directories:
        if places.holds_rows(directory):
            continue
        # What holds contents of all events may get another one at any time.
        if places.is_above(directory) or base_name(directory) == CONTENTS:
            in_part.append(directory)
        else:
            yield directory
    # By pages: a table may have any number of partitions.
    for _, children in files.list_pages(in_part):
        below = [child.path for child in children or () if child.is_directory and not _is_later(child.path, position)]
        yield from _unused(files, below, places, position)


def _is_later(path: str, position: int) -> bool:
    """True for the directory of an event's content that comes after the position: it may be in the making."""
    number = base_name(path).partition("-")[0]
    return base_name(parent(path)) == CONTENTS and number.isdigit() and int(number) > position


def _bears_event(path: str, root: str) -> bool:
    """True for a table's directory and for what lies in that of an event's content; no other one will be used so."""
    below = relative_to(path, root).split("/")
    return len(below) == 1 or below[1] == CONTENTS
