"""Apply what happens to the database itself, and to functions."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from twinhive.core.model.changes.kinds import (
    AlterDatabase,
    CreateDatabase,
    CreateFunction,
    DropDatabase,
    DropFunction,
    Event,
    OfDatabases,
    OfFunctions,
)
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.marks import own_marks, without_marks
from twinhive.core.model.next_steps import pass_over
from twinhive.core.model.objects import USER, Database
from twinhive.core.model.text import Command, Either
from twinhive.replication.apply.apply_failures import StopBefore
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.function_files import FunctionFiles, LeftOut
from twinhive.replication.apply.functions import Functions
from twinhive.replication.apply.target import Target


class DatabaseChanges:
    """These leave no stamp: each call is one that can be repeated.

    A function whose files cannot be brought over is counted in `left_out` with the reason, when `is_final` says that
    another try would not help.
    """

    def __init__(self, target: Target, left_out: Counter[str], is_final: Callable[[TwinhiveError], bool]) -> None:
        self._target = target
        self._left_out = left_out
        self._is_final = is_final
        files = FunctionFiles(target.functions, target.files, target.lease, target.root)
        self._functions = Functions(target.replica, target.policy.replica.database, files)

    def change(self, change: OfDatabases | OfFunctions, event: Event, progress: Progress) -> bool:
        """Apply one change; False when there is nothing to do."""
        match change:
            case CreateDatabase():
                return self._create()
            case AlterDatabase():
                return self._alter(change, event, progress)
            case DropDatabase():
                return self._drop(event)
            case CreateFunction():
                return self._create_function(change, event)
            case DropFunction():
                return self._drop_function(change, event, progress)
            case _:
                assert_never(change)

    def _create(self) -> bool:
        """The database is there: an event of this kind can only be the one that it began with."""
        return False

    def _alter(self, change: AlterDatabase, event: Event, progress: Progress) -> bool:
        """Change the owner, the comment and the parameters, with the position in the same call."""
        if _owner_and_comment(change.before) != _owner_and_comment(change.after):
            take_over_owner(self._target, change.after)
        # With its position in the same call: a replay must not bring back what an earlier event has set.
        parameters = parameters_of_source(change.after, progress)
        progress.set_parameters(parameters, event.position if progress.in_order else None)
        return True

    def _drop(self, event: Event) -> bool:
        """Stop: the replica of a database that is dropped is left to a person."""
        policy = self._target.policy
        raise StopBefore(
            f"the source database {policy.source} was dropped (event {event.event_id}); no replica is dropped for that",
            found="DROP DATABASE at the source; neither it is applied to the replica "
            f"{policy.replica}, nor are the drops of tables and functions right before it, as far as they came with it",
            expected="a source database",
            next_step="to give the replica up: "
            + Either(
                Command(("twinhive", "forget", policy.name)), "drop it, and load nothing of this database any more"
            )
            + Either(
                "; to go on after it, with what the replica has: "
                + pass_over(event.event_id)
                + ", which passes over those drops too",
                "",
            ),
        )

    def _create_function(self, change: CreateFunction, event: Event) -> bool:
        """Create a function with its files, or count why it is left out. Raises what may pass."""
        try:
            return self._functions.put(change.function, event.event_id)
        except LeftOut as left:
            if not self._is_final(left):
                raise
            self._left_out[f"{event}: {left.words.what}; next: {left.words.next_step}"] += 1
            return False

    def _drop_function(self, change: DropFunction, event: Event, progress: Progress) -> bool:
        """Drop a function; its files go with it."""
        progress.before_removal()
        self._functions.drop(change.name)
        progress.after_removal(event.position)
        return True


def take_over_owner(target: Target, source: Database) -> bool:
    """Give the replica's database the source's owner, of the same kind, and comment; False when it has them."""
    there = target.replica.database(target.policy.replica.database)
    if there is None or _owner_and_comment(there) == _owner_and_comment(source):
        return False
    wanted = replace(there, owner=source.owner, owner_type=source.owner_type or USER, comment=source.comment)
    target.replica.alter_database(wanted)
    return True


def _owner_and_comment(database: Database) -> object:
    return database.owner, database.owner_type or USER, database.comment


def parameters_of_source(source: Database, progress: Progress) -> dict[str, str]:
    """Return the parameters of the replica's database: the source's own, and our marks."""
    return {**without_marks(source.parameters), **own_marks(progress.parameters)}
