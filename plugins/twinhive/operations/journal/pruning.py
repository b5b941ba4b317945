"""Keep the journal small: samples of the lag for two weeks, what runs did for three months.

After two days, of the samples of ten minutes only the one with the greatest lag stays.
"""

from sqlalchemy import BigInteger, Connection, cast, delete, func, select, text

from twinhive.operations.journal.schema import (
    AT_WORK,
    BATCHES,
    FAILURES,
    LAG,
    NOTES,
    POLICIES,
    TABLE_COUNTS,
    TABLES,
    WINDOWS,
)
from twinhive.operations.journal.upsert import upsert

DAY = 24 * 3600
KEPT_LAG = 14 * DAY
KEPT_RUNS = 90 * DAY
_FINE_LAG = 2 * DAY
_BUCKET_SECONDS = 600
_EVERY_SECONDS = 3600
# So far back the samples were thinned by earlier calls.
_THINNED_BEFORE = 2 * DAY


def prune_if_due(connection: Connection, now: float) -> None:
    """Prune, unless that was done within the last hour."""
    said = connection.scalar(select(NOTES.c.value).where(NOTES.c.key == "pruned"))
    if said is None or abs(now - float(said)) > _EVERY_SECONDS:
        prune(connection, now)


def prune(connection: Connection, now: float) -> None:
    """Remove what is too old, also the states of policies that nobody has looked at for two weeks."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = '20s'"))
    _thin(connection, now - _FINE_LAG)
    connection.execute(delete(LAG).where(LAG.c.at < now - KEPT_LAG))
    connection.execute(delete(WINDOWS).where(WINDOWS.c.began < now - KEPT_RUNS))
    connection.execute(delete(BATCHES).where(BATCHES.c.ended < now - KEPT_RUNS))
    connection.execute(delete(FAILURES).where(FAILURES.c.at < now - KEPT_RUNS))
    connection.execute(delete(AT_WORK).where(AT_WORK.c.moved < now - KEPT_RUNS))
    connection.execute(delete(POLICIES).where(POLICIES.c.at < now - KEPT_LAG))
    connection.execute(
        delete(TABLES).where(TABLES.c.at < now - KEPT_LAG, TABLES.c.policy.not_in(select(POLICIES.c.policy)))
    )
    connection.execute(delete(TABLE_COUNTS).where(TABLE_COUNTS.c.policy.not_in(select(TABLES.c.policy))))
    upsert(connection, NOTES, [{"key": "pruned", "value": str(now)}])


def _thin(connection: Connection, before: float) -> None:
    bucket = cast(LAG.c.at, BigInteger) // _BUCKET_SECONDS
    greatest_first = (func.coalesce(LAG.c.lag_seconds, -1.0).desc(), LAG.c.id)
    rank = func.row_number().over(partition_by=(LAG.c.policy, bucket), order_by=greatest_first).label("rank")
    some = LAG.c.at.between(before - _THINNED_BEFORE, before)
    ranked = select(LAG.c.id, rank).where(some).subquery()
    connection.execute(delete(LAG).where(LAG.c.id.in_(select(ranked.c.id).where(ranked.c.rank > 1))))
