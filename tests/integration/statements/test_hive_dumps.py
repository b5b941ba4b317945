"""Exchange dumps with Hive itself: its REPL LOAD loads what we write, and we read what its REPL DUMP writes."""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from sandbox import Sandbox
from sandbox.hive.peer import run_statements
from tests.support.hive import metastore_objects as objects
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import describe
from twinhive.core.model.changes.contents import Shard
from twinhive.core.model.marks import without_marks
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.policy import DatabaseAddress, Policy
from twinhive.core.ports import DumpPorts
from twinhive.core.step.step_base import Work
from twinhive.hive.adapters.hive.hive_source_marker import MetastoreMarker
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.reader import position_at
from twinhive.replication.bootstrap.dump_states import read_states
from twinhive.replication.bootstrap.fold import fold
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.repl_dump_description import open_sealed
from twinhive.statements.interop.hive_dump.bootstrap_writing import write_bootstrap
from twinhive.statements.interop.hive_dump.dump_conversion import acknowledge, convert
from twinhive.statements.interop.hive_dump.hive_dump_options import Terms
from twinhive.statements.interop.hive_dump.hive_dump_reading import HiveDump, read_hive_dump
from twinhive.statements.interop.hive_dump.hive_layout import hive_directory
from twinhive.statements.interop.hive_dump.incremental_writing import write_incremental
from twinhive.statements.steps.repl_dump import ReplDump
from twinhive.statements.steps.repl_dump_options import DumpOrder
from twinhive.transfer.staged.listing import list_files

pytestmark = pytest.mark.sandbox

UPPER = "org.apache.hadoop.hive.ql.udf.generic.GenericUDFUpper"


@dataclass(frozen=True)
class Exchange:
    """A database on east, dumps of it on west's HDFS, and Hive at both ends."""

    sandbox: Sandbox
    east: Warehouse
    west: Warehouse
    users: SourceWriter
    root: str

    @property
    def database(self) -> str:
        return self.users.database

    @property
    def replica(self) -> str:
        return f"{self.database}_r"

    @property
    def cmroot(self) -> str:
        return f"{self.east.cluster.hdfs_uri}/warehouse/.cmroot"

    def policy(self, include: tuple[str, ...]) -> Policy:
        return Policy(
            name=f"repl.{self.database}",
            source=DatabaseAddress("east", self.database),
            replica=DatabaseAddress("west", self.replica),
            include=include,
            exclude=(),
            dump_root=self.root,
            staging_root=f"{self.root}/staging",
            dump_directory=f"{self.root}/ours/{uuid.uuid4().hex}",
        )

    def our_dump(self, policy: Policy, from_event: int | None) -> Dump:
        ports = DumpPorts(self.users.metastore, self.east.files, self.west.files, MetastoreMarker(self.users.metastore))
        order = DumpOrder(policy, "REPL DUMP", self.database, from_event=from_event)
        dumped = ReplDump(Work(policy), order).run(ports)
        return open_sealed(self.west.files, dumped.directory)[1]

    def write_for_hive(self, include: tuple[str, ...], from_event: int | None = None) -> tuple[str, int]:
        """Return the root directory that Hive finds a dump of ours in, and the event that it is at."""
        policy = self.policy(include)
        dump = self.our_dump(policy, from_event)
        root = f"{self.root}/{uuid.uuid4().hex}"
        write = write_bootstrap if from_event is None else write_incremental
        directory = hive_directory(root, self.database, uuid.uuid4().hex)
        write(
            self.west.files,
            self.west.files,
            self.east.files,
            dump,
            directory,
            Terms(policy, self.cmroot, lambda function: {}),
        )
        return root, dump.manifest.end.event_id

    def taken_over(self, hive: HiveDump) -> Dump:
        """Return a dump of ours that says what Hive's says."""
        metastore = self.users.metastore
        position = partial(position_at, metastore)
        return convert(self.west.files, self.west.files, hive, self.policy((".*",)), metastore.log_id(), position)

    def hive(self, cluster: str, *statements: tuple[str, str]) -> list[list[list[str]]]:
        """Run statements, each with its root directory, in one session; return their rows."""
        base = f"{self.west.cluster.hdfs_uri}/external"
        settings = f"'hive.repl.replica.external.table.base.dir'='{base}', 'hive.repl.retain.prev.dump.dir'='true'"
        texts = [
            f"{text} WITH ('hive.repl.rootdir'='{root}', {settings})" if root else text for text, root in statements
        ]
        return [result.rows for result in run_statements(self.sandbox, cluster, texts)]


@pytest.fixture
def exchange(sandbox: Sandbox, east: Warehouse, west: Warehouse) -> Iterator[Exchange]:
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    database = east.create_database("swap", parameters={"team": "Zürich"})
    users = SourceWriter(metastore, east.files, database)
    yield Exchange(sandbox, east, west, users, f"{west.cluster.hdfs_uri}/exchange/{database}")
    metastore.close()


def create_function(exchange: Exchange, name: str) -> None:
    jar = f"{exchange.east.cluster.hdfs_uri}/jars/{exchange.database}.jar"
    exchange.east.files.write(jar, b"a jar")
    exchange.users.metastore.create_function(
        replace(objects.a_function(exchange.database, name, jar), class_name=UPPER)
    )


def furnish(exchange: Exchange) -> None:
    users = exchange.users
    users.create_table("o_rders", keys=("p", "q"))
    users.add_partitions(
        "o_rders",
        {
            ("a b", "50%=#"): {"f1": b"one", "below/f2": b"two", "x]y": b"three"},
            ("c", "2"): {"000000_0": b"four"},
            ("no files", "3"): {},
        },
    )
    users.create_table("o_plain", files={"data": b"plain", "zero": b""}, parameters={"comment": "Zoë 日本"})
    users.create_table("o_empty")
    users.create_table("o_gone", files={"data": b"gone"})
    users.create_table("o_leaves", files={"data": b"leaves"})
    users.create_table("comes", keys=("p",))
    users.add_partitions("comes", {("1",): {"f": b"one"}})
    users.create_view("o_recent")
    create_function(exchange, "shout")
    for kind in ("primary_key", "unique", "not_null", "default", "check"):
        users.add_constraint("o_rders", kind, f"the_{kind}")
    users.add_constraint("o_empty", "foreign_key", "of_the_rest", parent="o_rders")


def go_on(exchange: Exchange) -> None:
    users = exchange.users
    users.create_table("o_new", keys=("p",))
    users.add_partitions("o_new", {("1",): {"g": b"one"}, ("2",): {"h": b"two"}, ("3",): {}})
    users.insert("o_new", ("1",), {"more": b"more"})
    users.rename_partition("o_new", ("2",), ("4",))
    users.drop_partitions("o_new", [("3",)])
    users.insert("o_plain", None, {"inserted": b"inserted"})
    users.overwrite("o_rders", ("c", "2"), {"over": b"written"})
    users.alter_partition("o_rders", ("a b", "50%=#"), {"k": "v"})
    users.alter_partitions("o_rders", [("a b", "50%=#"), ("no files", "3")], {"k": "w"})
    users.truncate("o_rders", [("a b", "50%=#")])
    users.set_parameters("o_plain", {"x": "Zoë 日本"})
    users.add_columns("o_plain", [("more", "int")])
    users.create_table("o_first", files={"c": b"first"})
    users.rename_table("o_first", "o_second")
    users.create_table("o_emptied", files={"c": b"emptied"})
    users.truncate("o_emptied")
    users.drop_table("o_gone")
    users.create_view("o_later")
    users.alter_database_parameters({"team": "Genève 日本"})
    users.drop_function("shout")
    create_function(exchange, "whisper")
    users.add_constraint("o_new", "primary_key", "pk")
    users.add_constraint("o_plain", "foreign_key", "fk", parent="o_new")
    users.update_statistics("o_second")
    users.delete_statistics("o_second")
    users.rename_table("o_leaves", "leaves")
    users.rename_table("comes", "o_comes")
    users.insert("o_comes", ("1",), {"late": b"late"})


@pytest.mark.nightly(
    "tests/integration/statements/test_repl_handover.py::test_twinhive_loads_a_whole_database_that_hive_dumped",
)
def test_hives_own_load_builds_and_follows_a_replica_from_dumps_that_we_wrote(exchange: Exchange) -> None:
    furnish(exchange)
    first, begin = exchange.write_for_hive(("o_.*",))
    go_on(exchange)
    second, end = exchange.write_for_hive(("o_.*",), begin)
    load, status = f"REPL LOAD {exchange.database} INTO {exchange.replica}", f"REPL STATUS {exchange.replica}"
    _, at_begin, _, at_end = exchange.hive("west", (load, first), (status, first), (load, second), (status, second))
    assert (at_begin, at_end) == ([[str(begin)]], [[str(end)]])
    exchange.users.drop_table("leaves")
    assert_as_hive_carries_it(exchange)
    assert exchange.west.client.get_functions(exchange.replica, "*") == ["whisper"]


# What Hive's loader does not carry over or adds, of every dump: see "Hive's own dumps" in the documentation.
OF_HIVE = ("/fields/sd/parameters", "/serialization.format", "/bucketing_version", "/last_modified_")


def is_of_hive(path: str) -> bool:
    views = ("/tables/o_recent/fields/sd/serdeInfo", "/tables/o_later/fields/sd/serdeInfo")
    return path.startswith(views) or any(own in path for own in OF_HIVE)


def is_counted(path: str) -> bool:
    """True for a statistic that the replica's metastore counts by itself."""
    return path.rpartition("/")[2] in ("numFiles", "totalSize", "numFilesErasureCoded")


def assert_as_hive_carries_it(exchange: Exchange) -> None:
    ours = leaves(describe(exchange.east, exchange.database))
    theirs = leaves(describe(exchange.west, exchange.replica))
    assert {path for path in ours if ours[path] != theirs.get(path) and not is_of_hive(path)} == set()
    assert {path for path in theirs.keys() - ours.keys() if not is_of_hive(path) and not is_counted(path)} == set()
    assert sorted(path.partition("/files/")[2] for path in ours if "/files/" in path) == sorted(
        ["data", "zero", "inserted", "over", "c", "f", "late", "g", "more", "h"]
    )


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict) and value:
        return {key: leaf for name, entry in value.items() for key, leaf in leaves(entry, f"{path}/{name}").items()}
    return {path: value}


# What Hive itself is told to do with its database between its two dumps.
def hives_history(exchange: Exchange) -> list[str]:
    name, files = exchange.database, f"{exchange.east.cluster.hdfs_uri}/exchange/{exchange.database}"
    for number in range(4):
        exchange.east.files.write(f"{files}/in{number}", b"%d" % number)
    return [
        f"USE {name}",
        "CREATE TABLE made (a string) PARTITIONED BY (p string) STORED AS TEXTFILE",
        "ALTER TABLE made ADD PARTITION (p='1') PARTITION (p='2') PARTITION (p='a b')",
        f"LOAD DATA INPATH '{files}/in0' INTO TABLE made PARTITION (p='1')",
        f"LOAD DATA INPATH '{files}/in1' INTO TABLE plain",
        f"LOAD DATA INPATH '{files}/in2' OVERWRITE INTO TABLE orders PARTITION (p='a b', q='2')",
        "ALTER TABLE made PARTITION (p='2') RENAME TO PARTITION (p='3')",
        "ALTER TABLE made DROP PARTITION (p='a b')",
        "ALTER TABLE orders PARTITION (p='c', q='2') SET FILEFORMAT TEXTFILE",
        "ALTER TABLE plain SET TBLPROPERTIES ('x'='y')",
        "ALTER TABLE plain ADD COLUMNS (extra int)",
        "CREATE TABLE before (a string)",
        "ALTER TABLE before RENAME TO after",
        "TRUNCATE TABLE emptied",
        "TRUNCATE TABLE orders PARTITION (p='c', q='2')",
        "DROP TABLE gone",
        "CREATE VIEW later AS SELECT a FROM plain",
        f"ALTER DATABASE {name} SET DBPROPERTIES ('team'='x')",
    ]


@pytest.mark.nightly(
    "tests/integration/statements/test_repl_handover.py::test_twinhive_loads_a_whole_database_that_hive_dumped",
)
def test_what_hives_own_dump_says_is_what_the_source_holds(exchange: Exchange) -> None:
    east, name, root = exchange.east, exchange.database, f"{exchange.root}/hives"
    orders = east.create_table(name, "orders", keys=("p", "q"))
    east.add_partition(orders, "a b", "2", files={"f1": b"one", "below/f2": b"two"})
    east.add_partition(orders, "c", "2", files={"f": b"three"})
    east.add_partition(orders, "empty", "2")
    for table in ("plain", "gone"):
        east.create_table(name, table, files={"data": b"some"}, comment="Schlüssel")
    east.create_table(name, "emptied", files={"data": b"some"})
    create_function(exchange, "shout")
    history = [(text, "") for text in hives_history(exchange)]
    dump = (f"REPL DUMP {name}", root)
    ((first,),) = exchange.hive("east", dump)
    acknowledge(exchange.west.files, read_hive_dump(exchange.west.files, first[0]))
    *_, (second,) = exchange.hive("east", *history, dump)
    hives = [read_hive_dump(exchange.west.files, directory) for directory, _ in (first, second)]
    assert [(hive.begin, hive.end) for hive in hives] == [(int(first[1]),) * 2, (int(first[1]), int(second[1]))]
    whole, events = (exchange.taken_over(hive) for hive in hives)
    assert (whole.manifest.kind, events.manifest.kind) == (DumpKind.CONSOLIDATE, DumpKind.INCREMENTAL)
    assert [function.resources for function in whole.manifest.base.functions] == [
        (f"{east.cluster.hdfs_uri}/jars/{name}.jar",)
    ]
    said, held = (leaves(name) for name in (said_by(exchange, whole, events), held_by(exchange)))
    assert {path: (said.get(path), held.get(path)) for path in said | held if said.get(path) != held.get(path)} == {}


Held = dict[str, Any]


def said_by(exchange: Exchange, whole: Dump, events: Dump) -> Held:
    """Return what the source is after the events of a dump that was taken over, by name."""
    files = exchange.west.files
    begin = whole.manifest.end.event_id
    shard = Shard(read_states(files, whole, whole.manifest.batches), begin)
    rows = EventRange.unpack(files.read(events.layout.events)).rows
    tables = fold(shard, map(decode_event, rows)).tables
    return {
        str(name): described(
            state.table,
            state.content.files,
            [(one.partition, one.content.files) for one in state.partitions.values()],
        )
        for name, state in tables.items()
    }


def held_by(exchange: Exchange) -> Held:
    """Return what the source holds, by name."""
    source = exchange.users.metastore
    tables = source.tables(exchange.database, source.table_names(exchange.database))
    return {
        str(table.name): described(
            table,
            below(exchange, None if table.partition_keys else table.location),
            [
                (one, below(exchange, one.location))
                for one in source.partitions(table.name, source.partition_names(table.name))
            ],
        )
        for table in tables
    }


def below(exchange: Exchange, location: str | None) -> list[str]:
    return [relative for _, relative, _ in list_files(exchange.east.files, [("", location)])] if location else []


def described(table: Table, files: Iterable[str], partitions: Iterable[tuple[Partition, Iterable[str]]]) -> Held:
    return {
        "columns": table.columns,
        "keys": table.partition_keys,
        "parameters": without_marks(table.parameters),
        "files": sorted(files),
        "partitions": {
            ",".join(one.values): {
                "location": one.location,
                "parameters": without_marks(one.parameters),
                "files": sorted(inside),
            }
            for one, inside in partitions
        },
    }
