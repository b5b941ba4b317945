"""The DAG that watches all policies, run in this process over clusters in memory."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from airflow.models.asset import AssetEvent, AssetModel
from airflow.sdk.execution_time.context import AssetStateStoreAccessor
from airflow.sdk.observability import stats
from airflow.utils.session import create_session
from sqlalchemy import delete, select

from tests.dags.airflow_home import parse_dags
from tests.support.journal_records import a_copy, a_failure
from tests.support.messages.memory_broker import BrokerState, MemoryBroker
from tests.support.messages.notification_inbox import Hook
from tests.support.policies import PolicyFiles
from tests.support.servers.status_port import DOWN, a_count, nowhere, status_port
from tests.support.servers.status_port import WELL as WELL_REMOTE
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.messages.topics import TopicRules
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_changes import HeldSet
from twinhive.core.model.sets.set_mark import SetMark
from twinhive.operations.journal.journal_reading import open_reader
from twinhive.operations.journal.open_records import what_is_open
from twinhive.operations.journal.records import SentMessage
from twinhive.operations.journal.writing import Journal
from twinhive.operations.monitoring import alert_memory, gateway_alerts, publisher_alerts
from twinhive.publishing.messages.event_announcements import AnnouncedDatabases
from twinhive.publishing.messages.publishing_messages import Publisher, PublisherRules
from twinhive.replication.operator_requests.request_files import request_table
from twinhive.replication.replica.held_sets import write_held_sets
from twinhive.runtime.pipeline.runner import run_bootstrap
from twinhive.runtime.wiring.message_wiring import MessagesWiring
from twinhive.surfaces.airflow.dags.monitor_dag import MONITOR, monitor_dag
from twinhive.surfaces.airflow.monitor import stalled_copies, watch_round
from twinhive.surfaces.airflow.monitor.alert_delivery import Teller
from twinhive.surfaces.airflow.monitor.watch_round import not_shared

WELL = {"measure": "success", "alert": "skipped"}
ALARM = {"measure": "success", "alert": "failed"}
BROKER = {"conn_type": "stomp", "host": "127.0.0.1", "port": 1, "login": "publisher", "password": "publishing"}
PAGED = {"send": [{"webhook": "pager"}]}


class Monitored:
    """A published replica under the eyes of the monitor."""

    def __init__(self, world: World, policies: PolicyFiles) -> None:
        self.world = world
        self.policies = policies
        self.told: list[str] = []
        self.metrics: dict[str, float] = {}
        self.add(max_lag=60.0)
        run_bootstrap(policies.wiring("sales").policy, world.ports(), {"run": "b"}, lambda line: None)

    def add(self, **more: Any) -> None:
        self.policies.add("sales", external_tables={"include": False}, **more)

    def write(self) -> None:
        """Do something at the source, years ago as its log says."""
        SourceWriter(self.world.source, self.world.source_files, "sales").insert("plain", None, [b"more"])

    def run(self) -> dict[str, str]:
        """Run the DAG once and return the states of its tasks."""

        def notify(context: Any) -> None:
            self.told.append(str(context["exception"]))

        run = monitor_dag(self.policies.directory, [notify]).test()
        return {instance.task_id: str(instance.state) for instance in run.get_task_instances()}


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Be what Airflow keeps beside an asset's name; a run in this process has no server that would."""
    kept: dict[str, Any] = {}
    monkeypatch.setattr(AssetStateStoreAccessor, "get", lambda self, key, default=None: kept.get(key, default))
    monkeypatch.setattr(AssetStateStoreAccessor, "set", lambda self, key, value: kept.update({key: value}))
    return kept


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    monkeypatch.setenv("TWINHIVE_JOURNAL", url)
    return url


@pytest.fixture
def monitored(
    world: World, policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch, memory: dict[str, Any], journal: str
) -> Monitored:
    monitored = Monitored(world, policies)
    monkeypatch.setattr(
        stats, "gauge", lambda name, value, **more: monitored.metrics.update({f"{name} {more.get('tags')}": value})
    )
    return monitored


def test_when_all_is_well_one_task_runs_and_the_journal_and_the_metrics_have_the_lag(
    monitored: Monitored, journal: str
) -> None:
    assert monitored.run() == WELL
    [state] = open_reader(journal).overview()[1]
    assert (state.policy, state.phase, state.lag_seconds) == ("sales", "following", 0)
    lags = {name: value for name, value in monitored.metrics.items() if name.startswith("twinhive.lag")}
    assert lags == {
        "twinhive.lag.seconds {'policy': 'sales'}": 0,
        "twinhive.lag.events {'policy': 'sales'}": 0,
        "twinhive.lag.limit.seconds {'policy': 'sales'}": 60,
    }


@pytest.mark.thorough
def test_lag_without_any_run_of_the_policy_is_red_and_told_once(monitored: Monitored) -> None:
    monitored.write()
    assert monitored.run() == ALARM
    assert monitored.run() == ALARM
    [told] = monitored.told
    for part in ("sales", "too far behind", "at most 1 min (max_lag)", "airflow dags unpause sales.incremental"):
        assert part in told


@pytest.mark.thorough
def test_what_is_mended_turns_the_next_run_green(monitored: Monitored) -> None:
    monitored.write()
    assert monitored.run() == ALARM
    monitored.policies.follow("sales")
    assert monitored.run() == WELL


def test_a_policy_file_that_cannot_be_used_is_told_with_what_is_wrong(monitored: Monitored) -> None:
    monitored.policies.write("policies/stock.yaml", {"policy": "stock", "colour": 1})
    assert monitored.run() == ALARM
    assert "stock.yaml cannot be used" in monitored.told[0] and "twinhive check stock" in monitored.told[0]


@pytest.mark.thorough
def test_a_dead_metastore_is_told_when_it_stays_away(monitored: Monitored, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(name: str) -> Any:
        raise Unreachable("the metastore of west is away", next_step="start it")

    monitored.world.replica.database = away
    assert monitored.run() == WELL
    monkeypatch.setattr(alert_memory, "GRACE_SECONDS", 0.0)
    assert monitored.run() == ALARM
    assert "the metastore of west is away" in monitored.told[0]


@pytest.mark.thorough
def test_a_gateway_that_stays_away_is_told_through_its_own_channels_and_that_it_is_well_again(
    monitored: Monitored, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters: list[str] = []
    monkeypatch.setattr(Teller, "tell", lambda self, message, to, **_: letters.append(f"{to.owner}: {message.text}"))
    monkeypatch.setattr(Teller, "tell_end", lambda self, message, to: letters.append(f"{to.owner}: {message.text}"))
    monkeypatch.setattr(gateway_alerts, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(alert_memory, "FORGET_SECONDS", -1.0)
    monkeypatch.setattr(watch_round, "FORGET_SECONDS", -1.0)
    gone = nowhere()
    monitored.policies.write("remotes.yaml", {"gateways": [gone], "notifications": {"owner": "data platform"}})
    assert monitored.run() == ALARM
    assert f"the gateway whose status port is {gone} does not answer" in monitored.told[0]
    monitored.policies.write("remotes.yaml", {"gateways": [], "notifications": {"owner": "data platform"}})
    assert monitored.run() == WELL
    assert all(letter.startswith("data platform: twinhive: *remotes: gateway ") for letter in letters)
    assert any("is well" in letter for letter in letters)


def test_a_remote_that_is_down_is_told_and_one_that_answers_is_not(
    monitored: Monitored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_alerts, "GRACE_SECONDS", 0.0)
    with status_port(a_count()) as gateway:
        monitored.policies.write("remotes.yaml", {"gateways": [gateway]})
        assert monitored.run() == ALARM
    assert f"the remote {DOWN} does not answer" in monitored.told[0] and WELL_REMOTE not in monitored.told[0]


def test_without_memory_and_without_journal_it_still_measures_and_tells(
    monitored: Monitored, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the API is away")

    monkeypatch.setattr(AssetStateStoreAccessor, "get", broken)
    monkeypatch.setattr(AssetStateStoreAccessor, "set", broken)
    monkeypatch.setenv("TWINHIVE_JOURNAL", "sqlite:////no/such/directory/journal.db")
    monitored.write()
    assert monitored.run() == ALARM
    assert len(monitored.told) == 1


def test_it_runs_every_minute_from_the_start_and_before_other_tasks(policies: PolicyFiles) -> None:
    dag = monitor_dag(policies.directory)
    assert dag.dag_id == MONITOR and not dag.is_paused_upon_creation and dag.max_active_runs == 1
    assert dag.schedule.expression == "* * * * *"
    assert {task.priority_weight for task in dag.tasks} == {10}
    # What it has found to be wrong is not tried again.
    assert dag.get_task("alert").retries == 0


def test_a_policy_that_waits_too_long_gets_a_run_whatever_became_of_the_hint(monitored: Monitored) -> None:
    with create_session() as session:
        session.execute(delete(AssetEvent))
    request_table(monitored.world.replica_files, monitored.policies.wiring("sales").policy, "plain", "ann")
    assert monitored.run() == WELL
    with create_session() as session:
        [asset] = session.scalars(select(AssetModel.name).join(AssetEvent, AssetEvent.asset_id == AssetModel.id))
    assert asset == "sales.source"
    schedule = parse_dags(monitored.policies.directory)["sales.incremental"].schedule
    assert asset in {one.name for one in schedule.asset_condition.objects}


@pytest.mark.thorough
def test_a_failure_that_a_person_must_mend_is_red_at_once_and_another_after_a_while(
    monitored: Monitored, memory: dict[str, Any], journal: str
) -> None:
    failed = a_failure("sales", dag_id="sales.bootstrap", task_id="tables.copy", what="no answer")
    Journal(journal).record_failure(failed)
    assert monitored.run() == WELL
    assert monitored.metrics["twinhive.failures.open {'policy': 'sales', 'family': 'try_again'}"] == 1
    memory["alerts"]["sales failed bootstrap"][0] -= 901
    assert monitored.run() == ALARM
    assert "sales.bootstrap, task tables.copy: no answer" in monitored.told[0]
    Journal(journal).record_failure(a_failure("sales", dag_id="sales.scan", act_now=True, what="lost"))
    assert monitored.run() == ALARM
    assert "lost" in monitored.told[1]


@pytest.mark.thorough
def test_a_copy_that_stands_still_is_red_told_and_on_the_page_until_it_goes_on(
    monitored: Monitored, paged: Hook, journal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stalled_copies, "airflow_runs", lambda work: True)
    copy = a_copy(began=time.time() - 9_000, moved=time.time() - 7_200)
    Journal(journal).copy_begins(copy)
    assert monitored.run() == ALARM
    assert "sales.bootstrap: a copy moves nothing" in monitored.told[0]
    assert said(paged) == [("stalled", "stands")]
    assert monitored.metrics["twinhive.copies.stalled {'policy': 'sales'}"] == 1
    assert "has moved nothing for 2 h" in str(open_reader(journal).policy("sales"))
    Journal(journal).copy_moves(copy, time.time())
    assert monitored.run() == WELL
    assert monitored.metrics["twinhive.copies.stalled {'policy': 'sales'}"] == 0


def test_what_somebody_tried_by_a_form_is_no_failure_of_the_policy(monitored: Monitored, journal: str) -> None:
    Journal(journal).record_failure(a_failure("sales", dag_id="sales.operate", task_id="operate", act_now=True))
    assert monitored.run() == WELL


@pytest.mark.thorough
def test_a_configuration_without_policies_is_red_and_forgets_nothing(monitored: Monitored, journal: str) -> None:
    assert monitored.run() == WELL
    for path in (monitored.policies.directory / "policies").iterdir():
        path.unlink()
    assert monitored.run() == ALARM
    assert "the configuration holds no policy" in monitored.told[0]
    assert open_reader(journal).overview()[0] == 1


@pytest.mark.thorough
def test_a_journal_that_cannot_be_read_is_said_when_it_lasts(
    monitored: Monitored, memory: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWINHIVE_JOURNAL", "sqlite:////no/such/directory/journal.db")
    assert monitored.run() == WELL
    memory["alerts"]["* unknown"][0] -= 601
    assert monitored.run() == ALARM
    assert "what has failed is not known" in monitored.told[0]


def test_when_it_was_there_is_known_to_others(monitored: Monitored) -> None:
    before = time.time()
    monitored.run()
    seen = what_is_open().monitor_at
    assert seen is not None and before <= seen <= time.time()
    assert monitored.metrics["twinhive.monitor.at None"] == seen


@pytest.fixture
def paged(monitored: Monitored, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> Hook:
    """The webhook that the policy's people are told by."""
    monkeypatch.setenv("AIRFLOW_CONN_PAGER", json.dumps({"conn_type": "http", "host": hook.url}))
    monitored.add(max_lag=60.0, notifications=PAGED)
    return hook


def said(hook: Hook) -> list[tuple[str, str]]:
    return [(one["kind"], one["state"]) for body in hook.bodies for one in body["alerts"]]


@pytest.mark.thorough
def test_the_people_of_a_policy_are_told_once_and_that_it_is_over(
    monitored: Monitored, paged: Hook, memory: dict[str, Any]
) -> None:
    monitored.write()
    assert monitored.run() == ALARM
    assert monitored.run() == ALARM
    assert said(paged) == [("late", "stands")]
    monitored.policies.follow("sales")
    assert monitored.run() == WELL
    assert said(paged) == [("late", "stands")]
    memory["alerts"]["sales late"][2] -= 301
    assert monitored.run() == WELL
    assert monitored.run() == WELL
    assert said(paged) == [("late", "stands"), ("late", "over")]
    assert "now: sales; following" in paged.bodies[-1]["alerts"][0]["what"]


@pytest.mark.thorough
def test_what_a_task_has_told_the_monitor_tells_only_when_it_is_over(
    monitored: Monitored, paged: Hook, journal: str
) -> None:
    failure = a_failure("sales", act_now=True, what="lost")
    Journal(journal).record_failure(failure)
    Journal(journal).record_message(
        SentMessage("sales", "stopped incremental", "webhook pager", time.time() - 400, time.time() - 400)
    )
    assert monitored.run() == ALARM
    assert said(paged) == []
    Journal(journal).resolve_all("sales.incremental")
    assert monitored.run() == WELL


@pytest.mark.thorough
def test_what_was_told_and_is_over_before_the_monitor_has_seen_it_is_told_to_be_over(
    monitored: Monitored, paged: Hook, journal: str
) -> None:
    long_ago = time.time() - 400
    Journal(journal).record_message(SentMessage("sales", "stopped bootstrap", "webhook pager", long_ago, long_ago))
    assert monitored.run() == WELL
    assert monitored.run() == WELL
    assert said(paged) == [("stopped", "over")]


def test_a_message_that_cannot_be_sent_turns_the_monitor_red_and_nothing_else(
    monitored: Monitored, paged: Hook, memory: dict[str, Any]
) -> None:
    monitored.write()
    paged.status = 500
    assert monitored.run() == ALARM
    assert monitored.run() == ALARM
    memory["alerts"]["sales untold webhook pager"][0] -= 301
    assert monitored.run() == ALARM
    assert "nobody is told of policy sales through webhook pager" in monitored.told[-1]
    assert "answered 500" in monitored.told[-1]
    paged.status = 200
    assert monitored.run() == ALARM
    assert said(paged) == [("late", "stands")]
    assert [one.trouble for one in what_is_open().messages] == [None]


def test_who_is_told_of_a_file_that_cannot_be_used_is_read_from_it_all_the_same(
    monitored: Monitored, paged: Hook
) -> None:
    monitored.add(colour="red", notifications=PAGED)
    assert monitored.run() == ALARM
    assert said(paged) == [("trouble", "stands")]


@pytest.mark.parametrize(
    ("executor", "address", "is_wrong"),
    [
        ("LocalExecutor", "sqlite:////srv/journal.db", False),
        ("local:airflow.executors.local_executor.LocalExecutor", "sqlite:////srv/journal.db", False),
        ("CeleryExecutor", "sqlite:////srv/journal.db", True),
        ("LocalExecutor,KubernetesExecutor", "sqlite:////srv/journal.db", True),
        ("CeleryExecutor", "postgresql+psycopg2://journal@db/journal", False),
        ("CeleryExecutor", "airflow://journal", False),
    ],
)
def test_a_journal_that_workers_do_not_share_is_said(
    monkeypatch: pytest.MonkeyPatch, executor: str, address: str, is_wrong: bool
) -> None:
    monkeypatch.setenv("AIRFLOW__CORE__EXECUTOR", executor)
    assert (not_shared(address) is not None) == is_wrong


def test_a_policy_that_stands_still_is_counted_on_from_where_the_last_run_was(
    monitored: Monitored, memory: dict[str, Any]
) -> None:
    for _ in range(400):
        monitored.world.source._log.emit("INSERT", "sales", "t", {})
    assert monitored.run() == ALARM
    assert list(memory["counted"]) == ["sales"]
    before = memory["counted"]
    read, asked = monitored.world.source.events_after, list[int]()
    monitored.world.source.events_after = lambda after, limit: asked.append(limit) or read(after, limit)
    assert monitored.run() == ALARM
    assert sum(asked) <= 310 and memory["counted"] == before


def test_a_set_that_is_held_for_long_and_a_broker_that_is_down_need_somebody(
    monitored: Monitored, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = monitored.policies.wiring("sales").policy
    mark = SetMark(TableName("sales", "plain"), "*", 1)
    held = [HeldSet(mark, "table plain waits for resync", "the next incremental run brings it")]
    write_held_sets(monitored.world.replica_files, policy, held)
    assert monitored.run() == WELL
    assert monitored.metrics["twinhive.sets.held {'policy': 'sales'}"] == 1
    assert open_reader().policy("sales").held_sets is not None  # type: ignore[union-attr]
    held_long = [replace(one, mark=replace(mark, spec="a=1")) for one in held]
    write_held_sets(monitored.world.replica_files, policy, held_long, clock=lambda: time.time() - 7_200)
    assert monitored.run() == ALARM
    assert "plain a=1 since 2 h" in monitored.told[-1] and "table plain waits for resync" in monitored.told[-1]
    assert 7_200 <= monitored.metrics["twinhive.sets.held.seconds {'policy': 'sales'}"] < 9_000
    write_held_sets(monitored.world.replica_files, policy, [])
    monitored.add(max_lag=60.0)
    monkeypatch.setenv("AIRFLOW_CONN_BUS", json.dumps(BROKER))
    monkeypatch.setattr(alert_memory, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(publisher_alerts, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(MessagesWiring, "metastore", lambda wiring: monitored.world.source)
    clusters = (monitored.policies.directory / "clusters.yaml").read_text()
    text = clusters.replace("  east:", "  east:\n    messages: {broker: bus}", 1)
    (monitored.policies.directory / "clusters.yaml").write_text(text)
    rules = PublisherRules(TopicRules("east"), AnnouncedDatabases(), "one")
    Publisher(monitored.world.source, MemoryBroker(BrokerState()), rules).round()
    assert monitored.run() == ALARM
    assert "what happens on cluster east is not told: broker bus" in monitored.told[-1]
    assert monitored.metrics["twinhive.broker.down {'cluster': 'east'}"] == 1
    [publisher] = open_reader().publishers()
    assert publisher.is_silent and "does not answer" in str(publisher.broker_trouble)
