"""Send what a notification log tells, from the kept position on, at least once and in order.

Truth is the log. A message is sent before the position passes its event: whoever is killed in between sends it
again, with the same id. The position moves by compare-and-set, so that of two publishers one is told to stand by.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice
from typing import Protocol

from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.errors import ChangedMeanwhile, LogBroken, TwinhiveError, Unreachable, may_pass
from twinhive.core.model.messages.hive_message import Announcement, AnnouncementKind, TableMessage
from twinhive.core.model.messages.publisher_position import NOBODY, KeptPosition, ToldGap
from twinhive.core.model.messages.topics import TopicRules
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_mark import SETS_TABLE
from twinhive.core.ports import MessageBroker, MetastoreWriter
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_types import EventType
from twinhive.hive.events.reader import bounded, position_at, read_events
from twinhive.publishing.messages.event_announcements import (
    OWN_DATABASE,
    AnnouncedDatabases,
    announcements_of,
    gap_announcements,
)
from twinhive.publishing.messages.message_factory import TopicsOfTables
from twinhive.publishing.messages.positions import PositionStore, begin_behind
from twinhive.publishing.messages.standby import Standby

_MOST_ROWS, _MOST_BYTES, _MOST_MESSAGES = 300, 2**18, 100
_FIRST_ROWS, _BYTES_PER_CALL = 1, 2**18
"""A publisher runs beside others, for ever, and is to stay small: it reads little at a time."""
_WRITE_SECONDS = 5.0
"""How often the position is written while there is something to send; also the sign that this publisher lives."""
_IDLE_SECONDS = 300.0
"""How often it is written when there is nothing to tell of what happens."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_log = logging.getLogger(__name__)


class PublisherStanding(Enum):
    """What a publisher does."""

    ACTIVE = "active"
    STANDBY = "standby"
    """Another one sends; it is taken over from when it does not."""


@dataclass(frozen=True)
class PublisherRules:
    """What one publisher tells, and who it is.

    holder   its name: one that starts again under the name that is kept goes on at once
    patience seconds for which something waits to be sent before another publisher is held for dead
    """

    topics: TopicRules
    databases: AnnouncedDatabases
    holder: str
    patience: float = 15.0


@dataclass
class PublisherCounts:
    """What a publisher has done since it was started, for who watches it."""

    standing: PublisherStanding = PublisherStanding.STANDBY
    sent: dict[AnnouncementKind, int] = field(default_factory=lambda: dict.fromkeys(AnnouncementKind, 0))
    newest: int = 0
    """The log's newest event when it was looked at last."""
    gaps: int = 0
    fenced: int = 0
    """How often another publisher had taken over."""


class Publisher:
    """Tell a broker what one metastore's log says."""

    def __init__(
        self,
        metastore: MetastoreWriter,
        broker: MessageBroker,
        rules: PublisherRules,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._metastore, self._broker, self._rules, self._clock = metastore, broker, rules, clock
        self._store = PositionStore(metastore)
        self._standby = Standby(metastore, broker, rules.databases, rules.patience, clock)
        self._topics = TopicsOfTables(metastore, rules.topics, rules.databases)
        self._kept: KeptPosition | None = None
        self._reached = Position(0)
        self._written = float("-inf")
        self._has_told = False
        self._others = False
        self._unkept_gap: ToldGap | None = None
        """One that was told while another position than ours was found, and was kept nowhere."""
        self.counts = PublisherCounts()

    def round(self, is_over: Callable[[], bool] = lambda: False) -> PublisherStanding:
        """Send all there is, or stand by. Raises TryAgain, and ActNow for what a broker refuses."""
        self._topics.forget()
        if self._kept is None:
            self._take()
        if self._kept is not None:
            try:
                self._send_all(is_over)
            except ChangedMeanwhile:
                self._kept = None
                self._standby.was_fenced()
                self.counts.fenced += 1
                self._keep_gap()
                _log.warning("another publisher has taken over: standing by", extra={"holder": self._rules.holder})
        self.counts.standing = PublisherStanding.STANDBY if self._kept is None else PublisherStanding.ACTIVE
        return self.counts.standing

    def waiting_messages(self) -> Iterator[TableMessage]:
        """Yield what the next round would send, if it is this publisher's turn. Reads only."""
        kept = self._store.read()
        if kept is not None:
            yield from (one for rows in self._chunks(kept.position) for one in self._messages(rows))

    @property
    def reached(self) -> int:
        """The event up to which all is sent; of one that stands by, the one that it knows of."""
        return self._reached.event_id

    def leave(self) -> None:
        """Write the position down and let another publisher go on at once. Raises TryAgain."""
        kept, self._kept = self._kept, None
        if kept is not None:
            self._store.move(kept, kept.moved(self._reached, NOBODY))

    def _take(self) -> None:
        kept = self._store.read()
        if kept is None:
            with suppress(Unreachable):
                self._broker.probe()
            log_id, newest = self._metastore.log_id(), self._metastore.current_event_id()
            begin = position_at(self._metastore, newest)
            kept = self._store.start(KeptPosition.new(log_id, begin, self._rules.holder))
        if not self._standby.may_take(kept, self._rules.holder):
            return
        mine = self._with_gap(kept.moved(begin_behind(self._metastore, kept), self._rules.holder))
        try:
            self._store.move(kept, mine)
        except ChangedMeanwhile:
            return  # another one was faster
        self._unkept_gap = None
        self._standby.took()
        self._kept, self._reached, self._written = mine, mine.position, self._clock()
        self._has_told = self._others = False
        _log.info("publishing", extra={"holder": mine.holder, "after_event": mine.position.event_id})

    def _send_all(self, is_over: Callable[[], bool]) -> None:
        self.counts.newest = self._metastore.current_event_id()
        if self.counts.newest != self._reached.event_id:
            try:
                self._check_log()
                self._send_chunks(is_over)
            except LogBroken as broken:
                self._tell_gap(broken)
        self._write_if_due()

    def _send_chunks(self, is_over: Callable[[], bool]) -> None:
        for rows in self._chunks(self._reached):
            self._send(self._messages(rows))
            self._reached = rows[-1].position
            self._others |= any((row.database or "").lower() != OWN_DATABASE for row in rows)
            rows.clear()  # before the next ones are fetched
            self._write_if_due()
            if is_over():
                return

    def _chunks(self, begin: Position) -> Iterator[list[EventRow]]:
        """Yield rows a few at a time. Raises LogBroken behind all that come before the gap: those are told first."""
        rows = read_events(self._metastore, begin, _FIRST_ROWS, _BYTES_PER_CALL)
        broken: list[LogBroken] = []
        yield from bounded(_before_a_gap(rows, broken), _MOST_ROWS, _MOST_BYTES)
        if broken:
            raise broken[0]

    def _check_log(self) -> None:
        assert self._kept is not None
        log_id = self._metastore.log_id()
        if log_id != self._kept.log_id:
            raise LogBroken(
                "the notification log is another one than the position is of",
                found=log_id,
                expected=self._kept.log_id,
                next_step="nothing: it is told as a gap",
            )

    def _messages(self, rows: Iterable[EventRow]) -> Iterator[TableMessage]:
        for row in rows:
            if self._rules.databases.concern(row):
                yield from map(self._topics.message, self._announcements(row))

    def _announcements(self, row: EventRow) -> Iterator[Announcement]:
        """Yield what is told of an event; of one that cannot be read a gap, so that it stops nobody.

        Where the table of sets was dropped, its event does not name them: a gap says to look at the store.
        """
        try:
            yield from announcements_of(row)
            if row.event_type != EventType.DROP_TABLE:
                return
        except UnreadableEvent:
            _log.warning("an event cannot be read, and is told as a gap", extra={"event_id": row.event_id})
        database, table = (row.database or "").lower(), (row.table or "").lower()
        tables = self._topics.tables_of(database) if table == SETS_TABLE else [(TableName(database, table), None)]
        yield from gap_announcements(tables, row.event_id, row.event_id, row.time)

    def _send(self, messages: Iterator[TableMessage], *, writes: bool = True) -> None:
        while batch := list(islice(messages, _MOST_MESSAGES)):
            self._broker.publish(batch)
            self._has_told = True
            for message in batch:
                self.counts.sent[AnnouncementKind(message.kind)] += 1
            # Also amid one large event: who stands by sees that this publisher lives. The position is not past it yet.
            if writes:
                self._write_if_due()
                self._has_told = True

    def _tell_gap(self, broken: LogBroken) -> None:
        """Say on all topics that events are not told, and go on with the first that can be."""
        log_id = self._metastore.log_id()
        begin, first = self._after_gap(log_id)
        _log.error("events cannot be told", extra={"first": first, "last": begin.event_id, "error": broken.found})
        gap = ToldGap(first, begin.event_id, int(time.time()))
        every = self._topics.every_table()
        told = map(self._topics.message, gap_announcements(every, first, begin.event_id, gap.at))
        fenced: ChangedMeanwhile | None = None
        try:
            self._send(told)
        except ChangedMeanwhile as error:
            # Of a restored metastore the position is another one too, and fits its log: nobody else tells this gap.
            fenced = error
            self._send(told, writes=False)
        self.counts.gaps += 1
        self._unkept_gap = gap
        if fenced is not None:
            raise fenced
        self._reached = begin
        self._write(KeptPosition.new(log_id, begin, self._rules.holder))

    def _after_gap(self, log_id: str) -> tuple[Position, int]:
        """Return from where to go on, and the first event that is not told.

        Of the same log that is before the first event that is left, of another one its newest.
        """
        assert self._kept is not None
        reached = self._reached
        now, newest = position_at(self._metastore, reached.event_id), self._metastore.current_event_id()
        is_changed = bool(now.digest and reached.digest) and now != reached
        if log_id == self._kept.log_id and newest >= reached.event_id and not is_changed:
            rows = self._metastore.events_after(reached.event_id, 1)
            end = rows[0].event_id - 1 if rows else newest
            return (reached if end == reached.event_id else Position(end)), min(reached.event_id + 1, end)
        return position_at(self._metastore, newest), 0

    def _write_if_due(self) -> None:
        assert self._kept is not None
        seconds = _WRITE_SECONDS if self._has_told else _IDLE_SECONDS
        # Of writes alone one is enough: it leaves no more than its own event behind it.
        is_due = self._has_told or self._others or self._reached.event_id > self._kept.position.event_id + 1
        if is_due and self._clock() - self._written >= seconds:
            self._write(self._kept.moved(self._reached, self._rules.holder))

    def _write(self, after: KeptPosition) -> None:
        assert self._kept is not None
        after = self._with_gap(after)
        self._store.move(self._kept, after)
        self._kept, self._written = after, self._clock()
        self._has_told = self._others = False
        self._unkept_gap = None

    def _with_gap(self, after: KeptPosition) -> KeptPosition:
        """Return what to write, with the gap that was told and is kept nowhere yet, unless a later one is there."""
        gap = self._unkept_gap
        return after if gap is None or (after.gap and after.gap.at > gap.at) else replace(after, gap=gap)

    def _keep_gap(self) -> None:
        """Keep a gap beside the position that was found, if that is ours too, of a restored metastore.

        Another publisher would be fenced by it: its position gets the gap when this one sends again.
        """
        kept = self._store.read() if self._unkept_gap else None
        if kept is not None and kept.holder in (NOBODY, self._rules.holder):
            with suppress(ChangedMeanwhile):
                self._store.move(kept, self._with_gap(kept.moved(kept.position, kept.holder)))
                self._unkept_gap = None


def _before_a_gap(rows: Iterator[EventRow], broken: list[LogBroken]) -> Iterator[EventRow]:
    try:
        yield from rows
    except LogBroken as error:
        broken.append(error)


class Stop(Protocol):
    """What ends a publisher: a `threading.Event`, or what a signal sets."""

    def is_set(self) -> bool:
        """True once it is to end."""
        ...

    def wait(self, seconds: float, /) -> bool:
        """Wait so long, less when it is to end; return `is_set`."""
        ...


def run_publisher(
    publisher: Publisher,
    stop: Stop,
    poll: float,
    on_round: Callable[[TwinhiveError | None], None] = lambda trouble: None,
) -> None:
    """Publish until it is stopped; `on_round` hears of each round, and of what may pass. Raises ActNow.

    After such trouble there is a pause of 1 to 30 seconds.
    """
    pause = poll
    while not stop.is_set():
        trouble: TwinhiveError | None = None
        try:
            publisher.round(stop.is_set)
            pause = poll
        except TwinhiveError as error:
            if not may_pass(error):
                raise
            trouble, pause = error, min(_LONGEST_PAUSE, max(_SHORTEST_PAUSE, 2 * pause))
        on_round(trouble)
        stop.wait(pause)
    try:
        publisher.leave()
    except TwinhiveError as error:
        if not may_pass(error):
            raise
