"""Tables go from one real cluster to the other by EXPORT and IMPORT: ours, Hive's, and one's by the other."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from hive_metastore import ttypes

from sandbox import Sandbox
from sandbox.hive.peer import run_statements
from tests.integration.spark_sql import ONE_WORKER
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from twinhive.core.model.errors import AlreadyThere
from twinhive.core.model.names import TableName
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.statements.execution import StatementPlace, run_statement

pytestmark = pytest.mark.sandbox

ROWS = {("2011-02-27", "ü/="): {"f": b"a,1\nb,2\n"}, ("2011-02-28", "50%"): {"g": b"c,3\n", "h": b"d,4\n"}}
PLAIN = {"data": b"e,5\nf,6\n", "zero": b""}
Rows = dict[str, dict[str, bytes]]


@dataclass
class Traveller:
    """Says statements about a database that both clusters have, each its own."""

    sandbox: Sandbox
    policies: PolicyFiles
    east: Warehouse
    west: Warehouse
    users: SourceWriter
    report: list[str]

    @property
    def database(self) -> str:
        return self.users.database

    @property
    def exports(self) -> str:
        return f"{self.west.cluster.hdfs_uri}/exports-of-{self.database}"

    def say(self, cluster: str, text: str, spark: SparkCluster | None = None) -> tuple[str | int, ...]:
        configuration = load_configuration(self.policies.directory)
        place = StatementPlace(configuration, resolve_from_environment, cluster)
        if spark is not None:
            place = replace(place, spark=lambda name, options: spark)
        rows = run_statement(text, place, {"run": "test"}, self.report.append).rows
        return rows[0] if rows else ()

    def rows(self, warehouse: Warehouse, metastore: ThriftSource, table: str, database: str | None = None) -> Rows:
        """Return the files of a table by partitions, '' for a table without."""
        name = TableName(database or self.database, table)
        found = metastore.table(name)
        assert found is not None, name
        places = {"": found.location or ""}
        if found.partition_keys:
            partitions = metastore.partitions(name, metastore.partition_names(name))
            places = {one.name(found.partition_keys): one.location or "" for one in partitions}
        return {name: self._files(warehouse, place) for name, place in places.items()}

    @staticmethod
    def _files(warehouse: Warehouse, place: str) -> dict[str, bytes]:
        ((_, children),) = warehouse.files.list_directories([place])
        files = [child.path for child in children or () if not child.is_directory]
        return {path.rpartition("/")[2]: warehouse.files.read(path) for path in files}


@pytest.fixture
def replica(sandbox: Sandbox) -> Iterator[ThriftSource]:
    cluster = sandbox.clusters["west"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    yield metastore
    metastore.close()


@pytest.fixture
def traveller(
    sandbox: Sandbox, policies: PolicyFiles, east: Warehouse, west: Warehouse, source_metastore: ThriftSource, log
) -> Traveller:
    database = east.create_database("travels")
    users = SourceWriter(source_metastore, east.files, database)
    orders = east.create_table(database, "orders", keys=("day", "region"), comment="Zoë 日本")
    for values, files in ROWS.items():
        east.add_partition(orders, *values, files=files)
    east.create_table(database, "plain", files=PLAIN, parameters={"repl.last.id": "7", "comment": "ü"})
    east.create_table(database, "outside", kind="EXTERNAL_TABLE", files=PLAIN, location=f"{east.cluster.hdfs_uri}/o/x")
    return Traveller(sandbox, policies, east, west, users, log)


@pytest.mark.thorough
def test_hive_imports_what_we_export_and_we_import_what_hive_exports(
    traveller: Traveller, source_metastore: ThriftSource
) -> None:
    database, exports = traveller.database, traveller.exports
    for table in ("orders", "plain", "outside"):
        traveller.say("east", f"EXPORT TABLE {database}.{table} TO '{exports}/{table}'")
    results = run_statements(
        traveller.sandbox,
        "west",
        [
            f"CREATE DATABASE {database}_h",
            f"IMPORT TABLE {database}_h.orders FROM '{exports}/orders'",
            f"IMPORT TABLE {database}_h.one PARTITION (day='2011-02-28', region='50%') FROM '{exports}/orders'",
            f"IMPORT TABLE {database}_h.plain FROM '{exports}/plain'",
            f"IMPORT EXTERNAL TABLE {database}_h.outside FROM '{exports}/outside' LOCATION '{exports}-outside'",
            f"SELECT a, b, day, region FROM {database}_h.orders",
            f"SELECT a, b, day, region FROM {database}_h.one",
            f"SELECT a, b FROM {database}_h.plain",
            f"SELECT a, b FROM {database}_h.outside",
            f"EXPORT TABLE {database}_h.orders TO '{exports}/back/orders'",
            f"EXPORT TABLE {database}_h.orders PARTITION (day='2011-02-28', region='50%') TO '{exports}/back/one'",
            f"EXPORT TABLE {database}_h.plain TO '{exports}/back/plain'",
        ],
    )
    last = [["c", "3", "2011-02-28", "50%"], ["d", "4", "2011-02-28", "50%"]]
    found = [sorted(result.rows) for result in results if result.statement.startswith("SELECT")]
    first = [["a", "1", "2011-02-27", "ü/="], ["b", "2", "2011-02-27", "ü/="]]
    assert found == [[*first, *last], last, [["e", "5"], ["f", "6"]], [["e", "5"], ["f", "6"]]]

    traveller.say("east", f"IMPORT TABLE {database}.orders_back FROM '{exports}/back/orders'")
    traveller.say("east", f"IMPORT TABLE {database}.one_back FROM '{exports}/back/one'")
    traveller.say("east", f"IMPORT TABLE {database}.plain_back FROM '{exports}/back/plain'")
    rows = {
        table: traveller.rows(traveller.east, source_metastore, table)
        for table in ("orders", "orders_back", "one_back", "plain", "plain_back")
    }
    assert rows["orders_back"] == rows["orders"]
    assert rows["one_back"] == {"day=2011-02-28/region=50%25": ROWS["2011-02-28", "50%"]}
    assert rows["plain_back"] == rows["plain"]


def test_an_import_reaches_the_replica_of_its_database_with_the_next_dump(
    traveller: Traveller, source_metastore: ThriftSource, replica: ThriftSource
) -> None:
    database, exports = traveller.database, traveller.exports
    external = "'hive.repl.include.external.tables'='false'"
    traveller.say("east", f"EXPORT TABLE {database}.orders TO '{exports}/orders'")
    traveller.say("east", f"EXPORT TABLE {database}.plain TO '{exports}/plain'")
    dump, event = traveller.say("east", f"REPL DUMP {database} WITH ({external})")
    traveller.say("west", f"REPL LOAD {database} INTO {database}_r FROM '{dump}'")
    traveller.east.create_table(database, "filled")
    traveller.say("east", f"IMPORT TABLE {database}.new_orders FROM '{exports}/orders'")
    traveller.say("east", f"IMPORT TABLE {database}.new_plain FROM '{exports}/plain'")
    traveller.say("east", f"IMPORT TABLE {database}.filled FROM '{exports}/plain'")
    with pytest.raises(AlreadyThere, match="2 partitions"):
        traveller.say("east", f"IMPORT TABLE {database}.new_orders FROM '{exports}/orders'")
    dump, _ = traveller.say("east", f"REPL DUMP {database} FROM {event} WITH ({external})")
    traveller.say("west", f"REPL LOAD {database} INTO {database}_r FROM '{dump}'")
    for table, source in (("new_orders", "orders"), ("new_plain", "plain"), ("filled", "plain")):
        expected = traveller.rows(traveller.east, source_metastore, source)
        assert traveller.rows(traveller.east, source_metastore, table) == expected
        found = traveller.rows(traveller.west, replica, table, f"{database}_r")
        assert {name: sorted(files.values()) for name, files in found.items()} == {
            name: sorted(files.values()) for name, files in expected.items()
        }


def test_an_external_table_reads_an_export_in_place(traveller: Traveller, replica: ThriftSource) -> None:
    database, exports = traveller.database, traveller.exports
    traveller.west.client.create_database(ttypes.Database(name=database))
    traveller.say("east", f"EXPORT TABLE {database}.orders PARTITION (day='2011-02-27') TO '{exports}/in-place'")
    traveller.say("west", f"IMPORT EXTERNAL TABLE {database}.orders FROM '{exports}/in-place'")
    found = replica.table(TableName(database, "orders"))
    assert found is not None
    assert (found.table_type, found.location) == ("EXTERNAL_TABLE", f"{exports}/in-place")
    assert traveller.rows(traveller.west, replica, "orders") == {
        "day=2011-02-27/region=ü%2F%3D": ROWS["2011-02-27", "ü/="]
    }


@pytest.mark.nightly(
    "tests/integration/statements/test_export.py::test_hive_imports_what_we_export_and_we_import_what_hive_exports",
    "tests/integration/statements/test_repl_spark.py",
)
def test_a_large_table_is_exported_and_imported_by_spark(traveller: Traveller, replica: ThriftSource) -> None:
    database, exports = traveller.database, traveller.exports
    many = {f"f{number:03d}": b"%d,x\n" % number for number in range(510)}  # more than a task copies itself
    traveller.east.create_table(database, "large", files=many)
    traveller.west.client.create_database(ttypes.Database(name=database))
    local = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "512m"}
    spark = SparkCluster(ONE_WORKER, 2, local)
    traveller.say("east", f"EXPORT TABLE {database}.large TO '{exports}/large'", spark)
    assert [line for line in traveller.report if "510 files" in line and "copied by Spark" in line], traveller.report
    traveller.report.clear()
    traveller.say("west", f"IMPORT TABLE {database}.large FROM '{exports}/large'", spark)
    assert [line for line in traveller.report if "510 files" in line and "copied by Spark" in line], traveller.report
    assert traveller.rows(traveller.west, replica, "large") == {"": many}
