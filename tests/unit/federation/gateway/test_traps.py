"""Names, patterns and calls by which a gateway could give a wrong answer, or change what it must not."""

import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from random import Random
from typing import Any

import pytest
from hive_metastore import ThriftHiveMetastore, ttypes
from thrift.Thrift import TType

from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.scripted_metastore import AnsweringMetastore, whole_message
from tests.support.wire.wire_messages import KNOWN, decoded, encoded, random_struct, request, struct_class
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.method_kinds import KIND_OF, MethodKind
from twinhive.federation.gateway.struct_edits import error_text
from twinhive.hive.wire.roles import Role, decided
from twinhive.hive.wire.thrift_message import WireMessage, call, reply

LIMITS = RemoteLimits(connect=5, call=5, wait=5, failures=1_000_000)


class Metastore:
    """Answers what a test says, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[WireMessage] = []
        self.answers: dict[str, Any] = {}
        self.server = AnsweringMetastore(self._answer)

    def _answer(self, message: WireMessage) -> bytes:
        method, sequence = message.head.method, message.head.sequence
        if method == "get_config_value":
            return reply(method, sequence, encoded(ThriftHiveMetastore.get_config_value_result(success=""))).raw
        self.asked.append(message)
        kind = getattr(ThriftHiveMetastore, f"{method}_result")
        said = self.answers.get(method)
        struct = kind(o1=said) if isinstance(said, Exception) else kind(success=said) if said is not None else kind()
        return reply(method, sequence, encoded(struct)).raw


class World:
    """`far` is a remote database and `shop.bought` a remote table; both are at one remote."""

    def __init__(self, buffered: int = 32 << 20) -> None:
        self.here, self.there = Metastore(), Metastore()
        to = {"port": str(self.there.server.port)}
        bought = TableName("shop", "bought")
        self.gateway = RunningGateway(
            self.here.server.port,
            Definitions(
                {bought: RemoteTable(bought, TableName("sales", "orders"), properties=to)},
                {"far": RemoteDatabase("far", "sales", properties=to)},
            ),
            RemoteLimits(**{**vars(LIMITS), "buffered": buffered}),
        )

    def ask(self, message: WireMessage) -> Any:
        """Return the result as an object of the bindings; raise what it declares."""
        with closing(socket.create_connection(("127.0.0.1", self.gateway.port), timeout=20)) as client:
            client.sendall(message.raw)
            read = whole_message(client)
        assert read is not None, message.head.method
        if read[0].head.kind == 3:
            raise ttypes.MetaException(error_text(read[0]))
        result = decoded(struct_class(read[0]), read[0].body)
        for field in filter(None, type(result).thrift_spec):
            if field[0] != 0 and getattr(result, field[2]) is not None:
                raise getattr(result, field[2])
        return getattr(result, "success", None)

    def call(self, method: str, **arguments: Any) -> Any:
        return self.ask(request(method, **arguments))

    def close(self) -> None:
        self.gateway.stop()
        for one in (self.here, self.there):
            with suppress(OSError):
                one.server.close()


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


def _about(random: Random, method: str, database: str, table: str) -> WireMessage | None:
    """Make a call of a method with these names wherever names stand; None where it does not name the remote."""
    is_about = (Role.DATABASE, Role.FULL_NAME) if "far" in database.lower() else (Role.TABLE, Role.FULL_NAME)
    for _ in range(20):
        arguments = random_struct(random, getattr(ThriftHiveMetastore, f"{method}_args"))
        if set(_named(arguments, database, table)) & set(is_about):
            return call(method, 3, encoded(arguments))
    return None


def _named(struct: Any, database: str, table: str) -> Iterator[Role]:
    names = {Role.DATABASE: database, Role.TABLE: table, Role.FULL_NAME: f"{database}.{table}", Role.CATALOG: "hive"}
    for _, code, name, inner, *_ in filter(None, type(struct).thrift_spec):
        role, value = decided(type(struct).__name__, name), getattr(struct, name)
        is_list = code == TType.LIST
        if role in names and (code == TType.STRING or (is_list and inner[0] == TType.STRING)):
            setattr(struct, name, [names[role]] if is_list else names[role])
            yield role
            continue
        for one in value if isinstance(value, list) else [value]:
            if hasattr(one, "thrift_spec"):
                yield from _named(one, database, table)


def _of(*kinds: MethodKind) -> list[str]:
    return [name for name in KNOWN if KIND_OF[name] in kinds]


@pytest.mark.parametrize(
    "names", [("far", "orders"), ("@hive#FAR", "orders"), ("shop", "bought"), (" Shop ", "Bought")]
)
def test_no_method_changes_a_remote_and_nothing_is_sent(world: World, names: tuple[str, str]) -> None:
    random, tried = Random(1), 0
    for method in _of(MethodKind.WRITE):
        message = _about(random, method, *names)
        if message is None:
            continue
        tried += 1
        with pytest.raises(Exception) as raised:
            world.ask(message)
        assert "read only" in str(raised.value), method
    assert tried > 50
    assert (world.here.asked, world.there.asked) == ([], [])


def test_no_read_of_a_remote_that_is_down_is_answered_by_anybody_else(world: World) -> None:
    random, tried = Random(2), 0
    world.there.server.close()
    for method in _of(MethodKind.READ):
        for names in (("far", "orders"), ("shop", "bought")):
            message = _about(random, method, *names)
            if message is None:
                continue
            tried += 1
            with pytest.raises(Exception):  # noqa: B017 (whichever the method declares)
                world.ask(message)
    assert tried > 50
    assert world.here.asked == []


PATTERNS = {
    "far": True, "FAR": True, "f*": True, "*": True, "f.r": True, "f.*": True, " far ": True, "x|far": True,
    "@hive#": True, "@hive#far": True, "@hive#f*|x": True,
    "@spark#": False, "@spark#far": False,
    "": False, "@hive#!": False, "f": False, "ar": False, "far |x": False, "x| far": False, "f%": False, "f[a]r": False,
    "fa?": False, "far,x": False, "^far$": False, "f.": False,
}  # fmt: skip
"""As Hive 4.1 itself matches them."""


@pytest.mark.parametrize(("pattern", "is_meant"), PATTERNS.items())
def test_a_pattern_means_a_remote_database_as_it_would_a_local_one(world: World, pattern: str, is_meant: bool) -> None:
    world.here.answers["get_table_meta"] = []
    world.there.answers["get_table_meta"] = [ttypes.TableMeta("sales", "orders", "EXTERNAL_TABLE")]
    rows = world.call("get_table_meta", db_patterns=pattern, tbl_patterns="*", tbl_types=[])
    assert [row.tableName for row in rows if row.dbName == "far"] == ["orders"] * is_meant
    asked = [decoded(struct_class(one), one.body) for one in world.there.asked]
    sent = [one.db_patterns for one in asked if one.tbl_patterns == "*"]
    assert sent == ["@hive#sales" if pattern.startswith("@") else "sales"] * is_meant


def test_a_database_that_stands_for_another_is_listed_with_that_ones_tables_alone(world: World) -> None:
    world.here.answers["get_table_meta"] = [ttypes.TableMeta("far", "own", "T"), ttypes.TableMeta("shop", "x", "T")]
    world.there.answers["get_table_meta"] = [ttypes.TableMeta("sales", "orders", "T")]
    rows = world.call("get_table_meta", db_patterns="*", tbl_patterns="*", tbl_types=None)
    assert [(row.dbName, row.tableName) for row in rows] == [("shop", "x"), ("shop", "bought"), ("far", "orders")]


def test_databases_are_listed_and_described_while_every_remote_is_down(world: World) -> None:
    world.there.server.close()
    world.here.answers |= {
        "get_all_databases": ["far", "shop"],
        "get_databases": ["far"],
        "get_database_req": ttypes.Database(name="far", parameters={"twinhive_remote": "sales"}),
        "get_table_meta": [ttypes.TableMeta("shop", "x", "T")],
    }
    assert world.call("get_all_databases") == ["far", "shop"]
    assert world.call("get_databases", pattern="f*") == ["far"]
    assert world.call("get_database_req", request=ttypes.GetDatabaseRequest(name="far")).name == "far"
    assert len(world.call("get_table_meta", db_patterns="*", tbl_patterns="*", tbl_types=None)) == 1


@pytest.mark.parametrize(
    "database",
    ["far\u00a0", "\u2003far", "far.orders", "hive.far", "fär", "ﬀar", "@spark#far", "@hive#far!", "fa\u0131r"],
)
def test_names_that_only_look_like_a_remotes_are_the_local_metastores(world: World, database: str) -> None:
    world.here.answers["get_all_tables"] = ["local"]
    assert world.call("get_all_tables", db_name=database) == ["local"]
    assert world.there.asked == []


@pytest.mark.parametrize("database", ["far", "FAR", " far ", "\tfar\n", "@hive#far", "@HIVE#Far"])
def test_names_that_mean_a_remote_in_another_form_are_the_remotes(world: World, database: str) -> None:
    world.there.answers["get_all_tables"] = ["orders"]
    assert world.call("get_all_tables", db_name=database) == ["orders"]
    assert world.here.asked == []


def test_another_catalog_is_not_ours(world: World) -> None:
    asked = ttypes.GetTableRequest(dbName="far", tblName="orders", catName="spark")
    world.here.answers["get_table_req"] = ttypes.NoSuchObjectException("spark.far.orders table not found")
    with pytest.raises((ttypes.MetaException, ttypes.NoSuchObjectException), match="spark"):
        world.call("get_table_req", req=asked)
    assert world.there.asked == []


def test_locks_transactions_and_notifications_reach_the_local_metastore_as_they_are(world: World) -> None:
    parts = [ttypes.LockComponent(type=1, level=2, dbname=one, tablename="t") for one in ("far", "shop", "@hive#far")]
    locked = ttypes.LockRequest(component=parts, user="ann", hostname="h", txnid=7)
    noted = ttypes.NotificationEventsCountRequest(fromEventId=0, dbName="far")
    messages = [
        request("lock", rqst=locked),
        request("commit_txn", rqst=ttypes.CommitTxnRequest(txnid=7)),
        request("get_next_notification", rqst=ttypes.NotificationEventRequest(lastEvent=0)),
        request("get_notification_events_count", rqst=noted),
        request("get_open_txns"),
    ]
    for message in messages:
        world.ask(message)
    assert [one.raw for one in world.here.asked] == [one.raw for one in messages]
    assert world.there.asked == []


def test_an_expression_of_the_engine_is_bytes_and_names_in_it_stay(world: World) -> None:
    expression = b"\x00far\x0b\x00\x01\x00\x00\x00\x03far shop.bought \xff\xfe"
    asked = ttypes.PartitionsByExprRequest(dbName="far", tblName="orders", expr=expression, catName="hive")
    partition = ttypes.Partition(
        values=["far", "sales"], dbName="sales", tableName="orders", parameters={"sales": "sales"}
    )
    world.there.answers["get_partitions_by_expr"] = ttypes.PartitionsByExprResult([partition], False)
    found = world.call("get_partitions_by_expr", req=asked).partitions[0]
    sent = decoded(struct_class(world.there.asked[0]), world.there.asked[0].body).req
    assert (sent.expr, sent.dbName, sent.tblName) == (expression, "sales", "orders")
    assert (found.dbName, found.values, found.parameters) == ("far", ["far", "sales"], {"sales": "sales"})


def test_columns_are_read_with_an_environment_context(world: World) -> None:
    context = ttypes.EnvironmentContext(properties={"database": "far"})
    world.there.answers["get_fields_with_environment_context"] = [ttypes.FieldSchema("sales", "int", "far")]
    asked = {"db_name": "shop", "table_name": "bought", "environment_context": context}
    assert world.call("get_fields_with_environment_context", **asked) == [ttypes.FieldSchema("sales", "int", "far")]
    sent = decoded(struct_class(world.there.asked[0]), world.there.asked[0].body)
    assert (sent.db_name, sent.table_name, sent.environment_context) == ("sales", "orders", context)


def test_tables_of_several_owners_come_in_one_list_under_local_names(world: World) -> None:
    def table(database: str, name: str, owner: str) -> ttypes.Table:
        return ttypes.Table(dbName=database, tableName=name, owner=owner, parameters={})

    world.here.answers["get_table_objects_by_name_req"] = ttypes.GetTablesResult(
        [table("shop", "own", "here"), table("shop", "bought", "here")]
    )
    world.there.answers["get_table_objects_by_name_req"] = ttypes.GetTablesResult([table("sales", "orders", "there")])
    asked = ttypes.GetTablesRequest(dbName="shop", tblNames=["own", "bought"])
    found = world.call("get_table_objects_by_name_req", req=asked).tables
    assert [(one.dbName, one.tableName, one.owner) for one in found] == [
        ("shop", "own", "here"),
        ("shop", "bought", "there"),
    ]


def test_of_tables_some_fields_are_asked_for_and_remotes_are_told_by_their_names(world: World) -> None:
    """Without names in the answer nobody could tell a remote table's row from that of the view that keeps it."""
    here = ttypes.Table(dbName="shop", tableName="bought", tableType="VIRTUAL_VIEW", parameters={})
    there = ttypes.Table(dbName="sales", tableName="orders", sd=ttypes.StorageDescriptor(location="hdfs://west/orders"))
    world.here.answers["get_table_objects_by_name_req"] = ttypes.GetTablesResult([here])
    world.there.answers["get_table_objects_by_name_req"] = ttypes.GetTablesResult([there])
    spec = ttypes.GetProjectionsSpec(fieldList=["sd.location"])
    asked = ttypes.GetTablesRequest(dbName="shop", tblNames=["bought"], projectionSpec=spec)
    (found,) = world.call("get_table_objects_by_name_req", req=asked).tables
    assert (found.dbName, found.tableName, found.sd.location) == ("shop", "bought", "hdfs://west/orders")
    sent = [decoded(struct_class(one.asked[0]), one.asked[0].body).req for one in (world.here, world.there)]
    assert [one.projectionSpec.fieldList for one in sent] == [["sd.location", "dbName", "tableName", "tableType"]] * 2
    assert [(one.dbName, one.tblNames) for one in sent] == [("shop", ["bought"]), ("sales", ["orders"])]


def test_of_a_remote_databases_tables_the_type_is_asked_for_too_where_only_some_fields_are_wanted(world: World) -> None:
    """Without it nobody could tell a view, whose parameters stay, from a table that clients are told is EXTERNAL."""
    world.here.answers["get_all_databases"] = ["far"]
    view = ttypes.Table(dbName="sales", tableName="v", tableType="VIRTUAL_VIEW", parameters={"a": "b"})
    world.there.answers["get_table_objects_by_name_req"] = ttypes.GetTablesResult([view])
    spec = ttypes.GetProjectionsSpec(fieldList=["parameters"])
    asked = ttypes.GetTablesRequest(dbName="far", tblNames=["v"], projectionSpec=spec)
    (found,) = world.call("get_table_objects_by_name_req", req=asked).tables
    assert (found.dbName, found.tableType, found.parameters) == ("far", "VIRTUAL_VIEW", {"a": "b"})
    (sent,) = (decoded(struct_class(one), one.body).req for one in world.there.asked)
    assert sent.projectionSpec.fieldList == ["parameters", "tableType"]


def test_a_definition_that_somebody_has_just_made_is_not_listed_as_what_keeps_it(world: World) -> None:
    new = TableName("shop", "new")
    defined, to = world.gateway.definitions, {"port": str(world.there.server.port)}
    keeps = ttypes.Table(
        dbName="shop", tableName="new", tableType="VIRTUAL_VIEW", parameters={"twinhive_remote": "a.b"}
    )
    world.here.answers["get_table_objects_by_name_req"] = ttypes.GetTablesResult([keeps])
    found = ttypes.Table(dbName="a", tableName="b", owner="there")
    world.there.answers["get_table_objects_by_name_req"] = ttypes.GetTablesResult([found])
    asked = request("get_table_objects_by_name_req", req=ttypes.GetTablesRequest(dbName="shop", tblNames=["new"]))
    world.ask(asked)
    object.__setattr__(defined, "tables", {})  # what a gateway knows already stays; the metastore has more
    vars(world.gateway)["definitions"] = Definitions({new: RemoteTable(new, TableName("a", "b"), properties=to)})
    (row,) = world.ask(asked).tables
    assert (row.dbName, row.tableName, row.owner) == ("shop", "new", "there")


@pytest.mark.thorough
def test_lists_that_are_too_long_to_be_joined_are_left_out_and_free_the_remote() -> None:
    world = World(buffered=10_000)
    try:
        world.here.answers["get_table_meta"] = []
        world.there.answers |= {
            "get_table_meta": [ttypes.TableMeta("sales", "x" * 100, "T") for _ in range(20_000)],
            "get_all_tables": ["orders"],
        }
        for _ in range(40):  # more than a remote may have calls under way
            assert world.call("get_table_meta", db_patterns="*", tbl_patterns="*", tbl_types=[]) == []
        assert world.call("get_all_tables", db_name="far") == ["orders"]
    finally:
        world.close()


def test_a_method_of_a_newer_hive_is_nobodys(world: World) -> None:
    with pytest.raises(ttypes.MetaException, match="does not know"):
        world.ask(call("get_table_of_tomorrow", 1))
    assert (world.here.asked, world.there.asked) == ([], [])


KINDS = [None, [], ["EXTERNAL_TABLE"], ["VIRTUAL_VIEW"], ["VIRTUAL_VIEW", "EXTERNAL_TABLE"]]


@pytest.mark.parametrize("kinds", KINDS)
def test_a_remote_table_is_of_the_kind_that_it_is_where_it_is(world: World, kinds: list[str] | None) -> None:
    """A view keeps it here: who lists views does not get it, who lists tables does, once and under its local name."""
    kept, own = ttypes.TableMeta("shop", "bought", "VIRTUAL_VIEW"), ttypes.TableMeta("shop", "seen", "VIRTUAL_VIEW")
    wants_views, wants_tables = not kinds or "VIRTUAL_VIEW" in kinds, not kinds or "EXTERNAL_TABLE" in kinds
    world.here.answers["get_table_meta"] = [kept, own] if wants_views else []
    there = ttypes.TableMeta("sales", "orders", "EXTERNAL_TABLE", comments="of far")
    world.there.answers["get_table_meta"] = [there] if wants_tables else []
    rows = world.call("get_table_meta", db_patterns="shop", tbl_patterns="*", tbl_types=kinds)
    expected = [("seen", "VIRTUAL_VIEW", None)] * wants_views + [("bought", "EXTERNAL_TABLE", "of far")] * wants_tables
    assert [(row.tableName, row.tableType, row.comments) for row in rows] == expected
    assert {row.dbName for row in rows} <= {"shop"}
    (asked,) = (decoded(struct_class(one), one.body) for one in world.there.asked)
    kinds_there = [*kinds, "MANAGED_TABLE"] if kinds and wants_tables else kinds or None
    assert (asked.db_patterns, asked.tbl_patterns, asked.tbl_types) == ("sales", "orders", kinds_there)


@pytest.mark.parametrize(
    ("kind", "listed", "expected"),
    [
        ("VIRTUAL_VIEW", ["bought", "seen"], ["seen"]),
        ("EXTERNAL_TABLE", ["own"], ["own", "bought"]),
        ("MANAGED_TABLE", [], []),
    ],
)
def test_names_of_one_kind_have_a_remote_table_where_it_belongs(
    world: World, kind: str, listed: list[str], expected: list[str]
) -> None:
    world.here.answers["get_tables_by_type"] = listed
    row = ttypes.TableMeta("sales", "orders", "EXTERNAL_TABLE")
    world.there.answers["get_table_meta"] = [row] * (kind == "EXTERNAL_TABLE")
    assert world.call("get_tables_by_type", db_name="@hive#shop", pattern="*", tableType=kind) == expected


def test_a_remote_table_whose_kind_nobody_tells_stays_in_the_list(world: World) -> None:
    world.there.server.close()
    world.here.answers["get_table_meta"] = [ttypes.TableMeta("shop", "bought", "VIRTUAL_VIEW")]
    world.here.answers["get_tables_by_type"] = ["bought"]
    rows = world.call("get_table_meta", db_patterns="shop", tbl_patterns="b*", tbl_types=None)
    assert [row.tableName for row in rows] == ["bought"]
    assert world.call("get_tables_by_type", db_name="shop", pattern="*", tableType="VIRTUAL_VIEW") == ["bought"]


def test_tables_of_a_remote_database_are_listed_by_kind_by_its_owner(world: World) -> None:
    """A table there that is managed is listed as the external one that it is here."""
    world.there.answers["get_tables_by_type"] = ["orders"]
    for kind, expected in (("VIRTUAL_VIEW", ["orders"]), ("EXTERNAL_TABLE", ["orders"] * 2), ("MANAGED_TABLE", [])):
        assert world.call("get_tables_by_type", db_name="far", pattern="*", tableType=kind) == expected
    asked = [decoded(struct_class(one), one.body).tableType for one in world.there.asked]
    assert asked == ["VIRTUAL_VIEW", "EXTERNAL_TABLE", "MANAGED_TABLE", "MANAGED_TABLE"]
    world.there.answers["get_tables_by_type"] = ttypes.MetaException("not now")
    for kind in ("EXTERNAL_TABLE", "MANAGED_TABLE"):
        with pytest.raises(ttypes.MetaException, match="not now"):
            world.call("get_tables_by_type", db_name="far", pattern="*", tableType=kind)
    assert world.here.asked == []


def test_lists_ask_each_remote_once_for_all_of_its_databases_and_give_each_name_its_rows(world: World) -> None:
    to = {"port": str(world.there.server.port)}
    more = {"again": "sales", "other": "hr", "gone": "gone"}
    databases = {name: RemoteDatabase(name, remote, properties=to) for name, remote in more.items()}
    world.gateway.definitions = Definitions({}, {**world.gateway.definitions.databases, **databases})
    world.here.answers["get_table_meta"] = []
    world.there.answers["get_table_meta"] = [ttypes.TableMeta(one, "t", "T") for one in ("sales", "hr", "unasked")]
    rows = world.call("get_table_meta", db_patterns="*", tbl_patterns="t*|u", tbl_types=None)
    assert sorted(row.dbName for row in rows) == ["again", "far", "other"]
    (asked,) = (decoded(struct_class(one), one.body) for one in world.there.asked)
    assert (sorted(asked.db_patterns.split("|")), asked.tbl_patterns) == (["gone", "hr", "sales"], "t*|u")


def test_a_remote_whose_name_would_be_a_pattern_is_listed_by_its_name(world: World) -> None:
    """Glue's names may be such; a metastore asked for `a|b` would answer for two other tables."""
    bought, to = TableName("shop", "bought"), {"port": str(world.there.server.port)}
    world.gateway.definitions = Definitions({bought: RemoteTable(bought, TableName("sales", "a|b"), properties=to)})
    world.here.answers["get_table_meta"] = [ttypes.TableMeta("shop", "bought", "VIRTUAL_VIEW")]
    there = [ttypes.TableMeta("sales", name, "VIRTUAL_VIEW", f"of {name}") for name in ("a", "a|b", "b")]
    world.there.answers["get_table_meta"] = there
    rows = world.call("get_table_meta", db_patterns="shop", tbl_patterns="*", tbl_types=[])
    assert [(row.tableName, row.comments) for row in rows] == [("bought", "of a|b")]
    (asked,) = (decoded(struct_class(one), one.body) for one in world.there.asked)
    assert (asked.db_patterns, asked.tbl_patterns) == ("sales", "*")


def test_a_list_waits_no_longer_for_many_silent_remotes_than_for_one() -> None:
    world, silent = World(), [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
    try:
        ports = [str(one.getsockname()[1]) for one in silent]
        databases = {
            f"d{port}{n}": RemoteDatabase(f"d{port}{n}", "x", properties={"port": port}) for port in ports for n in "ab"
        }
        tables = {
            name: RemoteTable(name, TableName(name.table, "t"), properties={"port": port})
            for port in ports
            for name in (TableName("shop", f"t{n}{port}") for n in range(3))
        }
        world.gateway.definitions = Definitions(tables, databases)
        world.here.answers["get_table_meta"] = [ttypes.TableMeta("shop", "own", "T")]
        began = time.monotonic()
        rows = world.call("get_table_meta", db_patterns="*", tbl_patterns="*", tbl_types=None)
        assert [row.tableName for row in rows] == ["own"]
        assert time.monotonic() - began < 3 * LIMITS.several, "each remote, or each of its names, was waited for"
    finally:
        world.close()
        for one in silent:
            one.close()


def _grant(database: str, table: str | None) -> WireMessage:
    kind = ttypes.HiveObjectType.DATABASE if table is None else ttypes.HiveObjectType.TABLE
    about = ttypes.HiveObjectRef(objectType=kind, dbName=database, objectName=table)
    right = ttypes.PrivilegeGrantInfo("select", 0, "ann", ttypes.PrincipalType.USER, False)
    one = ttypes.HiveObjectPrivilege(about, "bob", ttypes.PrincipalType.USER, right, "SQL")
    return request("grant_privileges", privileges=ttypes.PrivilegeBag([one]))


@pytest.mark.parametrize("database", ["far", "FAR", "@hive#far"])
def test_rights_on_a_table_that_only_the_remote_has_are_refused(world: World, database: str) -> None:
    """Hive's metastore would say yes, and store nothing."""
    with pytest.raises(ttypes.MetaException, match=r"rights on remote far\.orders are not kept here"):
        world.ask(_grant(database, "orders"))
    assert (world.here.asked, world.there.asked) == ([], [])


def _refresh(database: str, table: str, granted: str) -> WireMessage:
    about = ttypes.HiveObjectRef(objectType=ttypes.HiveObjectType.TABLE, dbName=database, objectName=table)
    grants = ttypes.GrantRevokePrivilegeRequest(
        ttypes.GrantRevokeType.GRANT, decoded(_ARGUMENTS, _grant(granted, "orders").body).privileges
    )
    return request("refresh_privileges", objToRefresh=about, authorizer="SQL", grantRequest=grants)


_ARGUMENTS = ThriftHiveMetastore.grant_privileges_args


@pytest.mark.parametrize(("database", "granted"), [("far", "far"), ("FAR", "shop"), ("shop", "far")])
def test_rights_on_a_table_that_only_the_remote_has_are_not_refreshed(
    world: World, database: str, granted: str
) -> None:
    with pytest.raises(ttypes.MetaException, match=r"rights on remote far\.orders are not kept here"):
        world.ask(_refresh(database, "orders", granted))
    assert (world.here.asked, world.there.asked) == ([], [])


def test_rights_on_local_tables_are_refreshed(world: World) -> None:
    message = _refresh("shop", "bought", "shop")
    world.here.answers["refresh_privileges"] = ttypes.GrantRevokePrivilegeResponse(success=True)
    assert world.ask(message).success is True
    assert [one.raw for one in world.here.asked] == [message.raw]


@pytest.mark.parametrize(("database", "table"), [("far", None), ("shop", "bought"), ("shop", "own"), ("shop", None)])
def test_rights_on_local_names_are_the_local_metastores(world: World, database: str, table: str | None) -> None:
    message = _grant(database, table)
    world.here.answers["grant_privileges"] = True
    assert world.ask(message) is True
    assert [one.raw for one in world.here.asked] == [message.raw]
    about = ttypes.HiveObjectRef(objectType=ttypes.HiveObjectType.TABLE, dbName="far", objectName="orders")
    asked = request("get_privilege_set", hiveObject=about, user_name="bob", group_names=[])
    world.here.answers["get_privilege_set"] = ttypes.PrincipalPrivilegeSet(userPrivileges={"bob": []})
    assert world.ask(asked).userPrivileges == {"bob": []}
    assert world.there.asked == []
