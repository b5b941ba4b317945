"""Wait for external data from another DAG, over two clusters in memory: from the first write to the published table."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import DAG

from tests.support.builders import a_table
from tests.support.policies import PolicyFiles
from tests.support.worlds.fake_world import World, a_world
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_passes, run_phase
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.monitor.task_failures import PersonMustAct
from twinhive.surfaces.airflow.sensors.external_sensor import ExternalTablesInSync

BEFORE = datetime(2020, 1, 1, tzinfo=UTC)


class Replicated:
    """A published replica with an external table, and the lanes that can be run."""

    def __init__(self, world: World, policies: PolicyFiles) -> None:
        self.world = world
        self.policies = policies
        self.policy = policies.wiring("sales").policy
        self.log: list[str] = []
        self.put("outside", b"rows")
        self._run(run_bootstrap)

    def put(self, table: str, content: bytes) -> None:
        """Write into an external table's directory."""
        self.world.source_files.put(f"hdfs://east/{table}/part-0", content)

    def copy(self) -> None:
        """Run the data lane."""
        self._run(run_passes)

    def follow(self) -> None:
        """Run the event lane."""
        run_phase(INCREMENTAL, self.policy, self.world.ports(), {"run": "i"}, self.log.append)

    def _run(self, phase: Callable[..., Any]) -> None:
        phase(self.policy, self.world.ports(), {"run": "r"}, self.log.append)

    def is_in_sync(self, **given: Any) -> bool:
        """Look once, as the sensor's task does when it is started now."""
        with DAG("reports"):
            sensor = ExternalTablesInSync(task_id="there", policy="sales", config=str(self.policies.directory), **given)
        started = SimpleNamespace(start_date=datetime.now(UTC), get_first_reschedule_date=lambda context: None)
        return sensor.poke({"ti": started})


@pytest.fixture
def replicated(policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch) -> Replicated:
    for name in ("east", "west"):
        hdfs = {"conn_type": "hdfs", "host": name, "extra": {"uri": f"hdfs://{name}"}}
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}_HDFS", json.dumps(hdfs))
    world = a_world()
    monkeypatch.setattr(Wiring, "write_ports", lambda wiring: world.ports())
    policies.add("sales", external_tables={"base_directory": "hdfs://west/external"})
    return Replicated(world, policies)


def test_what_was_written_before_the_sensor_began_is_waited_for(replicated: Replicated) -> None:
    replicated.put("outside", b"other rows")
    assert not replicated.is_in_sync()
    since = datetime.now(UTC)
    replicated.copy()
    assert replicated.is_in_sync(since=since)
    assert replicated.is_in_sync(since=since.isoformat(), table="Outside")
    assert not replicated.is_in_sync()


def test_a_new_table_is_there_when_both_lanes_have_brought_it(replicated: Replicated) -> None:
    table = a_table("sales.clicks", table_type="EXTERNAL_TABLE", location="hdfs://east/clicks")
    replicated.world.source.create_table(table)
    replicated.put("clicks", b"rows")
    asked = {"since": BEFORE, "table": "clicks"}
    assert not replicated.is_in_sync(**asked)  # no pass has listed it
    replicated.copy()
    assert not replicated.is_in_sync(**asked)  # its event has not been applied
    replicated.follow()
    assert replicated.is_in_sync(**asked)


def test_a_table_that_waits_for_its_data_keeps_the_whole_policy_and_itself_waiting(replicated: Replicated) -> None:
    table = a_table("sales.clicks", table_type="EXTERNAL_TABLE", location="hdfs://east/clicks")
    replicated.world.source.create_table(table)
    replicated.follow()
    assert not replicated.is_in_sync(since=BEFORE)
    assert replicated.is_in_sync(since=BEFORE, table="outside")
    replicated.put("clicks", b"rows")
    replicated.copy()
    replicated.follow()
    assert replicated.is_in_sync(since=BEFORE)


def test_it_takes_no_worker_between_two_looks(replicated: Replicated) -> None:
    sensor = ExternalTablesInSync(task_id="there", policy="sales")
    assert (sensor.mode, sensor.poke_interval) == ("reschedule", 60)
    assert set(sensor.template_fields) == {"policy", "table", "since"}


@pytest.mark.parametrize(
    ("given", "said"), [({"since": "yesterday"}, "since of there is no time"), ({"policy": "stock"}, "no policy stock")]
)
def test_what_is_wrong_fails_at_once_and_is_named(replicated: Replicated, given: dict[str, Any], said: str) -> None:
    with DAG("reports"):
        sensor = ExternalTablesInSync(
            **{"task_id": "there", "policy": "sales", "config": str(replicated.policies.directory), **given}
        )
    with pytest.raises(PersonMustAct, match=said):
        sensor.poke({})
