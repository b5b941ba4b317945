"""A source that holds nothing but what copies keep for themselves is an empty one."""

import pytest

from tests.unit.transfer.tree.trees import SOURCE, TARGET, Trees
from twinhive.core.model.errors import Refused
from twinhive.core.model.files import join

OURS = [".twinhive/verified/ab/00000", ".twinhive-external.json"]
DELETES = ["trash", "permanently"]


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("delete", DELETES)
def test_it_deletes_nothing_unless_forced(name: str, delete: str) -> None:
    trees = Trees()
    trees.put(name)
    trees.put_there("keep", b"123")
    with pytest.raises(Refused, match="the source is empty"):
        trees.sync(delete=delete)
    assert trees.at_target() == {"keep": b"123"}
    trees.sync(delete=delete, force=True)
    assert trees.at_target() == {}


@pytest.mark.parametrize("name", OURS)
def test_one_of_several_sources_deletes_nothing_of_its_own(name: str) -> None:
    trees = Trees()
    x, y = "hdfs://east/data/x", "hdfs://east/data/y"
    trees.source.put(f"{x}/f", b"1")
    trees.source.put(f"{y}/{name}", b"1")
    trees.put_there("y/keep", b"1")
    with pytest.raises(Refused, match=f"{y}: the source is empty"):
        trees.sync(sources=(x, y), delete="permanently")
    assert trees.at_target() == {"y": None, "y/keep": b"1"}


@pytest.mark.parametrize("name", OURS)
def test_a_difference_of_snapshots_says_so_too(name: str) -> None:
    trees = Trees(a=b"1", b=b"2")
    trees.put(name)
    trees.sync(delete="trash", snapshots=True)
    for gone in ("a", "b"):
        trees.source.delete(join(SOURCE, gone))
    with pytest.raises(Refused, match="the source is empty"):
        trees.sync(delete="trash", snapshots=True)
    assert trees.at_target() == {"a": b"1", "b": b"2"}


def test_one_with_something_beside_them_is_none() -> None:
    trees = Trees(a=b"1")
    for name in OURS:
        trees.put(name)
    trees.put_there("gone")
    trees.sync(delete="permanently")
    assert trees.at_target() == {"a": b"1"}


def test_one_with_excluded_files_alone_is_none() -> None:
    trees = Trees(_SUCCESS=b"")
    trees.target.put(join(TARGET, "gone"), b"1")
    trees.sync(delete="permanently", exclude=["_SUCCESS"])
    assert trees.at_target() == {}
