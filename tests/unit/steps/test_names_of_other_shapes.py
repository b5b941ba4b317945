"""Within one window a name passes from a table to one with other partition keys."""

import pytest

from tests.fake_world import tuned
from tests.unit.steps.test_incremental import Followed

KEYS = {"orders": ("a b",), "wide": ("x", "y")}


@pytest.mark.parametrize("consistency", ["every_event", "window_end"])
@pytest.mark.parametrize("by", ["rename", "drop and create"])
def test_statistics_of_its_partitions_are_those_of_the_later_one(by: str, consistency: str) -> None:
    followed = Followed(tuned(consistency=consistency))
    users = followed.users
    users.create_table("wide", keys=("p", "q"))
    users.add_partitions("wide", {KEYS["wide"]: [b"1"]})
    followed.follow()
    if by == "rename":
        users.rename_table("orders", "aside")
        users.rename_table("wide", "orders")
    else:
        users.drop_table("orders")
        users.create_table("orders", keys=("p", "q"))
        users.add_partitions("orders", {KEYS["wide"]: [b"1"]})
    users.update_statistics("orders", KEYS["wide"])
    followed.follow()
    followed.assert_twin()
