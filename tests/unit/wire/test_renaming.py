"""Names are found and replaced where the table says that they stand."""

from hive_metastore import ThriftHiveMetastore
from hive_metastore.ttypes import FieldSchema, GetTableRequest, GetTableResult, Partition, StorageDescriptor, Table
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TTransport import TMemoryBuffer

from twinhive.wire.message import WireMessage, call, reply
from twinhive.wire.renames import Renames
from twinhive.wire.renaming import Name, names_of, renamed
from twinhive.wire.roles import Role


def encoded(struct) -> bytes:
    buffer = TMemoryBuffer()
    struct.write(TBinaryProtocol(buffer))
    return buffer.getvalue()


def decoded(kind, body: bytes):
    struct = kind()
    struct.read(TBinaryProtocol(TMemoryBuffer(body)))
    return struct


def request(method: str, **arguments) -> WireMessage:
    return call(method, 1, encoded(getattr(ThriftHiveMetastore, f"{method}_args")(**arguments)))


def answer(method: str, success) -> WireMessage:
    return reply(method, 1, encoded(getattr(ThriftHiveMetastore, f"{method}_result")(success=success)))


def test_a_table_is_asked_by_another_name() -> None:
    asked = request("get_table_req", req=GetTableRequest(dbName="@hive#Sales", tblName="Orders", catName="hive"))
    assert names_of(asked) == (
        Name(Role.DATABASE, "@hive#Sales", None, "hive"),
        Name(Role.TABLE, "Orders", "@hive#Sales", "hive"),
        Name(Role.CATALOG, "hive", None, "hive"),
    )
    sent = renamed(asked, Renames(tables={("sales", "orders"): ("shop", "bestellungen")}))
    read = decoded(ThriftHiveMetastore.get_table_req_args, sent.body)
    assert (read.req.dbName, read.req.tblName, read.req.catName) == ("@hive#shop", "bestellungen", "hive")


def test_only_names_are_renamed_in_an_answer() -> None:
    columns = [FieldSchema(name="shop", type="string", comment="shop")]
    table = Table(tableName="orders", dbName="shop", sd=StorageDescriptor(cols=columns), parameters={"shop": "shop"})
    sent = renamed(answer("get_table_req", GetTableResult(table=table)), Renames({"shop": "flights_west"}))
    read = decoded(ThriftHiveMetastore.get_table_req_result, sent.body).success.table
    assert read.dbName == "flights_west"
    assert read.tableName == "orders"
    assert (read.sd.cols, read.parameters) == (columns, {"shop": "shop"})


def test_values_of_partitions_stay() -> None:
    parts = [Partition(values=["shop"], dbName="shop", tableName="shop") for _ in range(3)]
    sent = renamed(answer("get_partitions", parts), Renames({"shop": "w"}))
    read = decoded(ThriftHiveMetastore.get_partitions_result, sent.body).success
    assert [(one.values, one.dbName, one.tableName) for one in read] == [(["shop"], "w", "shop")] * 3
