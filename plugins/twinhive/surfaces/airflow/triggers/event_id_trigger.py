"""Wait in Airflow's triggerer until a replica, or a source's log, has reached an event."""

from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from twinhive.core.model.errors import ActNow
from twinhive.core.model.text import render
from twinhive.replication.incremental.event_reached import missing_of_database
from twinhive.surfaces.airflow.triggers.deferral_delay import EndOfTask
from twinhive.surfaces.airflow.triggers.replica_watch import Unanswerable, looks
from twinhive.surfaces.airflow.triggers.stored_trigger import opener, stored
from twinhive.surfaces.airflow.triggers.unexplained_errors import told_of


class EventIdTrigger(BaseTrigger):
    """Fire once, when an event is reached, or a person must act; whoever waits looks for himself then.

    metastore  settings as in clusters.yaml, in JSON: the triggerer needs no configuration of its own
    database   the replica's database; None: the newest event of the metastore's own log counts
    table      with the replica: it must not be quarantined either (None: no table may be)
    position   only the position counts
    """

    def __init__(
        self,
        metastore: str,
        event_id: int,
        policy: str,
        database: str | None = None,
        table: str | None = None,
        position: bool = False,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Airflow's triggers have no types
        self.metastore = metastore
        self.event_id = event_id
        self.policy = policy
        self.database = database
        self.table = table
        self.position = position

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return what Airflow stores of the trigger: all it needs after a restart."""
        return stored(self, "metastore", "event_id", "policy", "database", "table", "position")

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look whenever the metastore is polled; say what is missing when that changes."""
        before, task = None, EndOfTask()
        answers = looks(self.metastore, opener(self.metastore), self.database)
        async for answer in answers:
            trouble = answer.error if isinstance(answer, Unanswerable) else None
            why = None if trouble else self._missing(answer)
            if why is None:
                await answers.aclose()
                await task.known()
                yield TriggerEvent(told_of(trouble) if trouble else {"event_id": self.event_id})
                return
            if why != before:
                self.log.info(why)
                before = why

    def _missing(self, answer: Any) -> str | None:
        if self.database is None:
            return None if answer >= self.event_id else f"the source is at event {answer}"
        try:
            missing = missing_of_database(self.policy, answer, self.event_id, self.table, position=self.position)
        except ActNow:  # the task says so better
            return None
        return None if missing is None else render(missing.why)
