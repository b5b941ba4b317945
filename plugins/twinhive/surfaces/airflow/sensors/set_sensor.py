"""Let other DAGs wait until a set of partitions is done, at a source or on a replica (docs/sets.md)."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from airflow.sdk import BaseSensorOperator, timezone
from airflow.triggers.base import BaseTrigger

from twinhive.core.model.errors import InvalidSettings, Missing, TwinhiveError
from twinhive.core.model.messages.topics import own_topic
from twinhive.core.model.sets.set_spec import set_text
from twinhive.core.ports import MetastoreReader
from twinhive.publishing.sets.done_sets import WantedSet, sets_there
from twinhive.publishing.sets.set_waiting import wanted_set
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.wiring.cluster_wiring import cluster_metastore
from twinhive.runtime.wiring.message_wiring import MessagesWiring
from twinhive.surfaces.airflow.config_directory import config_directory
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.monitor.task_failures import RETRY_RULES, as_airflow_failures
from twinhive.surfaces.airflow.operators.set_operators import SetPlace
from twinhive.surfaces.airflow.sensors.sensor_backoff import LOOK_AGAIN, alone_now, kept_alone, pause_of
from twinhive.surfaces.airflow.triggers.deferral_delay import timeout_of
from twinhive.surfaces.airflow.triggers.missing_tables import gone_meanwhile, is_replica
from twinhive.surfaces.airflow.triggers.set_trigger import SetDoneTrigger
from twinhive.surfaces.airflow.triggers.unexplained_errors import kept, odd_answers, odd_of, trouble_of


class SetDoneSensor(BaseSensorOperator):
    """Wait until a set of partitions is done: it was marked, or a broader one was.

        complete = SetDoneSensor(task_id="complete", cluster="east", table="sales.orders", set={"day": "{{ ds }}"})
        complete >> report

    cluster  a cluster of clusters.yaml, with `table` as database.table
    policy   instead of `cluster`: a policy; `table` is a table of its replica then, without a database
    set      values by keys, or `key=value/key=value`, or `*` for the whole table
    since    a time, or a template of one (ISO 8601, UTC without a zone): only a mark from then on counts
    config   directory of clusters.yaml and policies/; None: $TWINHIVE_CONFIG, else the DAG folder

    It waits in the triggerer, which listens to the cluster's broker if it has one, and looks when that says
    something; without one each metastore is polled once for all sensors, however many there are. It fails at once for
    a table that is not there when it begins, and for a set that the table cannot have. A table that is gone later is
    waited for: on a replica always, at a source for a quarter of an hour. So is a server that does not answer. It
    returns `set`, the set by which it is done (`by_set`), `marked` and `count`.
    """

    template_fields: Sequence[str] = ("cluster", "policy", "table", "set", "since")
    ui_color = "#e6f4ea"

    def __init__(
        self,
        *,
        table: str,
        set: Mapping[str, str] | str,
        cluster: str | None = None,
        policy: str | None = None,
        since: datetime | str | None = None,
        config: str | None = None,
        **kwargs: Any,
    ) -> None:
        kwargs.setdefault("retry_policy", RETRY_RULES)
        super().__init__(**kwargs)
        if (cluster is None) == (policy is None):
            raise ValueError("give either cluster or policy")
        self.cluster = cluster
        self.policy = policy
        self.table = table
        self.set = set
        self.since = since
        self.config = config

    def execute(self, context: Any) -> dict[str, Any]:
        """Look, and wait in the triggerer if it is not done."""
        return self._look(_Before(time.time() + self.timeout, seen=False))

    def look_again(
        self, context: Any, event: Any = None, until: float | None = None, odd: int = 0, **told: Any
    ) -> dict[str, Any]:
        """Look when the triggerer says that it is done, or in trouble; `until` is the end of the first wait."""
        end = time.time() + self.timeout if until is None else until
        told["alone"] = alone_now(event, told.get("alone", 0))
        return self._look(_Before(end, odd_of(event, odd), **told), trouble_of(event))

    def _look(self, before: "_Before", trouble: str | None = None) -> dict[str, Any]:
        with as_airflow_failures():
            place = SetPlace.of(
                load_configuration(config_directory(self.config)), self.cluster, self.policy, self.table
            )
            keep, settings = place.settings.sets.keep, place.settings.metastore.model_dump_json()
            try:
                metastore = cluster_metastore(place.configuration, place.cluster, resolve_from_airflow)
                wanted = self._wanted(place, metastore, before)
                mark = sets_there(metastore, [wanted], keep).get(wanted)
                trigger: BaseTrigger = _trigger(settings, wanted, keep, _heard_on(place, metastore))
                why = f"set {wanted.spec} of {wanted.table} is not done"
                after = replace(before, odd=0, seen=True)
            except TwinhiveError as error:
                after = replace(before, odd=odd_answers(error, before.odd))
                mark, trigger, why = None, TimeDeltaTrigger(LOOK_AGAIN), f"it is tried again: {error}"
        if mark is not None:
            self.log.info("set %s of %s is done, by %s", wanted.spec, wanted.table, mark.spec)
            marked = datetime.fromtimestamp(mark.marked, UTC).isoformat()
            return {"set": str(wanted.spec), "by_set": mark.spec, "marked": marked, "count": mark.count}
        if trouble is not None:  # the triggerer would meet it again at once, and not whoever looks here
            trigger = TimeDeltaTrigger(pause_of(after.alone, after.until))
            why = f"{why}; the triggerer cannot look for it: {trouble}"
        self.log.info(why)
        self.defer(
            trigger=trigger,
            method_name="look_again",
            kwargs=after.kwargs,
            timeout=timeout_of(after.until),
        )

    def _wanted(self, place: SetPlace, metastore: MetastoreReader, before: "_Before") -> WantedSet:
        try:
            return wanted_set(metastore, place.table, set_text(self.set), self._since())
        except Missing as error:
            if not before.seen:
                raise
            on_replica = self.policy is not None or is_replica(metastore, place.table.database)
            raise gone_meanwhile(place.table, on_replica=on_replica) from error

    def _since(self) -> int:
        if self.since is None or isinstance(self.since, datetime):
            return int(self.since.timestamp()) if self.since else 0
        try:
            return int(timezone.parse(self.since).timestamp())
        except ValueError as error:
            raise InvalidSettings(
                f"since of {self.task_id} is no time",
                found=self.since,
                expected="ISO 8601, such as 2030-05-17T12:00:00+02:00",
                next_step="correct the DAG, then clear this task",
            ) from error


@dataclass(frozen=True)
class _Before:
    """What a look is told by those before it.

    until  when the wait ends
    odd    how many looks in a row have met an answer that nobody knows
    seen   the table was there
    alone  how often in a row the triggerer was in trouble
    """

    until: float
    odd: int = 0
    seen: bool = True
    alone: int = 0

    @property
    def kwargs(self) -> dict[str, Any]:
        """What Airflow keeps for the next look; what is usual is left out."""
        seen = {} if self.seen else {"seen": False}
        return {"until": self.until, **kept(self.odd), **seen, **kept_alone(self.alone)}


def _trigger(settings: str, wanted: WantedSet, keep: str, heard_on: tuple[str, ...]) -> SetDoneTrigger:
    table = (wanted.table.database, wanted.table.table)
    return SetDoneTrigger(settings, table, list(wanted.spec.pairs), wanted.since, keep, heard_on)


def _heard_on(place: SetPlace, metastore: MetastoreReader) -> tuple[str, ...]:
    """Return the connection and the topic by which a broker tells of a table's sets: one for most of a database."""
    messages = MessagesWiring(place.configuration, place.cluster, resolve_from_airflow)
    connection, rules = messages.reads_by, messages.topics
    if connection is None or place.table.database not in messages.databases:
        return ()
    table = metastore.table(place.table)
    own = own_topic(table.parameters) if table else None
    if own is not None and rules.allows(own):
        return connection, own
    topic = rules.subscribed(place.table.database)
    return (connection, topic) if topic else ()
