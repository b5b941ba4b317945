"""Remove directories that no table or partition of the replica uses any more, after a time of grace.

Replaced and dropped content stays for the queries that still read it. A directory is removed only by
name: the first sweep that finds it unused writes it down, a later one, past the grace, looks again and
removes exactly that.
"""

from collections.abc import Iterator

from twinhive.applying.places import managed_root
from twinhive.domain.files import base_name, join, parent
from twinhive.domain.marks import DIRECTORY_MARK, Phase
from twinhive.domain.placement import CONTENTS, event_of_directory
from twinhive.domain.policy import Policy
from twinhive.dump.store import read_json, write_json
from twinhive.ports import FileReader, MetastoreReader, WritePorts
from twinhive.steps.base import Detail, Work
from twinhive.steps.replica_state import read_state


def sweep(ports: WritePorts, work: Work, now: float) -> int:
    """Remove what was unused at an earlier sweep, longer ago than the grace, and still is; return how many."""
    policy = work.policy
    path = _note(policy)
    with ports.lease.hold(join(policy.staging, "lease"), work.holder) as lease:
        state = read_state(ports.replica, policy, ports.source.log_id())
        if state.phase is not Phase.FOLLOWING:
            return 0
        seen = read_json(ports.replica_files, path) or {}
        unused = set(unused_directories(ports.replica, ports.replica_files, policy, state.position.event_id))
        due = sorted(one for one in unused if one in seen and now - seen[one] >= policy.options.grace_seconds)
        for directory in due:
            lease.confirm()
            ports.replica_files.delete(directory)
        write_json(ports.replica_files, path, {one: seen.get(one, now) for one in sorted(unused - set(due))})
    for directory in due:
        line = f"removed, unused for {policy.options.grace_seconds} s: {directory}"
        work.report(Detail("Unused directories", line))
    return len(due)


def last_swept(files: FileReader, policy: Policy) -> float | None:
    """Return when a sweep was last made, in epoch seconds; None before the first one."""
    note = files.status(_note(policy))
    return None if note is None else note.modified_ms / 1000


def _note(policy: Policy) -> str:
    return join(policy.staging, "scan", "unused.json")


def unused_directories(replica: MetastoreReader, files: FileReader, policy: Policy, position: int) -> Iterator[str]:
    """Yield the topmost directories of ours, made by events up to a position, that nothing registered needs."""
    places = _Places(replica, policy)
    ((_, children),) = files.list_directories([managed_root(replica, policy)])
    for child in children or ():
        event_id = event_of_directory(base_name(child.path)) if child.is_directory else None
        if event_id is not None and event_id <= position and _is_ours(files, child.path, policy):
            yield from _unused_below(files, child.path, places, position)


def _is_ours(files: FileReader, directory: str, policy: Policy) -> bool:
    return (files.attribute(directory, DIRECTORY_MARK) or "").partition(":")[0] == policy.name


def _unused_below(files: FileReader, directory: str, places: "_Places", position: int) -> Iterator[str]:
    if directory in places.rows:
        return
    if directory not in places.above:
        yield directory
        return
    ((_, children),) = files.list_directories([directory])
    for child in children or ():
        if child.is_directory and not _is_later(child.path, position):
            yield from _unused_below(files, child.path, places, position)


def _is_later(path: str, position: int) -> bool:
    """True for the directory of an event's content that comes after the position: it may be in the making."""
    number = base_name(path).partition("-")[0]
    return base_name(parent(path)) == CONTENTS and number.isdigit() and int(number) > position


class _Places:
    """Know the directories that hold rows of something registered (`rows`), and those that are `above` one."""

    def __init__(self, replica: MetastoreReader, policy: Policy) -> None:
        self.rows: set[str] = set()
        self.above: set[str] = set()
        database, per_call = policy.replica.database, policy.options.partitions_per_call
        for table in replica.tables(database, replica.table_names(database)):
            if not table.location:
                continue
            if not table.partition_keys:
                self._use(table.location)
                continue
            self.above.add(table.location)
            names = replica.partition_names(table.name)
            for start in range(0, len(names), per_call):
                for partition in replica.partitions(table.name, names[start : start + per_call]):
                    self._use(partition.location or "")

    def _use(self, location: str) -> None:
        self.rows.add(location)
        above = parent(location)
        while above not in self.above and "/" in above:
            self.above.add(above)
            above = parent(above)
