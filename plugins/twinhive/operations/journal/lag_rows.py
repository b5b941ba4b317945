"""Write how policies are, and how their lag was: unchanged values at most every ten minutes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from twinhive.core.model.watching.load_progress import LoadProgress
from twinhive.operations.journal.records import PolicyState
from twinhive.operations.journal.schema import LAG, POLICIES, PROGRESS, PROOFS, SETS, TABLE_COUNTS, TABLES
from twinhive.operations.journal.stored_texts import plain
from twinhive.operations.journal.upsert import upsert

_UNCHANGED_SECONDS = 600
_MANY = 500
_SAMPLED = ("policy", "at", "replicated", "newest", "lag_events", "lag_seconds")


def write_states(connection: Connection, states: Sequence[PolicyState], progress: Mapping[str, LoadProgress]) -> None:
    """Write the states that are newer than what is known, samples of the lag, and how far first copies are."""
    known = _known(connection, {state.policy for state in states})
    rows: list[dict[str, Any]] = []
    samples: list[dict[str, Any]] = []
    for state in states:
        before = known.get(state.policy)
        if before is not None and before.at > state.at:
            continue
        row = {**plain(asdict(state)), "sampled_at": state.at}
        if before is None or _is_news(before, state):
            samples.append({name: row[name] for name in _SAMPLED})
        else:
            row["sampled_at"] = before.sampled_at
        rows.append(row)
    upsert(connection, POLICIES, rows)
    if samples:
        connection.execute(insert(LAG), samples)
    connection.execute(delete(PROGRESS).where(PROGRESS.c.policy.in_(known.keys() | progress.keys())))
    if progress:
        connection.execute(insert(PROGRESS), [{"policy": name, **asdict(one)} for name, one in progress.items()])


def forget_others(connection: Connection, names: Collection[str]) -> None:
    """Remove what is said of policies that do not exist any more; what they did stays until it is pruned."""
    there = set(connection.scalars(select(POLICIES.c.policy))) | set(connection.scalars(select(TABLE_COUNTS.c.policy)))
    for policy in there.difference(names):
        for table in (POLICIES, TABLES, TABLE_COUNTS, PROGRESS, PROOFS, SETS):
            connection.execute(delete(table).where(table.c.policy == policy))


def _known(connection: Connection, names: Collection[str]) -> dict[str, Row[Any]]:
    query = select(POLICIES)
    if len(names) < _MANY:
        query = query.where(POLICIES.c.policy.in_(names))
    return {row.policy: row for row in connection.execute(query)}


def _is_news(before: Row[Any], state: PolicyState) -> bool:
    """True for other values; what other databases of the source do to its newest event is no news."""
    was = (before.replicated, before.lag_events, before.lag_seconds)
    now = (state.replicated, state.lag_events, state.lag_seconds)
    return was != now or state.at - before.sampled_at >= _UNCHANGED_SECONDS
