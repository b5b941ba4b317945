"""Hand a replica over from Hive's own REPL to Twinhive and back, in mid-stream: `repl.last.id` is the common truth."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from sandbox import Sandbox
from sandbox.hive.peer import run_statements
from tests.support.hive.metastore_objects import constraints_in_words
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from twinhive.core.model.names import TableName
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.statements.execution import StatementPlace, run_statement
from twinhive.transfer.staged.listing import list_files

pytestmark = pytest.mark.sandbox


@dataclass
class Shared:
    """One database on east, one replica on west, and two programs that may both bring it further."""

    sandbox: Sandbox
    policies: PolicyFiles
    users: SourceWriter
    west: Warehouse
    report: Callable[[str], None]

    @property
    def database(self) -> str:
        return self.users.database

    @property
    def root(self) -> str:
        return f"{self.west.cluster.hdfs_uri}/handed/{self.database}"

    def hive(self, cluster: str, text: str) -> list[list[str]]:
        keys = f"'hive.repl.rootdir'='{self.root}', 'hive.repl.replica.external.table.base.dir'='{self.root}/base'"
        return run_statements(self.sandbox, cluster, [f"{text} WITH ({keys})"])[0].rows

    def ours(self, cluster: str, text: str) -> list[tuple[str | int, ...]]:
        place = StatementPlace(load_configuration(self.policies.directory), resolve_from_environment, cluster)
        return list(run_statement(text, place, {"run": "test"}, self.report).rows)

    def status(self) -> int:
        ((event_id,),) = self.ours("west", f"REPL STATUS {self.database}")
        return int(event_id)

    def assert_equal(self, east: Warehouse) -> None:
        assert read(self.west, self.database) == read(east, self.database)


def read(warehouse: Warehouse, database: str) -> dict[str, dict[str | None, dict[str, bytes]]]:
    """Return what readers of each table see: by partition, the files by name."""
    cluster = warehouse.cluster
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    found: dict[str, dict[str | None, dict[str, bytes]]] = {}
    for table in metastore.tables(database, metastore.table_names(database)):
        partitions = metastore.partitions(table.name, metastore.partition_names(table.name))
        roots = {one.name(table.partition_keys): one.location or "" for one in partitions} or {
            None: table.location or ""
        }
        rows: dict[str | None, dict[str, bytes]] = {part: {} for part in roots}
        for part, relative, status in list_files(warehouse.files, list(roots.items())):
            rows[part][relative] = warehouse.files.read(status.path)
        found[table.name.table] = rows
    metastore.close()
    return found


def constraints(warehouse: Warehouse, database: str) -> dict[str, list[str]]:
    """Return the constraints of each table."""
    cluster = warehouse.cluster
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    names = metastore.table_names(database)
    found = {name: constraints_in_words(metastore, TableName(database, name)) for name in names}
    metastore.close()
    return found


@pytest.fixture
def shared(
    sandbox: Sandbox, east: Warehouse, west: Warehouse, policies: PolicyFiles, report: Callable[[str], None]
) -> Iterator[Shared]:
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    users = SourceWriter(metastore, east.files, east.create_database("handed"))
    yield Shared(sandbox, policies, users, west, report)
    metastore.close()


@pytest.mark.nightly(
    "tests/integration/statements/test_repl_handover.py::test_twinhive_loads_a_whole_database_that_hive_dumped",
    "tests/unit/statements/phases/test_repl_handover.py",
)
def test_a_replica_goes_from_hive_to_twinhive_and_back_and_again(shared: Shared, east: Warehouse) -> None:
    users, database = shared.users, shared.database
    users.create_table("plain", files={"data": b"plain"})
    users.create_table("parts", keys=("p",))
    users.add_partitions("parts", {("a b",): {"f": b"one"}, ("b",): {"g": b"two"}})
    users.create_table("gone", files={"data": b"gone"})
    shared.hive("east", f"REPL DUMP {database}")
    shared.hive("west", f"REPL LOAD {database} INTO {database}")
    by_hive = shared.status()
    shared.assert_equal(east)

    # Twinhive goes on where Hive was.
    users.insert("plain", None, {"more": b"more"})
    users.overwrite("parts", ("b",), {"g": b"other"})
    users.add_partitions("parts", {("c",): {"h": b"three"}})
    users.drop_table("gone")
    users.create_table("made", files={"data": b"made"})
    users.rename_table("plain", "plainer")
    ((directory, _),) = shared.ours("east", f"REPL DUMP {database} FROM {by_hive}")
    # The load before Hive's turn brings everything to where Hive will look for it.
    shared.ours("west", f"REPL LOAD {database} FROM '{directory}' WITH ('twinhive.places'='hive')")
    by_us = shared.status()
    assert by_us > by_hive
    shared.assert_equal(east)

    # Hive goes on where Twinhive was, with a dump that Twinhive wrote for it.
    users.insert("made", None, {"more": b"more"})
    users.add_partitions("parts", {("d",): {"i": b"four"}})
    users.drop_partitions("parts", [("a b",)])
    users.create_table("late", files={"data": b"late"})
    layout = f"WITH ('twinhive.dump.layout'='hive', 'hive.repl.rootdir'='{shared.root}')"
    shared.ours("east", f"REPL DUMP {database} FROM {by_us} {layout}")
    shared.hive("west", f"REPL LOAD {database} INTO {database}")
    assert shared.status() > by_us
    shared.assert_equal(east)

    # Hive dumps, Twinhive loads.
    users.insert("late", None, {"more": b"more"})
    users.overwrite("parts", ("d",), {"i": b"five"})
    users.drop_table("made")
    ((directory, *_),) = shared.hive("east", f"REPL DUMP {database}")
    shared.ours("west", f"REPL LOAD {database} FROM '{directory}'")
    shared.assert_equal(east)
    assert shared.status() == users.metastore.current_event_id()


@pytest.mark.thorough
def test_twinhive_loads_a_whole_database_that_hive_dumped(shared: Shared, east: Warehouse) -> None:
    users, database = shared.users, shared.database
    users.create_table("plain", files={"data": b"plain"})
    users.create_table("parts", keys=("p",))
    users.add_partitions("parts", {("a b",): {"f": b"one"}, ("b",): {"g": b"two"}})
    for kind in ("primary_key", "unique", "not_null", "default", "check"):
        users.add_constraint("parts", kind, f"the_{kind}")
    users.add_constraint("plain", "foreign_key", "fk", parent="parts")
    ((directory, *_),) = shared.hive("east", f"REPL DUMP {database}")
    users.overwrite("plain", None, {"data": b"later"})
    shared.ours("west", f"REPL LOAD {database} FROM '{directory}'")
    assert read(shared.west, database)["plain"] == {None: {"data": b"plain"}}
    assert constraints(shared.west, database) == constraints(east, database)
    assert [len(some) for some in constraints(shared.west, database).values()] == [5, 1]
    ((directory, _),) = shared.ours("east", f"REPL DUMP {database} FROM {shared.status()}")
    shared.ours("west", f"REPL LOAD {database} FROM '{directory}'")
    shared.assert_equal(east)
