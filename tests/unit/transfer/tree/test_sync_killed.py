"""Kill a copy at every single change it makes, run it again, and compare the ends."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.fake_world import Killable, Killed, KillSwitch, kill_points
from tests.unit.transfer.tree.trees import SOURCE, TARGET, Trees

MOST_CHANGES = 400
EVERYTHING: dict[str, Any] = {"delete": "trash", "append": True, "preserve": "ugpt", "threads": 1}
SPLIT, BLOCK = 96, 16


def to_a_new_target() -> Trees:
    """Nothing is at the target."""
    trees = Trees(a=b"1", d__b=b"22", d__e__c=b"")
    trees.put("big", b"0123456789" * 30, block_size=BLOCK)
    trees.source.make_directories(f"{SOURCE}/empty")
    _own(trees)
    return trees


def to_an_old_target() -> Trees:
    """The target has some of everything: equal, other, shorter and gone files, and directories of the same kinds."""
    trees = Trees(same=b"same", other=b"new", log=b"line 1\nline 2\n", d__f=b"ff", new__deep__g=b"g", new__h=b"h")
    trees.put("big", b"0123456789" * 30, block_size=BLOCK)
    trees.put("d/big", b"9876543210" * 30, block_size=BLOCK)
    trees.put("stays/grown", b"0123456789" * 20)
    trees.put("stays/rewritten", b"new beginning, and more")
    _own(trees)
    trees.put_there("same", b"same")
    trees.put_there("other", b"old, longer")
    trees.put_there("log", b"line 1\n")
    trees.put_there("d/gone", b"gone")
    trees.put_there("old/deep/gone", b"gone too")
    trees.put_there("stays/grown", b"0123456789" * 3)
    trees.put_there("stays/rewritten", b"old beginning")
    return trees


def with_a_difference() -> Trees:
    """Both sides have the snapshot of a run; since then the source was changed in every way that one reports."""
    trees = Trees(stays=b"stays", other=b"old", gone=b"gone", swap_a__f=b"a", swap_b__f=b"b", moved__deep__g=b"g")
    trees.put("log", b"line 1\n")
    trees.put("old/x", b"x")
    _own(trees)
    trees.sync(**EVERYTHING, snapshots=True)
    for before, after in (("swap_a", "swap"), ("swap_b", "swap_a"), ("swap", "swap_b"), ("moved/deep", "deeper")):
        assert trees.source.rename(f"{SOURCE}/{before}", f"{SOURCE}/{after}")
    for name in ("gone", "old"):
        trees.source.delete(f"{SOURCE}/{name}")
    trees.put("other", b"new content")
    trees.grow("log", b"line 2\n")
    trees.put("deeper/h", b"h")
    trees.put("new/deep/i", b"i")
    trees.put("old", b"a file now")
    _own(trees)
    for files in (trees.source, trees.target):
        files.calls.clear()
    return trees


def _own(trees: Trees) -> None:
    """Let everything at the source have an owner and a permission of its own."""
    for node in trees.source._nodes.values():
        permission = 0o750 if node.status.is_directory else 0o640
        node.status = replace(node.status, owner="ann", group="staff", permission=permission)


def attributes(files: Any, root: str) -> dict[str, tuple[object, ...]]:
    """Return what is preserved of everything below a directory and of itself."""
    found = {}
    for path, node in files._nodes.items():
        if path == root or path.startswith(f"{root}/"):
            status = node.status
            found[path[len(root) :]] = (status.owner, status.group, status.permission, status.modified_ms)
    return {path: held for path, held in found.items() if ".twinhive" not in path}


def assert_same_end(trees: Trees) -> None:
    trees.assert_twin()
    assert attributes(trees.target, TARGET) == attributes(trees.source, SOURCE)


def killed_at(trees: Trees, at: int, *, after_effect: bool, **options: Any) -> bool:
    """Run until the n-th change; False when the run came to its end before."""
    switch = KillSwitch(at, after_effect=after_effect)
    try:
        trees.sync(source=Killable(trees.source, switch), target=Killable(trees.target, switch), **options)
    except Killed:
        return True
    return False


def written(trees: Trees) -> int:
    """Return how many files were written by copying."""
    calls = trees.target.calls
    return calls["create_from"] + calls["append_from"]


@pytest.mark.parametrize("after_effect", [False, True], ids=["before its effect", "after its effect"])
@pytest.mark.parametrize(
    ("begin", "snapshots"),
    [(to_a_new_target, True), (to_an_old_target, False), (with_a_difference, True)],
    ids=["to a new target", "to an old target", "with a snapshot difference"],
)
def test_killed_at_any_change_and_run_again_it_comes_to_the_same_end(
    begin: Callable[[], Trees], snapshots: bool, after_effect: bool
) -> None:
    options = {**EVERYTHING, "split_above": SPLIT, "snapshots": snapshots}
    undisturbed = begin()
    undisturbed.sync(**options)
    assert_same_end(undisturbed)
    for at in kill_points(MOST_CHANGES, after_effect=after_effect):
        trees = begin()
        if not killed_at(trees, at, after_effect=after_effect, **options):
            break
        trees.sync(**options)
        assert_same_end(trees)
        assert sorted(trees.trash().values()) == sorted(undisturbed.trash().values()), at
        assert written(trees) <= written(undisturbed), f"killed at {at}: something was copied again"
    else:
        pytest.fail("a copy makes more changes than the test kills at")
    assert at > 20


def test_killed_at_any_change_then_the_source_changes_and_a_new_run_converges() -> None:
    for at in kill_points(MOST_CHANGES, after_effect=False):
        trees = to_an_old_target()
        if not killed_at(trees, at, after_effect=True, **EVERYTHING, split_above=SPLIT):
            break
        trees.put("big", b"9876543210" * 30, block_size=BLOCK)
        trees.put("other", b"wen")
        trees.put("new/h", b"H")
        trees.source.delete(f"{SOURCE}/new/deep")
        trees.source.delete(f"{SOURCE}/d")
        _own(trees)
        trees.sync(**EVERYTHING, split_above=SPLIT, force=True)
        assert_same_end(trees)
    assert at > 40


@pytest.mark.parametrize("begin", [to_an_old_target, with_a_difference])
def test_killed_again_and_again_it_comes_to_its_end(begin: Callable[[], Trees]) -> None:
    trees = begin()
    kills = 0
    while killed_at(trees, kills + 1, after_effect=kills % 2 == 0, **EVERYTHING, snapshots=True):
        kills += 1
    assert 10 < kills < MOST_CHANGES
    assert_same_end(trees)
