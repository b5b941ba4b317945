"""Within one window a name passes from a table to one with other partition keys."""

import pytest

from tests.support.builders import a_partition, a_table
from tests.support.worlds.fake_world import tuned
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ChangedMeanwhile
from twinhive.core.model.names import TableName
from twinhive.replication.apply.replica_cache import ReplicaCache

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


def test_a_table_that_another_run_has_made_anew_meanwhile_is_read_again_by_the_next_try() -> None:
    followed = Followed()
    plain, replica = TableName("sales", "plain"), followed.world.replica
    twin = ReplicaCache(replica, followed.policy, followed.world.source.log_id())
    assert twin.table(plain) is not None
    replica.drop_table(plain, delete_data=False)
    made_anew = a_table("sales.plain", partition_keys=("p",))
    replica.create_table(made_anew)
    replica.add_partitions([a_partition(made_anew, "1")])
    with pytest.raises(ChangedMeanwhile, match="not what it was a moment ago"):
        twin.partitions(plain, ["p=1"])
