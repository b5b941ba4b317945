"""Which tables come into a scope: by a change of the policy (REPLACE), or by a rename (seed 002, example h)."""

from collections.abc import Iterable

from twinhive.core.model.changes.affected_objects import tables_of
from twinhive.core.model.changes.kinds import Event
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import MetastoreReader
from twinhive.replication.incremental.tables_to_resync import says_too_little
from twinhive.statements.steps.repl_dump_options import DumpOrder


def newly_included(source: MetastoreReader, order: DumpOrder, events: Iterable[Event]) -> list[str]:
    """Return the tables that the new scope selects and the replaced one does not: those there are, and were."""
    replaced = order.replaced
    if replaced is None:
        return []
    named = {name for event in events for name in tables_of(event.change)}
    there = {TableName(order.policy.source.database, table) for table in source.table_names(replaced.source.database)}
    new = {name.table for name in named | there if order.policy.follows(name) and not replaced.selects(name.table)}
    return sorted(new)


def renamed_in(policy: Policy, events: Iterable[Event]) -> dict[str, int]:
    """Return the tables that events bring into the scope, each with the first event that does.

    By a rename from outside, or by a change after which the log does not say what the table holds.
    """
    found: dict[str, int] = {}
    for event in events:
        if says_too_little(policy, event.change):
            for table in policy.followed(tables_of(event.change)):
                found.setdefault(table, event.event_id)
    return found
