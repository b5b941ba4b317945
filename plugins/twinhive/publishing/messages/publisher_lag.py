"""Find out from a metastore alone how much of its log is not told yet, whatever its publishers say of themselves."""

from dataclasses import dataclass

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import LogBroken
from twinhive.core.model.messages.publisher_position import NOBODY, KeptPosition, ToldGap
from twinhive.core.ports import MetastoreReader
from twinhive.hive.events.reader import read_events
from twinhive.publishing.messages.event_announcements import AnnouncedDatabases
from twinhive.publishing.messages.positions import kept_position

_MOST_ROWS = 3_000


@dataclass(frozen=True)
class Behind:
    """What waits to be told.

    holder    the publisher that sends; None: the last one ended in order
    position  up to this event all is told
    newest    the newest event of the log
    events    how many of those in between are to be told; with `at_least` there may be more
    since     when the oldest of them happened, Unix seconds; None: nothing waits
    lost      why what waits cannot be told any more, None when it can
    gap       the last gap that was told
    """

    holder: str | None
    position: int
    newest: int
    events: int = 0
    since: int | None = None
    at_least: bool = False
    lost: LogBroken | None = None
    gap: ToldGap | None = None


def read_behind(metastore: MetastoreReader, databases: AnnouncedDatabases, most: int = _MOST_ROWS) -> Behind | None:
    """Return what waits to be told; None where no publisher has ever run. Raises TryAgain, ActNow."""
    kept = kept_position(metastore)
    if kept is None:
        return None
    log_id, newest = metastore.log_id(), metastore.current_event_id()
    holder = None if kept.holder == NOBODY else kept.holder
    if log_id != kept.log_id:
        broken = LogBroken(
            "the notification log is another one than the publisher's position is of",
            found=log_id,
            expected=kept.log_id,
            next_step="start the publisher: it tells this as a gap, and goes on with the new log",
        )
        return Behind(holder, kept.position.event_id, newest, lost=broken, gap=kept.gap)
    events, since, read = 0, None, 0
    try:
        for read, row in enumerate(read_events(metastore, _behind_its_writing(metastore, kept, newest)), start=1):
            if read > most:
                break
            if databases.concern(row):
                events += 1
                since = row.time if since is None else since
    except LogBroken as broken:
        return Behind(holder, kept.position.event_id, newest, lost=broken, gap=kept.gap)
    return Behind(holder, kept.position.event_id, newest, events, since, read > most, gap=kept.gap)


def _behind_its_writing(metastore: MetastoreReader, kept: KeptPosition, newest: int) -> Position:
    """Return from where to count: the event behind a position is its own writing, as a rule, and may be gone alone.

    Where it was another's after all, the publisher tells a gap, and keeps it.
    """
    after = kept.position.event_id
    rows = metastore.events_after(after, 1)
    first = rows[0].event_id if rows else newest + 1
    return Position(after + 1) if first == after + 2 else kept.position
