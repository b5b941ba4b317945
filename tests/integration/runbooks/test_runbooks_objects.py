"""Follow the runbooks for one table, one lease, one policy file: break it; then do what the page says."""

from collections.abc import Callable

import pytest

from tests.integration.airflow_fixtures import until
from tests.integration.oncall import OnCall
from tests.support.users.source_writer import SourceWriter
from tests.support.users.warehouse import Warehouse
from twinhive.core.step.replica_lease import lease_directory

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]
Compare = Callable[[], None]


@pytest.mark.runbook("Somebody changed the replica by hand", options={"settle_seconds": 0})
def test_the_replica_was_changed_by_hand(
    oncall: OnCall, writers: SourceWriter, west: Warehouse, assert_twin: Compare
) -> None:
    west.client.drop_table(oncall.policy, "plain", False)
    writers.insert("plain", None, [b"more"])
    oncall.trigger()

    run = oncall.red_run("apply")
    oncall.read(run, "apply", "is missing on", "twinhive resync")
    oncall.operate("resync", table="plain")
    oncall.clear(run, "window")
    assert_twin()

    location = west.client.get_partition_by_name(oncall.policy, "orders", "day=1").sd.location
    west.files.delete(f"{location}/f1")
    oncall.green_run("scan", deep=True)
    assert_twin()


@pytest.mark.runbook("Verify found differences", options={"second_look_seconds": 1})
def test_verify_found_differences(oncall: OnCall, writers: SourceWriter, west: Warehouse, assert_twin: Compare) -> None:
    writers.insert("plain", None, [b"more"])
    oncall.green_run()
    oncall.green_run("verify")
    location = west.client.get_partition_by_name(oncall.policy, "orders", "day=1").sd.location
    west.files.delete(f"{location}/f1")
    oncall.trigger("verify")

    run = oncall.red_run("look_again", "verify", for_good=True)
    oncall.read(run, "look_again", "does not equal its source", "bring over what differs with")
    oncall.operate("resync", table="orders")
    oncall.green_run()
    oncall.green_run("verify")
    assert_twin()


@pytest.mark.runbook("The policy file was changed", tables={"include": [".*"], "exclude": ["orders"]})
def test_the_policy_file_was_changed(oncall: OnCall, writers: SourceWriter, assert_twin: Compare) -> None:
    policies, policy = oncall.airflow.policies, oncall.policy
    writers.insert("plain", None, [b"more"])
    policies.add(policy, tables={"inclde": [".*"]})
    oncall.trigger()

    run = oncall.red_run("window")
    oncall.read(run, "window", "cannot be used", "twinhive check")
    policies.add(policy)
    oncall.clear(run, "window")
    oncall.operate("resync", table="orders")
    oncall.green_run()
    assert_twin()


@pytest.mark.runbook("A table is quarantined", options={"on_object_error": "quarantine"})
def test_a_table_is_quarantined(oncall: OnCall, writers: SourceWriter, assert_twin: Compare) -> None:
    writers.insert("plain", None, {"lost": b"lost"})
    writers.files.delete(f"{writers.location('plain')}/lost")
    writers.insert("orders", ("1",), [b"more"])
    oncall.green_run()

    oncall.read(oncall.run_that_applied(), "apply", "QUARANTINED")
    oncall.operate("status", "quarantined:")
    oncall.operate("resync", table="plain")
    oncall.green_run()
    assert_twin()


@pytest.mark.runbook("A lease was left behind")
def test_a_lease_was_left_behind(oncall: OnCall, writers: SourceWriter, assert_twin: Compare) -> None:
    # What is removed again is applied one by one, so that the lease is held for some seconds.
    for number in range(40):
        writers.add_partitions("orders", {(f"for a while {number}",): [b"rows"]})
        writers.drop_partitions("orders", [(f"for a while {number}",)])
    oncall.trigger()
    run = oncall.run_at_work("apply")
    wiring = oncall.airflow.policies.wiring(oncall.policy)
    lease, directory = wiring.write_ports().lease, lease_directory(wiring.policy)
    until(lambda: lease.holder(directory), "apply has the lease", every=0.05)
    with oncall.airflow.frozen("west-metastore"):
        run.kill_task("apply")

    oncall.operate("unlock", "is held by", dry_run=True)
    oncall.operate("unlock", "it was taken over and released")
    oncall.clear(run, "apply")
    assert_twin()
