"""Let other DAGs wait until a replica has reached an event of its source."""

import time
from collections.abc import Sequence
from typing import Any

from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from airflow.sdk import BaseSensorOperator
from airflow.triggers.base import BaseTrigger

from twinhive.core.model.errors import InvalidSettings, TwinhiveError
from twinhive.core.model.text import render
from twinhive.replication.incremental.event_reached import Lack, Wanted, Where, table_in_scope, what_is_missing
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.config_directory import config_directory
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.monitor.task_failures import RETRY_RULES, as_airflow_failures
from twinhive.surfaces.airflow.sensors.sensor_backoff import LOOK_AGAIN, alone_now, kept_alone, pause_of
from twinhive.surfaces.airflow.triggers.deferral_delay import timeout_of
from twinhive.surfaces.airflow.triggers.event_id_trigger import EventIdTrigger
from twinhive.surfaces.airflow.triggers.unexplained_errors import kept, odd_answers, odd_of, trouble_of


class ReplicatedEventIdSensor(BaseSensorOperator):
    """Wait until the replica of a policy holds what had happened at its source.

        there = ReplicatedEventIdSensor(task_id="there", policy="sales", table="orders")
        there >> report_on_the_replica

    policy    a policy's name
    event_id  an event of the source's log, or a template of one: until the position of the replica is there (or past
              it, or nothing of the policy is between). Tables that are quarantined or wait for their data do not matter
    table     a table of the source: until its newest event, as of the moment when this sensor was started, is applied,
              and the table is there: not quarantined, not waiting for its data
    neither   the same for all tables
    config    directory of clusters.yaml and policies/; None: $TWINHIVE_CONFIG, else the DAG folder

    It waits in the triggerer, which polls each replica's metastore once for all sensors. `timeout`, `soft_fail` and
    `never_fail` are Airflow's. It fails at once when only a person can help: the policy is unknown or its file wrong,
    the replica was forgotten or belongs to another policy, the log has a gap, the table is not replicated. It goes on
    waiting, and the log says for what, while the replica is being built, the policy is paused, a table is quarantined.
    A server that does not answer is waited for as well.
    """

    template_fields: Sequence[str] = ("policy", "event_id", "table")
    ui_color = "#e6f4ea"

    def __init__(
        self,
        *,
        policy: str,
        event_id: int | str | None = None,
        table: str | None = None,
        config: str | None = None,
        **kwargs: Any,
    ) -> None:
        kwargs.setdefault("retry_policy", RETRY_RULES)
        super().__init__(**kwargs)
        if event_id is not None and table is not None:
            raise ValueError("give event_id or table, or neither of them, not both")
        self.policy = policy
        self.event_id = event_id
        self.table = table
        self.config = config

    def execute(self, context: Any) -> None:
        """Fix what is waited for, look, and wait in the triggerer if it is not there."""
        with as_airflow_failures():
            as_of = self._given()
        self._look(as_of, time.time() + self.timeout)

    def look_again(self, context: Any, event: Any = None, **told: Any) -> None:
        """Go on with the same event when the triggerer says that it may be there; `told` is what `_look` takes."""
        if not told:
            # Airflow's dag.test loses them: whoever tries a DAG out waits for what is the newest now.
            self.execute(context)
        else:
            odd, alone = odd_of(event, told.get("odd", 0)), alone_now(event, told.get("alone", 0))
            self._look(**{**told, "odd": odd, "alone": alone}, trouble=trouble_of(event))

    def _look(self, as_of: int | None, until: float, odd: int = 0, alone: int = 0, trouble: str | None = None) -> None:
        odd_now = 0
        with as_airflow_failures():
            wiring = self._wiring()
            table = table_in_scope(wiring.policy, self.table) if self.table else None
            ports = wiring.read_ports()
            try:
                if as_of is None:
                    as_of = ports.source.current_event_id()
                    self.log.info("what counts are events up to %s, the newest of the source now", as_of)
                wanted = Wanted(as_of, table, position=self.event_id is not None)
                lack = what_is_missing(ports, wiring.policy, wanted)
            except TwinhiveError as error:
                odd_now = odd_answers(error, odd)
                wanted, lack = Wanted(as_of or 0), Lack(Where.LATER, 0, f"it is tried again: {error}")
        if lack is None:
            self.log.info("event %s is there", as_of)
            return
        self.log.info(render(lack.why))
        trigger = self._trigger(wiring, wanted, lack)
        if trouble is not None:  # the triggerer would meet it again at once, and not whoever looks here
            pause = pause_of(alone, until)
            self.log.info("it is looked for again in %s: the triggerer cannot look, %s", pause, trouble)
            trigger = TimeDeltaTrigger(pause)
        self.defer(
            trigger=trigger,
            method_name="look_again",
            kwargs={"as_of": as_of, "until": until, **kept(odd_now), **kept_alone(alone)},
            timeout=timeout_of(until),
        )

    def _trigger(self, wiring: Wiring, wanted: Wanted, lack: Lack) -> BaseTrigger:
        match lack.where:
            case Where.SOURCE:
                return EventIdTrigger(wiring.source.metastore.model_dump_json(), lack.event_id, self.policy)
            case Where.REPLICA:
                return EventIdTrigger(
                    wiring.replica.metastore.model_dump_json(),
                    lack.event_id,
                    self.policy,
                    wiring.policy.replica.database,
                    wanted.table,
                    wanted.position,
                )
            case Where.LATER:
                return TimeDeltaTrigger(LOOK_AGAIN)

    def _wiring(self) -> Wiring:
        configuration = load_configuration(config_directory(self.config))
        return Wiring.of(configuration, self.policy, resolve_from_airflow)

    def _given(self) -> int | None:
        if self.event_id is None:
            return None
        text = str(self.event_id).strip()
        if text.isdigit():
            return int(text)
        raise InvalidSettings(
            f"event_id of {self.task_id} is no event id",
            found=repr(self.event_id),
            expected="a whole number, or a template that gives one",
            next_step="correct the DAG, then clear this task",
        )
