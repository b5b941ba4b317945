"""What is answered for a catalog is what a metastore with the same content answers, for random calls about it."""

import random
import socket
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from sandbox import Sandbox
from tests.support.hive.metastore_catalog import catalog_of
from tests.support.seeds import seeds
from twinhive.federation.connectors.responder import Responder
from twinhive.federation.connectors.struct_encoding import ended, fields_of, struct, text, texts
from twinhive.hive.wire.thrift_message import WireMessage, call, read_head
from twinhive.hive.wire.thrift_skip import Short, end_of

pytestmark = pytest.mark.sandbox
CALLS = 400
DAYS, HOURS = 5, (0, 1, 2, 10, 23)
LOCATION = 2
ERROR = "exception"
Answer = Callable[[WireMessage], WireMessage]


@dataclass
class Both:
    """A metastore and what answers like it, with the database that both hold."""

    real: Answer
    ours: Answer
    database: str


@pytest.fixture(scope="module")
def both(sandbox: Sandbox) -> Iterator[Both]:
    cluster = sandbox.clusters["east"]
    transport = TBufferedTransport(TSocket(cluster.metastore_host, cluster.metastore_port))
    transport.open()
    client = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
    name = f"responder_{uuid.uuid4().hex[:8]}"
    _fill(client, name)
    catalog = catalog_of(client, name)
    with socket.create_connection((cluster.metastore_host, cluster.metastore_port), 60) as connection:
        yield Both(lambda message: _exchanged(connection, message), Responder(catalog).answer, name)
    client.drop_database(name, True, True)
    transport.close()


def _fill(client: Any, name: str) -> None:
    client.create_database(ttypes.Database(name=name, description="a database", parameters={"k": "v"}))
    columns = [ttypes.FieldSchema("id", "bigint", "the key"), ttypes.FieldSchema("note", "string", None)]
    keys = [ttypes.FieldSchema(key, kind, None) for key, kind in (("day", "string"), ("hour", "int"), ("at", "date"))]
    client.create_table(_table(name, "orders", columns, keys))
    client.create_table(_table(name, "orders_old", columns, []))
    client.create_table(_table(name, "planes", columns, []))
    view = _table(name, "recent", columns, [])
    view.tableType, view.viewOriginalText, view.viewExpandedText = "VIRTUAL_VIEW", "select 1", "select 1"
    client.create_table(view)
    values = [[f"d{day}", str(hour), f"2026-01-0{day + 1}"] for day in range(DAYS) for hour in HOURS]
    values += [
        ["it's = /odd", "7", "2026-01-01"],
        ["__HIVE_DEFAULT_PARTITION__", "1", "2026-01-01"],
        ["D1", "-3", "2026-02-28"],
    ]
    root = client.get_table_req(ttypes.GetTableRequest(dbName=name, tblName="orders")).table.sd.location
    storages = [_storage(columns, f"{root}/{number}") for number in range(len(values))]
    client.add_partitions(
        [
            ttypes.Partition(values=one, dbName=name, tableName="orders", sd=storage, parameters={})
            for one, storage in zip(values, storages, strict=True)
        ]
    )


def _table(database: str, name: str, columns: list[Any], keys: list[Any]) -> Any:
    return ttypes.Table(
        dbName=database,
        tableName=name,
        owner="ann",
        sd=_storage(columns, None),
        partitionKeys=keys,
        tableType="EXTERNAL_TABLE",
        parameters={"EXTERNAL": "TRUE", "tier": "gold"},
    )


def _storage(columns: list[Any], location: str | None) -> Any:
    serde = ttypes.SerDeInfo(None, "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", {"field.delim": ","})
    return ttypes.StorageDescriptor(
        cols=columns,
        location=location,
        inputFormat="org.apache.hadoop.mapred.TextInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        numBuckets=-1,
        serdeInfo=serde,
        bucketCols=[],
        sortCols=[],
        parameters={},
    )


def _exchanged(connection: socket.socket, message: WireMessage) -> WireMessage:
    connection.sendall(message.raw)
    raw = b""
    while True:
        raw += (got := connection.recv(1 << 18))
        assert got, f"{message.head.method}: the metastore has closed the connection"
        if (read := read_head(raw)) is not None:
            try:
                end_of(raw, read[1])
                return WireMessage(read[0], raw, read[1])
            except Short:
                continue


class RandomCalls:
    """Calls about the database, most of them about what is there."""

    def __init__(self, seed: int, database: str) -> None:
        self._random, self._database = random.Random(seed), database

    def one(self) -> WireMessage:
        pick = self._random.choice
        name = pick(("orders", "orders", "orders", "ORDERS", "planes", "recent", "none"))
        database = pick((self._database, self._database, self._database.upper(), f"@hive#{self._database}"))
        return pick((self._about_partitions, self._about_names, self._about_one))(database, name)

    def _about_one(self, database: str, name: str) -> WireMessage:
        two = text(1, database) + text(2, name)
        wrapped = ended(struct(1, ended(text(1, self._database), text(2, name), text(4, "hive"))))
        behind = ended(struct(1, ended(text(1, "hive"), text(2, self._database), text(3, name))))
        return self._random.choice(
            (
                call("get_database", 1, ended(text(1, database))),
                call("get_table_req", 1, wrapped),
                call("get_fields", 1, ended(two)),
                call("get_schema", 1, ended(two)),
                call("get_fields_req", 1, behind),
                call("get_schema_req", 1, behind),
                call(
                    "get_table_objects_by_name_req",
                    1,
                    ended(struct(1, ended(text(1, self._database), texts(2, [name, "x"]), text(4, "hive")))),
                ),
            )
        )

    def _about_names(self, database: str, name: str) -> WireMessage:
        pick = self._random.choice
        pattern = pick(("*", "or*", "*o*", "ORDERS|planes", "o.*", "orders", "x*", ".*", "or?ers", "orders_old"))
        like = pick(("orders", "or.*", ".*", ".*old", "x.*"))
        filter_ = pick(
            (
                f'hive_filter_field_tableName__ like "{like}"',
                'hive_filter_field_params__tier = "gold"',
                'hive_filter_field_params__tier like "g.*"',
                'hive_filter_field_owner__ = "ann"',
                'hive_filter_field_owner__ like "b.*"',
                'hive_filter_field_tableType__ = "VIRTUAL_VIEW"',
                "",
            )
        )
        number = b"\x06\0\3" + pick((-1, -1, 1, 2)).to_bytes(2, "big", signed=True)
        kind = pick(("EXTERNAL_TABLE", "VIRTUAL_VIEW", "MANAGED_TABLE"))
        return pick(
            (
                call("get_all_tables", 1, ended(text(1, database))),
                call("get_tables", 1, ended(text(1, database), text(2, pattern))),
                call("get_tables_by_type", 1, ended(text(1, database), text(2, pattern), text(3, kind))),
                call("get_table_names_by_filter", 1, ended(text(1, database), text(2, filter_), b"\x06\0\3\xff\xff")),
                call("get_partition_names", 1, ended(text(1, database), text(2, name), number)),
            )
        )

    def _about_partitions(self, database: str, name: str) -> WireMessage:
        pick = self._random.choice
        two = text(1, database) + text(2, name)
        most = pick((-1, -1, -1, 0)).to_bytes(2, "big", signed=True)
        three, four = b"\x06\0\3" + most, b"\x06\0\4" + most
        values = [pick(("", "d1", "d9", "it's = /odd")), pick(("", "10", "7")), pick(("", "2026-01-01"))][
            : pick((1, 2, 3))
        ]
        names = [f"day=d{day}/hour={hour}/at=2026-01-0{day + 1}" for day in range(7) for hour in (1, 10)]
        names = self._random.sample(names, 3)
        filter_ = text(3, self._filter(2))
        inner = ended(text(1, "hive"), text(2, self._database), text(3, name), four)
        return pick(
            (
                call("get_partitions", 1, ended(two, three)),
                call("get_partitions_ps", 1, ended(two, texts(3, values), four)),
                call("get_partition_names_ps", 1, ended(two, texts(3, values), four)),
                call("get_partition", 1, ended(two, texts(3, ["d1", "10", "2026-01-02"]))),
                call("get_partition_by_name", 1, ended(two, text(3, pick(names)))),
                call("get_partitions_by_names", 1, ended(two, texts(3, names))),
                call("get_partitions_by_names_req", 1, ended(struct(1, ended(two, texts(3, names))))),
                call("fetch_partition_names_req", 1, ended(struct(1, inner))),
                call("get_partitions_req", 1, ended(struct(1, inner))),
                *[call("get_partitions_by_filter", 1, ended(two, filter_, four))] * 6,
                *[call("get_num_partitions_by_filter", 1, ended(two, filter_))] * 4,
            )
        )

    def _filter(self, depth: int) -> str:
        pick = self._random.choice
        if depth and self._random.random() < 0.5:
            return f"({self._filter(depth - 1)} {pick(('and', 'OR', 'AND'))} {self._filter(depth - 1)})"
        key, literals = pick(
            (
                ("day", ("'d1'", '"d3"', "'D1'", "'it\\'s'", "'d'")),
                ("hour", ("1", "10", "23", "2")),
                ("at", ("'2026-01-02'", "DATE '2026-01-03'", "'2026-02-28'")),
            )
        )
        operators = ("=", "<", ">", "<=", ">=", "<>", "!=")
        kinds = [f"{key} {pick(operators)} {pick(literals)}"] * 4
        kinds += [f"({key}) in ({pick(literals)}, {pick(literals)})", f"({key}) not in ({pick(literals)})"] * 2
        kinds += [f"{key} {pick(('', 'not'))} between {pick(literals)} and {pick(literals)}"]
        kinds += [f"{pick(literals)} {pick(operators)} {key}", f"day like '{pick(('d%', '%1', 'd_', 'x', '%'))}'"]
        return pick(kinds)


def _seen(method: str, answer: WireMessage) -> Any:
    """Return what a client makes of an answer: of an error only which exception it is."""
    fields = fields_of(answer.raw, answer.at)
    if 0 not in fields:
        return [ERROR, min(fields, default=None)]
    found = fields[0]
    if isinstance(found, dict) and set(found) <= {1, 2} and method.endswith("_req"):
        found = found[1]
    if isinstance(found, list):
        return sorted((_named(one) if isinstance(one, dict) else one for one in found), key=repr)
    return [_named(found) if isinstance(found, dict) else found]


def _named(one: dict[int, Any]) -> Any:
    """Return names, columns, keys, places and types of a table, a partition, a database or a column."""
    storage = one.get(6) if isinstance(one.get(6), dict) else one.get(7)
    if not isinstance(storage, dict):
        return {number: one.get(number) for number in (1, 2, 3, 4) if not isinstance(one.get(number), list)}
    columns = [(column[1], column[2], column.get(3)) for column in storage.get(1, ())]
    return one[1], one[2], one.get(12), columns, storage.get(LOCATION), storage[7][2], storage[7][3], one.get(11)


@pytest.mark.parametrize("seed", seeds(3, kind=17))
def test_random_calls_are_answered_as_by_the_metastore(both: Both, seed: int) -> None:
    calls = RandomCalls(seed, both.database)
    wrong, refused = {}, 0
    for _ in range(CALLS):
        message = calls.one()
        method = message.head.method
        real, ours = (_seen(method, answer(message)) for answer in (both.real, both.ours))
        refused += ERROR in real
        if ERROR in real or (ERROR in ours and b"none" in message.raw):
            continue  # what the metastore does not read may be read here; of a missing table it may say 'no partitions'
        if real != ours:
            only = [[one for one in there if one not in others] for there, others in ((real, ours), (ours, real))]
            wrong[f"{method} {fields_of(message.raw, message.at)}"] = f"metastore {only[0]}, ours {only[1]}"
    assert refused < CALLS / 2
    assert wrong == {}, "\n".join(f"{asked}: {answers}" for asked, answers in wrong.items())
