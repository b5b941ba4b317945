import random

import pytest

from twinhive.core.model.files import FileStatus
from twinhive.transfer.tree.listing.spool import Spool
from twinhive.transfer.tree.planning.plan import EXAMPLES, Conflict, Move, Plan
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction

MIB = 2**20


def file(relative: str, length: int = 0, kind: ActionKind = ActionKind.COPY) -> FileAction:
    return FileAction(kind, relative, FileStatus(f"hdfs://east/d/{relative}", length, 1))


@pytest.mark.parametrize("lines", [0, 1, 999, 1000, 1001, 30_000])
def test_a_spool_is_read_in_both_directions_as_often_as_wanted(lines: int) -> None:
    spool = Spool()
    dice = random.Random(lines)
    written = ["x" * dice.randrange(1, 90) + str(number) for number in range(lines)]
    for line in written:
        spool.add(line)

    assert len(spool) == lines
    for _ in range(2):
        assert list(spool) == written
        assert list(reversed(spool)) == written[::-1]
    spool.close()


def test_a_line_longer_than_a_read_is_whole() -> None:
    spool = Spool()
    written = ["a" * 200_000, "b", "c" * 150_000]
    for line in written:
        spool.add(line)

    assert list(spool) == written
    assert list(reversed(spool)) == written[::-1]


def test_a_spool_takes_lines_after_it_was_read() -> None:
    spool = Spool()
    spool.add("a")
    assert list(spool) == ["a"]
    spool.add("b")
    assert list(spool) == ["a", "b"]


def test_the_largest_files_come_first_within_a_factor_of_four() -> None:
    dice = random.Random(5)
    lengths = [int(2 ** dice.uniform(0, 42)) for _ in range(2000)]
    with Plan() as plan:
        for number, length in enumerate(lengths):
            plan.add_file(file(str(number), length))
        ordered = [FileAction.from_line(line).length for line in plan.copies()]

    assert sorted(ordered) == sorted(lengths)
    smallest = float("inf")
    for length in ordered:
        if length >= 64 * 1024 and smallest < 256 * 2**30:
            assert length < 4 * smallest
        smallest = min(smallest, length)


def test_what_only_changes_attributes_comes_last_however_large_the_file() -> None:
    with Plan() as plan:
        plan.add_file(file("attributes", 2**40, ActionKind.ATTRIBUTES))
        plan.add_file(file("copy", MIB))

        assert [FileAction.from_line(line).relative for line in plan.copies()] == ["copy", "attributes"]


def test_directories_are_made_from_the_top_and_their_attributes_set_from_the_bottom() -> None:
    with Plan() as plan:
        for relative in ("a", "a/b", "a/b/c"):
            plan.add_directory(file(relative, kind=ActionKind.MAKE_DIRECTORY))
            plan.add_attributes(file(relative, kind=ActionKind.ATTRIBUTES))

        assert [action.relative for action in plan.directories()] == ["a", "a/b", "a/b/c"]
        assert [action.relative for action in plan.attributes()] == ["a/b/c", "a/b", "a"]


def test_what_an_earlier_run_has_left_is_no_deletion_of_the_target() -> None:
    with Plan() as plan:
        plan.add_delete(FileAction(ActionKind.DELETE, "new/left", new_root="new"))
        plan.add_delete(FileAction(ActionKind.DELETE, "gone"))

        assert [action.relative for action in plan.leftovers()] == ["new/left"]
        assert [action.relative for action in plan.deletes()] == ["gone"]
        assert plan.totals.deletes == 1


def test_conflicts_are_all_counted_and_not_all_kept() -> None:
    with Plan() as plan:
        for number in range(EXAMPLES + 5):
            plan.add_conflict(Conflict(str(number), "a file", "a directory", "rename one"))

        assert plan.totals.conflicts == EXAMPLES + 5
        assert len(plan.conflicts) == EXAMPLES


def test_moves_are_placed_with_parents_first() -> None:
    with Plan() as plan:
        plan.moves = (Move(0, "z/deep", "b/c"), Move(1, "x", None), Move(2, "a", "b"))

        assert [move.target for move in plan.placings] == ["b", "b/c"]


def test_a_new_root_with_a_line_break_in_its_name_survives() -> None:
    with Plan() as plan:
        plan.add_new_root("a\nb")
        plan.add_new_root("")

        assert list(plan.new_roots()) == ["a\nb", ""]
        assert plan.changes == 0
