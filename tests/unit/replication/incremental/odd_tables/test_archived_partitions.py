"""A partition that was archived (`har://`), or lies on another file system: its table waits, the policy goes on."""

import shlex

import pytest

from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.names import TableName
from twinhive.core.model.quarantine import frozen_tables
from twinhive.operations.actions.resync import Resync
from twinhive.replication.operator_requests.request_files import requested_tables

NAME = TableName("sales", "orders")
HAR = "har://hdfs-east/warehouse/managed/sales.db/orders/p=a b/data.har/"


@pytest.fixture
def followed() -> Followed:
    return Followed()


def archive(followed: Followed) -> str:
    """Set the location as ARCHIVE PARTITION does, and say where the partition was."""
    before = followed.users.location("orders", ("a b",))
    followed.users.set_partition_location("orders", ("a b",), HAR.rstrip("/"))
    return before


def to_the_end(followed: Followed) -> None:
    for _ in range(10):
        if followed.follow()["window"].idle:
            return
    raise AssertionError("the windows come to no end")


def why(followed: Followed) -> str:
    return frozen_tables(followed.world.replica.database("sales").parameters).get("orders", "")


def test_the_table_waits_and_all_others_go_on(followed: Followed) -> None:
    archive(followed)
    followed.users.insert("plain", None, [b"more"])
    followed.users.create_table("made", files=[b"rows"])
    to_the_end(followed)
    assert followed.world.replica.table(TableName("sales", "made")) is not None
    assert "partition p=a b lies at har://" in why(followed)
    assert "UNARCHIVE PARTITION" in why(followed)
    assert any(line.startswith("WAITS: orders: since event") for line in followed.log)
    followed.users.insert("plain", None, [b"and more"])
    to_the_end(followed)


def test_what_it_says_to_do_ends_it(followed: Followed) -> None:
    before = archive(followed)
    to_the_end(followed)
    command = shlex.split(why(followed).partition("then: ")[2])
    assert command == ["twinhive", "resync", "sales", "orders"]
    followed.users.set_partition_location("orders", ("a b",), before)
    Resync(followed.policy, command[3], {"by": "test"}).run(followed.world.ports())
    to_the_end(followed)
    followed.assert_twin()
    assert why(followed) == ""


def test_a_resync_too_early_waits_too_and_comes_by_itself(followed: Followed) -> None:
    before = archive(followed)
    to_the_end(followed)
    Resync(followed.policy, "orders", {"by": "test"}).run(followed.world.ports())
    followed.users.create_table("made", files=[b"rows"])
    to_the_end(followed)
    assert followed.world.replica.table(TableName("sales", "made")) is not None
    assert requested_tables(followed.world.replica_files, followed.policy) == ("orders",)
    followed.users.set_partition_location("orders", ("a b",), before)
    to_the_end(followed)
    followed.assert_twin()


def test_one_that_is_brought_back_within_the_window_does_not_wait(followed: Followed) -> None:
    before = archive(followed)
    followed.users.set_partition_location("orders", ("a b",), before)
    to_the_end(followed)
    assert why(followed) == ""


def test_one_that_nobody_has_frozen_yet_waits_when_it_is_asked_for(followed: Followed) -> None:
    Resync(followed.policy, "orders", {"by": "test"}).run(followed.world.ports())
    before = archive(followed)
    followed.users.insert("plain", None, [b"more"])
    to_the_end(followed)
    assert "har://" in why(followed)
    followed.users.set_partition_location("orders", ("a b",), before)
    to_the_end(followed)
    followed.assert_twin()
