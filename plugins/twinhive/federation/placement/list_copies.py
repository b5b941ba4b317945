"""Find out what a placement's copies lack; take marks of stale copies away; list what is to be copied."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from uuid import uuid4

from twinhive.core.directory_marks.directories import claim, foreign
from twinhive.core.directory_marks.staging import claim_staging, foreign_staging, own_staging
from twinhive.core.model.batches import Batch
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import Refused, TwinhiveError, together
from twinhive.core.model.files import join
from twinhive.core.model.human_readable import readable
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.names import TableName, partition_values
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.own_tables import OWN_TABLES
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.ports.server_clock import time_at
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Detail, Then, Work
from twinhive.federation.placement.copied_objects import CopyObject
from twinhive.federation.placement.copy_directories import discard_left_over, discard_list
from twinhive.federation.placement.copy_freshness import TableFound, look_at_table, marks_table, oldest_mark
from twinhive.federation.placement.copy_lists import CopyList, has_list, list_name, write_list
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.mark_renewal import date_anew, due_event, oldest_after
from twinhive.federation.placement.marking_copies import remove_marks
from twinhive.federation.placement.placement_events import CopyNews, TouchedObjects, read_news
from twinhive.federation.placement.placement_layout import (
    building_directory,
    copies_directory,
    copies_mark,
    lists_directory,
    taken_path,
)
from twinhive.federation.placement.placement_state import (
    CopiedTable,
    LookedAt,
    read_position,
    write_position,
    write_record,
)
from twinhive.federation.placement.untouched_tables import Untouched, untouched_tables
from twinhive.federation.placement.unused_copies import is_sweep_due, sweep
from twinhive.federation.routing.marks_table import MarksTable
from twinhive.hive.events.reader import position_at
from twinhive.replication.replica.root_directories import check_copies_root
from twinhive.transfer.staged.staged_files import base_directory, unfinished_directory

_EVERYBODYS = "tmp"
"""A directory in which everybody may write: Hive asks for it as well."""


@dataclass(frozen=True)
class CopiesListed:
    """What a run has to copy.

    dump      the name of its list
    batches   what tasks are mapped over; none when it was so little that it is copied already
    fresh, needed   objects with a whole and fresh copy, of the tables that were looked at, and objects without one
    unmarked  objects whose copies were stale, or are not wanted any more
    dated     objects whose marks bear a newer event: the log was about to lose theirs, or tells of a change of no file
    left_out  why something is not copied
    idle      why there is nothing to copy
    """

    dump: str = ""
    batches: tuple[Batch, ...] = ()
    tables: int = 0
    fresh: int = 0
    needed: int = 0
    unmarked: int = 0
    dated: int = 0
    removed: int = 0
    files: int = 0
    bytes: int = 0
    left_out: Mapping[str, str] = field(default_factory=dict)
    idle: str | None = None

    @property
    def then(self) -> Then:
        """Nothing is left to do for the stages after an idle one."""
        return Then.END if self.idle else Then.GO_ON


@dataclass(frozen=True)
class ListCopies:
    """Look at what has happened since the last run; list what is to be copied."""

    work: Work
    now: Callable[[], float] = time.time

    def run(self, ports: WritePorts) -> CopiesListed:
        """Return the list. Raises ActNow when a directory is not apart from others, or there is no room."""
        policy = self.work.policy
        log_id = ports.source.log_id()
        self._claim(ports)
        with hold_lease(ports, self.work, LeaseKind.PLACEMENT) as lease:
            found = _Decided.look(ports, policy, log_id, self.now(), lambda: _clock_of_the_primary(ports))
            unmarked = self._take_marks_away(ports, found)
            dated = self._date_marks_anew(ports, found)
            sweeping = sweep(ports, lease, policy, found.used(), self.now()) if found.changes_places else None
            lease.confirm()
            if found.needed:
                ports.replica_files.delete_file(taken_path(policy))  # what was taken is listed now
            else:
                clear_work(ports, policy)
            found.remember(ports)
        for directory in sweeping.removed if sweeping else ():
            self.work.report(Detail("Unused directories", f"removed: {directory}"))
        left_out = found.left_out
        for what, why in left_out.items():
            self.work.report(Detail("Not copied", f"{what}: {why}"))
        removed = len(sweeping.removed) if sweeping else 0
        needed = found.needed
        counts = CopiesListed(
            tables=len(found.looked),
            fresh=sum(len(one.fresh) for one in found.looked),
            needed=len(needed),
            unmarked=unmarked,
            dated=dated,
            removed=removed,
            left_out=left_out,
        )
        if not needed:
            idle = f"every copy is there and fresh as of event {found.news.end.event_id}"
            self.work.report(f"{idle}; {unmarked} marks taken away, {removed} directories removed")
            return replace(counts, idle=idle)
        here = found.news.end
        is_new = not has_list(ports.replica_files, policy, list_name(here.event_id, needed))
        listed = write_list(ports.source_files, ports.replica_files, policy, log_id, here, needed)
        return self._little_copied(ports, self._told(ports, counts, listed, is_new=is_new))

    def _little_copied(self, ports: WritePorts, listed: CopiesListed) -> CopiesListed:
        """Copy what is little here and now: before Spark would have begun."""
        if not self.work.policy.options.is_small(listed.files, listed.bytes):
            return listed
        for batch in listed.batches:
            CopyObjects(replace(self.work, batch=batch.name, dump=listed.dump)).run(ports)
        return replace(listed, batches=())

    def _claim(self, ports: WritePorts) -> None:
        """Make the directories of the placement, or find them. Raises Foreign, InvalidSettings."""
        policy = self.work.policy
        directory = copies_directory(policy)
        if problems := list(placement_problems(ports, policy)):
            raise together(problems, f"placement {policy.name} cannot start: {len(problems)} problems")
        claim(ports.replica_files, directory, copies_mark(policy), for_others=True)
        claim_staging(ports.replica_files, policy)

    def _take_marks_away(self, ports: WritePorts, found: "_Decided") -> int:
        removed = 0
        for one in found.looked:
            if one.stale:
                removed += remove_marks(ports.replica, self.work.policy, one.name.table, one.stale)
                self.work.report(f"{one.name}: {len(one.stale)} copies are not what they were made of; their marks go")
        return removed

    def _date_marks_anew(self, ports: WritePorts, found: "_Decided") -> int:
        event_id = found.news.end.event_id
        dated = sum(date_anew(ports, self.work.policy, one, found.due, event_id) for one in found.looked)
        if dated:
            self.work.report(f"{dated} copies are fresh, and their marks get a newer event: nothing is copied for it")
        return dated

    def _told(self, ports: WritePorts, counts: CopiesListed, listed: CopyList, *, is_new: bool) -> CopiesListed:
        files = sum(batch.files for batch in listed.batches)
        length = sum(batch.bytes for batch in listed.batches)
        self._check_room(ports, listed, files, length, is_new=is_new)
        self.work.report(
            f"{counts.needed} objects to copy in {len(listed.batches)} batches: {files} files, {readable(length)}; "
            f"{counts.fresh} copies are fresh, {counts.unmarked} marks were taken away"
        )
        return replace(counts, dump=listed.name, batches=listed.for_tasks(), files=files, bytes=length)

    def _check_room(self, ports: WritePorts, listed: CopyList, files: int, length: int, *, is_new: bool) -> None:
        """Raise Refused where a list has no room, not even when what is left over is cleared; it does not stay then."""
        if self._lack(ports, files, length) is None:
            return
        policy = self.work.policy
        with hold_lease(ports, self.work, LeaseKind.PLACEMENT) as lease:
            # What an earlier run has staged of it takes no room again.
            staged = discard_left_over(ports.replica_files, lease, policy, listed)
            lack = self._lack(ports, files - staged.files, length - staged.length)
            # One that was there may be what somebody copies.
            if lack is not None and is_new:
                discard_list(ports.replica_files, policy, listed.name)
        if lack is not None:
            raise lack

    def _lack(self, ports: ReadPorts, files: int, length: int) -> Refused | None:
        policy = self.work.policy
        space = ports.replica_files.space(policy.staging, policy.staging)
        free = min(space.free_bytes, length if space.quota_bytes_left is None else space.quota_bytes_left)
        names = files if space.quota_names_left is None else space.quota_names_left
        if length > free or files > names:
            return Refused(
                f"there is not enough room on {policy.replica.cluster} for the copies of placement {policy.name}",
                found=f"{free} bytes free; names left by quota: {space.quota_names_left}",
                expected=f"{length} bytes, {files} names",
                next_step="free space, raise the quota (hdfs dfsadmin -setSpaceQuota), or copy less: tables.include, "
                "partitions.newest of the placement",
            )
        return None


@dataclass(frozen=True)
class _Decided:
    """What a look has found: tables that were looked at, and what is remembered of those that nothing has touched."""

    policy: Policy
    log_id: str
    news: CopyNews
    before: LookedAt | None
    looked: tuple[TableFound, ...]
    untouched: Untouched
    due: int
    now: float
    sweeps: bool
    clock_ms: int

    @classmethod
    def look(
        cls, ports: ReadPorts, policy: Policy, log_id: str, now: float, read_clock: Callable[[], int]
    ) -> "_Decided":
        """Read the log once; then look at the tables that it names, or that nothing is remembered of."""
        clock_ms = read_clock()
        before = read_position(ports.replica_files, policy, log_id)
        marked = marks_table(ports.source, policy)
        begin = before.position if before else _begin(ports, marked, policy)
        news = read_news(ports.source, policy, begin, log_id)
        names = [name for name in ports.source.table_names(policy.source.database) if name not in OWN_TABLES]
        changed = news.tables | _marked(marked, policy, before, news)
        chosen = [name for name in names if policy.selects(name) or name in changed]
        chosen += sorted(changed.difference(names))
        due = due_event(ports.source, before, news.end, now)
        sweeps = is_sweep_due(ports.replica_files, policy, now)
        untouched = Untouched()
        if before is not None and news.is_whole:
            told = {
                name: news.touched(name, policy.replica.cluster) if name in changed else TouchedObjects()
                for name in chosen
            }
            known = {name: one for name, one in told.items() if one and not before.is_due(name, due)}
            has_news = sweeps or len(known) < len(chosen) or not changed.isdisjoint(chosen)
            untouched = untouched_tables(ports, policy, before, known, has_news=has_news, clock_ms=clock_ms)

        def look(name: str, clock: int) -> TableFound:
            table = TableName(policy.source.database, name)
            return look_at_table(ports, policy, table, news, marked, untouched.partly.get(name), clock)

        looked = [look(name, clock_ms) for name in chosen if name not in untouched.around]
        if any(one.is_ahead for one in looked):
            # Most were written since the run began, and are all the time: they are looked at right after the clock.
            clock = read_clock()
            looked = [look(one.name.table, clock) if one.is_ahead else one for one in looked]
        return cls(policy, log_id, news, before, tuple(looked), untouched, due, now, sweeps, clock_ms)

    @property
    def needed(self) -> list[CopyObject]:
        """What is to be copied."""
        return [what for one in self.looked for what in one.needed]

    @property
    def left_out(self) -> dict[str, str]:
        """Why something is not copied."""
        return {what: why for one in self.looked for what, why in one.left_out.items()}

    @property
    def changes_places(self) -> bool:
        """True when directories may have come out of use, by what is found now, or by a drop; or did a grace ago."""
        return bool(self.looked) or bool(self.news.tables) or self.sweeps

    def used(self) -> set[str]:
        """Return the directories of all copies that are marked."""
        marked = {one.copy for record in self.untouched.records.values() for one in record.copies}
        return marked | {one.copy for found in self.looked for one in found.fresh}

    def remember(self, ports: WritePorts) -> None:
        """Write down up to which event all was looked at, and the tables of which nothing is missing."""
        end = self.news.end
        for one in self.looked:
            if one.is_settled or one.fresh:
                record = CopiedTable(end.event_id, one.fresh, one.waiting)
                write_record(ports.replica_files, self.policy, one.name.table, self.log_id, record)
        touched = dict(self.before.touched) if self.before else {}
        touched |= {one.name.table: end.event_id for one in self.looked}
        known = {one.name.table for one in self.looked} | self.untouched.around.keys()
        touched = {name: at for name, at in sorted(touched.items()) if name in known}
        marked = dict(self.before.marked) if self.before else {}
        marked |= {
            one.name.table: oldest_after(one, self.due, end.event_id, marked.get(one.name.table)) for one in self.looked
        }
        marked = {name: event_id for name, event_id in sorted(marked.items()) if name in known}
        marks = dict(self.before.marks) if self.before else {}
        marks |= {one.name.table: len(one.fresh) for one in self.looked}
        marks = {name: number for name, number in sorted(marks.items()) if name in known}
        known_since = self.before.seen if self.before and self.before.position == end else 0.0
        seen = min(known_since or self.now, self.now)  # a clock may have been set back
        clock = self.clock_ms or (self.before.clock if self.before else 0)
        now = LookedAt(self.log_id, end, touched, dict(self.untouched.around), marked, marks, seen, clock)
        # That time goes on is no news where no state was taken.
        if self.before is None or self.looked or now != replace(self.before, clock=max(clock, self.before.clock)):
            write_position(ports.replica_files, self.policy, now)


def _clock_of_the_primary(ports: WritePorts) -> int:
    """Return what time the primary's file system has, in milliseconds; 0 where we may not write there for that."""
    directory = join(ports.source_files.root, _EVERYBODYS)
    try:
        there = ports.source_files.status(directory) is not None
        return time_at(ports.trees.restored, join(directory, f".twinhive-{uuid4().hex}")) if there else 0
    except TwinhiveError:
        return 0


def _begin(ports: ReadPorts, marked: MarksTable, policy: Policy) -> Position:
    """Return from where on the log is read by who remembers nothing."""
    oldest = oldest_mark(marked, policy)
    if oldest is None:
        return position_at(ports.source, ports.source.current_event_id())
    return Position(oldest)


def _marked(marked: MarksTable, policy: Policy, before: LookedAt | None, news: CopyNews) -> set[str]:
    """Return the tables whose marks may not be what they were; all that have any where that is not known.

    Among them are tables that are gone, and such that the placement does not name any more.
    """
    if before is not None and news.is_whole and news.marked is not None:
        return news.marked
    found = {partition_values(name)[0] for name in marked.names(policy.replica.cluster)}
    return found | (set(before.marked) if before is not None else set())


def placement_problems(ports: ReadPorts, policy: Policy) -> Iterator[TwinhiveError]:
    """Yield what keeps a placement from starting. Once its directory is there, what is around it is not looked at."""
    directory = copies_directory(policy)
    if ports.replica_files.status(directory) is None:
        yield from check_copies_root(ports, directory)
    found = foreign(ports.replica_files, directory, copies_mark(policy))
    yield from (problem for problem in (found, foreign_staging(ports.replica_files, policy)) if problem)


def clear_work(ports: WritePorts, policy: Policy) -> None:
    """Remove what runs that were killed have left in staging: lists, files, directories that were put together."""
    staging = own_staging(ports.replica_files, policy)
    if staging is None:
        return
    base, unfinished = base_directory(policy.staging), unfinished_directory(policy.staging)
    for path in (lists_directory(policy), building_directory(policy, ""), base, unfinished, taken_path(policy)):
        if ports.replica_files.status(path) is not None:
            staging.discard(path)
