"""What a dump's manifest tells besides its batches when the dump was brought to another event."""

from collections.abc import Collection, Iterable
from typing import assert_never

from twinhive.core.model.changes.contents import TableState
from twinhive.core.model.changes.kinds import (
    AlterDatabase,
    AlterTable,
    Change,
    CreateDatabase,
    CreateFunction,
    DropDatabase,
    DropFunction,
    DropTable,
    Event,
    OfDatabases,
    OfFunctions,
)
from twinhive.core.model.constraints import TablePair
from twinhive.core.model.errors import Missing
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Function
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Either
from twinhive.replication.dump.manifest import LeftOutObject
from twinhive.replication.replica.unusable_tables import said_function


def database_after(database: Database, events: list[Event]) -> Database:
    """Return the database as events have left it. Raises Missing when they drop it."""
    for event in events:
        change = event.change
        if not isinstance(change, OfDatabases):
            continue
        match change:
            case CreateDatabase():
                pass
            case AlterDatabase(after=after):
                database = after
            case DropDatabase():
                raise Missing(
                    f"the source database {database.name} was dropped (event {event.event_id}) while it was copied",
                    found=f"the event {event}",
                    expected="the database until the replica is published",
                    next_step=Either(
                        "create it again, or remove the policy file; then start the bootstrap anew",
                        "create it again, then run the statement again",
                    ),
                )
            case _:
                assert_never(change)
    return database


def functions_after(functions: tuple[Function, ...], events: list[Event]) -> tuple[Function, ...]:
    """Return the functions as events have left them, sorted by name."""
    by_name = {function.name: function for function in functions}
    for event in events:
        change = event.change
        if not isinstance(change, OfFunctions):
            continue
        match change:
            case CreateFunction(function=function):
                by_name[function.name] = function
            case DropFunction(name=name):
                by_name.pop(name, None)
            case _:
                assert_never(change)
    return tuple(by_name[name] for name in sorted(by_name))


def foreign_keys_after(
    pairs: Iterable[TablePair], touched: Collection[TableName], states: Iterable[TableState]
) -> tuple[TablePair, ...]:
    """Return which tables refer to which when the touched ones have become what they are in `states`."""
    kept = (pair for pair in pairs if pair[0] not in touched)
    return tuple(sorted({*kept, *(pair for state in states for pair in state.table.foreign_keys)}))


def still_left_out(left_out: tuple[LeftOutObject, ...], events: list[Event]) -> tuple[LeftOutObject, ...]:
    """Return what a dump leaves out without what has gone, got another name, or was made anew since."""
    gone = {name for event in events if (name := _name_given_up(event.change)) is not None}
    return tuple(entry for entry in left_out if entry.name not in gone) if gone else left_out


def _name_given_up(change: Change) -> str | None:
    match change:
        case DropTable(table=table):
            return str(table.name)
        case AlterTable(before=before) if change.renames:
            return str(before.name)
        case CreateFunction(function=function):
            return said_function(function.database, function.name)
        case DropFunction(database=database, name=name):
            return said_function(database, name)
        case _:
            return None


def left_out_after(
    policy: Policy, left_out: Iterable[LeftOutObject], states: list[TableState]
) -> tuple[LeftOutObject, ...]:
    """Return what a dump leaves out when some of its tables have become what they are in `states`."""
    there = {entry.name: entry for entry in left_out}
    for state in states:
        name = str(state.table.name)
        there.pop(name, None)
        if reason := policy.left_out(state.table):
            there[name] = LeftOutObject(name, reason)
    return tuple(there[name] for name in sorted(there))
