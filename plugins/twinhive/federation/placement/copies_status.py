"""Say of a placement what has a copy where, and which copies are fresh: what a reader there would find."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from twinhive.core.model.changes.events import Position
from twinhive.core.model.files import qualified
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.placement.copy_marks import CopyMark
from twinhive.core.model.placement.touches import touched_at
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.own_tables import OWN_TABLES
from twinhive.core.ports import ReadPorts
from twinhive.federation.placement.copied_objects import Marked, values_of
from twinhive.federation.placement.copy_freshness import (
    MarksFound,
    look_at_table,
    marked_objects,
    marks_table,
    oldest_mark,
)
from twinhive.federation.placement.placement_events import CopyNews, read_news
from twinhive.federation.routing.freshness import why_changed, why_written
from twinhive.federation.routing.nested_directories import states_like
from twinhive.hive.events.reader import position_at


@dataclass(frozen=True)
class CopyStanding:
    """One copy: of which object, where, as of which event. `stale` says why nobody may read it, None: it is fresh."""

    table: str
    partition: str | None
    location: str
    event_id: int
    files: int
    bytes: int
    stale: str | None


@dataclass(frozen=True)
class TableCopies:
    """The copies of one table, how many objects have none, and what is left out, and why."""

    name: TableName
    copies: tuple[CopyStanding, ...]
    missing: int
    left_out: tuple[str, ...]

    @property
    def fresh(self) -> int:
        """Count the copies that may be read."""
        return sum(one.stale is None for one in self.copies)

    @property
    def bytes(self) -> int:
        """Add up what the copies hold."""
        return sum(one.bytes for one in self.copies)


def copies_of(ports: ReadPorts, policy: Policy) -> Iterator[TableCopies]:
    """Yield the standing of each table that the placement names, or has copies of."""
    names = [name for name in ports.source.table_names(policy.source.database) if name not in OWN_TABLES]
    marked = marks_table(ports.source, policy)
    oldest = oldest_mark(marked, policy)
    begin = position_at(ports.source, ports.source.current_event_id()) if oldest is None else Position(oldest)
    news = read_news(ports.source, policy, begin, ports.source.log_id())
    for name in names:
        table = ports.source.table(TableName(policy.source.database, name))
        if table is None:
            continue
        found = look_at_table(ports, policy, table.name, news, marked)
        copies = tuple(_copies(ports, policy, table, MarksFound.read(marked, policy, table.name, table), news))
        if copies or policy.selects(name):
            left_out = tuple(f"{what}: {why}" for what, why in found.left_out.items())
            yield TableCopies(table.name, copies, len(found.needed), left_out)


def _copies(
    ports: ReadPorts, policy: Policy, table: Table, marked: MarksFound, news: CopyNews
) -> Iterator[CopyStanding]:
    objects = marked_objects(ports.source, table, policy) if marked.ours else ()
    pairs = [(one, mark) for one in objects if (mark := marked.of(values_of(one)))]
    states = states_like(ports.source_files, {_place(ports, one): mark.directory for one, mark in pairs})
    copies = states_like(ports.replica_files, {mark.location: mark.copy for _, mark in pairs})
    for one, mark in pairs:
        partition = None if isinstance(one, Table) else one.name(table.partition_keys)
        stale = (
            _beyond(ports, mark, news)
            or _stale(one, mark, news, table.name.table)
            or why_changed(mark, states.get(_place(ports, one)))
            or why_written(mark, copies.get(mark.location))
        )
        yield CopyStanding(str(table.name), partition, mark.location, mark.event_id, mark.files, mark.bytes, stale)


def _stale(one: Marked, mark: CopyMark, news: CopyNews, table: str) -> str | None:
    if mark.log_id != news.tail.log_id:
        return f"it was made under another log, {mark.log_id}"
    if why := news.not_told(table, mark.event_id):
        return why
    event_id = touched_at(news.of(table), values_of(one), mark.event_id)
    return None if event_id is None else f"since event {event_id}"


def _beyond(ports: ReadPorts, mark: CopyMark, news: CopyNews) -> str | None:
    """Say that the log has not the event of a copy; it is asked again: the copy may have been marked meanwhile."""
    if mark.is_of(mark.log_id, news.end.event_id) or mark.is_of(mark.log_id, end := ports.source.current_event_id()):
        return None
    return f"it is of event {mark.event_id}, and the log ends with event {end}"


def _place(ports: ReadPorts, one: Marked) -> str:
    return qualified(one.location or "", ports.source_files.root)


def totals(tables: Sequence[TableCopies]) -> tuple[int, int, int]:
    """Return how many copies are fresh, how many are stale, and how many objects have none."""
    fresh = sum(one.fresh for one in tables)
    return fresh, sum(len(one.copies) for one in tables) - fresh, sum(one.missing for one in tables)
