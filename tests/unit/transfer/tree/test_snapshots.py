import random
from collections.abc import Callable, Sequence

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_streams import InMemoryStream
from tests.support.hdfs.planned_trees import SOURCE, TARGET, Nested, build, carry_out, content, sides
from twinhive.core.model.files import ChangeKind, FileStatus, SnapshotChange, join
from twinhive.transfer.tree.listing.unfinished_files import finished_only
from twinhive.transfer.tree.path_rule import Layout, lay_out
from twinhive.transfer.tree.planning.make_plan import make_plan
from twinhive.transfer.tree.planning.plan import Move, Plan
from twinhive.transfer.tree.request import SyncOptions, SyncRequest
from twinhive.transfer.tree.snapshots.difference_plan import plan_difference
from twinhive.transfer.tree.snapshots.snapshot_diff import NoDifference, read_difference
from twinhive.transfer.tree.snapshots.snapshot_sync import SnapshotChoice, choose, from_snapshot
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction

TREE: Nested = {"a": {"f": b"1", "g": b"22", "sub": {"h": b"333"}}, "b": {"f": b"1"}, "top": b"4", "empty": {}}
DELETING = {"snapshots": True, "delete": "trash"}


class Replicated:
    """Two sides, equal and with the same snapshot, as a run has left them."""

    def __init__(self, tree: Nested, **given: object) -> None:
        self.options = SyncOptions.of({**DELETING, **given})
        self.east, self.west = sides(tree, {})
        self.east.allow_snapshots(SOURCE)
        self.west.allow_snapshots(TARGET)
        choice = self.choose()
        self.east.create_snapshot(SOURCE, choice.name)
        self.source = finished_only(self.east, self.options)
        with make_plan(from_snapshot(self.layout, choice.name), self.options, self.source, self.west) as plan:
            carry_out(plan, self.layout.places, self.east, self.west)
        self.west.create_snapshot(TARGET, choice.name)

    @property
    def layout(self) -> Layout:
        return lay_out(SyncRequest((SOURCE,), TARGET, self.options), self.east, self.west)

    def choose(self, **given: object) -> SnapshotChoice:
        options = SyncOptions.of({**self.options.to_document(), **given})
        return choose(self.layout, options, self.east, self.west)

    def plan(self) -> Plan:
        choice = self.choose()
        assert choice.reason == ""
        self.east.create_snapshot(SOURCE, choice.name)
        return plan_difference(self.layout, choice, self.options, self.source, self.west)

    def follow(self) -> Plan:
        """Copy the difference and return its plan, which is closed."""
        with self.plan() as plan:
            carry_out(plan, self.layout.places, self.east, self.west)
        return plan


def at(path: str) -> str:
    return join(SOURCE, path)


def rename(east: InMemoryFiles, before: str, now: str) -> None:
    east.make_directories(at(now).rpartition("/")[0])
    assert east.rename(at(before), at(now))


def grow(east: InMemoryFiles, path: str) -> None:
    east.append_from(InMemoryStream(b"+"), at(path))


def swap(east: InMemoryFiles) -> None:
    for before, now in (("a", "c"), ("b", "a"), ("c", "b")):
        rename(east, before, now)


def nothing(east: InMemoryFiles) -> None:
    pass


def create(east: InMemoryFiles) -> None:
    east.put(at("a/new"), b"5")
    build(east, at("n"), {"deep": {"f": b"6"}, "empty": {}})


def modify(east: InMemoryFiles) -> None:
    east.put(at("a/f"), b"changed")


def delete(east: InMemoryFiles) -> None:
    east.delete(at("a/sub"))
    east.delete(at("top"))


def rename_file(east: InMemoryFiles) -> None:
    rename(east, "a/f", "b/moved")


def rename_directory_with_changes_inside(east: InMemoryFiles) -> None:
    rename(east, "a", "z")
    grow(east, "z/g")
    east.put(at("z/new"), b"7")
    east.delete(at("z/f"))
    rename(east, "z/sub/h", "z/sub/i")
    rename(east, "b", "z/b")


def rename_over_a_deleted_name(east: InMemoryFiles) -> None:
    east.delete(at("b"))
    rename(east, "a", "b")


def rename_into_a_created_directory(east: InMemoryFiles) -> None:
    build(east, at("new/other"), {"f": b"8"})
    rename(east, "a", "new/a")
    east.put(at("new/a/more"), b"9")


def rename_out_of_a_deleted_directory(east: InMemoryFiles) -> None:
    rename(east, "a/sub", "saved")
    east.delete(at("a"))


def rename_and_take_the_name_again(east: InMemoryFiles) -> None:
    rename(east, "a", "old")
    build(east, at("a"), {"f": b"new", "sub": {"h": b"new"}})


def replace_file_by_another(east: InMemoryFiles) -> None:
    east.delete(at("a/f"))
    east.put(at("a/f"), b"another")


def replace_file_by_directory(east: InMemoryFiles) -> None:
    east.delete(at("top"))
    build(east, at("top"), {"f": b"1"})


def replace_directory_by_file(east: InMemoryFiles) -> None:
    east.delete(at("a"))
    east.put(at("a"), b"1")


def make_directory_anew(east: InMemoryFiles) -> None:
    east.delete(at("a"))
    build(east, at("a"), {"f": b"1", "other": b"2"})


def rename_out_of_the_tree(east: InMemoryFiles) -> None:
    east.make_directories("hdfs://east/outside")
    assert east.rename(at("a"), "hdfs://east/outside/a")


def rename_into_the_tree(east: InMemoryFiles) -> None:
    build(east, "hdfs://east/outside/o", {"f": b"1", "sub": {"g": b"2"}})
    assert east.rename("hdfs://east/outside/o", at("b/o"))


CHANGES: list[Callable[[InMemoryFiles], None]] = [
    nothing,
    create,
    modify,
    delete,
    rename_file,
    rename_directory_with_changes_inside,
    swap,
    rename_over_a_deleted_name,
    rename_into_a_created_directory,
    rename_out_of_a_deleted_directory,
    rename_and_take_the_name_again,
    replace_file_by_another,
    replace_file_by_directory,
    replace_directory_by_file,
    make_directory_anew,
    rename_out_of_the_tree,
    rename_into_the_tree,
]


@pytest.mark.parametrize("preserve", ["", "pt"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_the_difference_makes_both_sides_equal(change: Callable[[InMemoryFiles], None], preserve: str) -> None:
    pair = Replicated(TREE, preserve=preserve)
    change(pair.east)
    pair.follow()

    assert content(pair.west, TARGET) == content(pair.east, SOURCE)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_without_deletes_what_is_gone_stays_and_the_rest_is_equal(change: Callable[[InMemoryFiles], None]) -> None:
    pair = Replicated(TREE, delete="no")
    before = content(pair.west, TARGET)
    change(pair.east)
    wanted = content(pair.east, SOURCE)
    types_differ = [path for path in wanted.keys() & before.keys() if (wanted[path] is None) != (before[path] is None)]
    with pair.plan() as plan:
        assert plan.moves == ()
        assert plan.totals.conflicts == len(types_differ)
        if types_differ:
            return
        carry_out(plan, pair.layout.places, pair.east, pair.west)

    assert content(pair.west, TARGET) == {**before, **wanted}


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(150))
def test_any_history_is_followed(seed: int) -> None:
    dice = random.Random(seed)
    pair = Replicated(TREE, preserve=dice.choice(["", "t"]))
    for _ in range(dice.randrange(1, 8)):
        change_anything(pair.east, dice)
    pair.follow()

    assert content(pair.west, TARGET) == content(pair.east, SOURCE)


def change_anything(
    east: InMemoryFiles, dice: random.Random, names: Sequence[str] = ("a", "b", "f", "g", "x", "y")
) -> None:
    paths = sorted(content(east, SOURCE).items())
    files = [path for path, inner in paths if inner is not None]
    directories = ["", *(path for path, inner in paths if inner is None)]
    name = dice.choice(names)
    place = at(join(dice.choice(directories), name).lstrip("/"))
    action = dice.choice(["put", "make", "modify", "delete", "rename", "rename"])
    if action == "put" and east.status(place) is None:
        east.put(place, dice.randbytes(2))
    elif action == "make" and east.status(place) is None:
        build(east, place, {"f": b"1", "s": {"g": b"2"}})
    elif action == "modify" and files:
        grow(east, dice.choice(files))
    elif action == "delete" and paths:
        east.delete(at(dice.choice(paths)[0]))
    elif action == "rename" and paths:
        before = at(dice.choice(paths)[0])
        if not f"{place}/".startswith(f"{before}/"):
            east.rename(before, place)


def test_files_that_did_not_change_cost_no_call() -> None:
    calls = []
    for files in (10, 1000):
        pair = Replicated({"d": {f"f{number}": b"1" for number in range(files)}, "e": {}}, preserve="pt")
        rename(pair.east, "d", "e/d")
        pair.east.put(at("new"), b"1")
        before = pair.east.calls.total() + pair.west.calls.total()
        pair.plan().close()
        calls.append(pair.east.calls.total() + pair.west.calls.total() - before)

    assert calls[0] == calls[1]


def test_files_are_read_from_the_snapshot() -> None:
    pair = Replicated(TREE)
    modify(pair.east)
    with pair.plan() as plan:
        (action,) = map(FileAction.from_line, plan.copies())

    assert action.source
    assert (
        action.source.path
        == f"{SOURCE}/.snapshot/{pair.choose().prefix}" + action.source.path.partition(pair.choose().prefix)[2]
    )
    assert action.kind is ActionKind.REPLACE


def test_a_deleted_file_with_a_new_one_of_its_name_is_replaced_and_never_missing() -> None:
    pair = Replicated(TREE)
    replace_file_by_another(pair.east)
    plan = pair.plan()
    with plan:
        assert plan.moves == ()
        assert [FileAction.from_line(line).kind for line in plan.copies()] == [ActionKind.REPLACE]


def test_the_directory_of_a_file_that_is_replaced_gets_its_times_again() -> None:
    pair = Replicated(TREE, preserve="t")
    rename(pair.east, "a", "z")
    grow(pair.east, "z/sub/h")
    with pair.plan() as plan:
        aligned = {action.relative: action for action in plan.attributes()}

    assert {"", "z/sub"} <= aligned.keys()
    assert aligned["z/sub"].target
    assert aligned["z/sub"].target.path == f"{TARGET}/z/sub"


def test_a_source_that_was_emptied_is_told_from_one_that_was_not() -> None:
    pair = Replicated(TREE)
    for path in TREE:
        pair.east.delete(at(path))
    with pair.plan() as plan:
        assert plan.emptied


class TestChoice:
    def test_the_first_run_lists_everything(self) -> None:
        east, west = sides(TREE)
        east.allow_snapshots(SOURCE)
        options = SyncOptions.of(DELETING)
        layout = lay_out(SyncRequest((SOURCE,), TARGET, options), east, west)
        choice = choose(layout, options, east, west)

        assert choice.since is None
        assert choice.reason == "the target is new"
        assert choice.name.endswith("-1")
        assert choice.name.startswith(choice.prefix)

    def test_the_next_run_has_the_next_number_and_the_last_one_to_start_from(self) -> None:
        pair = Replicated(TREE)
        choice = pair.choose()

        assert choice.name.endswith("-2")
        assert choice.since == choice.name[:-1] + "1"

    @pytest.mark.parametrize("side", ["east", "west"])
    def test_a_snapshot_that_one_side_has_lost_is_no_start(self, side: str) -> None:
        pair = Replicated(TREE)
        files, root = (pair.east, SOURCE) if side == "east" else (pair.west, TARGET)
        for name in files.snapshots(root) or ():
            files.delete_snapshot(root, name)
        choice = pair.choose()

        assert choice.since is None
        assert "in common" in choice.reason
        assert choice.name.endswith("-2")

    @pytest.mark.parametrize(
        ("change", "what"),
        [
            (lambda west: west.put(f"{TARGET}/mine", b""), "'mine' was created"),
            (lambda west: west.delete(f"{TARGET}/a/f"), "'a' was modified"),
            (lambda west: west.rename(f"{TARGET}/top", f"{TARGET}/b/top"), "was"),
        ],
    )
    def test_a_changed_replica_is_listed_and_the_change_is_named(
        self, change: Callable[[InMemoryFiles], object], what: str
    ) -> None:
        pair = Replicated(TREE)
        change(pair.west)
        choice = pair.choose()

        assert choice.since is None
        assert choice.reason.startswith("the target was changed since twinhive-")
        assert what in choice.reason

    def test_our_own_directory_is_no_change_of_the_replica(self) -> None:
        pair = Replicated(TREE)
        pair.west.put(f"{TARGET}/.twinhive/verified/x/00000", b"")

        assert pair.choose().since

    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            ({"mode": "overwrite"}, "copied again"),
            ({"recheck": True}, "compared again"),
            ({"exclude": ["x"]}, "filter"),
            ({"include": ["x"]}, "filter"),
            ({"preserve": "p"}, "in common"),
            ({"delete": "no"}, "in common"),
            ({"compare": "time"}, "in common"),
        ],
    )
    def test_other_options_have_left_another_replica(self, given: dict[str, object], reason: str) -> None:
        choice = Replicated(TREE).choose(**given)

        assert choice.since is None
        assert reason in choice.reason

    def test_where_deleted_files_go_makes_no_other_replica(self) -> None:
        assert Replicated(TREE).choose(delete="permanently").since

    def test_a_target_without_snapshots_is_listed(self) -> None:
        pair = Replicated(TREE)
        pair.west._tree._snapshots.clear()

        assert pair.choose().reason == "the target cannot have snapshots"


class TestReading:
    def test_moves_go_deepest_first(self) -> None:
        difference = read_difference(
            [
                SnapshotChange(ChangeKind.DELETED, "a"),
                SnapshotChange(ChangeKind.CREATED, "a"),
                SnapshotChange(ChangeKind.RENAMED, "a/b/c", "z"),
                SnapshotChange(ChangeKind.RENAMED, "a/b", "y"),
            ]
        )

        assert difference.given_up() == {}
        assert difference.moves() == (Move(0, "a/b/c", "z"), Move(1, "a/b", "y"), Move(2, "a", None))

    def test_what_was_deleted_with_its_directory_is_deleted_once(self) -> None:
        changes = [SnapshotChange(ChangeKind.DELETED, path) for path in ("a/b/c", "a")]
        assert read_difference(changes).deleted == {"a"}

    def test_what_was_deleted_from_a_directory_that_was_saved_is_deleted(self) -> None:
        changes = [
            SnapshotChange(ChangeKind.DELETED, "a/b/c"),
            SnapshotChange(ChangeKind.DELETED, "a"),
            SnapshotChange(ChangeKind.RENAMED, "a/b", "saved"),
        ]
        difference = read_difference(changes)
        assert difference.deleted == {"a/b/c", "a"}
        assert difference.given_up() == {"a": "a", "a/b/c": "saved/c"}

    def test_paths_below_a_renamed_directory_are_where_they_are_now(self) -> None:
        difference = read_difference(
            [
                SnapshotChange(ChangeKind.CREATED, "a/new"),
                SnapshotChange(ChangeKind.CREATED, "a"),
                SnapshotChange(ChangeKind.MODIFIED, "a"),
                SnapshotChange(ChangeKind.MODIFIED, "a/b/f"),
                SnapshotChange(ChangeKind.RENAMED, "a", "z"),
                SnapshotChange(ChangeKind.RENAMED, "a/b", "y"),
            ]
        )

        assert difference.created == {"z/new", "a"}
        assert difference.modified == {"a": "z", "a/b/f": "y/f"}

    def test_changes_of_our_own_directories_do_not_count(self) -> None:
        difference = read_difference(
            [
                SnapshotChange(ChangeKind.CREATED, ".twinhive"),
                SnapshotChange(ChangeKind.DELETED, "a/.twinhive/work"),
                SnapshotChange(ChangeKind.RENAMED, ".twinhive/a", ".twinhive/b"),
            ]
        )
        assert difference.moves() == ()
        assert difference.created == set()

    @pytest.mark.parametrize(("before", "now"), [(".twinhive/trash/f", "f"), ("f", ".twinhive/f")])
    def test_a_rename_between_our_own_directory_and_the_tree_is_no_difference(self, before: str, now: str) -> None:
        with pytest.raises(NoDifference, match="our own"):
            read_difference([SnapshotChange(ChangeKind.RENAMED, before, now)])

    def test_too_many_changes_are_no_difference(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("twinhive.transfer.tree.snapshots.snapshot_diff._MOST_CHANGES", 3)
        changes = [SnapshotChange(ChangeKind.CREATED, str(number)) for number in range(4)]
        read_difference(changes[:3])
        with pytest.raises(NoDifference, match="more than 3"):
            read_difference(changes)


class TestFallback:
    def test_a_difference_that_the_snapshot_contradicts_is_not_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pair = Replicated(TREE)
        wrong = [SnapshotChange(ChangeKind.RENAMED, "a", "nowhere")]
        monkeypatch.setattr(InMemoryFiles, "snapshot_changes", lambda *_: iter(wrong))
        choice = SnapshotChoice("twinhive-x-2", "twinhive-x-1", "", "twinhive-x-")
        pair.east.create_snapshot(SOURCE, choice.name)
        with pytest.raises(NoDifference, match="does not have"):
            plan_difference(pair.layout, choice, pair.options, pair.east, pair.west)

    def test_a_difference_that_cannot_be_had_is_not_used(self) -> None:
        pair = Replicated(TREE)
        choice = pair.choose()
        with pytest.raises(NoDifference, match="does not say what was changed"):
            plan_difference(pair.layout, choice, pair.options, pair.east, pair.west)

    def test_a_choice_against_a_difference_is_kept(self) -> None:
        pair = Replicated(TREE)
        choice = pair.choose(recheck=True)
        with pytest.raises(NoDifference, match="compared again"):
            plan_difference(pair.layout, choice, pair.options, pair.east, pair.west)


def test_a_root_read_from_a_snapshot_goes_where_the_live_one_goes() -> None:
    pair = Replicated(TREE)
    (root,) = from_snapshot(pair.layout, "s").roots

    assert root.source.path == f"{SOURCE}/.snapshot/s"
    assert root.relative == ""
    assert isinstance(root.target, FileStatus)
