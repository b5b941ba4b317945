"""On-call fails a policy over through a real Airflow's API: reads the plan, approves, clears tasks before and after."""

import pytest

from tests.integration.airflow_fixtures import WAITS_FOR_WHAT_IS_MISSING, RunningAirflow
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from twinhive.operations.failover.promotion import How, Promotion

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]


@pytest.fixture
def followed_policy(
    airflow: RunningAirflow, policies: PolicyFiles, source_metastore: ThriftSource, east: Warehouse
) -> tuple[str, SourceWriter]:
    """A policy whose replica follows, and the users of its source."""
    name = east.create_database("overtaken")
    users = SourceWriter(source_metastore, east.files, name)
    users.create_table("orders", ("day",))
    users.add_partitions("orders", {("1",): {"a": b"x,1\n"}, ("a b/ü",): {"b": b"y,2\n"}})
    airflow.add(name, external_tables={"include": False})
    policies.add(name, external_tables={"include": False})
    policies.run(name)
    return name, users


@pytest.mark.nightly(
    "tests/dags/forms/test_failover_dag.py::test_each_task_can_be_cleared_once_it_has_taken_over",
    "tests/integration/phases/test_failover.py::test_there_and_back_again",
)
def test_a_failover_is_approved_task_by_task_and_each_can_be_cleared(
    airflow: RunningAirflow,
    policies: PolicyFiles,
    followed_policy: tuple[str, SourceWriter],
    east: Warehouse,
    west: Warehouse,
) -> None:
    name, users = followed_policy
    dag_id = f"{name}.failover"

    def promotion() -> Promotion | None:
        return Promotion.read(west.client.get_database(name).parameters or {})

    plan = airflow.trigger(dag_id)
    assert plan.wait() == "success"
    assert plan.states() == {
        "prepare": {"success"},
        **{task: {"skipped"} for task in ("approve", "fence", "catch_up", "prove_quiet", "verify", "promote")},
    }
    assert "would open" in plan.log("prepare")

    refused = airflow.trigger(dag_id, dry_run=False)
    refused.approve("Reject")
    refused.wait()
    assert refused.states()["promote"] == {"skipped"}
    assert promotion() is None

    users.insert("orders", ("1",), {"late": b"z,3\n"})
    run = airflow.trigger(dag_id, dry_run=False)
    run.approve()
    # What the source has logged has to be there first; the policy's own runs bring it.
    run.wait_for("catch_up", *WAITS_FOR_WHAT_IS_MISSING)
    while not policies.follow(name)["window"].idle:
        pass
    run.wait_for("verify", "success")
    assert run.wait() == "success", run.log("promote")
    found = promotion()
    assert found is not None and found.how is How.PLANNED
    assert_equal_twin(east, name, west)
    before = west.client.get_database(name).parameters

    run.clear("catch_up")
    assert run.wait() == "success"
    run.clear_alone("prepare")
    assert run.wait() == "success"
    assert "has taken over" in run.log("prepare") and "has taken over" in run.log("promote")
    assert west.client.get_database(name).parameters == before
