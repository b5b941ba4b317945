"""Wait in Airflow's triggerer until a set of partitions is done: one poll of a metastore for all that wait."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_mark import SetMark
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.publishing.sets.done_sets import WantedSet
from twinhive.surfaces.airflow.triggers.broker_subscriptions import Hearing
from twinhive.surfaces.airflow.triggers.deferral_delay import EndOfTask
from twinhive.surfaces.airflow.triggers.replica_watch import SetQuestion, Unanswerable, looks
from twinhive.surfaces.airflow.triggers.stored_trigger import opener, stored
from twinhive.surfaces.airflow.triggers.unexplained_errors import told_of


class SetDoneTrigger(BaseTrigger):
    """Fire once, when a set is done, or a person must mend what keeps it from being known; whoever waits looks then.

    metastore  settings as in clusters.yaml, in JSON: the triggerer needs no configuration of its own
    table      database and name
    pairs      the set, as pairs of key and value
    since      Unix seconds: only a mark from then on counts
    keep       how long marks count where the table does not say it
    heard_on   a broker's connection and a topic: where it is told when a set is done, empty where nobody tells it
    """

    def __init__(
        self,
        metastore: str,
        table: tuple[str, str],
        pairs: list[tuple[str, str]],
        since: int,
        keep: str,
        heard_on: Sequence[str] = (),
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Airflow's triggers have no types
        self.metastore = metastore
        # As JSON has them.
        self.table = list(table)
        self.pairs = [list(pair) for pair in pairs]
        self.since = since
        self.keep = keep
        self.heard_on = list(heard_on)

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return what Airflow stores of the trigger: all it needs after a restart."""
        return stored(self, "metastore", "table", "pairs", "since", "keep", "heard_on")

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look whenever the metastore is polled, or the broker says something."""
        spec = SetSpec(tuple((key, value) for key, value in self.pairs))
        wanted, task = WantedSet(TableName(*self.table), spec, self.since), EndOfTask()
        answers = looks(
            self.metastore,
            opener(self.metastore),
            SetQuestion(wanted, self.keep),
            Hearing(*self.heard_on) if self.heard_on else None,
        )
        async for answer in answers:
            if answer is not None:
                await answers.aclose()
                await task.known()
                yield TriggerEvent(_said(answer))
                return


def _said(answer: SetMark | Unanswerable) -> dict[str, Any]:
    return told_of(answer.error) if isinstance(answer, Unanswerable) else {"set": answer.spec, "count": answer.count}
