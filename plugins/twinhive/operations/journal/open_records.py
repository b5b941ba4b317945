"""Read from the journal what is open: failures, what people were told of, copies at work, the monitor's last look.

Unlike a page, who asks this goes on without an answer: none takes longer than `patience`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.watching.copy_activity import CopyAtWork
from twinhive.operations.journal.address import is_shared, journal_address, resolved
from twinhive.operations.journal.message_rows import MONITOR
from twinhive.operations.journal.opening import open_engine, unreadable
from twinhive.operations.journal.records import Failure, OpenFailures, SentMessage
from twinhive.operations.journal.schema import FAILURES, MESSAGES, NOTES, prepare
from twinhive.operations.journal.time_limit import within
from twinhive.operations.journal.work_rows import copies_at_work

_PATIENCE_SECONDS = 3.0


@dataclass(frozen=True)
class Open:
    """What stands in the journal; `monitor_at` is None before the monitor has ever looked."""

    failures: Sequence[OpenFailures] = ()
    messages: Sequence[SentMessage] = ()
    monitor_at: float | None = None
    copies: Sequence[CopyAtWork] = ()


def what_is_open(url: str | None = None, patience: float = _PATIENCE_SECONDS) -> Open:
    """Return what is open. Raises Unreachable, or what else keeps the journal from being read (TwinhiveError)."""
    where = resolved(url or journal_address())
    try:
        return within(patience, partial(_read, where))
    except TwinhiveError:
        raise
    except (SQLAlchemyError, TimeoutError) as error:
        raise unreadable(where, error) from error


def monitor_seen(url: str | None = None) -> float | None:
    """Return when the monitor was last there, None when that is not known here; no journal is made for the question."""
    address = url or journal_address()
    if not is_shared(address) and not Path(address.partition(":///")[2]).is_file():
        return None
    try:
        return what_is_open(address).monitor_at
    except TwinhiveError:
        return None


def _read(url: str) -> Open:
    prepare(open_engine(url, writes=True))
    with open_engine(url, writes=False).begin() as connection:
        said = connection.scalar(select(NOTES.c.value).where(NOTES.c.key == MONITOR))
        seen = None if said is None else float(said)
        return Open(_failures(connection), _messages(connection), seen, copies_at_work(connection))


def _failures(connection: Connection) -> list[OpenFailures]:
    """Return the newest of the open failures of each DAG and family, with their numbers."""
    mine = FAILURES.c
    counted = select(func.count().label("number"), func.max(mine.id).label("newest")).where(mine.resolved.is_(None))
    groups = counted.group_by(mine.policy, mine.dag_id, mine.act_now).subquery()
    said = [mine[field.name] for field in fields(Failure)]
    query = select(groups.c.number, *said).join(groups, groups.c.newest == mine.id).order_by(mine.policy, mine.dag_id)
    return [OpenFailures(number, Failure(*values)) for number, *values in connection.execute(query)]


def _messages(connection: Connection) -> list[SentMessage]:
    return [
        SentMessage(*row)
        for row in connection.execute(select(*(MESSAGES.c[field.name] for field in fields(SentMessage))))
    ]
