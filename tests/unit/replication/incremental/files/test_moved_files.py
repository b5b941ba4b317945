"""Files of events are found where the source has moved them since, when the log is read."""

import pytest

from tests.support.worlds.fake_world import tuned
from tests.unit.replication.incremental.test_incremental import Followed


@pytest.mark.parametrize("window", [1, 2, 3])
def test_a_partition_that_is_renamed_after_its_table_was_given_another_location(window: int) -> None:
    followed = Followed(tuned(window_events=window))
    followed.users.add_partitions("orders", {("new",): [b"rows"]})
    followed.users.set_location("orders", "hdfs://east/elsewhere/orders")
    followed.users.rename_partition("orders", ("new",), ("newer",))
    for _ in range(3):
        followed.follow()
    followed.assert_twin()


def test_a_table_whose_directory_was_moved_by_hand_before_it_was_given_that_location() -> None:
    followed = Followed(tuned(window_events=1))
    followed.users.insert("plain", None, [b"more"])
    place = followed.users.location("plain", None)
    followed.world.source_files.rename(place, "hdfs://east/elsewhere")
    followed.users.set_location("plain", "hdfs://east/elsewhere")
    for _ in range(4):
        followed.follow()
    followed.assert_twin()
