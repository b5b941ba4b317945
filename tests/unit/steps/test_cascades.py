"""To find out what partitions have followed, no more of the log is opened than tells of their tables."""

import pytest

from tests.fake_world import tuned
from tests.unit.steps.test_incremental import Followed
from twinhive.domain.names import TableName
from twinhive.domain.thrift_objects import columns_of_partition
from twinhive.steps import cascades


def columns(metastore, table: str) -> dict:
    """Return the columns of a table's partitions."""
    name = TableName("sales", table)
    partitions = metastore.partitions(name, metastore.partition_names(name))
    return {one.values: columns_of_partition(one) for one in partitions}


def far_behind(monkeypatch: pytest.MonkeyPatch) -> tuple[Followed, list[int]]:
    """Return a replica whose next windows are of one event, and the ids that are decoded behind them."""
    followed, decoded = Followed(tuned(window_events=1)), []
    decode = cascades.decode_event

    def counting(row):
        decoded.append(row.event_id)
        return decode(row)

    monkeypatch.setattr(cascades, "decode_event", counting)
    return followed, decoded


def test_events_of_other_tables_are_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    followed, decoded = far_behind(monkeypatch)
    followed.users.add_columns("orders", [("extra", "string")], cascade=True)
    followed.users.create_table("other", keys=("p",))
    for number in range(20):
        followed.users.add_partitions("other", {(str(number),): []})
    followed.users.add_partitions("orders", {("late",): []})
    followed.follow()
    assert len(decoded) <= 2
    there = columns(followed.world.replica, "orders")
    assert there == {values: columns(followed.world.source, "orders")[values] for values in there}


def test_what_is_read_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    followed, decoded = far_behind(monkeypatch)
    followed.users.add_columns("orders", [("extra", "string")], cascade=True)
    for number in range(5):
        followed.users.alter_partition("orders", ("a b",), {"n": str(number)})
    followed.follow()
    assert len(decoded) == len(set(decoded)) == 5


@pytest.mark.parametrize("swaps", [False, True], ids=["renamed", "its name given to another"])
def test_a_table_is_followed_to_its_later_names(swaps: bool) -> None:
    followed = Followed(tuned(window_events=1))
    followed.users.add_columns("orders", [("extra", "string")], cascade=True)
    followed.users.rename_table("orders", "first")
    followed.users.rename_table("first", "second")
    if swaps:
        made = followed.users.create_table("orders", keys=("p",))
        assert "extra" not in dict(made.columns)
        followed.users.add_partitions("orders", {("x",): []})
    while not followed.follow()["window"].idle:
        pass
    followed.assert_twin()
    assert columns(followed.world.replica, "second") == columns(followed.world.source, "second")
