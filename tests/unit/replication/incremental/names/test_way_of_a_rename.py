"""What stands where a renamed partition is to lie goes aside only if it is proven ours and nobody uses it."""

from dataclasses import replace

import pytest

from tests.support.builders import a_partition
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.marks import DIRECTORY_MARK
from twinhive.core.model.objects import Table
from twinhive.replication.apply.apply_failures import ObjectTrouble


def orders(followed: Followed) -> Table:
    (table,) = followed.world.replica.tables("sales", ["orders"])
    return table


def with_a_leftover() -> Followed:
    """Leave at `p=c` what a renamed partition had that was dropped later, and rename another one to that name."""
    followed = Followed()
    followed.users.rename_partition("orders", ("a b",), ("c",))
    followed.follow()
    followed.users.drop_partitions("orders", [("c",)])
    followed.users.rename_partition("orders", ("no files",), ("c",))
    return followed


def below(followed: Followed, directory: str) -> dict[str, bytes]:
    files = followed.world.replica_files
    return {path: files.read(path) for path in files.paths() if path.startswith(f"{directory}/")}


def test_what_lies_in_a_directory_with_our_mark_goes_aside() -> None:
    followed = with_a_leftover()
    left = below(followed, f"{orders(followed).location}/p=c")
    followed.follow()
    followed.assert_twin()
    moved = [path for path in followed.world.replica_files.paths() if "/_left/" in path]
    assert left and len(moved) == len(left)


def test_what_the_replica_has_left_in_a_directory_without_our_mark_goes_aside() -> None:
    followed = with_a_leftover()
    followed.world.replica_files.set_attribute(orders(followed).location, DIRECTORY_MARK, "")
    followed.follow()
    followed.assert_twin()


@pytest.mark.parametrize("mark", ["", "other:events"])
def test_a_directory_in_the_way_below_one_without_our_mark_is_not_touched(mark: str) -> None:
    followed = Followed()
    place = orders(followed).location
    followed.world.replica_files.set_attribute(place, DIRECTORY_MARK, mark)
    followed.world.replica_files.put(f"{place}/p=c/f", b"of whom?")
    followed.users.rename_partition("orders", ("no files",), ("c",))
    before = below(followed, place)
    with pytest.raises(ObjectTrouble, match=r"renamed partition of sales.orders is not free: .*/p=c") as raised:
        followed.follow()
    assert "mark" in str(raised.value.expected) and "clear" in str(raised.value.next_step)
    assert below(followed, place) == before
    followed.world.replica_files.rename(f"{place}/p=c", "hdfs://west/theirs")
    followed.follow()
    followed.assert_twin()


def test_what_another_partition_of_the_table_uses_is_not_moved_away() -> None:
    followed = with_a_leftover()
    table = orders(followed)
    used = f"{table.location}/p=c"
    user = replace(a_partition(table, "theirs"), location=used)
    followed.world.replica.add_partitions([user])
    before = below(followed, used)
    with pytest.raises(ObjectTrouble, match="is not free") as raised:
        followed.follow()
    assert "p=theirs" in str(raised.value.found)
    assert below(followed, used) == before
