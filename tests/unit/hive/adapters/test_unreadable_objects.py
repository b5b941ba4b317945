"""Whatever the library throws names the object it was about, in one of the two families, and hides no other object."""

from collections.abc import Iterator
from typing import Any

import pytest
from hive_metastore import ttypes
from thrift.Thrift import TType

from tests.support.hive.thrift_server import Server, serving
from twinhive.core.model.errors import Refused, Unreachable, UnreadableObject
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore
from twinhive.hive.adapters.hive.thrift_connection import Request

TABLE = TableName("d", "t")
A_LIST = {ttypes.Table: 8, ttypes.Partition: 1, ttypes.Function: 8, ttypes.Database: 4}


def broken(struct: Any) -> Any:
    """Return a struct that writes numbers where its reader knows of a list or map of something else."""

    class Broken(type(struct)):  # type: ignore[misc]
        def write(self, protocol: Any) -> None:
            field = A_LIST[type(struct)]
            is_map = struct.thrift_spec[field][1] == TType.MAP
            protocol.writeFieldBegin("", TType.MAP if is_map else TType.LIST, field)
            if is_map:
                protocol.writeMapBegin(TType.I32, TType.I32, 1)
                protocol.writeI32(1)
            else:
                protocol.writeListBegin(TType.I32, 1)
            protocol.writeI32(1)
            protocol.writeFieldStop()

    return Broken()


class Stored:
    """Answer with what is there, broken or not."""

    def __init__(self) -> None:
        self.created: list[str] = []
        self.tables = {name: ttypes.Table(name, "d", sd=ttypes.StorageDescriptor()) for name in ("a", "b", "c", "z")}
        self.partitions = {f"p={number}": ttypes.Partition([str(number)], "d", "t") for number in range(3)}
        self.functions = {name: ttypes.Function(name, "d", "org.F") for name in ("f", "g")}
        self.elsewhere = [ttypes.Function("h", "e", "org.F")]
        self.database = ttypes.Database("d")

    def get_database(self, name: str) -> Any:
        return self.database

    def create_database(self, database: Any) -> None:
        self.created.append(database.name)

    def get_table_objects_by_name_req(self, req: Any) -> Any:
        return ttypes.GetTablesResult([self.tables[name] for name in req.tblNames])

    def get_table_req(self, req: Any) -> Any:
        return ttypes.GetTableResult(self.tables[req.tblName])

    def get_partitions_by_names_req(self, req: Any) -> Any:
        return ttypes.GetPartitionsByNamesResult([self.partitions[name] for name in req.names])

    def get_all_functions(self) -> Any:
        return ttypes.GetAllFunctionsResponse([*self.functions.values(), *self.elsewhere])

    def get_functions(self, dbName: str, pattern: str) -> Any:
        return list(self.functions)

    def get_function(self, dbName: str, funcName: str) -> Any:
        return self.functions[funcName]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Stored()) as server:
        yield server


@pytest.fixture
def metastore(server: Server) -> Iterator[ThriftMetastore]:
    found = ThriftMetastore([server.address], 5.0)
    yield found
    found.close()


def test_tables_that_cannot_be_read_are_named_and_no_other(server: Server, metastore: ThriftMetastore) -> None:
    for name in ("b", "z"):
        server.behaviour.tables[name] = broken(ttypes.Table())
    with pytest.raises(UnreadableObject) as caught:
        metastore.tables("d", ["a", "b", "c", "z"])
    said = str(caught.value)
    assert "2 of 4" in said and "table b of d" in said and "table z of d" in said and "TypeError" in said
    assert "table a" not in said and "table c" not in said
    assert [table.name.table for table in metastore.tables("d", ["a", "c"])] == ["a", "c"], "on a connection of its own"
    with pytest.raises(UnreadableObject, match=r"reading table d\.b"):
        metastore.table(TableName("d", "b"))


def test_partitions_that_cannot_be_read_are_named(server: Server, metastore: ThriftMetastore) -> None:
    server.behaviour.partitions["p=1"] = broken(ttypes.Partition())
    with pytest.raises(UnreadableObject, match=r"reading partition p=1 of d\.t"):
        metastore.partitions(TABLE, ["p=0", "p=1", "p=2"])


def test_a_function_of_another_database_that_cannot_be_read_is_no_reason(
    server: Server, metastore: ThriftMetastore
) -> None:
    server.behaviour.elsewhere = [broken(ttypes.Function())]
    assert [function.name for function in metastore.functions("d")] == ["f", "g"]
    server.behaviour.functions["g"] = broken(ttypes.Function())
    with pytest.raises(UnreadableObject, match=r"reading function d\.g"):
        metastore.functions("d")


def test_what_happened_meanwhile_is_read_by_the_second_question(server: Server, metastore: ThriftMetastore) -> None:
    there = dict(server.behaviour.tables)
    server.behaviour.tables["b"] = broken(ttypes.Table())
    answers = server.behaviour.get_table_objects_by_name_req

    def once(req: Any) -> Any:
        answer = answers(req)
        server.behaviour.tables = there
        return answer

    server.behaviour.get_table_objects_by_name_req = once
    assert [table.name.table for table in metastore.tables("d", ["a", "b"])] == ["a", "b"]


def test_a_write_whose_answer_cannot_be_read_may_have_happened(server: Server, metastore: ThriftMetastore) -> None:
    server.behaviour.database = broken(ttypes.Database())
    with pytest.raises(Unreachable, match="may or may not have happened"):
        metastore.connections.write(Request("altering d", lambda client: client.get_database("d")))


@pytest.mark.parametrize("wrong", [2**31, "many", None])
def test_what_cannot_be_sent_is_refused_and_has_not_happened(
    server: Server, metastore: ThriftMetastore, wrong: Any
) -> None:
    database = ttypes.Database(name="d", createTime=wrong, parameters={"a": None} if wrong is None else {})
    with pytest.raises(Refused, match="making d: this cannot be sent") as caught:
        metastore.connections.write(Request("making d", lambda client: client.create_database(database)))
    assert not isinstance(caught.value, UnreadableObject) and not caught.value.may_still_happen
    metastore.create_database(Database("e", None, None, {}, "{}"))
    assert server.behaviour.created == ["e"], "nothing of the first request was under way"
