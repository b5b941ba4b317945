"""Write which copies are at work, and when each was last heard to go on."""

from dataclasses import asdict, fields

from sqlalchemy import ColumnElement, Connection, delete, select, update

from twinhive.core.model.watching.copy_activity import CopyAtWork
from twinhive.operations.journal.schema import AT_WORK
from twinhive.operations.journal.stored_texts import plain
from twinhive.operations.journal.upsert import upsert


def write_work(connection: Connection, work: CopyAtWork) -> None:
    """Write a try that begins, in the place of the one before."""
    upsert(connection, AT_WORK, [plain(asdict(work))])


def note_moved(connection: Connection, work: CopyAtWork, at: float) -> None:
    """Write that a try goes on; of one that has ended, nothing."""
    connection.execute(update(AT_WORK).where(_of(work)).values(moved=at))


def end_work(connection: Connection, work: CopyAtWork) -> None:
    """Remove a try, and no later one."""
    connection.execute(delete(AT_WORK).where(_of(work)))


def copies_at_work(connection: Connection) -> list[CopyAtWork]:
    """Return the tries that have begun and not ended, as far as they could say it."""
    query = select(*(AT_WORK.c[field.name] for field in fields(CopyAtWork)))
    return [CopyAtWork(*row) for row in connection.execute(query.order_by(AT_WORK.c.moved))]


def _of(work: CopyAtWork) -> ColumnElement[bool]:
    mine = AT_WORK.c
    task = (mine.dag_id == work.dag_id) & (mine.task_id == work.task_id) & (mine.map_index == work.map_index)
    return task & (mine.run_id == work.run_id) & (mine.try_number == work.try_number)
