"""What the source does not have is taken away at the target: into its trash, or for good, and only when it is safe."""

from datetime import timedelta

import pytest

from tests.unit.transfer.tree.trees import NOON, TARGET, Trees
from twinhive.core.model.errors import Refused
from twinhive.core.model.files import join
from twinhive.transfer.tree.work_directories import HIDDEN

STAMP = "20300517T120000Z"


@pytest.fixture
def trees() -> Trees:
    """A file and a directory are at the target only."""
    trees = Trees(f=b"1", d__g=b"2")
    trees.sync()
    trees.put_there("gone", b"123")
    trees.put_there("d/old/deep/x", b"45")
    trees.put_there("d/old/y", b"6")
    return trees


def test_without_the_request_nothing_is_deleted(trees: Trees) -> None:
    outcome = trees.sync()
    assert trees.at_target()["gone"] == b"123"
    assert outcome.deleted.files == 0


def test_the_trash_keeps_what_is_deleted_at_its_relative_path(trees: Trees) -> None:
    outcome = trees.sync(delete="trash")

    trees.assert_twin()
    assert trees.trash() == {f"{STAMP}/gone": b"123", f"{STAMP}/d/old/deep/x": b"45", f"{STAMP}/d/old/y": b"6"}
    assert (outcome.deleted.files, outcome.deleted.directories, outcome.deleted.bytes) == (3, 2, 6)


def test_one_rename_restores(trees: Trees) -> None:
    trees.sync(delete="trash")
    assert trees.target.rename(join(TARGET, HIDDEN, "trash", STAMP, "d/old"), join(TARGET, "d/old"))
    assert trees.at_target()["d/old/deep/x"] == b"45"


def test_permanently_leaves_nothing(trees: Trees) -> None:
    outcome = trees.sync(delete="permanently")
    trees.assert_twin()
    assert trees.trash() == {}
    assert (outcome.deleted.files, outcome.deleted.directories) == (3, 2)


def test_each_topmost_path_is_one_rename(trees: Trees) -> None:
    trees.target.calls.clear()
    trees.sync(delete="trash", threads=1)
    assert trees.target.calls["rename"] <= 4, "two, and two that found no directory in the trash"


def test_a_path_deleted_twice_in_the_same_second_does_not_clash(trees: Trees) -> None:
    trees.sync(delete="trash")
    for content in (b"second", b"third"):
        trees.put_there("gone", content)
        trees.sync(delete="trash")
    gone = {path: held for path, held in trees.trash().items() if path.endswith("/gone")}
    assert gone == {f"{STAMP}/gone": b"123", f"{STAMP}-2/gone": b"second", f"{STAMP}-3/gone": b"third"}


def test_the_trash_is_kept_for_its_days_and_then_purged(trees: Trees) -> None:
    trees.sync(delete="trash", trash_days=7)
    trees.sync(delete="trash", trash_days=7, now=NOON + timedelta(days=6.9))
    assert len(trees.trash()) == 3
    trees.put_there("gone", b"later")
    later = NOON + timedelta(days=7.1)
    trees.sync(delete="trash", trash_days=7, now=later)
    assert list(trees.trash().values()) == [b"later"]


def test_what_others_put_into_the_trash_stays(trees: Trees) -> None:
    trees.target.put(join(TARGET, HIDDEN, "trash", "mine", "f"), b"mine")
    trees.sync(delete="trash", trash_days=1, now=NOON + timedelta(days=99))
    assert trees.trash()["mine/f"] == b"mine"


def test_nothing_is_deleted_when_anything_failed(trees: Trees) -> None:
    trees.put("refused", b"1")
    trees.source.unreadable.add("hdfs://east/data/d/refused")

    outcome = trees.sync(delete="trash")

    assert outcome.failed.files == 1
    assert trees.at_target()["gone"] == b"123"
    assert "2 paths were not deleted" in outcome.not_deleted


@pytest.mark.parametrize("force", [False, True])
def test_files_left_out_as_unreadable_keep_deletes_from_happening_unless_forced(trees: Trees, force: bool) -> None:
    trees.put("refused", b"1")
    trees.source.unreadable.add("hdfs://east/data/d/refused")

    outcome = trees.sync(delete="trash", on_unreadable="skip", force=force)

    assert ("gone" in trees.at_target()) is not force
    assert bool(outcome.not_deleted) is not force
    assert (outcome.unreadable.files, outcome.failed.files) == (1, 0)


@pytest.mark.parametrize("force", [False, True])
def test_an_empty_source_deletes_only_when_forced(trees: Trees, force: bool) -> None:
    trees.source.delete("hdfs://east/data/d")
    trees.source.make_directories("hdfs://east/data/d")
    if force:
        trees.sync(delete="permanently", force=True)
        assert trees.at_target() == {}
        return
    with pytest.raises(Refused, match="empty"):
        trees.sync(delete="permanently")
    assert trees.at_target()["gone"] == b"123"


def test_what_cannot_be_deleted_is_reported_and_the_rest_is_deleted(trees: Trees) -> None:
    trees.target.forbidden.add(join(TARGET, HIDDEN, "trash", STAMP, "gone"))
    outcome = trees.sync(delete="trash")
    assert [failure.path for failure in outcome.failures] == [join(TARGET, "gone")]
    assert "d/old" not in trees.at_target()
    assert trees.at_target()["gone"] == b"123"


def test_a_lost_answer_of_a_rename_is_no_failure(trees: Trees) -> None:
    moved: list[str] = []

    class Forgetful:
        def __getattr__(self, name: str) -> object:
            return getattr(trees.target, name)

        def rename(self, source: str, target: str) -> bool:
            done = trees.target.rename(source, target)
            if done and "trash" in target and not moved:
                moved.append(source)
                trees.target.unanswered = 1
                trees.target.in_safe_mode()
            return done

    outcome = trees.sync(delete="trash", target=Forgetful())
    assert not outcome.kinds
    assert moved
    trees.assert_twin()
