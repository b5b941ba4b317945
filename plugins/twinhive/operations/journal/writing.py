"""Write into the journal, which is for people only: what cannot be written is lost, and nothing else happens.

A journal that is down costs one warning and a few seconds in each process, however much there is to write.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from twinhive.core.model.errors import TryAgain
from twinhive.core.model.files import Usage
from twinhive.core.model.watching.copy_activity import CopyAtWork
from twinhive.core.model.watching.load_progress import LoadProgress
from twinhive.operations.journal import lag_rows, message_rows, pruning, run_rows, set_rows, table_rows, work_rows
from twinhive.operations.journal.address import journal_address, resolved
from twinhive.operations.journal.opening import open_engine
from twinhive.operations.journal.records import (
    BatchRun,
    Failure,
    PolicyState,
    RecordedCopies,
    RecordedProof,
    RecordedPublisher,
    RecordedSet,
    RecordedTable,
    SentMessage,
    WindowRun,
)
from twinhive.operations.journal.schema import is_missing_table, prepare
from twinhive.operations.journal.time_limit import within

_LOG = logging.getLogger(__name__)
_PATIENCE_SECONDS = 3.0
_ROWS_PER_SECOND = 2_000
_PRUNING_SECONDS = 30.0
_LOOKS = 3
"""So often the journal's address is looked up, as long as it is not known."""


class Journal:
    """Record what happens. No method raises, and none takes longer than `patience` (more for thousands of tables).

    After the first failure nothing more is tried by this object. That the journal's address is not known, because a
    secrets backend hiccups, takes no time: that is tried again some times.
    """

    def __init__(
        self, address: str, warn: Callable[[str], None] = _LOG.warning, patience: float = _PATIENCE_SECONDS
    ) -> None:
        self._address = address
        self._warn = warn
        self._patience = patience
        self._is_prepared = False
        self._url: str | None = None
        self._times_unknown = 0
        self.is_down = False

    def record_state(self, state: PolicyState) -> None:
        """Write how a policy is now, and a sample of its lag when it is news."""
        self.record_states([state])

    def record_states(
        self, states: Sequence[PolicyState], progress: Mapping[str, LoadProgress] = MappingProxyType({})
    ) -> None:
        """Write how policies are now, likewise; `progress` tells how far first copies are, by policy."""
        self._write(partial(lag_rows.write_states, states=states, progress=progress))

    def forget_others(self, policies: Collection[str]) -> None:
        """Remove the states of all policies but these, which are all that there are; once an hour, also what is old.

        No policy at all is a configuration that was not found, and nothing is removed.
        """
        if policies:
            self._write(partial(lag_rows.forget_others, names=policies))
        self._attempt(self._carry_out, partial(pruning.prune_if_due, now=time.time()), patience=_PRUNING_SECONDS)

    def record_window(self, window: WindowRun) -> None:
        """Write a window that begins, or goes on. What was begun before and copied is not lost."""
        self._write(partial(run_rows.write_window, window=window))

    def end_windows(self, policy: str, phase: str, *, run_id: str | None = None) -> None:
        """Note that what runs of a phase (or one of them) worked on is done."""
        self._write(partial(run_rows.end_windows, policy=policy, phase=phase, at=time.time(), run_id=run_id))

    def end_copied_windows(self, policy: str, phase: str) -> None:
        """Note the end of those windows of a phase that end with the last of their batches."""
        self._write(partial(run_rows.end_copied_windows, policy=policy, phase=phase, at=time.time()))

    def record_batch(self, batch: BatchRun) -> None:
        """Write what came of the copy of a batch; files, bytes and seconds of several tries add up."""
        self._write(partial(run_rows.write_batch, batch=batch))

    def copy_begins(self, work: CopyAtWork) -> None:
        """Write that a copy is at work."""
        self._write(partial(work_rows.write_work, work=work))

    def copy_moves(self, work: CopyAtWork, at: float) -> None:
        """Write when a copy was last heard to go on."""
        self._write(partial(work_rows.note_moved, work=work, at=at))

    def copy_ends(self, work: CopyAtWork) -> None:
        """Write that a copy is not at work any more, however it has ended."""
        self._write(partial(work_rows.end_work, work=work))

    def record_failure(self, failure: Failure) -> None:
        """Write that a task has failed; an open failure of the same task is replaced."""
        self._write(partial(run_rows.write_failure, failure=failure))

    def record_unsaid_failure(self, failure: Failure) -> None:
        """Write that a run has failed, or a task of it, unless that is written already."""
        self._write(partial(run_rows.write_unsaid_failure, failure=failure))

    def record_message(self, message: SentMessage) -> None:
        """Write that people were told something, or could not be."""
        self._write(partial(message_rows.write_message, message=message))

    def end_topic(self, policy: str, topic: str, keep: Collection[str] = ()) -> None:
        """Forget who was told of something that is over, but the channels that are still to tell so."""
        self._write(partial(message_rows.end_topic, policy=policy, topic=topic, keep=keep))

    def end_message(self, policy: str, topic: str, channel: str) -> None:
        """Forget that a channel has told of something: it has told that it is over."""
        self._write(partial(message_rows.end_message, policy=policy, topic=topic, channel=channel))

    def monitor_was_here(self, at: float) -> None:
        """Write when the monitor has looked at all policies."""
        self._write(partial(message_rows.note_monitor, at=at))

    def resolve_failure(self, dag_id: str, task_id: str, map_index: int) -> None:
        """Note that a task has succeeded. Where nothing has failed, nothing is written."""
        self._resolve(dag_id, partial(run_rows.resolve_failure, task_id=task_id, map_index=map_index))

    def resolve_all(self, dag_id: str) -> None:
        """Note that all failures of a DAG are made up for: what it is for has come to its end."""
        self._resolve(dag_id, run_rows.resolve_all)

    def resolve_older_copies(self, dag_id: str, run_id: str) -> None:
        """Note that what mapped tasks of other runs have left is copied by this one."""
        self._resolve(dag_id, partial(run_rows.resolve_older_copies, run_id=run_id))

    def replace_tables(self, policy: str, tables: Iterable[RecordedTable]) -> None:
        """Write what all tables of a policy are on the replica."""
        rows = list(tables)
        self._write(partial(table_rows.replace_tables, policy=policy, tables=rows), len(rows))

    def update_tables(self, policy: str, tables: Sequence[RecordedTable], gone: Collection[str] = ()) -> None:
        """Write what some tables of a policy are now; `gone` exist no longer."""
        self._write(partial(table_rows.update_tables, policy=policy, tables=tables, gone=gone), len(tables))

    def tables_synced(self, policy: str, tables: Collection[str], at: float) -> None:
        """Write when copies of the data of external tables have ended."""
        self._write(partial(table_rows.write_syncs, policy=policy, tables=tables, at=at))

    def tables_sized(self, policy: str, sizes: Mapping[str, Usage]) -> None:
        """Write what tables hold, by name; of those that are not known nothing is written."""
        if sizes:
            self._write(partial(table_rows.write_sizes, policy=policy, sizes=sizes), len(sizes))

    def replica_verified(self, proof: RecordedProof) -> None:
        """Write what a verification of a whole replica has said."""
        self._write(partial(table_rows.write_proof, proof=proof))

    def sets_shown(self, policy: str, sets: Sequence[RecordedSet]) -> None:
        """Write which sets a replica shows."""
        self._write(partial(set_rows.replace_sets, policy=policy, sets=sets), len(sets))

    def publishers_seen(self, publishers: Sequence[RecordedPublisher]) -> None:
        """Write how the publishers of all clusters are."""
        self._write(partial(set_rows.replace_publishers, publishers=publishers))

    def copies_seen(self, placement: str, copies: Sequence[RecordedCopies]) -> None:
        """Write what a placement's tables have as copies."""
        self._write(partial(table_rows.replace_copies, placement=placement, copies=copies), len(copies))

    def copies_unchanged(self, placement: str, at: float) -> None:
        """Write that nothing has happened to a placement's copies until now."""
        self._write(partial(table_rows.copies_unchanged, placement=placement, at=at))

    def prune(self, now: float) -> None:
        """Remove what is old. Happens by itself once an hour, by `forget_others`."""
        self._attempt(self._carry_out, partial(pruning.prune, now=now), patience=_PRUNING_SECONDS)

    def _resolve(self, dag_id: str, resolve: Callable[..., None]) -> None:
        def write(connection: Connection) -> None:
            resolve(connection, dag_id=dag_id, at=time.time())

        # Most tasks succeed after others that did: they look, and leave the writer's lock alone.
        if self._attempt(self._has_open_failure, dag_id):
            self._write(write)

    def _has_open_failure(self, dag_id: str) -> bool:
        try:
            with open_engine(resolved(self._address), writes=False).begin() as connection:
                return run_rows.has_open_failure(connection, dag_id)
        except SQLAlchemyError as error:
            if is_missing_table(error):
                return False
            raise

    def _write(self, write: Callable[[Connection], None], rows: int = 0) -> None:
        self._attempt(self._carry_out, write, patience=rows / _ROWS_PER_SECOND)

    def _attempt(self, do: Callable[..., Any], *arguments: Any, patience: float = 0.0) -> Any:
        """Do something; `patience` are the seconds that it may take more than others."""
        if self.is_down:
            return None
        try:
            return within(self._patience + patience, partial(do, *arguments))
        except Exception as error:
            self._times_unknown += 1
            self.is_down = self._url is not None or not isinstance(error, TryAgain) or self._times_unknown >= _LOOKS
            self._warn(f"the journal is not written (nothing but history is lost): {_in_one_line(error)}")
            return None

    def _carry_out(self, write: Callable[[Connection], None]) -> None:
        self._url = self._url or resolved(self._address)
        engine = open_engine(self._url, writes=True)
        if not self._is_prepared:
            prepare(engine)
            self._is_prepared = True
        try:
            with engine.begin() as connection:
                write(connection)
        except SQLAlchemyError as error:
            if not is_missing_table(error):
                raise
            prepare(engine)
            with engine.begin() as connection:
                write(connection)


def open_journal() -> Journal:
    """Return this process's journal, which is where the rule says. Raises nothing."""
    return _journal_at(journal_address())


@cache
def _journal_at(address: str) -> Journal:
    return Journal(address)


def _in_one_line(error: Exception) -> str:
    said = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
    return " ".join(said.split())[:500]
