"""Run the REPL statements of seed 002 as they are written there, between real clusters."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from hive_metastore import ttypes

from sandbox import Sandbox
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from twinhive.core.model.errors import ActNow, TwinhiveError
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.repl_dump_description import open_sealed
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.statements.execution import SparkOf, StatementPlace, run_statement

pytestmark = pytest.mark.sandbox

Run = Callable[[str], list[tuple[str | int, ...]]]
_LAST_EVENT_OF_THE_SEED = 1400


@dataclass
class Clusters:
    """Both clusters, to which statements can be said."""

    policies: PolicyFiles
    report: Callable[[str], None]

    def say(self, cluster: str, text: str, spark: SparkOf | None = None) -> list[tuple[str | int, ...]]:
        configuration = load_configuration(self.policies.directory)
        place = StatementPlace(configuration, resolve_from_environment, cluster, spark=spark)
        return list(run_statement(text, place, {"run": "test"}, self.report).rows)


@pytest.fixture
def clusters(policies: PolicyFiles, report) -> Clusters:
    return Clusters(policies, report)


@pytest.fixture
def dump(clusters: Clusters) -> Callable[[str], tuple[str, int]]:
    def dumped(text: str) -> tuple[str, int]:
        ((directory, event_id),) = clusters.say("east", text)
        return str(directory), int(event_id)

    return dumped


@pytest.fixture
def load(clusters: Clusters) -> Callable[[str], None]:
    return lambda text: clusters.say("west", text) and None


@pytest.fixture
def status(clusters: Clusters) -> Callable[[str], int | None]:
    def known(database: str) -> int | None:
        rows = clusters.say("west", f"REPL STATUS {database}")
        return int(rows[0][0]) if rows else None

    return known


@pytest.fixture
def users(sandbox: Sandbox, east: Warehouse, west: Warehouse) -> Iterator[SourceWriter]:
    """The users of a database `sales` with the tables of the examples, behind the events of many others."""
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    for warehouse in (east, west):
        _drop(warehouse)
    others = SourceWriter.with_database(metastore, east.files, east.create_database("others") + "x")
    others.create_table("busy")
    while metastore.current_event_id() < _LAST_EVENT_OF_THE_SEED + 100:
        others.set_parameters("busy", {"at": str(metastore.current_event_id())})
    users = SourceWriter.with_database(metastore, east.files, "sales")
    for table in ("T3", "T400", "t255", "Q4", "orders", "stores"):
        users.create_table(table.lower(), files={"data": table.encode()})
    users.create_table("parts", keys=("p",))
    users.add_partitions("parts", {("a b",): {"f1": b"one"}, ("50%=#:ü",): {"000000_0": b"three"}})
    users.create_view("recent")
    users.create_function("twice")
    yield users
    for warehouse in (east, west):
        _drop(warehouse)
    metastore.close()


def _drop(warehouse: Warehouse) -> None:
    for name in warehouse.client.get_all_databases():
        if name == "sales" or name.startswith("sales_"):
            database = warehouse.client.get_database(name)
            database.parameters = {}
            warehouse.client.alter_database(name, database)
            warehouse.client.drop_database(name, deleteData=True, cascade=True)


def tables(west: Warehouse, database: str) -> set[str]:
    return set(west.client.get_all_tables(database))


ALL = {"t3", "t400", "t255", "q4", "orders", "stores", "parts", "recent"}
LETTERS = {"orders", "stores", "parts", "recent"}


@pytest.mark.parametrize(
    ("statement", "there"),
    [
        ("REPL DUMP sales;", ALL),
        pytest.param("REPL DUMP sales.['.*?']", ALL, marks=pytest.mark.thorough),
        ("REPL DUMP sales.['T3', '[a-z]+'];", {"t3"} | LETTERS),
        pytest.param("REPL DUMP sales.['.*?'].['T[0-9]+', 'Q4'];", LETTERS, marks=pytest.mark.thorough),
        ("REPL DUMP sales.[];", set()),
    ],
    ids=["a", "a with a pattern", "b", "c", "d"],
)
def test_examples_a_to_d_dump_a_scope(
    users: SourceWriter, west: Warehouse, dump, load, status, statement: str, there: set[str]
) -> None:
    directory, event_id = dump(statement)
    load(f"REPL LOAD sales_copy FROM '{directory}'")
    assert tables(west, "sales_copy") == there
    assert west.client.get_functions("sales_copy", "*") == ["twice"]
    assert status("sales_copy") == event_id


def test_examples_e_to_g_dump_a_range_of_the_log(users: SourceWriter, east: Warehouse, dump) -> None:
    def events(text: str) -> tuple[Dump, list[int], int]:
        directory, event_id = dump(text)
        _, found = open_sealed(east.files, directory)
        return found, [row.event_id for row in EventRange.unpack(east.files.read(found.layout.events)).rows], event_id

    newest = users.metastore.current_event_id()
    e, in_e, end_of_e = events("REPL DUMP sales FROM 200 TO 1400;")
    assert (e.manifest.begin.event_id, e.manifest.end.event_id, end_of_e) == (200, 1400, 1400)
    assert all(200 < one <= 1400 for one in in_e)
    _, in_f, end_of_f = events("REPL DUMP sales FROM 200;")
    assert end_of_f == newest
    assert set(in_e) <= set(in_f)
    _, in_g, end_of_g = events("REPL DUMP sales FROM 200 to 1400 LIMIT 100;")
    assert end_of_g <= 1400
    assert in_g == in_e[:100]
    _, in_g2, end_of_g2 = events("REPL DUMP sales FROM 200 LIMIT 3;")
    assert in_g2 == in_f[:3]
    assert end_of_g2 == in_f[2]
    _, in_g3, _ = events("REPL DUMP sales FROM 200 LIMIT 100;")
    assert in_g3 == in_f[:100]


@pytest.mark.thorough
def test_example_h_changes_the_policy_in_the_middle(
    users: SourceWriter, east: Warehouse, west: Warehouse, dump, load, status
) -> None:
    users.create_table("q5", files={"data": b"five"})
    dump("REPL DUMP sales.['[a-z]+'] REPLACE sales FROM 200;")
    dump("REPL DUMP sales.['[a-z]+', 'Q5'] REPLACE sales.['[a-z]+'] FROM 500;")
    directory, event_id = dump("REPL DUMP sales")
    load(f"REPL LOAD sales FROM '{directory}'")
    users.insert("stores", None, {"more": b"more"})
    users.insert("q5", None, {"more": b"six"})
    directory, event_id = dump(f"REPL DUMP sales.['[a-z]+'] REPLACE sales FROM {event_id}")
    load(f"REPL LOAD sales FROM '{directory}'")
    assert tables(west, "sales") == LETTERS
    directory, event_id = dump(f"REPL DUMP sales.['[a-z]+', 'Q5'] REPLACE sales.['[a-z]+'] FROM {event_id}")
    load(f"REPL LOAD sales FROM '{directory}'")
    assert tables(west, "sales") == LETTERS | {"q5"}
    assert status("sales") == event_id
    for table in ("t3", "t400", "t255", "q4"):
        users.drop_table(table)
    directory, event_id = dump(f"REPL DUMP sales.['[a-z]+', 'Q5'] FROM {event_id}")
    load(f"REPL LOAD sales FROM '{directory}'")
    assert_equal_twin(east, "sales", west)


@pytest.mark.thorough
def test_example_i_leaves_external_tables_and_data_out(users: SourceWriter, east: Warehouse, west, dump, load) -> None:
    east.create_table("sales", "outside", kind="EXTERNAL_TABLE", location=f"{east.cluster.hdfs_uri}/outside/sales")
    directory, _ = dump(
        "REPL DUMP sales WITH ('hive.repl.include.external.tables'='false', 'hive.repl.dump.metadata.only'='true');"
    )
    load(f"REPL LOAD sales FROM '{directory}'")
    assert tables(west, "sales") == ALL
    orders = west.client.get_table_req(ttypes.GetTableRequest(dbName="sales", tblName="orders"))
    location = orders.table.sd.location
    assert [path for path, children in west.files.list_directories([location]) if children] == []


@pytest.mark.thorough
def test_one_dump_is_loaded_by_two_replicas_and_each_goes_on_by_itself(
    users: SourceWriter, east: Warehouse, west: Warehouse, dump, load, status
) -> None:
    directory, first = dump("REPL DUMP sales")
    load(f"REPL LOAD FROM '{directory}'")
    load(f"REPL LOAD sales INTO sales_spoke FROM '{directory}'")
    users.overwrite("orders", None, {"data": b"other"})
    users.add_partitions("parts", {("new",): {"f": b"f"}})
    users.drop_table("q4")
    directory, second = dump(f"REPL DUMP sales FROM {first}")
    users.drop_partitions("parts", [("new",)])
    load(f"REPL LOAD sales FROM '{directory}'")
    assert (status("sales"), status("sales_spoke")) == (second, first)
    load(f"REPL LOAD sales INTO sales_spoke FROM '{directory}'")
    for replica in ("sales", "sales_spoke"):
        assert len(west.client.get_partition_names(replica, "parts", -1)) == 3
    directory, _ = dump(f"REPL DUMP sales FROM {second}")
    for replica in ("sales", "sales_spoke"):
        load(f"REPL LOAD {replica} FROM '{directory}'")
        assert_equal_twin(east, "sales", west, replica)
    assert status("sales_nowhere") is None


@pytest.mark.parametrize(
    ("cluster", "statement", "says"),
    [
        ("east", "REPL DUMP nothere", "does not exist"),
        ("east", "REPL DUMP sales FROM 999999999", "newer than the notification log"),
        ("west", "REPL LOAD sales FROM 'hdfs://nowhere/x'", "file system of no cluster"),
        ("west", "REPL LOAD sales FROM '/never/dumped'", "no finished dump"),
        ("west", "REPL LOAD sales", "no dump of database sales to load"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_changes(
    clusters: Clusters, users: SourceWriter, west: Warehouse, cluster: str, statement: str, says: str
) -> None:
    before = users.metastore.current_event_id()
    with pytest.raises(TwinhiveError, match=says) as caught:
        clusters.say(cluster, statement)
    assert isinstance(caught.value, ActNow)
    assert caught.value.next_step
    assert users.metastore.current_event_id() == before
    assert "sales" not in west.client.get_all_databases()
