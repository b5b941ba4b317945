"""Read the journal for a page: every query is by an index, or over one row a policy."""

import time
from collections.abc import Collection, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import BigInteger, ColumnElement, Engine, Select, Table, case, cast, false, func, or_, select
from sqlalchemy.exc import SQLAlchemyError

from twinhive.core.model.marks import UNREACHABLE, UNUSABLE
from twinhive.core.model.watching.load_progress import LoadProgress
from twinhive.operations.journal.address import journal_address, resolved
from twinhive.operations.journal.opening import open_engine, unreadable
from twinhive.operations.journal.records import (
    BatchRun,
    Failure,
    LagSample,
    PolicyOverview,
    PolicyState,
    RecordedCopies,
    RecordedProof,
    RecordedPublisher,
    RecordedSet,
    RecordedTable,
    WindowRun,
)
from twinhive.operations.journal.schema import (
    BATCHES,
    COPIES,
    FAILURES,
    LAG,
    POLICIES,
    PROGRESS,
    PROOFS,
    PUBLISHERS,
    SETS,
    TABLE_COUNTS,
    TABLES,
    WINDOWS,
    prepare,
)

R = TypeVar(
    "R",
    PolicyState,
    PolicyOverview,
    LagSample,
    WindowRun,
    BatchRun,
    Failure,
    RecordedTable,
    RecordedCopies,
    RecordedProof,
    RecordedSet,
    RecordedPublisher,
)

ORDERS = ("trouble", "policy", "lag", "phase")


class JournalReader:
    """Answer a page's questions. Every method raises Unreachable when the journal cannot be read."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def overview(
        self,
        search: str = "",
        troubled_only: bool = False,
        offset: int = 0,
        limit: int = 50,
        order: str = "trouble",
        names: Collection[str] | None = None,
    ) -> tuple[int, list[PolicyOverview]]:
        """Return how many policies there are of that kind, and one page of them.

        search   part of a policy's name, or of its source or replica, in any case
        names    only these policies, None: all
        order    one of `ORDERS`; `trouble` first by what is wrong, then by lag
        """
        failures, counts = _open_failures(), TABLE_COUNTS.c
        joined = POLICIES.outerjoin(failures, failures.c.policy == POLICIES.c.policy)
        joined = joined.outerjoin(TABLE_COUNTS, counts.policy == POLICIES.c.policy)
        number = func.coalesce(failures.c.number, 0)
        in_trouble = func.coalesce(counts.in_trouble, 0)
        rank = _rank(number, in_trouble)
        which = _searched(search)
        which += [POLICIES.c.policy.in_(names)] if names is not None else []
        which += [rank > 0] if troubled_only else []
        shown = [
            number.label("open_failures"),
            func.coalesce(counts.tables, 0).label("tables"),
            in_trouble.label("tables_in_trouble"),
        ]
        query = select(*_columns(POLICIES, PolicyState), *shown).select_from(joined).where(*which)
        total = self._ask(select(func.count()).select_from(joined).where(*which))[0][0]
        return total, self._records(PolicyOverview, query.order_by(*_order(order, rank)).offset(offset).limit(limit))

    def policy(self, name: str) -> PolicyState | None:
        """Return the state of one policy, None when nobody has looked at it."""
        query = select(*_columns(POLICIES, PolicyState)).where(POLICIES.c.policy == name)
        return next(iter(self._records(PolicyState, query)), None)

    def progress(self, names: Collection[str]) -> dict[str, LoadProgress]:
        """Return how far first copies are, of those of the policies that are being loaded."""
        columns = [PROGRESS.c[field.name] for field in fields(LoadProgress)]
        query = select(PROGRESS.c.policy, *columns).where(PROGRESS.c.policy.in_(names))
        return {policy: LoadProgress(*values) for policy, *values in self._ask(query)}

    def proof(self, name: str) -> RecordedProof | None:
        """Return what the last verification of a policy said, None before the first."""
        query = select(*_columns(PROOFS, RecordedProof)).where(PROOFS.c.policy == name)
        return next(iter(self._records(RecordedProof, query)), None)

    def sets(self, name: str, limit: int = 50) -> tuple[int, list[RecordedSet]]:
        """Return how many sets a policy's replica shows, and the newest of them."""
        which = SETS.c.policy == name
        total = self._ask(select(func.count()).where(which))[0][0]
        query = select(*_columns(SETS, RecordedSet)).where(which)
        order = (SETS.c.shown.desc(), SETS.c.table, SETS.c.spec)
        return total, self._records(RecordedSet, query.order_by(*order).limit(limit))

    def publishers(self) -> list[RecordedPublisher]:
        """Return how what happens on clusters is told, those in trouble first."""
        query = select(*_columns(PUBLISHERS, RecordedPublisher))
        return self._records(RecordedPublisher, query.order_by(PUBLISHERS.c.is_silent.desc(), PUBLISHERS.c.cluster))

    def copies(self, placements: Collection[str]) -> list[RecordedCopies]:
        """Return what placements keep, those in trouble first."""
        query = select(*_columns(COPIES, RecordedCopies)).where(COPIES.c.policy.in_(placements))
        trouble = COPIES.c.stale + COPIES.c.missing
        return self._records(RecordedCopies, query.order_by(trouble.desc(), COPIES.c.policy, COPIES.c.table))

    def lag(self, name: str, since: float, points: int = 300) -> list[LagSample]:
        """Return at most about `points` samples since a time, in order; of those beside each other the greatest lag."""
        width = max(int(time.time() - since) // points, 1)
        bucket = cast(LAG.c.at - since, BigInteger) // width
        greatest_first = (func.coalesce(LAG.c.lag_seconds, -1.0).desc(), LAG.c.at.desc())
        rank = func.row_number().over(partition_by=bucket, order_by=greatest_first).label("rank")
        ranked = select(*_columns(LAG, LagSample), rank).where(LAG.c.policy == name, LAG.c.at >= since).subquery()
        shown = [ranked.c[column.name] for column in fields(LagSample)]
        return self._records(LagSample, select(*shown).where(ranked.c.rank == 1).order_by(ranked.c.at))

    def windows(self, name: str, limit: int = 20) -> list[WindowRun]:
        """Return the last windows of a policy, newest first."""
        query = select(*_columns(WINDOWS, WindowRun)).where(WINDOWS.c.policy == name)
        return self._records(WindowRun, query.order_by(WINDOWS.c.began.desc()).limit(limit))

    def batches(self, name: str, dump: str, limit: int = 200) -> list[BatchRun]:
        """Return the batches of a dump that were copied, or failed, by their names."""
        query = select(*_columns(BATCHES, BatchRun)).where(BATCHES.c.policy == name, BATCHES.c.dump == dump)
        return self._records(BatchRun, query.order_by(BATCHES.c.batch).limit(limit))

    def failures(self, name: str, open_only: bool = True, limit: int = 20) -> list[Failure]:
        """Return the failures of a policy, newest first.

        `open_only`: those that nothing has made up for, of them first where a person must act.
        """
        query = select(*_columns(FAILURES, Failure)).where(FAILURES.c.policy == name)
        newest = (FAILURES.c.at.desc(), FAILURES.c.id.desc())
        if not open_only:
            return self._records(Failure, query.order_by(*newest).limit(limit))
        query = query.where(FAILURES.c.resolved.is_(None))
        return self._records(Failure, query.order_by(FAILURES.c.act_now.desc(), *newest).limit(limit))

    def open_failures(self, name: str) -> int:
        """Return how many failures of a policy nothing has made up for."""
        which = (FAILURES.c.policy == name, FAILURES.c.resolved.is_(None))
        return int(self._ask(select(func.count()).select_from(FAILURES).where(*which))[0][0])

    def tables(
        self, name: str, search: str = "", state: str | None = None, offset: int = 0, limit: int = 100
    ) -> tuple[int, list[RecordedTable]]:
        """Return how many tables a policy has whose names hold `search` (in a state), and one page of them."""
        which = [TABLES.c.policy == name]
        which += [TABLES.c.table.icontains(search, autoescape=True)] if search else []
        which += [TABLES.c.state == state] if state is not None else []
        total = self._ask(select(func.count()).where(*which))[0][0]
        query = select(*_columns(TABLES, RecordedTable)).where(*which).order_by(TABLES.c.table)
        return total, self._records(RecordedTable, query.offset(offset).limit(limit))

    def table_counts(self, name: str) -> dict[str, int]:
        """Return how many tables of a policy are in each state."""
        query = select(TABLES.c.state, func.count()).where(TABLES.c.policy == name).group_by(TABLES.c.state)
        return {row[0]: row[1] for row in self._ask(query.order_by(TABLES.c.state))}

    def _records(self, kind: type[R], query: Select[Any]) -> list[R]:
        return [kind(**row._mapping) for row in self._ask(query)]

    def _ask(self, query: Select[Any]) -> Sequence[Any]:
        try:
            with self._engine.begin() as connection:
                return connection.execute(query).all()
        except SQLAlchemyError as error:
            raise unreadable(self._engine.url, error) from error


def open_reader(url: str | None = None) -> JournalReader:
    """Return a reader of the journal; its tables are created when missing.

    Raises Unreachable (try again later), InvalidSettings or ActNow (a person must act) when it cannot be opened.
    """
    return _reader_at(resolved(url or journal_address()))


@cache
def _reader_at(url: str) -> JournalReader:
    writer = open_engine(url, writes=True)
    try:
        prepare(writer)
    except SQLAlchemyError as error:
        raise unreadable(writer.url, error) from error
    return JournalReader(open_engine(url, writes=False))


def _columns(table: Table, record: type) -> list[ColumnElement[Any]]:
    return [table.c[field.name] for field in fields(record)]


def _open_failures() -> Any:
    query = select(FAILURES.c.policy, func.count().label("number")).where(FAILURES.c.resolved.is_(None))
    return query.group_by(FAILURES.c.policy).subquery()


def _rank(failures: ColumnElement[int], tables_in_trouble: ColumnElement[int]) -> ColumnElement[int]:
    """Order what is wrong: nobody can look, failures, late, tables in trouble; 0 for nothing."""
    state = POLICIES.c
    return case(
        (state.phase.in_((UNUSABLE, UNREACHABLE)), 4),
        (or_(failures > 0, state.trouble.is_not(None), state.stalled.is_not(None)), 3),
        (func.coalesce(state.lag_seconds > state.max_lag, false()), 2),
        (tables_in_trouble > 0, 1),
        else_=0,
    )


def _searched(search: str) -> list[ColumnElement[bool]]:
    if not search:
        return []
    columns = (POLICIES.c.policy, POLICIES.c.source, POLICIES.c.replica)
    return [or_(*(column.icontains(search, autoescape=True) for column in columns))]


def _order(order: str, rank: ColumnElement[int]) -> list[ColumnElement[Any]]:
    by_lag = POLICIES.c.lag_seconds.desc().nulls_last()
    orders = {"trouble": [rank.desc(), by_lag], "lag": [by_lag], "phase": [POLICIES.c.phase.asc()]}
    return [*orders.get(order, []), POLICIES.c.policy.asc()]
