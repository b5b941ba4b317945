"""Calls are encoded and answers decoded by pyiceberg's bindings: what they know comes back as it was."""

import random
from contextlib import suppress
from dataclasses import replace

import pytest
from hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.transport.TTransport import TMemoryBuffer

from tests.support.memory_catalog import sales_catalog
from tests.support.seeds import seeds
from twinhive.core.model.errors import Refused, Unreachable
from twinhive.federation.connectors.read_methods import ANSWERED
from twinhive.federation.connectors.responder import Responder
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.old_clients import OLD_METHODS
from twinhive.hive.wire.thrift_message import STOP, WireError, call, message_of, struct_field, text_field


class _Bound:
    """A transport that sends each call into a responder."""

    def __init__(self, responder: Responder) -> None:
        self._responder, self._out, self._in = responder, b"", TMemoryBuffer()

    def write(self, data: bytes) -> None:
        self._out += data

    def flush(self) -> None:
        answer = self._responder.answer(message_of(self._out))
        self._out, self._in = b"", TMemoryBuffer(answer.raw)

    def read(self, size: int) -> bytes:
        return self._in.read(size)

    def readAll(self, size: int) -> bytes:
        return self._in.readAll(size)

    @property
    def cstringio_buf(self):
        return self._in.cstringio_buf

    def cstringio_refill(self, partial, wanted):
        return self._in.cstringio_refill(partial, wanted)


@pytest.fixture
def catalog():
    return sales_catalog()


@pytest.fixture
def client(catalog):
    return ThriftHiveMetastore.Client(TBinaryProtocolAccelerated(_Bound(Responder(catalog))))


def test_a_database(client) -> None:
    found = client.get_database("@hive#Sales")

    assert (found.name, found.description, found.locationUri) == ("sales", "what is sold", "s3://b")
    assert found.parameters == {"tier": "gold"}
    with pytest.raises(ttypes.NoSuchObjectException):
        client.get_database("none")


def test_a_table(client) -> None:
    found = client.get_table_req(ttypes.GetTableRequest(dbName="sales", tblName="ORDERS")).table

    assert (found.dbName, found.tableName, found.owner, found.tableType) == ("sales", "orders", "ann", "EXTERNAL_TABLE")
    assert [(one.name, one.type, one.comment) for one in found.sd.cols] == [
        ("id", "bigint", None),
        ("note", "string", "a note"),
    ]
    assert [one.name for one in found.partitionKeys] == ["day", "hour"]
    assert found.sd.serdeInfo.parameters == {"field.delim": ","}
    assert found.sd.location == "s3://b/orders"
    assert found.sd.skewedInfo == ttypes.SkewedInfo([], [], {})
    assert found.parameters == {"owner.team": "blue"}


def test_a_view(client) -> None:
    found = client.get_table("sales", "recent")

    assert found.tableType == "VIRTUAL_VIEW"
    assert found.viewExpandedText == "select `orders`.`id` from `sales`.`orders`"


def test_an_empty_location_is_none(client, catalog) -> None:
    view, _ = catalog.tables["sales", "recent"]
    catalog.tables["sales", "recent"] = replace(view, storage=replace(view.storage, location="")), []

    assert client.get_table("sales", "recent").sd.location is None


def test_a_missing_table_is_said_as_each_method_declares(client) -> None:
    with pytest.raises(ttypes.NoSuchObjectException, match=r"sales\.none"):
        client.get_table_req(ttypes.GetTableRequest(dbName="sales", tblName="none"))
    with pytest.raises(ttypes.UnknownTableException):
        client.get_fields("sales", "none")
    with pytest.raises(ttypes.NoSuchObjectException):
        client.get_partition_names("sales", "none", -1)


def test_names_of_tables(client) -> None:
    names_like = 'hive_filter_field_tableName__ like "or.*"'

    assert client.get_all_tables("sales") == ["orders", "recent"]
    assert client.get_tables("sales", "O*|x") == ["orders"]
    assert client.get_tables_by_type("sales", "*", "VIRTUAL_VIEW") == ["recent"]
    assert client.get_table_names_by_filter("sales", names_like, -1) == ["orders"]
    assert client.get_table_names_by_filter("sales", 'hive_filter_field_owner__ = "ann"', -1) == ["orders"]
    assert client.get_table_names_by_filter("sales", 'hive_filter_field_params__tier = "x"', -1) == []
    assert [one.tableName for one in client.get_table_meta("sales", "*", ["VIRTUAL_VIEW"])] == ["recent"]
    several = client.get_table_meta("@hive#none|Sales", "or*|rec*", [])
    assert [(one.dbName, one.tableName) for one in several] == [("sales", "orders"), ("sales", "recent")]
    assert client.get_table_meta("none", "*", []) == []
    assert [one.tblName for one in client.get_tables_ext(ttypes.GetTablesExtRequest("hive", "sales", "*"))] == [
        "orders",
        "recent",
    ]
    asked = ttypes.GetTablesRequest(dbName="sales", tblNames=["recent", "none"])
    assert [one.tableName for one in client.get_table_objects_by_name_req(asked).tables] == ["recent"]


def test_columns_without_and_with_those_of_partitions(client) -> None:
    assert [one.name for one in client.get_fields("sales", "orders")] == ["id", "note"]
    assert [one.name for one in client.get_schema("sales", "orders")] == ["id", "note", "day", "hour"]
    asked = ttypes.GetSchemaRequest(dbName="sales", tblName="orders")
    assert [one.name for one in client.get_schema_req(asked).fields] == ["id", "note", "day", "hour"]


def test_names_of_partitions(client) -> None:
    assert len(client.get_partition_names("sales", "orders", -1)) == 24
    assert client.get_partition_names("sales", "orders", 2) == ["day=2026-01-01/hour=0", "day=2026-01-01/hour=10"]
    assert client.get_partition_names_ps("sales", "orders", ["", "5"], 1) == ["day=2026-01-01/hour=5"]
    assert client.get_partition_names_ps("sales", "orders", ["2026-01-02"], -1)[0] == "day=2026-01-02/hour=0"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("day = '2026-01-01'", 4),
        ("day >= '2026-01-02' and hour < 10", 10),
        ("(day = '2026-01-01' or hour in (5, 15)) and not_a_key = 1", None),
        ("hour between 5 and 10", 12),
        ("hour not between 5 and 10", 12),
        ("day like '2026-01-0_' and '5' = hour", 6),
        ("5 > hour", 6),
        ("(hour) in (5, 15) and (day) not in ('2026-01-01')", 10),
        ("(struct(day, hour)) in (const struct('2026-01-01', 5), struct('2026-01-02', 0), struct('x', 0))", 2),
        ("(struct(day, hour)) in (struct('2026-01-01'))", None),
        ("((((hour = 5))))", 6),
        ('day like "2026-01-01.*"', 4),
        ('day like ".*-01-0.*" and hour = 5', 6),
        ("(" * 2000, None),
        ("hour <> 5 AND day != '2026-01-01'", 15),
        ("hour = ", None),
        ("day > 5", None),
        ("", 24),
    ],
)
def test_partitions_by_filters(client, text: str, count: int | None) -> None:
    if count is None:
        with pytest.raises(ttypes.MetaException):
            client.get_partitions_by_filter("sales", "orders", text, -1)
    else:
        assert len(client.get_partitions_by_filter("sales", "orders", text, -1)) == count
        assert client.get_num_partitions_by_filter("sales", "orders", text) == count
        assert len(client.get_part_specs_by_filter("sales", "orders", text, -1)[0].partitionList.partitions) == count


def test_partitions_by_names_values_and_all(client) -> None:
    names = ["day=2026-01-01/hour=5", "day=1999-01-01/hour=5"]
    asked = ttypes.GetPartitionsByNamesRequest(db_name="sales", tbl_name="orders", names=names)

    found = client.get_partitions_by_names_req(asked).partitions
    assert [one.values for one in found] == [["2026-01-01", "5"]]
    assert (found[0].dbName, found[0].tableName, found[0].sd.location) == (
        "sales",
        "orders",
        "s3://b/orders/2026-01-01/5",
    )
    assert len(client.get_partitions("sales", "orders", 7)) == 7
    assert len(client.get_partitions_ps_with_auth("sales", "orders", ["", "5"], -1, "u", [])) == 6
    assert client.get_partition("sales", "orders", ["2026-01-01", "5"]) == found[0]
    assert client.get_partition_by_name("sales", "orders", "day=2026-01-01/hour=5") == found[0]
    with pytest.raises(ttypes.NoSuchObjectException):
        client.get_partition("sales", "orders", ["1999-01-01", "5"])
    with pytest.raises(ttypes.MetaException):
        client.get_partition("sales", "orders", ["2026-01-01"])


def test_calls_that_the_bindings_lack(catalog) -> None:
    inner = text_field(2, "sales") + text_field(3, "orders") + text_field(4, "hour = 5") + b"\x06\0\5\xff\xff" + STOP
    responder = Responder(catalog)

    answer = responder.answer(call("get_partitions_by_filter_req", 7, struct_field(1, inner) + STOP))
    names = responder.answer(
        call("fetch_partition_names_req", 8, struct_field(1, inner[: inner.index(b"hour") - 7] + STOP) + STOP)
    )
    read = ThriftHiveMetastore.get_partitions_result()
    read.read(TBinaryProtocolAccelerated(TMemoryBuffer(answer.body)))
    read_names = ThriftHiveMetastore.get_partition_names_result()
    read_names.read(TBinaryProtocolAccelerated(TMemoryBuffer(names.body)))

    assert answer.head.sequence == 7
    assert len(read.success) == 6
    assert len(read_names.success) == 24


def test_statistics_and_constraints_are_empty(client) -> None:
    asked = ttypes.TableStatsRequest(dbName="sales", tblName="orders", colNames=["id"], engine="hive")

    assert client.get_table_statistics_req(asked).tableStats == []
    assert client.get_primary_keys(ttypes.PrimaryKeysRequest("sales", "orders")).primaryKeys == []
    assert client.get_functions("sales", "*") == []
    assert client.set_ugi("ann", []) == []
    assert client.get_config_value("a", "b") == "b"


def test_what_is_not_answered_is_refused_with_an_exception_of_its_method(client) -> None:
    with pytest.raises(ttypes.MetaException, match="not answered"):
        client.drop_table("sales", "orders", True)
    with pytest.raises(ttypes.MetaException, match="expression"):
        client.get_partition_names_req(ttypes.PartitionsByExprRequest("sales", "orders", b"x"))


def test_every_method_of_the_table_is_answered_or_refused(catalog) -> None:
    responder = Responder(catalog)
    for method in {**METHODS, **dict.fromkeys(OLD_METHODS)}:
        answer = responder.answer(call(method, 3))
        assert answer.head.sequence == 3


def test_answered_methods_are_methods() -> None:
    assert set(ANSWERED) <= {*METHODS, *OLD_METHODS}


def test_a_catalog_that_cannot_be_asked_is_no_answer(catalog) -> None:
    catalog.failure = Unreachable("nobody is there")
    asked = call("get_all_tables", 1, text_field(1, "sales") + STOP)
    with pytest.raises(Unreachable):
        Responder(catalog).answer(asked)
    catalog.failure = Refused("no")
    assert b"no" in Responder(catalog).answer(asked).body
    catalog.failure = KeyError("odd")
    assert b"KeyError" in Responder(catalog).answer(asked).body


def test_bad_bytes_are_no_call(catalog) -> None:
    for body in (b"\x0b\0\1\0\0\xff\xff", b"\x0f\0\1\x0b\x7f\xff\xff\xff", b"\x0c\0\1" * 500, b"\x63\0\1"):
        with pytest.raises(WireError):
            Responder(catalog).answer(call("get_all_tables", 1, body))


def test_mutated_calls_are_answered_or_no_calls(catalog) -> None:
    chosen = random.Random(seeds(1)[0])
    responder = Responder(catalog)
    strings = [b"sales", b"orders", b"day > '2026'", b"*", b""]
    for _ in range(20_000):
        two = b"".join(_field(chosen.choice((1, 2, 3, 4)), chosen.choice(strings)) for _ in range(3)) + STOP
        body = bytearray(two if chosen.random() < 0.5 else struct_field(1, two) + STOP)
        for _ in range(chosen.choice((0, 1, 1, 3))):
            body[chosen.randrange(len(body))] = chosen.choice(
                (0, 1, 8, 11, 12, 13, 15, 127, 255, chosen.randrange(256))
            )
        asked = call(chosen.choice(list(ANSWERED)), 1, bytes(body[: chosen.choice((None, None, -1, 5))]))
        with suppress(WireError):
            assert responder.answer(asked).head.sequence == 1


def test_many_values_are_no_call(catalog) -> None:
    many = 1_000_000
    with pytest.raises(WireError, match="too many values"):
        Responder(catalog).answer(
            call("get_all_tables", 1, b"\x0f\0\1\x0c" + many.to_bytes(4, "big") + STOP * (many + 1))
        )


def _field(number: int, value: bytes) -> bytes:
    return bytes((11, 0, number)) + len(value).to_bytes(4, "big") + value
