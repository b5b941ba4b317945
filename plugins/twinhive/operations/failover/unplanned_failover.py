"""Let a replica take over at the event it has reached: an unplanned failover, of a source that may be gone for good.

Nothing is changed before the one call that promotes but what was staged: a try that was refused or killed leaves a
replica that follows.
"""

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow, Refused, refused_as
from twinhive.core.model.human_readable import first_of, spoken_time
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import WINDOW_END, Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.model.text import Text, render
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.operations.actions.operation import Holder, a_reason
from twinhive.operations.failover.left_source import left_source
from twinhive.operations.failover.newer_tables import newer_than
from twinhive.operations.failover.promote import end_promotion, promote, replica_alone, taken_over
from twinhive.operations.failover.promotion import How
from twinhive.operations.failover.put_back import lost_promotion, plan_put_back, put_back
from twinhive.replication.external_tables.external_status import pending_objects
from twinhive.replication.incremental.salvage import NotBrought, Salvage, Salvaged
from twinhive.replication.incremental.scope_check import missing_between_scopes
from twinhive.replication.incremental.staged_windows import is_of_another_text, staged_position, tables_to_freeze
from twinhive.replication.operator_requests.request_files import requested_tables

_NAMED = 5
_AS_PLANNED = "what the dry run says: the event after which all is lost, and the tables that are older, or newer"


@dataclass(frozen=True)
class UnplannedFailover:
    """Take over at the event that the replica has reached, without the source, which may be gone.

    What staging holds of later events is applied first, so that no event is there in part. A source that answers is
    asked one thing: whether another replica has taken over from it.

    event_id   the event that the plan has named: whoever says it knows what is lost
    reason     why; kept with the request in the log of the run
    is_last_try   nothing repeats this by itself when it fails
    """

    policy: Policy
    event_id: int
    reason: str
    holder: Holder
    clock: Callable[[], float] = time.time
    is_last_try: bool = True

    def plan(self, ports: WritePorts) -> list[str]:
        """Say what would be lost."""
        if note := lost_promotion(ports, self.policy):
            return plan_put_back(self.policy, note)
        database, state = replica_alone(ports, self.policy)
        if state.phase is Phase.PROMOTED:
            return taken_over(self.policy, database)
        end = staged_position(ports, self.policy, state).event_id
        newer = newer_than(ports, self.policy, state, end)
        if newer and self._is_by_windows and end == state.position.event_id:
            raise self._mixed(state, newer)
        left = left_source(ports, self.policy)
        at = state.position.event_id
        staged = [f"would apply what is staged: events {at + 1} to {end}"] if end > at else []
        return [
            *([f"in the way: {render(left.text)}"] if left else []),
            *staged,
            *_said_of(newer),
            *map(render, self._lost(ports, database, state, end, tables_to_freeze(ports, self.policy, state, end))),
            f"would open {self.policy.replica} to writers at event {end}, with: "
            f"twinhive failover {self.policy.name} --unplanned --at {end} --reason '...'",
        ]

    def event_now(self, ports: ReadPorts) -> int:
        """Return the event that the replica would take over at."""
        if note := lost_promotion(ports, self.policy):
            return note.event_id
        _, state = replica_alone(ports, self.policy)
        return staged_position(ports, self.policy, state).event_id

    def run(self, ports: WritePorts) -> list[str]:
        """Promote at the event that was named."""
        reason = a_reason(self.reason, "failover")
        again = put_back(ports, self.policy, self.holder, self.event_id) if lost_promotion(ports, self.policy) else []
        database, state = replica_alone(ports, self.policy)
        if state.phase is Phase.PROMOTED:
            said = end_promotion(ports, self.policy, self.holder, database)
            return [f"reason: {reason}", *again, *said] if again else said
        end = staged_position(ports, self.policy, state).event_id
        if not state.position.event_id <= self.event_id <= end:
            raise self._another_event(state.position.event_id, end)
        doomed = tables_to_freeze(ports, self.policy, state, self.event_id)
        lost = [render(line) for line in self._lost(ports, database, state, self.event_id, doomed)]
        named = {*doomed, *frozen_tables(database.parameters)}
        newer = newer_than(ports, self.policy, state, self.event_id)
        salvaged = self._salvaged(ports, state)

        is_looked_through = False

        def as_named(there: Database, now: ReplicaState) -> None:
            nonlocal is_looked_through
            if now.position.event_id != self.event_id:
                raise self._another_event(now.position.event_id, end)
            self._refuse_frozen(there, named)
            if not is_looked_through:  # nobody changes a stamp while the lease is held
                self._refuse_mixed(ports, now, newer, more_is_staged=end > self.event_id)
            is_looked_through = True

        return [
            f"reason: {reason}",
            *lost,
            *_said_of(newer),
            *salvaged.lines,
            *promote(ports, self.policy, self.holder, How.UNPLANNED, as_named, _in_words(newer)),
        ]

    def _salvaged(self, ports: WritePorts, state: ReplicaState) -> Salvaged:
        found = Salvage(self.policy, dict(self.holder), self.event_id, self.is_last_try).run(ports, state)
        if isinstance(found.trouble, NotBrought):
            raise self._without(ports, found.trouble)
        if found.event_id == self.event_id:
            return found
        if found.trouble:
            raise self._event_before(found.event_id, found.trouble) from found.trouble
        raise self._another_event(found.event_id, self.event_id)

    def _another_event(self, at: int, end: int) -> Refused:
        staged = f", and to event {end} with what is staged" if end > at else ""
        return Refused(
            f"the replica of policy {self.policy.name} cannot take over at the event that was named",
            found=f"the replica at event {at}{staged}, named was {self.event_id}",
            expected=_AS_PLANNED,
            next_step=self._look(),
        )

    def _event_before(self, at: int, trouble: ActNow) -> Refused:
        """Return what is said of an event that cannot be applied: the one before it is offered."""
        return refused_as(
            trouble,
            f"the replica of policy {self.policy.name} cannot take over at the event that was named; what is staged "
            f"cannot be applied: {render(trouble.what)}",
            found=f"the replica at event {at}, named was {self.event_id}",
            expected=_AS_PLANNED,
            next_step="take over before it: "
            + command("twinhive", "failover", self.policy.name, "--unplanned", "--at", str(at), "--reason", "..."),
        )

    def _without(self, ports: ReadPorts, left: NotBrought) -> Refused:
        """Return what is said of tables that come whole and are not brought: what is to be approved is without them."""
        at, away = str(self.event_id), self._away(ports, left.tables)
        return Refused(
            f"the replica of policy {self.policy.name} cannot take over as it was planned; tables that come whole "
            f"cannot be brought: {render(left.error.what)}",
            found=f"older than event {at}, or not there: {', '.join(first_of(left.tables, _NAMED))}"
            + (f"; not there: {', '.join(first_of(away, _NAMED))}" if away else ""),
            expected=_AS_PLANNED,
            next_step="see the message and the metastore's log. The same command tries it again, and takes over "
            "without these tables where it is refused again: "
            + command("twinhive", "failover", self.policy.name, "--unplanned", "--at", at, "--reason", "..."),
        )

    def _away(self, ports: ReadPorts, tables: Collection[str]) -> list[str]:
        """Return the tables that the replica does not have."""
        there = ports.replica.tables(self.policy.replica.database, sorted(tables))
        return sorted(set(tables) - {one.name.table for one in there})

    def _look(self) -> Text:
        return "look what would be lost: " + command(
            "twinhive", "failover", self.policy.name, "--unplanned", "--dry-run"
        )

    def _refuse_frozen(self, database: Database, named: set[str]) -> None:
        """Refuse a replica of which a table is frozen that was not when this began, nor was named then."""
        if more := sorted(frozen_tables(database.parameters).keys() - named):
            raise Refused(
                f"the replica of policy {self.policy.name} holds tables that are older than was named",
                found="quarantined meanwhile: " + ", ".join(first_of(more, _NAMED)),
                expected=_AS_PLANNED,
                next_step=self._look(),
            )

    @property
    def _is_by_windows(self) -> bool:
        return self.policy.options.consistency == WINDOW_END

    def _refuse_mixed(
        self, ports: ReadPorts, state: ReplicaState, named: Collection[str], *, more_is_staged: bool
    ) -> None:
        """Refuse a replica in the middle of a window that was begun: its tables are as of different events.

        Where readers see each event anyway it is enough that these tables are named, and no better event is staged.
        """
        newer = newer_than(ports, self.policy, state, state.position.event_id)
        if newer and (self._is_by_windows or more_is_staged):
            raise self._mixed(state, newer, more_is_staged=more_is_staged)
        if more := newer.difference(named):
            raise Refused(
                f"the replica of policy {self.policy.name} holds tables that are newer than was named",
                found=f"newer than event {state.position.event_id}: {_in_words(more)}",
                expected=_AS_PLANNED,
                next_step=self._look(),
            )

    def _mixed(self, state: ReplicaState, newer: Collection[str], *, more_is_staged: bool = False) -> ActNow:
        look = command("twinhive", "failover", self.policy.name, "--unplanned", "--dry-run")
        return ActNow(
            f"the replica of policy {self.policy.name} is in the middle of a window",
            found=f"the replica at event {state.position.event_id}, and later already: {_in_words(newer)}",
            expected="all tables as they were at one event",
            next_step="take over at the event that all of them can be brought to: " + look
            if more_is_staged
            else "if the source answers: "
            + command("twinhive", "run", self.policy.name, "incremental")
            + "; if it is gone for good, and these tables may be newer than others: say consistency: every_event "
            "in the policy file, then again: " + look,
        )

    def _lost(
        self, ports: ReadPorts, database: Database, state: ReplicaState, end: int, doomed: Collection[str]
    ) -> Iterator[Text]:
        policy, position = self.policy, state.position
        ago = f", {spoken_time(max(0.0, self.clock() - position.time))} ago" if position.time else ""
        since = ago if end == position.event_id else ""
        yield (
            f"lost: all that {policy.source} has logged after event {end}{since}, and what was written "
            "there without an event since the last scan"
        )
        if is_of_another_text(ports, policy, state):
            yield (
                f"in doubt: events after {position.event_id}, of which some may be there in part: their window was cut "
                "under another text of the policy file; put that text back, and what is staged of it is applied"
            )
        if missing := missing_between_scopes(state):
            yield missing
        if policy.external.brings_data:
            yield "lost: what was written into external tables since the last pass of each"
            yield (
                f"first mark all running tasks of the DAG {policy.name}.external failed: a copy that is under way ends "
                "with the directory that it is in"
            )
        if pending := sorted(pending_objects(ports.replica_files, policy)):
            yield f"without data so far, and never to get it: {', '.join(first_of(pending, _NAMED))}"
        if frozen := sorted(frozen_tables(database.parameters)):
            yield f"older than that event, because they are quarantined: {', '.join(first_of(frozen, _NAMED))}"
        if doomed:
            yield (
                "older than that event, because they are quarantined when what is staged is applied (files are lost): "
                + ", ".join(first_of(sorted(doomed), _NAMED))
            )
        yield from self._waiting(ports)

    def _waiting(self, ports: ReadPorts) -> Iterator[str]:
        if requested := requested_tables(ports.replica_files, self.policy):
            yield f"older than that event, because they wait for a resync: {', '.join(first_of(requested, _NAMED))}"
            if away := self._away(ports, requested):
                yield f"of these not on the replica at all: {', '.join(first_of(away, _NAMED))}"


def _in_words(newer: Collection[str]) -> str:
    return ", ".join(first_of(sorted(newer), _NAMED))


def _said_of(newer: Collection[str]) -> list[str]:
    """Say what of the replica is newer than the event at which it takes over."""
    if not newer:
        return []
    return [
        f"newer than that event, at least in part: {_in_words(newer)}: a window was begun that staging does not hold; "
        "other tables lack what its events changed there"
    ]
