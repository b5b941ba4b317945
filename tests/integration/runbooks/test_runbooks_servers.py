"""Follow the runbooks for servers and processes that fail: kill, fill, stop; then do what the page says."""

from collections.abc import Callable

import pytest

from sandbox import Sandbox
from tests.integration.airflow_fixtures import RunningAirflow
from tests.integration.damage import Databases, without_room
from tests.integration.oncall import OnCall, rest
from tests.support.users.source_writer import SourceWriter

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]
Compare = Callable[[], None]


@pytest.mark.runbook("A task was killed")
def test_a_task_was_killed(oncall: OnCall, writers: SourceWriter, assert_twin: Compare) -> None:
    writers.insert("plain", None, [b"more"])
    oncall.trigger()
    run = oncall.run_at_work("apply")
    with oncall.airflow.frozen("west-metastore"):
        run.kill_task("apply")
        run.wait_for("apply", "up_for_retry")

    oncall.read(run, "apply", "Process terminated by signal")
    oncall.clear(run, "apply")
    assert_twin()


@pytest.mark.runbook("The source's metastore is down")
def test_the_source_metastore_is_down(
    oncall: OnCall, sandbox: Sandbox, writers: SourceWriter, assert_twin: Compare
) -> None:
    writers.insert("plain", None, [b"more"])
    sandbox.kill("east-metastore")
    oncall.trigger()

    run = oncall.red_run("window")
    oncall.read(run, "window", "no metastore answered at", "check that a metastore listens there")
    sandbox.start("east-metastore")
    oncall.clear(run, "window")
    assert_twin()


@pytest.mark.runbook("The replica's metastore is down")
def test_the_replica_metastore_is_down(
    oncall: OnCall, sandbox: Sandbox, writers: SourceWriter, assert_twin: Compare
) -> None:
    writers.insert("plain", None, [b"more"])
    sandbox.kill("west-metastore")
    oncall.trigger()

    run = oncall.red_run("window")
    oncall.read(run, "window", "no metastore answered at", "check that a metastore listens there")
    sandbox.start("west-metastore")
    oncall.clear(run, "window")
    assert_twin()


@pytest.mark.runbook("A NameNode is in safe mode")
def test_a_namenode_is_in_safe_mode(
    oncall: OnCall, sandbox: Sandbox, writers: SourceWriter, assert_twin: Compare
) -> None:
    writers.insert("plain", None, [b"more"])
    sandbox.dfsadmin("west", "-safemode", "enter")
    oncall.trigger()

    run = oncall.red_run("window")
    oncall.read(run, "window", "is in safe mode", "wait until")
    sandbox.dfsadmin("west", "-safemode", "leave")
    oncall.clear(run, "window")
    assert_twin()


@pytest.mark.runbook("The replica's disks are full")
def test_the_replica_has_no_room(oncall: OnCall, sandbox: Sandbox, writers: SourceWriter, assert_twin: Compare) -> None:
    writers.insert("plain", None, [b"more"])
    with without_room(sandbox, "west"):
        oncall.trigger()
        run = oncall.red_run("window")
        oncall.read(run, "window", "found no DataNode", "could only be written to", "look which DataNodes")
    oncall.clear(run, "window")
    assert_twin()

    writers.insert("plain", None, [b"and more"])
    staging = oncall.airflow.policies.wiring(oncall.policy).policy.staging
    sandbox.dfsadmin("west", "-setSpaceQuota", "1", staging)
    oncall.trigger()
    run = oncall.red_run("window")
    oncall.read(run, "window", "a quota is used up", "free space below")
    sandbox.dfsadmin("west", "-clrSpaceQuota", staging)
    oncall.clear(run, "window")
    assert_twin()


@pytest.mark.runbook("Airflow was restarted in the middle")
def test_airflow_was_restarted(
    oncall: OnCall, airflow: RunningAirflow, writers: SourceWriter, assert_twin: Compare
) -> None:
    writers.insert("plain", None, [b"more"])
    oncall.trigger()
    run = oncall.run_at_work("apply")
    with airflow.frozen("west-metastore"):
        run.wait_for("apply", "running")
        airflow.kill()
    airflow.start()

    oncall.clear(run, "apply")
    oncall.read_of_any_try(run, "apply", "events applied")
    assert_twin()


@pytest.mark.runbook("Airflow's database was lost or restored")
def test_airflow_lost_its_database(
    oncall: OnCall, airflow: RunningAirflow, databases: Databases, writers: SourceWriter, assert_twin: Compare
) -> None:
    writers.insert("plain", None, [b"before"])
    oncall.green_run()
    airflow.kill()
    databases.drop("airflow")
    databases.create("airflow")
    writers.insert("plain", None, [b"meanwhile"])
    airflow.start()
    # What other tests had paused is new to this database, and would run.
    for policy in {dag_id.removesuffix(".scan") for dag_id in airflow.api.dag_ids() if dag_id.endswith(".scan")}:
        if policy != oncall.policy:
            rest(airflow, policy)

    oncall.green_run()
    oncall.read(oncall.run_that_applied(), "apply", "the replica is at event")
    assert_twin()
