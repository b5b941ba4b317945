"""Apply what happens to the database itself, to functions, constraints and column statistics."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from twinhive.applying.functions import Functions
from twinhive.applying.progress import Progress
from twinhive.applying.target import Target
from twinhive.applying.trouble import StopBefore
from twinhive.domain.changes import (
    AddConstraints,
    AlterDatabase,
    CreateDatabase,
    CreateFunction,
    DeleteStatistics,
    DropConstraint,
    DropDatabase,
    DropFunction,
    Event,
    UpdateStatistics,
)
from twinhive.domain.constraints import FOREIGN_KEY
from twinhive.domain.errors import AlreadyThere, Missing, Refused
from twinhive.domain.marks import own_marks, without_marks
from twinhive.domain.names import partition_name
from twinhive.domain.wording import Wording

Handler = Callable[[Event, Progress], bool]


class DatabaseChanges:
    """These leave no stamp: each call is one that can be repeated.

    Constraints and statistics of a table that is not replicated have nowhere to go, and are passed over. So is a
    foreign key that has nothing to refer to on the replica: it is counted in `left_out` with the reason.
    """

    def __init__(self, target: Target, left_out: Counter[str]) -> None:
        self._target = target
        self._left_out = left_out
        self._functions = Functions(
            target.replica, target.files, target.source_files, target.lease, target.policy.replica.database, target.root
        )
        self.handlers: dict[type, Handler] = {
            CreateDatabase: self._create,
            AlterDatabase: self._alter,
            DropDatabase: self._drop,
            CreateFunction: self._create_function,
            DropFunction: self._drop_function,
            AddConstraints: self._add_constraints,
            DropConstraint: self._drop_constraint,
            UpdateStatistics: self._set_statistics,
            DeleteStatistics: self._delete_statistics,
        }

    def _create(self, event: Event, progress: Progress) -> bool:
        """The database is there: an event of this kind can only be the one that it began with."""
        return False

    def _alter(self, event: Event, progress: Progress) -> bool:
        change, target = event.change, self._target
        assert isinstance(change, AlterDatabase)
        if change.before.owner != change.after.owner or change.before.comment != change.after.comment:
            there = target.replica.database(target.policy.replica.database)
            if there is not None:
                after = replace(there, owner=change.after.owner, comment=change.after.comment)
                target.lease.confirm()
                target.replica.alter_database(after)
        # With its position in the same call: a replay must not bring back what an earlier event has set.
        parameters = {**without_marks(change.after.parameters), **own_marks(progress.parameters)}
        progress.set_parameters(parameters, event.position if progress.in_order else None)
        return True

    def _drop(self, event: Event, progress: Progress) -> bool:
        policy = self._target.policy
        raise StopBefore(
            f"the source database {policy.source} was dropped (event {event.event_id}); no replica is dropped for that",
            found=f"DROP DATABASE at the source; the replica {policy.replica} stays as it was before",
            expected="a source database",
            next_step=Wording(
                f"to give the replica up: twinhive forget {policy.name}; "
                f"to go on after it: twinhive skip-event {policy.name} {event.event_id} --reason ...",
                "to give the replica up: drop it, and load nothing of this database any more",
            ),
        )

    def _create_function(self, event: Event, progress: Progress) -> bool:
        change = event.change
        assert isinstance(change, CreateFunction)
        return self._functions.put(change.function, event.event_id)

    def _drop_function(self, event: Event, progress: Progress) -> bool:
        change = event.change
        assert isinstance(change, DropFunction)
        progress.before_removal()
        self._functions.drop(change.name)
        progress.after_removal(event.position)
        return True

    def _add_constraints(self, event: Event, progress: Progress) -> bool:
        change, target = event.change, self._target
        assert isinstance(change, AddConstraints)
        table = target.twin.table(target.policy.on_replica(change.table))
        if table is None:
            return False
        target.lease.confirm()
        try:
            target.replica.add_constraints(table.name, change.kind, change.constraints)
        except AlreadyThere:
            return False
        except (Missing, Refused) as error:
            if change.kind != FOREIGN_KEY:
                raise
            self._left_out[f"{event.event_type}: {error.what}"] += 1
            return False
        return True

    def _drop_constraint(self, event: Event, progress: Progress) -> bool:
        change, target = event.change, self._target
        assert isinstance(change, DropConstraint)
        progress.before_removal()
        target.lease.confirm()
        target.replica.drop_constraint(target.policy.on_replica(change.table), change.name)
        progress.after_removal(event.position)
        return True

    def _set_statistics(self, event: Event, progress: Progress) -> bool:
        change, target = event.change, self._target
        assert isinstance(change, UpdateStatistics)
        table = target.twin.table(target.policy.on_replica(change.table))
        if table is None:
            return False
        target.lease.confirm()
        target.replica.set_statistics(table.name, change.statistics)
        target.twin.forget_table(table.name)
        return True

    def _delete_statistics(self, event: Event, progress: Progress) -> bool:
        change, target = event.change, self._target
        assert isinstance(change, DeleteStatistics)
        table = target.twin.table(target.policy.on_replica(change.table))
        if table is None:
            return False
        partition = partition_name(table.partition_keys, change.values) if change.values else None
        target.lease.confirm()
        target.replica.delete_statistics(table.name, partition, change.column)
        target.twin.forget_table(table.name)
        return True
