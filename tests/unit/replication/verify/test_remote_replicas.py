"""Which replicas are twins of a remote is told by the metastore's identity; each is compared as it is now."""

from dataclasses import replace

import pytest

from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.verify.test_verify import ORDERS, flipped
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definition, RemoteDatabase, RemoteTable
from twinhive.replication.verify.remote_replicas import Replication, replications_of, twin_of

DATABASE = RemoteDatabase("far", "Sales")
TABLE = RemoteTable(TableName("shop", "bought"), TableName("sales", "ORDERS"))


def replication(followed: Followed) -> Replication:
    return Replication(followed.policy, followed.world.ports(), followed.world.source.log_id())


@pytest.mark.parametrize(
    ("definition", "is_one"),
    [
        (DATABASE, True),
        (TABLE, True),
        (replace(DATABASE, remote="other"), False),
        (replace(TABLE, remote=TableName("other", "orders")), False),
        (replace(TABLE, remote=TableName("sales", "tmp_1")), False),
    ],
)
def test_a_twin_is_of_the_same_database_and_selects_the_table(definition: Definition, is_one: bool) -> None:
    one = replication(Followed())
    one = replace(one, policy=replace(one.policy, exclude=("tmp_.*",)))
    assert list(replications_of(definition, one.source_id, [one])) == ([one] if is_one else [])


def test_another_metastore_with_the_same_names_is_none() -> None:
    one = replication(Followed())
    assert list(replications_of(DATABASE, "another", [one])) == []


@pytest.mark.parametrize("definition", [DATABASE, TABLE], ids=["database", "table"])
def test_a_twin_is_equal_or_differs_since_it_was_first_seen(definition: Definition) -> None:
    verifying = Verifying()
    one = replication(verifying.followed)
    assert twin_of(definition, one).is_equal
    flipped(verifying)
    found = twin_of(definition, one)
    assert found.verified is not None and not found.is_equal and not found.is_damaged
    assert found.verified.suspected == 1 and found.verified.since is not None
    hasty = replace(one.policy, options=replace(one.policy.options, second_look_seconds=0))
    again = twin_of(definition, replace(one, policy=hasty))
    assert again.is_damaged and again.verified is not None
    assert again.verified.since == found.verified.since
    assert again.verified.tables_with_findings == ("orders",)


def test_only_the_remote_table_counts() -> None:
    verifying = Verifying()
    verifying.world.replica.drop_table(TableName("sales", "plain"), delete_data=True)
    one = replication(verifying.followed)
    assert twin_of(TABLE, one).is_equal
    assert not twin_of(DATABASE, one).is_equal


def test_a_replica_that_cannot_be_compared_says_why() -> None:
    followed = Followed()
    one = replication(followed)
    followed.world.replica.drop_table(ORDERS, delete_data=True)
    followed.world.source.drop_table(ORDERS, delete_data=True)
    assert "no table orders on either side" in str(twin_of(TABLE, one).trouble)
    followed.world.replica.down = True
    found = twin_of(DATABASE, one)
    assert found.verified is None and not found.is_damaged and str(found.trouble)
