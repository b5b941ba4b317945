"""With a snapshot difference, too, deletion is last and only after success; what was held back is not forgotten."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.unit.transfer.tree.test_snapshots import CHANGES, TREE, Replicated, at
from tests.unit.transfer.tree.trees import SOURCE, TARGET, Changed, Trees
from twinhive.core.model.errors import Refused, TwinhiveError, Unreachable
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.files import ChangeKind, SnapshotChange
from twinhive.transfer.tree.planning.plan import Move
from twinhive.transfer.tree.snapshots.snapshot_diff import read_difference
from twinhive.transfer.tree.tally import Tally

WHY = {"found": "x", "expected": "y", "next_step": "z"}
DELETES = ["trash", "permanently"]


def refused(*_: Any, **__: Any) -> Any:
    raise Refused("not allowed", **WHY)


def changed_since_a_copy(**options: Any) -> Trees:
    """Both sides have a snapshot; since then the source has lost `old`, has moved `d` and got `new`."""
    trees = Trees(a=b"1", old=b"old", d__f=b"f", d__gone=b"gone")
    trees.sync(snapshots=True, **options)
    for path in ("old", "d/gone"):
        trees.source.delete(f"{SOURCE}/{path}")
    trees.put("new", b"2")
    return trees


def common(trees: Trees) -> set[str]:
    """Return the names of the snapshots that both sides have: the next difference may begin there."""
    return {*(trees.target.snapshots(TARGET) or ())} & {*(trees.source.snapshots(SOURCE) or ())}


@pytest.mark.parametrize("delete", DELETES)
@pytest.mark.parametrize("moved", [False, True])
def test_nothing_is_deleted_when_the_copy_fails_and_the_next_run_deletes_it(delete: str, moved: bool) -> None:
    trees = changed_since_a_copy(delete=delete)
    if moved:
        assert trees.source.rename(f"{SOURCE}/d", f"{SOURCE}/e")
    base = common(trees)
    for _ in range(2):
        target = Changed(trees.target, create_from=refused)
        outcome = trees.sync(snapshots=True, delete=delete, target=target)
        assert outcome.exit_code is not ExitCode.DONE
        assert outcome.deleted == Tally()
        assert outcome.not_deleted == "2 paths were not deleted, because something failed"
        directory = "e" if moved else "d"
        assert {"a", "old", f"{directory}/f", f"{directory}/gone"} <= trees.at_target().keys()
        assert trees.trash() == {}
        # What was renamed has changed the target: everything is listed then.
        assert common(trees) <= base if moved else common(trees) == base

    again = trees.sync(snapshots=True, delete=delete)
    assert again.deleted.files == 2
    trees.assert_twin()
    assert sorted(trees.trash().values()) == ([b"gone", b"old"] if delete == "trash" else [])
    assert common(trees).isdisjoint(base)


@pytest.mark.parametrize("delete", DELETES)
def test_nothing_is_deleted_when_something_cannot_be_read_and_the_next_run_deletes_it(delete: str) -> None:
    trees = changed_since_a_copy(delete=delete)
    base = common(trees)
    source = Changed(trees.source, open=refused)
    outcome = trees.sync(snapshots=True, delete=delete, on_unreadable="skip", source=source)
    assert outcome.exit_code is ExitCode.DONE
    assert outcome.unreadable.files == 1
    assert outcome.not_deleted == "2 paths were not deleted, because the source could not be read in full"
    assert {"old", "d/gone"} <= trees.at_target().keys()
    assert common(trees) == base

    trees.sync(snapshots=True, delete=delete, on_unreadable="skip")
    trees.assert_twin()


def overwritten(**options: Any) -> Trees:
    """Both sides have a snapshot; since then a directory was deleted and made anew, as Spark overwrites a partition."""
    trees = Trees(day__old1=b"1", day__old2=b"2", day__same=b"same", other__f=b"f")
    trees.sync(snapshots=True, **options)
    trees.source.delete(f"{SOURCE}/day")
    trees.put("day/new", b"new")
    trees.put("day/same", b"same")
    return trees


@pytest.mark.parametrize("delete", DELETES)
def test_a_directory_made_anew_has_its_old_files_until_the_new_ones_are_there(delete: str) -> None:
    trees = overwritten(delete=delete)
    before = trees.at_target()
    for _ in range(2):
        outcome = trees.sync(snapshots=True, delete=delete, target=Changed(trees.target, create_from=refused))
        assert outcome.exit_code is not ExitCode.DONE
        assert trees.at_target() == before
    seen: list[set[str]] = []

    def look(*paths: str) -> Any:
        seen.append(set(trees.at_target()))
        return (trees.target.rename if len(paths) == 2 else trees.target.delete)(*paths)

    outcome = trees.sync(snapshots=True, delete=delete, target=Changed(trees.target, rename=look, delete=look))
    assert outcome.exit_code is ExitCode.DONE
    assert "copied what changed since" in outcome.snapshots
    # Between the two renames that change them there is neither; there are never rows of both.
    old, new = {"day/old1", "day/old2", "day/same"}, {"day/new", "day/same"}
    assert {frozenset(path for path in paths if path.startswith("day/")) for paths in seen} <= {
        frozenset(old),
        frozenset(),
        frozenset(new),
    }
    assert outcome.deleted == Tally(files=3, directories=1, bytes=6)
    trees.assert_twin()
    assert sorted(trees.trash().values()) == ([b"1", b"2", b"same"] if delete == "trash" else [])


def test_what_else_fails_leaves_an_overwritten_directory_neither_old_nor_doubled() -> None:
    trees = overwritten(delete="trash")
    trees.put("other/bad", b"bad")

    def open_(path: str, **more: Any) -> Any:
        return refused() if path.endswith("/other/bad") else trees.source.open(path, **more)

    outcome = trees.sync(snapshots=True, delete="trash", source=Changed(trees.source, open=open_))
    assert outcome.exit_code is not ExitCode.DONE
    assert {path for path in trees.at_target() if path.startswith("day/")} == {"day/new", "day/same"}
    trees.sync(snapshots=True, delete="trash")
    trees.assert_twin()


@pytest.mark.parametrize("delete", DELETES)
def test_an_overwritten_directory_that_cannot_be_read_as_a_whole_replaces_nothing(delete: str) -> None:
    trees = overwritten(delete=delete)
    before = trees.at_target()

    def open_(path: str, **more: Any) -> Any:
        return refused() if path.endswith("/day/same") else trees.source.open(path, **more)

    given: dict[str, Any] = {"snapshots": True, "delete": delete, "on_unreadable": "skip"}
    outcome = trees.sync(**given, source=Changed(trees.source, open=open_))
    assert outcome.exit_code is ExitCode.DONE
    assert outcome.not_deleted == "1 paths were not deleted, because the source could not be read in full"
    assert trees.at_target() == before
    trees.sync(**given)
    trees.assert_twin()


@pytest.mark.parametrize("delete", DELETES)
def test_the_old_directory_comes_back_where_the_new_one_cannot_take_its_place(delete: str) -> None:
    trees = overwritten(delete=delete)
    before = trees.at_target()

    def rename(path: str, place: str) -> bool:
        return refused() if path.endswith("/tree/day") else trees.target.rename(path, place)

    outcome = trees.sync(snapshots=True, delete=delete, target=Changed(trees.target, rename=rename))
    assert outcome.exit_code is not ExitCode.DONE
    assert trees.at_target() == before
    trees.sync(snapshots=True, delete=delete)
    trees.assert_twin()


@pytest.mark.thorough
@pytest.mark.parametrize("delete", DELETES)
@pytest.mark.parametrize("moment", range(1, 30))
def test_a_run_that_is_killed_while_directories_change_places_is_gone_on_with(moment: int, delete: str) -> None:
    trees = overwritten(delete=delete)
    left = [moment]

    def killing(name: str) -> Callable[..., Any]:
        def call(*given: Any, **more: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
            return getattr(trees.target, name)(*given, **more)

        return call

    target = Changed(trees.target, **{name: killing(name) for name in ("rename", "delete", "write", "create_from")})
    with suppress(KeyboardInterrupt):
        trees.sync(snapshots=True, delete=delete, target=target)
    trees.leases.lose_holders()
    trees.sync(snapshots=True, delete=delete)
    trees.assert_twin()


@pytest.mark.parametrize("becomes", ["directory", "file"])
def test_a_name_in_a_directory_made_anew_may_become_of_another_kind(becomes: str) -> None:
    old, new = ("day/x", "day/x/f") if becomes == "directory" else ("day/x/f", "day/x")
    trees = Trees(**{old.replace("/", "__"): b"1"})
    trees.sync(snapshots=True, delete="trash")
    trees.source.delete(f"{SOURCE}/day")
    trees.put(new, b"2")
    trees.sync(snapshots=True, delete="trash")
    trees.assert_twin()


@pytest.mark.parametrize("path", ["day/f", "f"])
def test_what_was_made_anew_is_new_whatever_times_say(path: str) -> None:
    trees = Trees(**{path.replace("/", "__"): b"1111"})
    before = trees.source.status(f"{SOURCE}/{path}")
    assert before is not None
    trees.sync(snapshots=True, delete="trash", compare="time")
    trees.source.delete(f"{SOURCE}/{path.partition('/')[0]}")
    trees.put(path, b"3333", modified_ms=before.modified_ms)
    trees.sync(snapshots=True, delete="trash", compare="time")
    assert trees.at_target()[path] == b"3333"


@pytest.mark.parametrize("leaves", ["out", "in", "within"])
def test_a_directory_made_anew_of_which_something_was_renamed_comes_to_the_same(leaves: str) -> None:
    trees = Trees(day__old=b"1", day__kept=b"2", other__f=b"f")
    trees.sync(snapshots=True, delete="trash")
    if leaves == "in":
        trees.source.delete(f"{SOURCE}/day")
        trees.put("day/new", b"new")
        assert trees.source.rename(f"{SOURCE}/other/f", f"{SOURCE}/day/f")
    else:
        assert trees.source.rename(f"{SOURCE}/day/kept", f"{SOURCE}/other/kept")
        trees.source.delete(f"{SOURCE}/day")
        trees.put("day/new", b"new")
        if leaves == "within":
            assert trees.source.rename(f"{SOURCE}/other/kept", f"{SOURCE}/day/kept")
    trees.sync(snapshots=True, delete="trash")
    trees.assert_twin()


def test_a_deletion_that_fails_is_tried_again_by_the_next_run() -> None:
    trees = changed_since_a_copy(delete="permanently")
    base = common(trees)

    def delete(path: str) -> bool:
        if path == f"{TARGET}/old":
            refused()
        return trees.target.delete(path)

    outcome = trees.sync(snapshots=True, delete="permanently", target=Changed(trees.target, delete=delete))
    assert outcome.failed.files == 1
    assert common(trees) == base
    trees.sync(snapshots=True, delete="permanently")
    trees.assert_twin()


def test_it_is_deleted_after_everything_is_in_place() -> None:
    trees = changed_since_a_copy(delete="permanently")
    trees.put("n/deep/f", b"3")
    seen: list[set[str]] = []

    def delete(path: str) -> bool:
        if path in (f"{TARGET}/old", f"{TARGET}/d/gone"):
            seen.append(set(trees.at_target()))
        return trees.target.delete(path)

    outcome = trees.sync(snapshots=True, delete="permanently", target=Changed(trees.target, delete=delete))
    assert "copied what changed since" in outcome.snapshots
    assert len(seen) == 2
    assert all({"new", "n/deep/f"} <= paths for paths in seen)
    trees.assert_twin()


def test_what_is_deleted_first_and_last_at_the_same_place_has_room_in_the_trash() -> None:
    trees = Trees(a__x=b"first", b__x=b"last", b__y=b"y")
    trees.sync(snapshots=True, delete="trash")
    trees.source.delete(f"{SOURCE}/a")
    assert trees.source.rename(f"{SOURCE}/b", f"{SOURCE}/a")
    trees.source.delete(f"{SOURCE}/a/x")
    outcome = trees.sync(snapshots=True, delete="trash")

    assert outcome.exit_code is ExitCode.DONE
    assert "copied what changed since" in outcome.snapshots
    assert sorted(trees.trash().values()) == [b"first", b"last"]
    trees.assert_twin()


def test_what_was_deleted_and_has_no_successor_of_its_name_is_no_move_and_is_where_its_directory_is() -> None:
    difference = read_difference(
        [
            SnapshotChange(ChangeKind.DELETED, "a/f"),
            SnapshotChange(ChangeKind.DELETED, "b"),
            SnapshotChange(ChangeKind.DELETED, "top"),
            SnapshotChange(ChangeKind.RENAMED, "a", "b"),
        ]
    )

    assert difference.given_up() == {"a/f": "b/f", "top": "top"}
    assert difference.moves() == (Move(0, "b", None), Move(1, "a", "b"))


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_before_the_copy_only_what_makes_way_is_gone(change: Callable[[Any], None]) -> None:
    pair = Replicated(TREE)
    change(pair.east)
    with pair.plan() as plan:
        cleared = {move.relative for move in plan.moves if move.target is None}
    assert cleared == {path for path in cleared if pair.east.status(at(path)) is not None}


@pytest.mark.parametrize("error", [Refused, Unreachable])
def test_moves_that_cannot_be_done_delete_nothing(error: type[TwinhiveError]) -> None:
    trees = changed_since_a_copy(delete="permanently")
    assert trees.source.rename(f"{SOURCE}/d", f"{SOURCE}/e")

    def rename(path: str, place: str) -> bool:
        raise error("no rename", **WHY)

    with pytest.raises(error):
        trees.sync(snapshots=True, delete="permanently", target=Changed(trees.target, rename=rename))
    assert {"old", "d/gone"} <= trees.at_target().keys()
    trees.sync(snapshots=True, delete="permanently")
    trees.assert_twin()
