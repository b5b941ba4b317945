"""Wait in Airflow's triggerer until a set of partitions is done: one poll of a metastore for all that wait."""

from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from twinhive.airflow_edge.connections import resolve_from_airflow
from twinhive.airflow_edge.waiting.replica_watch import SetQuestion, looks
from twinhive.model.names import TableName
from twinhive.model.sets.spec import SetSpec
from twinhive.sets.there import WantedSet
from twinhive.settings import MetastoreSettings
from twinhive.wiring.endpoints import metastore_endpoint
from twinhive.wiring.policies import metastore


class SetDoneTrigger(BaseTrigger):
    """Fire once, when a set is done; whoever waits looks for himself then.

    metastore  settings as in clusters.yaml, in JSON: the triggerer needs no configuration of its own
    table      database and name
    pairs      the set, as pairs of key and value
    since      Unix seconds: only a mark from then on counts
    keep       how long marks count where the table does not say it
    """

    def __init__(
        self, metastore: str, table: tuple[str, str], pairs: list[tuple[str, str]], since: int, keep: str
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Airflow's triggers have no types
        self.metastore = metastore
        self.table = table
        self.pairs = pairs
        self.since = since
        self.keep = keep

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return what Airflow stores of the trigger: all it needs after a restart."""
        kind = type(self)
        given = {"metastore": self.metastore, "table": list(self.table), "since": self.since, "keep": self.keep}
        return f"{kind.__module__}.{kind.__qualname__}", {**given, "pairs": [list(pair) for pair in self.pairs]}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look whenever the metastore is polled."""
        settings = MetastoreSettings.model_validate_json(self.metastore)
        spec = SetSpec(tuple((key, value) for key, value in self.pairs))
        wanted = WantedSet(TableName(*self.table), spec, self.since)
        answers = looks(
            self.metastore,
            lambda: metastore(metastore_endpoint(settings, resolve_from_airflow)),
            SetQuestion(wanted, self.keep),
        )
        async for mark in answers:
            if mark is not None:
                await answers.aclose()
                yield TriggerEvent({"set": mark.spec, "count": mark.count})
                return
