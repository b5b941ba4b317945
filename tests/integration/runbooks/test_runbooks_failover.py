"""Follow the runbooks for a change of the primary: there, half of the way, without the source, and back again."""

import shutil
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from hive_metastore import ttypes

from sandbox import Sandbox
from tests.integration.airflow_fixtures import WAITS_FOR_A_PERSON, WAITS_FOR_WHAT_IS_MISSING, Run
from tests.integration.oncall import OnCall
from tests.integration.runbooks.test_runbooks_shell import TOOLS, shell
from tests.support.users.source_writer import SourceWriter
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from twinhive.core.model.errors import Refused
from twinhive.operations.failover.promotion import How, Promotion
from twinhive.operations.failover.unplanned_failover import UnplannedFailover

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]
Compare = Callable[[], None]
MANAGED = {"include": False}
REVERSE: dict[str, object] = {"reverse": {}}
HOLDER = {"run": "test", "task": "failover"}


def promotion(west: Warehouse, database: str) -> Promotion | None:
    """Return since when the replica is the primary."""
    return Promotion.read(west.client.get_database(database).parameters or {})


def cleared(run: Run, *tasks: str) -> None:
    """Clear tasks one by one, without what follows them, and wait until the last has done its work again."""
    for task in tasks:
        run.clear_alone(task)
    run.wait_for(tasks[-1], "success")


def approved_again(run: Run) -> dict[str, set[str]]:
    """Clear all tasks of a run, approve once more, and return how each has ended."""
    run.clear()
    run.approve()
    assert run.wait() == "success", {task: run.log(task)[-3000:] for task in run.states()}
    return run.states()


def take_over(oncall: OnCall, users: SourceWriter) -> None:
    """Let the replica take over without what the users have written last."""
    wiring = oncall.airflow.policies.wiring(oncall.policy)
    ports = wiring.write_ports()
    event_id = UnplannedFailover(wiring.policy, 0, "", HOLDER).event_now(ports)
    users.insert("orders", ("1",), {"lost": b"lost"})
    UnplannedFailover(wiring.policy, event_id, "the source is gone", HOLDER).run(ports)


@pytest.mark.runbook("A planned failover", external_tables=MANAGED, failover={"fence": ["quota"]})
def test_a_planned_failover(oncall: OnCall, users: SourceWriter, west: Warehouse, assert_twin: Compare) -> None:
    users.insert("orders", ("1",), [b"not replicated yet"])
    plan = oncall.green_run("failover")
    oncall.read(plan, "prepare", "would open")
    assert plan.states()["promote"] == {"skipped"}

    run = oncall.trigger("failover", dry_run=False)
    run.wait_for("approve", *WAITS_FOR_A_PERSON)
    cleared(run, "prepare")
    run.approve()
    run.wait_for("catch_up", *WAITS_FOR_WHAT_IS_MISSING)
    with pytest.raises(Refused, match="quota"):
        users.insert("plain", None, [b"refused"])
    cleared(run, "fence")
    oncall.green_run()
    run.wait_for("prove_quiet", "success")
    run.clear("prove_quiet")
    assert run.wait() == "success", {task: run.log(task)[-3000:] for task in run.states()}

    oncall.read(run, "promote", "has taken over from")
    assert_twin()
    found = promotion(west, oncall.policy)
    assert found is not None and found.how is How.PLANNED
    assert set.union(*approved_again(run).values()) == {"success"}
    assert promotion(west, oncall.policy) == found
    assert "phase: promoted" in oncall.operate("status")


@pytest.mark.runbook("A failover is given up", external_tables=MANAGED, failover={"fence": ["quota"]})
def test_a_failover_is_given_up(oncall: OnCall, users: SourceWriter, west: Warehouse, assert_twin: Compare) -> None:
    users.insert("plain", None, [b"not replicated yet"])
    run = oncall.trigger("failover", dry_run=False)
    run.wait_for("approve", *WAITS_FOR_A_PERSON)
    if all(map(shutil.which, TOOLS)):
        time.sleep(3)
        shell(oncall.airflow, f"approve {run.dag_id} '{run.run_id}'")
    run.approve()
    run.wait_for("catch_up", *WAITS_FOR_WHAT_IS_MISSING)
    oncall.read(run, "fence", "is marked as fenced")
    with pytest.raises(Refused, match="quota"):
        users.insert("plain", None, [b"refused"])

    oncall.airflow.api.mark_run_failed(run.dag_id, run.run_id)
    oncall.operate("failover-abort", "is fenced for", dry_run=True)
    oncall.operate("failover-abort", "is not fenced any more")
    users.insert("plain", None, [b"let in again"])
    [again, *_] = oncall.airflow.runs(f"{oncall.policy}.operate")
    again.clear()
    assert again.wait() == "success"
    assert "is not fenced: nothing to take back" in again.log("operate")
    oncall.green_run()
    assert_twin()
    # Who clears the old run goes on without the fence, and gets nowhere.
    run.clear("catch_up")
    assert run.wait() == "failed"
    assert "is not fenced as its policy says" in run.log("prove_quiet")
    assert promotion(west, oncall.policy) is None


@pytest.mark.runbook("An unplanned failover", external_tables=MANAGED)
def test_an_unplanned_failover(oncall: OnCall, users: SourceWriter, sandbox: Sandbox, west: Warehouse) -> None:
    at = west.client.get_database(oncall.policy).parameters["repl.last.id"]
    users.insert("plain", None, [b"lost"])
    sandbox.kill("east-metastore")
    try:
        plan = oncall.green_run("failover", mode="unplanned")
        assert f"after event {at}" in oncall.read(plan, "prepare", "lost: all that")
        run = oncall.trigger("failover", mode="unplanned", reason="the source is gone", dry_run=False)
        run.wait_for("approve", *WAITS_FOR_A_PERSON)
        cleared(run, "prepare")
        run.approve()
        assert run.wait() == "success", {task: run.log(task)[-3000:] for task in run.states()}
        oncall.read(run, "promote", "has taken over from")
        found = promotion(west, oncall.policy)
        assert found is not None and (found.how, str(found.position.event_id)) == (How.UNPLANNED, at)
        assert set.union(*approved_again(run).values()) == {"success"}
        assert promotion(west, oncall.policy) == found
    finally:
        sandbox.start("east-metastore")


@pytest.mark.runbook("A failback", external_tables=MANAGED, failover=REVERSE)
def test_a_failback(oncall: OnCall, users: SourceWriter, east: Warehouse, west: Warehouse) -> None:
    take_over(oncall, users)
    name, back = oncall.policy, replace(oncall, policy=f"{oncall.policy}_back")
    table = west.client.get_table_req(ttypes.GetTableRequest(dbName=name, tblName="orders")).table
    west.add_partition(table, "new in west", files={"n": b"n,6\n"})
    oncall.airflow.wait_until_known(back.policy)
    plan = back.green_run("failback")
    back.read(plan, "prepare", "only ... has")

    run = back.trigger("failback", dry_run=False)
    run.wait_for("approve", *WAITS_FOR_A_PERSON)
    cleared(run, "prepare")
    run.approve()
    run.wait_for("follow", *WAITS_FOR_WHAT_IS_MISSING, "success")
    back.read(run, "adopt", "is the replica of policy")
    cleared(run, "prove_quiet", "divergence", "adopt")
    back.green_run()
    assert run.wait() == "success", {task: run.log(task)[-3000:] for task in run.states()}
    assert_equal_twin(west, name, east)
    states = approved_again(run)
    assert states.pop("switch_back") == {"skipped"}
    assert set.union(*states.values()) == {"success"}
    assert "equal at event" in run.log("verify")

    found = promotion(west, name)
    assert found is not None
    kept = east.client.get_partition(f"{name}__diverged_{found.position.event_id}", "orders", ["1"])
    assert east.files.read(f"{kept.sd.location}/lost") == b"lost"
    back.airflow.api.pause(f"{back.policy}.incremental")


@pytest.mark.runbook("The old source is written", external_tables=MANAGED, failover=REVERSE)
def test_the_old_source_is_written(oncall: OnCall, users: SourceWriter) -> None:
    take_over(oncall, users)
    users.insert("plain", None, {"late": b"late"})
    back = replace(oncall, policy=f"{oncall.policy}_back")
    oncall.airflow.wait_until_known(back.policy)
    log = oncall.read(oncall.airflow.measure(), "alert", "is written, though", "events of this policy since then")
    named = f"has taken over from it (policy {oncall.policy})"
    assert named in log

    plan = back.green_run("failback")
    said = back.read(plan, "prepare", "only ... has")
    assert "orders" in said and "plain" in said
    back.operate("failback")
    look = oncall.airflow.measure()
    assert look.states()["alert"] == {"skipped"} or named not in look.log("alert")
