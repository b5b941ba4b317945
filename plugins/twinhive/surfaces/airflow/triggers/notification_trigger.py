"""Start runs soon after the source's metastore logged an event that may concern them.

Only a hint: every run finds out for itself what there is to do, so a lost hint costs one interval
of the schedule. Runs in Airflow's triggerer, which has the plugins folder but no DAG bundle.
"""

from collections.abc import AsyncIterator, Hashable
from typing import Any

from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from twinhive import __version__
from twinhive.surfaces.airflow.dags.versions import VERSION
from twinhive.surfaces.airflow.triggers.log_watch import News, watch_log
from twinhive.surfaces.airflow.triggers.stored_trigger import opener, stored


class NotificationTrigger(BaseEventTrigger):
    """Fire whenever the log of a metastore names a database.

    metastore  the settings of a source's metastore as in clusters.yaml, in JSON, so that the triggerer needs no
               configuration of its own. All triggers of one metastore share one poll a second
    database   the source's database
    greets     `yes`: fire once at the start, for what came before. With hundreds of policies, a triggerer that is
               started again would start them all at once; the monitor finds those that have something to do
    """

    def __init__(self, metastore: str, database: str, greets: str = "yes") -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Airflow's triggers have no types
        self.metastore = metastore
        self.database = database
        self.greets = greets

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return what Airflow stores of the trigger."""
        return stored(self, "metastore", "database", "greets")

    def shared_stream_key(self) -> Hashable:
        """Return what is equal for all triggers of one metastore."""
        return "twinhive", self.metastore

    @classmethod
    async def open_shared_stream(cls, kwargs: dict[str, Any]) -> AsyncIterator[News]:
        """Yield news of the metastore for ever; its failures are waited out."""
        news = watch_log(opener(kwargs["metastore"]))
        async for one in news:
            yield one

    async def filter_shared_stream(self, shared_stream: AsyncIterator[News]) -> AsyncIterator[TriggerEvent]:
        """Yield an event for what may concern the database."""
        if self.greets == "yes":
            yield TriggerEvent({"database": self.database, "why": "the watch begins", VERSION: __version__})
        async for news in shared_stream:
            if news.concerns(self.database):
                yield TriggerEvent({"database": self.database, "event_id": news.event_id, VERSION: __version__})

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Do the same without sharing the poll."""
        _, kwargs = self.serialize()
        async for event in self.filter_shared_stream(self.open_shared_stream(kwargs)):
            yield event
