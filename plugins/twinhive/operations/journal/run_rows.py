"""Write what runs did: windows, batches, failures."""

from dataclasses import asdict

from sqlalchemy import ColumnElement, Connection, func, insert, or_, select, update

from twinhive.operations.journal.records import WHOLE_RUN, BatchRun, Failure, Outcome, WindowRun
from twinhive.operations.journal.schema import BATCHES, FAILURES, WINDOWS
from twinhive.operations.journal.stored_texts import plain
from twinhive.operations.journal.upsert import upsert


def write_window(connection: Connection, window: WindowRun) -> None:
    """Write a window; of one that is taken up again, its begin and what was copied stay.

    Another one of its phase that is still running has been given up for it.
    """
    others = (WINDOWS.c.policy == window.policy) & (WINDOWS.c.phase == window.phase) & (WINDOWS.c.dump != window.dump)
    given_up = others & (WINDOWS.c.outcome == Outcome.RUNNING)
    connection.execute(update(WINDOWS).where(given_up).values(ended=window.began, outcome=Outcome.REPLACED.value))
    upsert(connection, WINDOWS, [plain(asdict(window))], keep=("began", "files", "bytes"))


def end_windows(connection: Connection, policy: str, phase: str, at: float, run_id: str | None) -> None:
    """Note that the windows of a phase (of one run: `run_id`) came to their end."""
    which = (WINDOWS.c.policy == policy) & (WINDOWS.c.phase == phase) & (WINDOWS.c.outcome != Outcome.DONE)
    if run_id is not None:
        which &= WINDOWS.c.run_id == run_id
    connection.execute(update(WINDOWS).where(which).values(ended=at, outcome=Outcome.DONE.value))


def write_batch(connection: Connection, batch: BatchRun) -> None:
    """Write a batch, whose copies add up, and what its window has copied by now."""
    upsert(connection, BATCHES, [plain(asdict(batch))], add=("files", "bytes", "seconds"))
    of_dump = (BATCHES.c.policy == batch.policy) & (BATCHES.c.dump == batch.dump)
    files, length = connection.execute(
        select(func.sum(BATCHES.c.files), func.sum(BATCHES.c.bytes)).where(of_dump)
    ).one()
    mine = (WINDOWS.c.policy == batch.policy) & (WINDOWS.c.dump == batch.dump)
    connection.execute(update(WINDOWS).where(mine).values(files=int(files), bytes=int(length)))


def end_copied_windows(connection: Connection, policy: str, phase: str, at: float) -> None:
    """Note the end of the windows of a phase all of whose batches are copied."""
    done = (
        select(func.count())
        .where(BATCHES.c.policy == WINDOWS.c.policy, BATCHES.c.dump == WINDOWS.c.dump)
        .where(BATCHES.c.outcome == Outcome.DONE)
        .scalar_subquery()
    )
    which = (WINDOWS.c.policy == policy) & (WINDOWS.c.phase == phase) & (WINDOWS.c.outcome != Outcome.DONE)
    connection.execute(update(WINDOWS).where(which, done >= WINDOWS.c.batches).values(ended=at, outcome=Outcome.DONE))


def write_failure(connection: Connection, failure: Failure) -> None:
    """Write a failure in the place of an open one of the same task; its run's window has failed too."""
    older = _open_of(failure.dag_id) & _of_task(failure.task_id, failure.map_index)
    connection.execute(update(FAILURES).where(older).values(resolved=failure.at))
    connection.execute(insert(FAILURES), plain(asdict(failure)))
    mine = (WINDOWS.c.dag_id == failure.dag_id) & (WINDOWS.c.run_id == failure.run_id)
    running = mine & (WINDOWS.c.outcome == Outcome.RUNNING)
    connection.execute(update(WINDOWS).where(running).values(ended=failure.at, outcome=Outcome.FAILED.value))


def has_open_failure(connection: Connection, dag_id: str) -> bool:
    """Tell whether there is anything to resolve."""
    return connection.scalar(select(FAILURES.c.id).where(_open_of(dag_id)).limit(1)) is not None


def resolve_failure(connection: Connection, dag_id: str, task_id: str, map_index: int, at: float) -> None:
    """Note that a task has succeeded now; a window of which nothing is wrong any more goes on.

    That its DAG works again also makes up for runs that failed without any task that could say why.
    """
    _resolve(connection, _open_of(dag_id) & or_(_of_task(task_id, map_index), FAILURES.c.task_id == WHOLE_RUN), at)
    in_trouble = select(FAILURES.c.run_id).where(_open_of(dag_id))
    failed = (WINDOWS.c.dag_id == dag_id) & (WINDOWS.c.outcome == Outcome.FAILED)
    mended = failed & WINDOWS.c.run_id.not_in(in_trouble)
    connection.execute(update(WINDOWS).where(mended).values(ended=None, outcome=Outcome.RUNNING.value))


def write_unsaid_failure(connection: Connection, failure: Failure) -> None:
    """Write that a run, or a try of a task of it, has failed, unless something of that run has said so itself."""
    said = (FAILURES.c.dag_id == failure.dag_id) & (FAILURES.c.run_id == failure.run_id)
    if failure.task_id != WHOLE_RUN:
        said &= _of_task(failure.task_id, failure.map_index) & (FAILURES.c.try_number >= failure.try_number)
    if connection.scalar(select(FAILURES.c.id).where(said).limit(1)) is None:
        write_failure(connection, failure)


def resolve_all(connection: Connection, dag_id: str, at: float) -> None:
    """Note that whatever has failed in a DAG is made up for."""
    _resolve(connection, _open_of(dag_id), at)


def resolve_older_copies(connection: Connection, dag_id: str, run_id: str, at: float) -> None:
    """Note that a run copies what mapped tasks of other runs have failed to copy."""
    _resolve(connection, _open_of(dag_id) & (FAILURES.c.run_id != run_id) & (FAILURES.c.map_index >= 0), at)


def _resolve(connection: Connection, which: ColumnElement[bool], at: float) -> None:
    connection.execute(update(FAILURES).where(which).values(resolved=at))


def _open_of(dag_id: str) -> ColumnElement[bool]:
    return (FAILURES.c.dag_id == dag_id) & FAILURES.c.resolved.is_(None)


def _of_task(task_id: str, map_index: int) -> ColumnElement[bool]:
    return (FAILURES.c.task_id == task_id) & (FAILURES.c.map_index == map_index)
