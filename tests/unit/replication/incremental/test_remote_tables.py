"""The view that keeps a remote table is replicated like any view: on the replica it is a remote of the same table."""

from dataclasses import replace

import pytest

from tests.support.builders import a_policy
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.marks import Stamp
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import DatabaseAddress
from twinhive.core.model.remotes.definitions import REMOTE, RemoteTable
from twinhive.federation.remotes.kept_remotes import table_definition
from twinhive.replication.replica.replica_locations import TablePlacement

URIS = {"hive.metastore.uris": "thrift://north:9083"}
FAR = TableName("sales", "far")
_HERE = {REMOTE: "shop.orders", "twinhive_remote_via": "ssh", **URIS}


def test_a_remote_table_stays_one_on_the_replica() -> None:
    followed = Followed()
    followed.users.create_view("far")
    followed.users.set_parameters("far", _HERE)
    followed.follow()
    there = followed.world.replica.table(FAR)
    assert there is not None
    found = table_definition(there)
    assert found is not None
    assert (found.local, found.remote, found.via) == (FAR, TableName("shop", "orders"), "ssh")
    assert found.properties["hive.metastore.uris"] == "thrift://north:9083"
    followed.assert_twin()


@pytest.mark.parametrize(
    ("text", "stands_for"), [("", "sales.far"), (" ", "sales.far"), ("orders", "sales.orders"), ("a.b", "a.b")]
)
def test_what_its_own_name_says_is_written_out_where_the_replica_has_another(text: str, stands_for: str) -> None:
    followed = Followed()
    followed.users.create_view("far")
    followed.users.set_parameters("far", {REMOTE: text, **URIS})
    view = followed.users.table("far")
    policy = replace(a_policy(), replica=DatabaseAddress("west", "sold"))
    placed = TablePlacement.of_view(view, policy, Stamp("log", 7)).replica
    found, before = table_definition(placed), table_definition(view)
    assert isinstance(found, RemoteTable)
    assert isinstance(before, RemoteTable)
    assert (str(found.local), str(found.remote)) == ("sold.far", stands_for)
    assert found.remote == before.remote
