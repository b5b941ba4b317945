"""Mend real replicas: a table brought back, an event passed over, a dead holder fenced, a replica given up."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from sandbox import Sandbox
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from twinhive.core.model.errors import Foreign, LeaseLost
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import DIRECTORY_MARK, without_marks
from twinhive.core.model.names import TableName
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore
from twinhive.operations.actions.replica_status import read_status
from twinhive.operations.actions.resync import Resync
from twinhive.operations.actions.skip_event import SkipEvent
from twinhive.operations.actions.unlock import Unlock
from twinhive.operations.failover.forget import Forget
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.cli.app import run

pytestmark = pytest.mark.sandbox

HOLDER = {"run": "terminal", "task": "operate", "by": "ann"}


@pytest.fixture
def users(sandbox: Sandbox, east: Warehouse) -> Iterator[SourceWriter]:
    """The users of a database with a table, a partitioned one and a view."""
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    users = SourceWriter(metastore, east.files, east.create_database("mended", parameters={"team": "Zürich"}))
    users.create_table("orders", keys=("p",))
    users.add_partitions("orders", {("a b",): {"f1": b"one"}, ("50%=#:ü",): {"000000_0": b"three"}, ("none",): {}})
    users.create_table("plain", files={"data": b"plain", "zero": b""}, parameters={"comment": "x"})
    users.create_view("recent")
    yield users
    metastore.close()


@pytest.fixture
def wiring(users: SourceWriter, policies: PolicyFiles) -> Wiring:
    """A policy whose replica is published, and freezes tables in trouble."""
    policies.add(users.database, options={"on_object_error": "quarantine"})
    policies.run(users.database)
    return policies.wiring(users.database)


def follow_all(policies: PolicyFiles, policy: str) -> None:
    while not policies.follow(policy)["window"].idle:
        pass


def test_what_keeps_a_real_replica_from_taking_over_is_named(
    wiring: Wiring, policies: PolicyFiles, west: Warehouse, capfd: pytest.CaptureFixture[str]
) -> None:
    policy = wiring.policy.name
    words = ["check", policy, "--failover", "--config", str(policies.directory)]
    run(words)
    said = capfd.readouterr()
    assert f"{policy}: never verified" in said.out and "grants" in said.out
    address = wiring.write_ports().replica.addresses()[0]
    keeps = "true" in west.client.get_config_value("metastore.repl.cm.enabled", "false")
    assert (f"{address} of cluster west keeps no dropped files" in said.err) is not keeps
    west.client.drop_table(wiring.policy.replica.database, "plain", True)
    Resync(wiring.policy, "plain", HOLDER).run(wiring.write_ports())
    assert run(words) == 4
    assert "wait to be brought over" in capfd.readouterr().err


def test_a_lost_file_freezes_its_table_and_a_resync_brings_it_back(
    users: SourceWriter, wiring: Wiring, policies: PolicyFiles, east: Warehouse, west: Warehouse
) -> None:
    policy, ports = wiring.policy, wiring.write_ports()
    users.insert("plain", None, {"lost": b"lost"})
    east.files.delete(f"{users.location('plain')}/lost")
    users.insert("orders", ("a b",), {"more": b"more"})
    follow_all(policies, policy.name)
    assert set(read_status(ports, policy).quarantined) == {"plain"}
    users.rename_table("recent", "recently")
    for table in ("plain", "orders", "recently"):
        Resync(policy, table, HOLDER).run(ports)
    follow_all(policies, policy.name)
    assert_equal_twin(east, users.database, west)
    # Without an event since the last, and with something to mend: the same again, in another place.
    before = ports.replica.table(TableName(users.database, "plain")).location
    for is_damaged in (False, True):
        if is_damaged:
            west.files.write(f"{before}/more", b"by hand")
        Resync(policy, "plain", HOLDER).run(ports)
        follow_all(policies, policy.name)
        assert_equal_twin(east, users.database, west)
        assert (ports.replica.table(TableName(users.database, "plain")).location != before) is is_damaged
    status = read_status(ports, policy)
    assert (status.quarantined, status.requested, status.in_scope) == ({}, (), 0)


def test_a_skipped_event_is_recorded_on_the_replica(
    users: SourceWriter, wiring: Wiring, policies: PolicyFiles, west: Warehouse
) -> None:
    policy, ports = wiring.policy, wiring.write_ports()
    users.set_parameters("plain", {"colour": "blue"})
    event_id = ports.source.current_event_id()
    users.set_parameters("orders", {"colour": "red"})
    lines = SkipEvent(policy, event_id, "blauä", HOLDER).run(ports)
    assert f"ALTER_TABLE of {users.database}.plain" in lines[0]
    follow_all(policies, policy.name)
    assert west.client.get_database(users.database).parameters[f"twinhive.skipped.{event_id}"] == "blauä"
    plain, orders = (ports.replica.table(TableName(users.database, name)) for name in ("plain", "orders"))
    assert "colour" not in plain.parameters
    assert orders.parameters["colour"] == "red"


@pytest.mark.thorough
def test_the_lease_of_a_dead_holder_is_taken_and_released(wiring: Wiring) -> None:
    ports, directory = wiring.write_ports(), f"{wiring.policy.staging}/lease"
    dead = ports.lease.hold(directory, {"run": "killed", "task": "apply"}, LeaseKind.EVENTS)
    held = dead.__enter__()
    plan = Unlock(wiring.policy, HOLDER).plan(ports)
    for said in ('"run": "killed"', '"task": "apply"', '"host"', '"pid"', '"epoch"'):
        assert said in plan[0]
    Unlock(wiring.policy, HOLDER).run(ports)
    assert ports.lease.holder(directory) is None
    with pytest.raises(LeaseLost):
        held.confirm()


def test_a_forgotten_replica_is_an_ordinary_database(
    users: SourceWriter,
    wiring: Wiring,
    policies: PolicyFiles,
    sandbox: Sandbox,
    east: Warehouse,
    west: Warehouse,
) -> None:
    policy, ports = wiring.policy, wiring.write_ports()
    users.insert("orders", ("a b",), {"more": b"more"})
    follow_all(policies, policy.name)
    Forget(policy, HOLDER).run(ports)

    assert_equal_twin(east, users.database, west)
    cluster = sandbox.clusters["west"]
    metastore = ThriftMetastore([(cluster.metastore_host, cluster.metastore_port)], timeout_seconds=60.0)
    tables = metastore.tables(users.database, metastore.table_names(users.database))
    objects = [metastore.database(users.database), *tables]
    for table in tables:
        objects += metastore.partitions(table.name, metastore.partition_names(table.name))
        if table.location:
            assert not west.files.attribute(table.location, DIRECTORY_MARK)
    marks = {key for one in objects for key in one.parameters.keys() - without_marks(one.parameters).keys()}
    assert marks <= {"repl.target.last.id"}
    assert policy.name not in east.client.get_database(users.database).parameters.get("repl.source.for", "").split(",")
    assert east.files.status(policy.dumps) is None
    assert west.files.status(policy.staging) is None

    with pytest.raises(Foreign):
        policies.run(policy.name)
    assert "nothing is left" in Forget(policy, HOLDER).run(ports)[0]
    assert metastore.table(TableName(users.database, "plain")) is not None


def test_a_partition_that_is_dropped_and_added_again_by_hive_has_no_rows_of_before(
    users: SourceWriter, wiring: Wiring, policies: PolicyFiles, sandbox: Sandbox, west: Warehouse
) -> None:
    """Hive adds a partition without a place, and the metastore shows what lies at the default one."""
    policy = wiring.policy
    users.overwrite("orders", ("a b",), {"f1": b"other"})
    users.drop_partitions("orders", [("none",)])
    users.rename_partition("orders", ("50%=#:ü",), ("renamed",))
    users.overwrite("orders", ("renamed",), {"f1": b"other"})
    follow_all(policies, policy.name)
    # Within the grace what lies in Hive's own places might be a running insert's: it would stay.
    at_once = replace(policy, options=replace(policy.options, grace_seconds=0))
    Forget(at_once, HOLDER).run(wiring.write_ports())
    cluster = sandbox.clusters["west"]
    replica = ThriftMetastore([(cluster.metastore_host, cluster.metastore_port)], timeout_seconds=60.0)
    orders = TableName(users.database, "orders")
    table = replica.table(orders)
    assert table is not None
    names = replica.partition_names(orders)
    there = replica.partitions(orders, names)
    assert len(there) == 2
    replica.drop_partitions(orders, names, delete_data=True)
    dropped = [replace(there[0], values=values) for values in (("none",), ("50%=#:ü",))]
    replica.add_partitions([one.at(orders, None) for one in (*there, *dropped)])
    added = replica.partitions(orders, replica.partition_names(orders))
    assert {one.location for one in added} == {
        f"{table.location}/{one.name(table.partition_keys)}" for one in (*there, *dropped)
    }
    assert [west.files.usage(one.location or "").files for one in added] == [0, 0, 0, 0]
