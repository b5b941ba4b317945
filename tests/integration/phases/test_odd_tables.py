"""Tables that a real source takes and a replica does not take as they are: columns, long names, other names of HDFS."""

from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from tests.support.policies import PolicyFiles
from tests.support.users.external_users import ExternalUsers
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from tests.support.worlds.external_comparison import assert_external_twin
from twinhive.core.model.files import ChecksumForm
from twinhive.core.model.names import TableName
from twinhive.core.model.quarantine import frozen_tables
from twinhive.operations.actions.resync import Resync

pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]

LONG = ("漢" * 150,)
"""With `p=` 452 bytes: a value that a metastore takes, and no name on HDFS."""
STEP, AFTER = (("id", "string"),), (("id", "string"), ("more", "struct<a:int>"))
OTHERS = (("id", "map<int,int>"), ("last", "binary"))


@pytest.fixture
def users(sandbox: Sandbox, east: Warehouse) -> Iterator[ExternalUsers]:
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    yield ExternalUsers(metastore, east.files, east.create_database("odd"))
    metastore.close()


def follow(policies: PolicyFiles, policy: str, report) -> None:
    while not policies.follow(policy, report)["window"].idle:
        pass


def test_columns_that_the_replica_does_not_take_in_one_call(
    users: ExternalUsers, east: Warehouse, west: Warehouse, policies: PolicyFiles, report
) -> None:
    database = users.database
    policies.add(database, external_tables={"base_directory": f"hdfs://west/ext/{database}"})
    wiring = policies.wiring(database)
    policy, ports = wiring.policy, wiring.write_ports()
    root = f"hdfs://east/data/{database}"
    users.create_table("plain", files=[b"one"])
    users.create_table("parts", ("p",))
    users.add_partitions("parts", {("a",): [b"two"], ("b",): [b"three"]})
    users.create_table("gone", files=[b"old"])
    users.fill_external("ext", f"{root}/ext", ("p",), {})
    users.fill_partitions("ext", {("1",): (None, {"f": b"rows"})})
    for table in ("plain", "parts", "ext"):
        users.set_columns(table, (("id", "string"), ("more", "int"), ("last", "int")), cascade=True)
    policies.run(database, report=report)
    policies.copy_external(database, report)
    follow(policies, database, report)
    before = {name: ports.replica.table(TableName(database, name)) for name in ("plain", "parts", "ext")}
    for table in ("plain", "parts"):
        users.set_columns(table, STEP, cascade=True)
        users.set_columns(table, AFTER, cascade=True)
        Resync(policy, table, {"by": "test"}).run(ports)
    users.drop_table("gone")
    users.create_table("gone", files=[b"new"])
    users.set_columns("gone", ())
    users.set_columns("gone", OTHERS)
    Resync(policy, "gone", {"by": "test"}).run(ports)
    users.put(f"{root}/elsewhere", {})
    users.set_location("ext", f"{root}/elsewhere")
    users.set_columns("ext", ())
    users.set_columns("ext", OTHERS)
    follow(policies, database, report)
    assert ports.replica.table(TableName(database, "ext")).columns == before["ext"].columns
    policies.copy_external(database, report)
    follow(policies, database, report)
    assert_equal_twin(east, database, west)
    assert_external_twin(ports, policy)
    assert ports.replica.table(TableName(database, "ext")).columns == OTHERS
    assert ports.replica.partition_names(TableName(database, "ext")) == ["p=1"]
    assert ports.replica_files.status(f"hdfs://west/ext/{database}/data/{database}/ext/p=1/f") is not None


def test_partitions_whose_names_are_longer_than_hdfs_takes(
    users: ExternalUsers, east: Warehouse, west: Warehouse, policies: PolicyFiles, report
) -> None:
    database = users.database
    table = users.create_table("long", ("p",))
    users.create_table("later", ("p",))
    for name in ("long", "later"):
        users.put(f"{users.location(name)}/short", {"f": b"rows"})
    users.add_at("long", LONG, f"{table.location}/short")
    policies.add(database)
    policies.run(database, report=report)
    assert_equal_twin(east, database, west)
    users.add_at("later", LONG, f"{users.location('later')}/short")
    users.insert("long", LONG, [b"more"])
    follow(policies, database, report)
    assert_equal_twin(east, database, west)
    users.overwrite("long", LONG, {"g": b"other"})
    users.rename_partition("later", LONG, ("x",))
    follow(policies, database, report)
    assert_equal_twin(east, database, west)


def test_an_archived_partition_lets_its_table_wait(
    users: ExternalUsers, east: Warehouse, west: Warehouse, policies: PolicyFiles, report
) -> None:
    database = users.database
    policies.add(database)
    wiring = policies.wiring(database)
    policy, ports = wiring.policy, wiring.write_ports()
    users.create_table("parts", ("p",))
    users.add_partitions("parts", {("a",): [b"one"], ("b",): [b"two"]})
    users.create_table("plain", files=[b"one"])
    policies.run(database, report=report)
    before = users.location("parts", ("a",))
    users.set_partition_location("parts", ("a",), before.replace("hdfs://", "har://hdfs-") + "/data.har")
    users.insert("plain", None, [b"more"])
    follow(policies, database, report)
    frozen = frozen_tables(ports.replica.database(database).parameters)
    assert list(frozen) == ["parts"]
    assert "UNARCHIVE PARTITION" in frozen["parts"]
    Resync(policy, "parts", {"by": "test"}).run(ports)
    follow(policies, database, report)
    users.set_partition_location("parts", ("a",), before)
    follow(policies, database, report)
    assert_equal_twin(east, database, west)


def test_locations_that_name_the_namenode(
    users: ExternalUsers, sandbox: Sandbox, east: Warehouse, west: Warehouse, policies: PolicyFiles, report
) -> None:
    database = users.database
    properties = sandbox.clusters["east"].hadoop_properties
    namenode = f"hdfs://{properties['dfs.namenode.rpc-address.east.nn1']}"
    policies.add(database, external_tables={"base_directory": f"hdfs://west/ext/{database}"})
    wiring = policies.wiring(database)
    policy, ports = wiring.policy, wiring.write_ports()

    def in_one_name(place: str) -> str:
        return place.replace(namenode, "hdfs://east")

    users.create_table("plain", files=[b"one"])
    users.create_table("parts", ("p",))
    users.add_partitions("parts", {("a",): [b"two"], ("b",): [b"three"]})
    old = {name: users.location(name).replace("hdfs://east", namenode) for name in ("plain", "parts")}
    users.set_location("plain", old["plain"])
    users.set_partition_location("parts", ("b",), f"{old['parts']}/p=b")
    users.put(f"hdfs://east/data/{database}/ext", {"f": b"external"})
    users.create_external("ext", (), f"{namenode}/data/{database}/ext")
    policies.run(database, report=report)
    policies.copy_external(database, report)
    follow(policies, database, report)
    for place in ("plain", "parts/p=c"):
        users.put(f"{in_one_name(old['plain']).removesuffix('/plain')}/{place}", {"more": b"more"})
    checksum = users.files.checksum(f"{in_one_name(old['plain'])}/more", ChecksumForm.IDENTITY)
    users.metastore.fire_insert(TableName(database, "plain"), None, [(f"{old['plain']}/more", checksum)])
    users.set_location("parts", old["parts"])
    users.add_at("parts", ("c",), f"{old['parts']}/p=c")
    follow(policies, database, report)
    for place in ("plain", "parts/p=c"):
        name, _, partition = place.partition("/")
        there = ports.replica.table(TableName(database, name)).location
        if partition:
            (found,) = ports.replica.partitions(TableName(database, name), [partition])
            there = found.location
        assert ports.replica_files.read(f"{there}/more") == b"more"
    assert_external_twin(ports, policy)
    for name in ("plain", "parts"):
        there = ports.replica.table(TableName(database, name))
        assert namenode not in there.thrift
    assert ports.source.table(TableName(database, "plain")).location == in_one_name(old["plain"])
    assert users.table("plain").location == old["plain"]  # nothing of the source is changed
