"""A first copy of a real source of which Hive has archived a partition: its files are another file system's, `har://`."""

import shlex
from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.quarantine import frozen_tables
from twinhive.operations.actions.resync import Resync

pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]
DAY = ("1",)


@pytest.fixture
def users(sandbox: Sandbox, east: Warehouse) -> Iterator[SourceWriter]:
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    made = SourceWriter(metastore, east.files, east.create_database("archived"))
    made.create_table("plain", files={"f": b"plain"})
    made.create_table("orders", ("day",))
    made.add_partitions("orders", {DAY: {"f": b"one"}, ("2",): {"f": b"two"}})
    yield made
    metastore.close()


def archive(users: SourceWriter) -> str:
    """Do to the partition what ARCHIVE does to it in the metastore, over an archive of one file; return its place."""
    place = users.location("orders", DAY)
    archived = f"{place}/data.har"
    users.files.write(f"{archived}/_masterindex", b"3 \n0 2147483647 0 60 \n")
    users.files.write(f"{archived}/_index", b"%2F dir none 0 0 f \n%2Ff file part-0 0 3 \n")
    users.files.write(f"{archived}/part-0", b"one")
    users.files.delete_file(f"{place}/f")
    har = f"har://hdfs-east{archived.removeprefix('hdfs://east')}"
    users.set_partition_location("orders", DAY, har)
    users.alter_partition("orders", DAY, {"is_archived": "true", "original_location": place})
    assert users.location("orders", DAY) == har
    return har


def unarchive(users: SourceWriter, place: str) -> None:
    users.files.write(f"{place}/f", b"one")
    users.set_partition_location("orders", DAY, place)
    users.files.delete(f"{place}/data.har")


def test_with_stop_the_partition_is_named_and_nothing_is_copied(
    users: SourceWriter, policies: PolicyFiles, west: Warehouse, report
) -> None:
    har = archive(users)
    policies.add(users.database)
    with pytest.raises(ActNow) as caught:
        policies.run(users.database, report=report)
    said = str(caught.value)
    assert f"partition day=1 of table {users.database}.orders" in said, said
    assert har in said and "UNARCHIVE PARTITION" in said, said
    assert "2 tables" not in said and f"{users.database}.plain" not in said, said
    assert users.database not in west.client.get_all_databases()


def test_with_quarantine_its_table_is_left_out_until_it_is_mended(
    users: SourceWriter, policies: PolicyFiles, east: Warehouse, west: Warehouse, report, log: list[str]
) -> None:
    database, place = users.database, users.location("orders", DAY)
    archive(users)
    policies.add(database, options={"on_object_error": "quarantine"})
    policies.run(database, report=report)
    assert west.client.get_all_tables(database) == ["plain"]
    assert any(f"left out: {database}.orders" in line for line in log), log
    wiring = policies.wiring(database)
    ports = wiring.write_ports()

    def frozen() -> dict[str, str]:
        return frozen_tables(ports.replica.database(database).parameters)

    assert frozen().keys() == {"orders"}
    command = shlex.split(frozen()["orders"].partition("then: ")[2])
    assert command == ["twinhive", "resync", database, "orders"]
    users.insert("plain", None, {"g": b"more"})
    users.insert("orders", ("2",), {"g": b"more"})
    to_the_end(policies, database, report)
    assert ports.replica.table(TableName(database, "orders")) is None
    unarchive(users, place)
    Resync(wiring.policy, command[3], {"by": "test"}).run(ports)
    to_the_end(policies, database, report)
    assert frozen() == {}
    assert_equal_twin(east, database, west)


def to_the_end(policies: PolicyFiles, database: str, report) -> None:
    while not policies.follow(database, report)["window"].idle:
        pass
