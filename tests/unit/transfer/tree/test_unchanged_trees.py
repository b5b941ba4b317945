"""Many trees that are looked at together are judged as each of them alone."""

from collections.abc import Callable

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.transfer.tree.listing.noop_check import nothing_to_do
from twinhive.transfer.tree.listing.unchanged_trees import UnchangedTree, look_at
from twinhive.transfer.tree.path_rule import Layout, lay_out
from twinhive.transfer.tree.request import SyncOptions, SyncRequest

COUNT = 30
OPTIONS = SyncOptions.of({"delete": "permanently", "compare": "time"})


class Pair:
    """Trees of two directories on both sides, all equal at first."""

    def __init__(self) -> None:
        self.source, self.target = InMemoryFiles("hdfs://east"), InMemoryFiles("hdfs://west")
        for number in range(COUNT):
            for files, root in ((self.source, "hdfs://east/t"), (self.target, "hdfs://west/t")):
                for day in range(20):
                    files.put(f"{root}{number}/day={day}/deep/f", b"x")

    def layouts(self) -> list[Layout]:
        places = [(f"hdfs://east/t{number}", f"hdfs://west/t{number}") for number in range(COUNT)]
        return [lay_out(SyncRequest((here,), there, OPTIONS), self.source, self.target) for here, there in places]

    def together(self) -> list[bool]:
        trees = [UnchangedTree(layout, OPTIONS, self.source, self.target) for layout in self.layouts()]
        look_at(trees, self.source, self.target)
        for tree in trees:
            tree.close()
        return [tree.is_equal for tree in trees]

    def alone(self) -> list[bool]:
        return [nothing_to_do(layout, OPTIONS, self.source, self.target) for layout in self.layouts()]


def test_equal_trees_are_equal() -> None:
    assert Pair().together() == [True] * COUNT


@pytest.mark.thorough
@pytest.mark.parametrize(
    "change",
    [
        lambda pair: pair.source.put("hdfs://east/t7/day=19/deep/new", b"x"),
        lambda pair: pair.source.put("hdfs://east/t7/day=19/deep/f", b"longer"),
        lambda pair: pair.source.make_directories("hdfs://east/t7/day=19/deep/empty"),
        lambda pair: pair.target.put("hdfs://west/t7/day=19/deep/left", b"x"),
        lambda pair: pair.target.delete("hdfs://west/t7/day=19/deep"),
        lambda pair: pair.target.delete("hdfs://west/t7"),
    ],
    ids=["new file", "other length", "new directory", "left over", "directory missing", "all missing"],
)
def test_the_one_that_differs_is_found_and_no_other(change: Callable[[Pair], object]) -> None:
    pair = Pair()
    change(pair)
    assert [number for number, equal in enumerate(pair.together()) if not equal] == [7]
    assert pair.together() == pair.alone()


def test_a_directory_that_cannot_be_read_makes_no_tree_equal_that_holds_it() -> None:
    pair = Pair()
    pair.source.unreadable.add("hdfs://east/t7/day=3")
    equal = pair.together()
    assert not equal[7]
    # Others that were listed by the same call are left to a run of their own, which finds them equal.
    assert [number for number, one in enumerate(pair.alone()) if not one] == [7]
