"""A local name is free, or is taken by just this remote, by another one, or by an object of its own."""

import pytest

from twinhive.core.model.errors import Refused
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import DatabaseAddress
from twinhive.core.model.remotes.as_source import refused_remote
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.remotes.orders import refuse_itself, taken_by

TABLE = RemoteTable(TableName("shop", "t"), TableName("sales", "t"), properties={"a": "b"})
FAR = RemoteDatabase("far", "sales")
DEFINED = Definitions({TABLE.local: TABLE}, {"far": FAR})


def test_a_free_name_is_free_and_an_object_takes_it() -> None:
    other = RemoteTable(TableName("shop", "other"), TableName("sales", "t"))
    assert taken_by(other, DEFINED, has_object=False) is None
    there = taken_by(other, DEFINED, has_object=True)
    assert there is not None
    assert not there.is_same


@pytest.mark.parametrize(
    ("properties", "is_same"), [({"a": "b"}, True), ({"a": "b", "comment": "x"}, True), ({"a": "c"}, False)]
)
def test_the_same_remote_is_the_same_whatever_is_not_kept(properties: dict[str, str], is_same: bool) -> None:
    there = taken_by(RemoteTable(TABLE.local, TABLE.remote, properties=properties), DEFINED, has_object=True)
    assert there is not None
    assert there.is_same is is_same


def test_a_table_in_a_remote_database_is_refused() -> None:
    with pytest.raises(Refused, match="far is a remote itself"):
        taken_by(RemoteTable(TableName("far", "t"), TableName("x", "y")), DEFINED, has_object=False)


def test_a_remote_of_itself_is_refused_and_one_of_another_name_is_not() -> None:
    here = ("thrift://a:1",)
    with pytest.raises(Refused, match="itself"):
        refuse_itself(RemoteDatabase("sales", "sales"), frozenset(here), here)
    refuse_itself(FAR, frozenset(here), here)
    refuse_itself(RemoteDatabase("sales", "sales"), frozenset(here), ("thrift://b:1",))


@pytest.mark.parametrize(
    ("parameters", "thrift", "refused"),
    [
        ({}, "{}", False),
        ({"twinhive_remote": ""}, "{}", True),
        ({}, '{"12":{"i32":2}}', True),
        ({}, '{"12":{"i32":1}}', False),
    ],
)
def test_a_remote_database_of_any_kind_is_no_source(parameters: dict[str, str], thrift: str, refused: bool) -> None:
    database = Database("sales", None, None, parameters, thrift)
    assert (refused_remote(database, DatabaseAddress("east", "sales")) is not None) is refused
