"""Make the DAG `twinhive.monitor`: measure all policies every minute, and be red while one of them needs somebody.

It starts runs too, of policies whose events wait since two minutes, or that have a request (`twinhive resync`): hints
of the watcher may get lost, and with many policies the runs that look without a hint are rare.

It needs no run of any policy: it asks the clusters, also while a policy's DAGs are paused or fail.

The newest run tells how it is *now*: green (`alert` passed over) when all is well, red with one text that names all
policies in trouble when not: those that are late, unreachable or broken, whose runs have failed, whose tables are
quarantined, whose sets are held for long, whose external data is old, whose replica has no room; and clusters of which
nothing is told. People are told when something new stands, again
every hour as long as it lasts, and when it is over; in between, runs are red in silence. A server that does not answer
gets two minutes, so that a restart wakes nobody.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, Asset, BaseOperator, CronTriggerTimetable, SkipMixin

from twinhive.core.model.errors import ActNow, TwinhiveError
from twinhive.operations.journal.open_records import Open, what_is_open
from twinhive.operations.journal.writing import open_journal
from twinhive.operations.monitoring.alert_memory import Judged, alarm, judge
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.operations.monitoring.lag_alerts import state_line
from twinhive.replication.notification_log.event_backlog import recalled, remembered
from twinhive.runtime.settings import Configuration, load_configuration
from twinhive.runtime.wiring.lag_wiring import measure_policies
from twinhive.runtime.wiring.publisher_wiring import measure_publishers
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.dags.dag_arguments import ALWAYS
from twinhive.surfaces.airflow.dags.policy_assets import hint, hints_alias
from twinhive.surfaces.airflow.dags.run_forms import checked_form
from twinhive.surfaces.airflow.monitor import metrics
from twinhive.surfaces.airflow.monitor.open_failures import send_metrics
from twinhive.surfaces.airflow.monitor.recorded_lags import record_lags
from twinhive.surfaces.airflow.monitor.recorded_publishers import record_publishers
from twinhive.surfaces.airflow.monitor.stalled_copies import placements_at, with_stalled
from twinhive.surfaces.airflow.monitor.task_failures import RETRY_RULES, PersonMustAct, as_airflow_failures
from twinhive.surfaces.airflow.monitor.watch_round import WatchedRemotes, WatchRound

MONITOR = "twinhive.monitor"
Notify = Callable[[Any], Any]
"""What is called with a task's context: a notifier of Airflow, or a function."""

_PATIENCE_SECONDS = 25.0
_MEMORY, _COUNTED = "alerts", "counted"
_NEXT_STEP = "mend the newest first; nothing is to be cleared here: a minute after all is well, the newest run is green"


def monitor_dag(config: Path, notify: Sequence[Notify] = ()) -> DAG:
    """Build the DAG; `notify` is told of what is new."""
    with DAG(
        dag_id=MONITOR,
        description="red while a policy is too late, unreachable or broken",
        doc_md=__doc__,
        schedule=CronTriggerTimetable("* * * * *", timezone="UTC"),
        max_active_runs=1,
        is_paused_upon_creation=False,
        tags={"twinhive"},
        # Before any other task of ours: the more there is to do, the more it is needed.
        default_args={"retries": 0, "retry_policy": RETRY_RULES, "priority_weight": 10, "weight_rule": "absolute"},
        **ALWAYS,
    ) as dag:
        measure = MeasureOperator(
            task_id="measure",
            config=str(config),
            inlets=[monitor_asset()],
            outlets=[hints_alias()],
            execution_timeout=timedelta(minutes=2),
            # A worker that did not get it started is no reason to be red.
            retries=2,
            retry_delay=timedelta(seconds=10),
            on_failure_callback=list(notify),
        )
        measure >> AlertOperator(task_id="alert", on_failure_callback=[_when_new(one) for one in notify])
    return dag


def monitor_asset() -> Asset:
    """Return the asset beside whose name the alerts of the last run are remembered; it never has an event."""
    return Asset(name=MONITOR, uri="twinhive-monitor://alerts")


class MeasureOperator(BaseOperator, SkipMixin):
    """Measure all policies, record what was found, and pass over `alert` when nobody is needed."""

    # Airflow asks this before it runs a task whose upstream task has passed it over.
    inherits_from_skipmixin = True
    ui_color = "#e8f0fe"

    def __init__(self, *, config: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config

    def execute(self, context: Any) -> dict[str, Any]:
        """Return how many policies there are and what stands; the log has a line for each policy."""
        with as_airflow_failures():
            checked_form(context)
        configuration = load_configuration(Path(self.config))
        kept = Kept(context, self.log.warning)
        counted = kept.get(_COUNTED)
        known = recalled(counted)
        found = measure_policies(configuration, resolve_from_airflow, patience=_PATIENCE_SECONDS, known=known)
        kept.put(_COUNTED, counted, remembered({lag.policy: lag.counted for lag in found if lag.counted}))
        self._say(found)
        opened = self._what_is_open()
        now, copies = time.time(), opened.copies if opened else ()
        found = with_stalled(found, copies)
        placements = with_stalled(placements_at(configuration, now), copies)
        publishers = measure_publishers(configuration, resolve_from_airflow, now, _PATIENCE_SECONDS)
        remotes = WatchedRemotes.now(Path(self.config))
        round_ = WatchRound(configuration, found, opened, now, remotes, publishers, placements)
        _record(found, round_)
        _hint(found, configuration, context["outlet_events"])
        judged = self._judge(round_, kept)
        round_.tell(judged, context, self.log.warning)
        said = alarm(judged.standing, time.time()) if judged.standing else None
        result = {"policies": len(found), "is_news": judged.is_news, "alarm": said}
        if said is None:
            # Skipping ends the task, so that nothing after this line would be pushed.
            context["ti"].xcom_push(key="return_value", value=result)
            self.skip(context["ti"], [context["dag"].get_task("alert")])
        return result

    def _say(self, found: Sequence[PolicyLag]) -> None:
        self.log.info("::group::%s policies", f"{len(found):,}")
        for lag in found:
            self.log.info(state_line(lag))
        self.log.info("::endgroup::")

    def _what_is_open(self) -> Open | None:
        """Return what the journal says, None when it does not answer."""
        try:
            return what_is_open()
        except TwinhiveError as error:
            self.log.warning("what has failed is not known: %s", error)
            return None

    def _judge(self, round_: WatchRound, kept: "Kept") -> Judged:
        """Compare with the last run; what cannot be remembered is told once too often, never too seldom."""
        memory = kept.get(_MEMORY)
        judged = judge(round_.alerts(), memory, round_.at, round_.reminders(), round_.unseen)
        kept.put(_MEMORY, memory, judged.memory)
        return judged


@dataclass(frozen=True)
class Kept:
    """What one run leaves to the next, beside the monitor's asset. Airflow may not answer: that stops nothing."""

    context: Any
    warn: Callable[..., None]

    def get(self, key: str) -> Any:
        """Return what the last run left, None when that is not known."""
        try:
            return self.context["asset_state_store"][monitor_asset()].get(key)
        except Exception as error:
            self.warn("what the last run left as %s is not known, everything is news: %s", key, error)
            return None

    def put(self, key: str, before: Any, value: Any) -> None:
        """Leave something to the next run, if it is not what was there before."""
        if value == before or (before is None and not value):
            return
        try:
            self.context["asset_state_store"][monitor_asset()].set(key, value)
        except Exception as error:
            self.warn("what was found cannot be remembered as %s: %s", key, error)


class AlertOperator(BaseOperator):
    """Fail with what stands: what, which policy, found, expected, next step of each."""

    ui_color = "#fde8e8"

    def execute(self, context: Any) -> None:
        """Raise, if there is something: cleared alone after `measure` was cleared, there may be nothing."""
        found = context["ti"].xcom_pull(task_ids="measure") or {}
        if found.get("alarm"):
            stopped = PoliciesNeedAttention(ActNow(found["alarm"], next_step=_NEXT_STEP), is_news=found["is_news"])
            self.log.error("%s", stopped)
            raise stopped


class PoliciesNeedAttention(PersonMustAct):
    """What notifiers find as `exception` in their context."""

    def __init__(self, error: ActNow, *, is_news: bool) -> None:
        super().__init__(error)
        self.is_news = is_news

    def __str__(self) -> str:
        return str(self.error)


def _when_new(notify: Notify) -> Notify:
    def told(context: Any) -> None:
        if getattr(context.get("exception"), "is_news", True):
            notify(context)

    return told


def _hint(found: Sequence[PolicyLag], configuration: Configuration, outlet_events: Any) -> None:
    """Start runs that nothing else may start soon."""
    for lag in found:
        if lag.wants_a_run:
            hint(outlet_events, configuration.policy(lag.policy).usable(), state_line(lag))


def _record(found: Sequence[PolicyLag], round_: WatchRound) -> None:
    """Write journal and metrics; either may be down."""
    journal = open_journal()
    if round_.opened:  # 0 says that all is well, which a journal that does not answer has not said
        every = (*found, *round_.placements)
        send_metrics([lag.policy for lag in every], round_.failures)
        metrics.copies_stalled(every)
    metrics.monitor_was_here(round_.at)
    record_lags(journal, found)
    record_publishers(journal, round_.publishers)
    journal.monitor_was_here(round_.at)
    journal.forget_others([lag.policy for lag in found])
