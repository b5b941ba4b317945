"""Bootstrap real databases between the two clusters, step by step in this process."""

import json
import os
from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from sandbox.ports import free_ports
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin, describe
from twinhive.core.model.errors import ActNow, TryAgain
from twinhive.hive.adapters.jvm.java_vm import java_class

pytestmark = pytest.mark.sandbox

AWKWARD = ("a b", "50%", "a=b", "a#b", "10:30", "Zürich 日本", "{x}[y]", "it's", "a/b")


@pytest.fixture
def users(source_metastore: ThriftSource, east: Warehouse) -> SourceWriter:
    return SourceWriter(source_metastore, east.files, east.create_database("constrained"))


def an_awkward_database(east: Warehouse) -> str:
    """Create one of everything that a bootstrap has to get right."""
    database = east.create_database(
        description="all sales", ownerName="ann", ownerType=1, parameters={"team": "Zürich"}
    )
    orders = east.create_table(database, "orders", keys=("day", "part"), comment="naïve")
    for number, value in enumerate(AWKWARD):
        files = {"000000_0": b"x" * number, f"sub dir/{value.replace('/', '_').replace(':', '_')}": b"y"}
        east.add_partition(orders, value, str(number), files=files)
    east.add_partition(orders, "no files", "1")
    east.add_partition(orders, "elsewhere", "1", files={"f": b"z"}, location=f"{orders.sd.location}_elsewhere")
    east.create_table(database, "plain", files={"data": b"1,2\n" * 1000, "zero": b"", "_SUCCESS": b""})
    east.create_table(database, "empty", parameters={"comment": "nothing here", "weiß": "ja"})
    east.create_table(database, "no_partitions", keys=("p",))
    east.create_view(database, "recent", f"SELECT a FROM {database}.plain")
    east.create_table(
        database, "outside", kind="EXTERNAL_TABLE", location=f"hdfs://east/outside/{database}", files={"f": b"1"}
    )
    return database


def test_a_bootstrap_gives_an_equal_twin(east: Warehouse, west: Warehouse, policies: PolicyFiles, log, report) -> None:
    policy = policies.add(an_awkward_database(east), external_tables={"include": False})
    begin = east.client.get_current_notificationEventId().eventId

    loaded = policies.run(policy, report=report)["load"]

    assert_equal_twin(east, policy, west)
    assert loaded.event_id >= begin
    assert any("left out" in line and "outside" in line for line in log)
    parameters = west.client.get_database(policy).parameters
    assert parameters["repl.last.id"] == str(loaded.event_id)
    assert parameters["twinhive.phase"] == "following"
    assert policy in east.client.get_database(policy).parameters["repl.source.for"]


def test_a_twin_may_have_another_name(east: Warehouse, west: Warehouse, policies: PolicyFiles) -> None:
    database = east.create_database()
    east.create_table(database, "plain", files={"data": b"1"})
    policies.run(policies.add(database, replica=f"{database}_twin"))
    assert_equal_twin(east, database, west, f"{database}_twin")


def test_constraints_come_along_under_another_name_too(
    users: SourceWriter, east: Warehouse, west: Warehouse, policies: PolicyFiles
) -> None:
    users.create_table("parent", files={"data": b"1"})
    users.create_table("child", keys=("p",))
    for kind in ("primary_key", "unique", "not_null", "default", "check"):
        users.add_constraint("parent", kind, f"the_{kind}")
    users.add_constraint("child", "foreign_key", "fk", parent="parent")
    policies.run(policies.add(users.database, replica=f"{users.database}_twin"))
    assert_equal_twin(east, users.database, west, f"{users.database}_twin")
    constraints = describe(west, f"{users.database}_twin")["tables"]["child"]["constraints"]
    assert list(constraints["foreign_key"]) == ["fk"]


def test_staging_is_empty_and_one_dump_is_left_after_a_bootstrap(
    east: Warehouse, west: Warehouse, policies: PolicyFiles
) -> None:
    database = east.create_database()
    east.create_table(database, "plain", files={"data": b"1"})
    policy = policies.wiring(policies.add(database)).policy
    policies.run(database)
    ((_, staged),) = west.files.list_directories([policy.staging])
    ((_, dumps),) = east.files.list_directories([policy.dumps])
    assert [status.path.rpartition("/")[2] for status in staged or []] == ["lease"]
    assert len(dumps or []) == 1


def test_a_source_that_changes_during_the_bootstrap_ends_in_an_equal_twin(
    east: Warehouse, west: Warehouse, policies: PolicyFiles, log, report
) -> None:
    database = east.create_database()
    one = east.create_table(database, "one", keys=("p",))
    east.add_partition(one, "1", files={"data": b"1"})
    east.add_partition(one, "2", files={"data": b"2"})
    east.create_table(database, "gone", files={"data": b"1"})
    policy = policies.add(database)
    listed = policies.run(policy, "preflight", "list_objects")
    east.create_table(database, "two", files={"data": b"2"})
    east.client.drop_partition(database, "one", ["1"], True)
    policies.run(policy, "list_files", "copy", earlier=listed)
    east.add_partition(one, "1", files={"data": b"another"})
    east.client.drop_table(database, "gone", True)

    policies.finish(policy, report)

    assert_equal_twin(east, database, west)
    assert west.client.get_database(database).parameters["repl.last.id"] == str(
        east.client.get_current_notificationEventId().eventId
    )


def test_what_is_staged_is_not_copied_again(east: Warehouse, policies: PolicyFiles) -> None:
    database = east.create_database()
    east.create_table(database, "one", files={"data": b"1"})
    policy = policies.add(database)
    policies.run(policy, "preflight", "list_objects", "list_files", "copy")
    east.create_table(database, "two", files={"data": b"2"})
    log: list[str] = []
    policies.run(policy, report=log.append)
    assert any("1 files copied, 1 were staged before" in line for line in log)


def test_a_busy_neighbour_does_not_block(east: Warehouse, west: Warehouse, policies: PolicyFiles) -> None:
    database, neighbour = east.create_database(), east.create_database("neighbour")
    east.create_table(database, "plain", files={"data": b"1"})
    policy = policies.add(database)
    policies.run(policy, "preflight", "list_objects", "list_files", "copy")
    east.create_table(neighbour, "busy", files={"data": b"2"})
    policies.finish(policy)
    assert_equal_twin(east, database, west)


def test_a_foreign_database_is_refused_and_left_alone(east: Warehouse, west: Warehouse, policies: PolicyFiles) -> None:
    database = east.create_database()
    foreign = west.create_database("foreign")
    west.create_table(foreign, "precious", files={"data": b"1"})
    policy = policies.add(database, replica=foreign)
    with pytest.raises(ActNow, match="does not belong to policy"):
        policies.run(policy)
    assert west.client.get_all_tables(foreign) == ["precious"]


def test_a_missing_database_is_named(policies: PolicyFiles) -> None:
    with pytest.raises(ActNow, match="database nowhere does not exist on cluster east"):
        policies.run(policies.add("nowhere"))


@pytest.mark.thorough
def test_staging_on_another_file_system_is_refused(east: Warehouse, policies: PolicyFiles) -> None:
    database = east.create_database()
    policy = policies.add(database, staging_root="hdfs://east/staging")
    with pytest.raises(ActNow, match="staging_root"):
        policies.run(policy)


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("AIRFLOW_CONN_EAST_METASTORE", "metastore"),
        pytest.param("AIRFLOW_CONN_WEST_METASTORE", "metastore", marks=pytest.mark.thorough),
        pytest.param("AIRFLOW_CONN_EAST_HDFS", "hdfs://east", marks=pytest.mark.thorough),
        ("AIRFLOW_CONN_WEST_HDFS", "hdfs://west"),
    ],
)
def test_a_server_that_is_down_is_named_and_may_be_tried_again(
    east: Warehouse, policies: PolicyFiles, variable: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked for at a port where nobody listens: a client cannot tell this from a server that was stopped."""
    policy = policies.add(east.create_database())
    connection, (port,) = json.loads(os.environ[variable]), free_ports(1)
    if connection["conn_type"] == "hdfs":
        connection["extra"]["hadoop"][f"dfs.namenode.rpc-address.{connection['host']}.nn1"] = f"127.0.0.1:{port}"
    else:
        connection["port"] = port
    monkeypatch.setenv(variable, json.dumps(connection))
    with pytest.raises(TryAgain, match=said):
        policies.run(policy)


@pytest.mark.thorough
def test_safe_mode_of_the_replica_is_named_and_may_be_tried_again(
    east: Warehouse, west: Warehouse, policies: PolicyFiles
) -> None:
    policy = policies.add(east.create_database())
    java = west.files._client.java
    action = java_class("org.apache.hadoop.fs.SafeModeAction")
    java.setSafeMode(action.ENTER)
    try:
        with pytest.raises(TryAgain, match="is in safe mode"):
            policies.run(policy)
    finally:
        java.setSafeMode(action.LEAVE)


@pytest.fixture(scope="module")
def badly_set(sandbox: Sandbox) -> Iterator[Warehouse]:
    """The cluster east while its metastore can be neither a source nor a replica."""
    transformer = "org.apache.hadoop.hive.metastore.MetastoreDefaultTransformer"
    settings = {"transactional.event.listeners": " ", "metadata.transformer.class": transformer}
    sandbox.stop("east-metastore")
    sandbox.start("east-metastore", overrides={f"metastore.{key}": value for key, value in settings.items()})
    warehouse = Warehouse(sandbox.clusters["east"])
    yield warehouse
    warehouse.close()
    sandbox.stop("east-metastore")
    sandbox.up()


@pytest.mark.thorough
def test_a_source_without_a_listener_is_refused(badly_set: Warehouse, policies: PolicyFiles) -> None:
    with pytest.raises(ActNow, match="keeps no notification log"):
        policies.run(policies.add("anything"))


@pytest.mark.thorough
def test_a_replica_that_makes_managed_tables_external_is_told_and_keeps_none(
    badly_set: Warehouse, west: Warehouse, policies: PolicyFiles
) -> None:
    database = west.create_database()
    west.create_table(database, "plain", files={"data": b"1"})
    source, replica = ({"cluster": cluster, "database": database} for cluster in ("west", "east"))
    policies.write(f"policies/{database}.yaml", {"policy": database, "source": source, "replica": replica})
    with pytest.raises(ActNow, match=r"metastore\.metadata\.transformer\.class"):
        policies.run(database)
    assert badly_set.client.get_all_tables(database) == []
