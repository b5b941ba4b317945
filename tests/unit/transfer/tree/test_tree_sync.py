"""Copy trees on file systems in memory, from the request to the outcome."""

from typing import Any

import pytest

from tests.unit.transfer.tree.trees import SOURCE, TARGET, Changed, Trees
from twinhive.core.model.errors import ChangedMeanwhile, InvalidSettings, Missing, Refused
from twinhive.core.model.exit_codes import ExitCode
from twinhive.transfer.tree.executing import in_this_process
from twinhive.transfer.tree.tree_outcome import SyncOutcome

AWKWARD = ["a b", "100%41", "a#b", "k=v", "Zoë 日本 \U0001f600", "[x]", "{a,b}", "*?", "back\\slash", "new\nline", ".h"]


def counted(outcome: SyncOutcome) -> tuple[int, int, int, int]:
    """Return files copied, skipped, deleted, failed."""
    return outcome.copied.files, outcome.skipped.files, outcome.deleted.files, outcome.failed.files


def calls(trees: Trees) -> dict[str, dict[str, int]]:
    """Return the calls of both sides since the last look."""
    seen = {files.root: dict(files.calls) for files in (trees.source, trees.target)}
    trees.source.calls.clear()
    trees.target.calls.clear()
    return seen


def test_a_new_target_becomes_what_the_source_is() -> None:
    trees = Trees(a=b"1", d__b=b"22", d__e__c=b"")
    trees.source.make_directories(f"{SOURCE}/empty")

    outcome = trees.sync()

    trees.assert_twin()
    assert (outcome.copied.files, outcome.copied.directories, outcome.copied.bytes) == (3, 4, 3)
    assert outcome.exit_code is ExitCode.DONE


def test_the_source_is_never_written_to() -> None:
    trees = Trees(a=b"1", d__b=b"22")

    def write(*given: Any, **named: Any) -> None:
        raise AssertionError("a write to the source")

    names = ("write", "create_from", "rename", "replace", "delete", "make_directories", "set_attributes")
    trees.sync(source=Changed(trees.source, **dict.fromkeys(names, write)))
    trees.assert_twin()


@pytest.mark.parametrize("exists", [False, True])
def test_every_path_is_in_one_of_the_counters(exists: bool) -> None:
    trees = Trees(same=b"same", other=b"new!", d__new=b"12345")
    if exists:
        trees.put_there("same", b"same")
        trees.put_there("other", b"old")
        trees.put_there("gone/f", b"123")
    outcome = trees.sync(delete="trash")
    assert counted(outcome) == ((2, 1, 1, 0) if exists else (3, 0, 0, 0))
    assert outcome.copied.bytes == (9 if exists else 13)
    assert (outcome.copied.directories, outcome.skipped.directories) == ((1, 1) if exists else (2, 0))
    assert (outcome.deleted.directories, outcome.deleted.bytes) == ((1, 3) if exists else (0, 0))
    assert counted(trees.sync(delete="trash")) == (0, 3, 0, 0)


def test_names_with_every_awkward_character_arrive() -> None:
    trees = Trees()
    for name in AWKWARD:
        trees.put(f"{name}/{name}", name.encode())
    trees.sync()
    trees.put_there("old")
    trees.put(f"{AWKWARD[0]}/later {AWKWARD[-2]}", b"later")
    trees.sync(delete="trash")
    trees.assert_twin()


def test_what_a_run_costs_when_nothing_changed_does_not_depend_on_the_number_of_files() -> None:
    spent = []
    for files in (5, 200):
        trees = Trees(**{f"f{number}": b"x" for number in range(files)})
        trees.sync(preserve="ugpt", delete="trash")
        calls(trees)
        trees.sync(preserve="ugpt", delete="trash")
        spent.append(calls(trees))
    assert spent[0] == spent[1]


def test_one_file_becomes_the_target() -> None:
    trees = Trees(f=b"content")
    trees.sync(sources=(f"{SOURCE}/f",), to="hdfs://west/copies/g")
    assert trees.target.read("hdfs://west/copies/g") == b"content"
    trees.put("f", b"content, new")
    outcome = trees.sync(sources=(f"{SOURCE}/f",), to="hdfs://west/copies/g")
    assert trees.target.read("hdfs://west/copies/g") == b"content, new"
    assert counted(outcome) == (1, 0, 0, 0)
    assert counted(trees.sync(sources=(f"{SOURCE}/f",), to="hdfs://west/copies/g")) == (0, 1, 0, 0)


def test_one_file_to_a_directory_that_does_not_exist() -> None:
    trees = Trees(f=b"content")
    trees.sync(sources=(f"{SOURCE}/f",), to="hdfs://west/new/deep/g", preserve="ugpt")
    assert trees.target.read("hdfs://west/new/deep/g") == b"content"
    trees.assert_clean()


@pytest.mark.parametrize("exists", [False, True])
def test_several_sources_lie_below_the_target_by_their_names(exists: bool) -> None:
    trees = Trees(one__a=b"1", two__b=b"2", f=b"3")
    if exists:
        trees.put_there("one/a", b"0")
        trees.put_there("mine", b"mine")
    outcome = trees.sync(sources=tuple(f"{SOURCE}/{name}" for name in ("one", "two", "f")), delete="trash")
    held = {path: content for path, content in trees.at_target().items() if content is not None}
    assert held == {"one/a": b"1", "two/b": b"2", "f": b"3", **({"mine": b"mine"} if exists else {})}
    assert counted(outcome)[0] == 3
    trees.assert_clean()


def test_bad_input_changes_nothing() -> None:
    trees = Trees(f=b"1")
    for wrong in ({"sources": (f"{SOURCE}/none",)}, {"to": "hdfs://elsewhere/t"}, {"preserve": "z"}):
        with pytest.raises((Missing, InvalidSettings)):
            trees.sync(**wrong)
    trees.source.link(f"{SOURCE}/link")
    with pytest.raises(Refused):
        trees.sync()
    assert trees.target.paths() == []
    trees.assert_clean()


def test_a_target_that_another_run_has_made_meanwhile_is_a_reason_to_begin_again() -> None:
    trees = Trees(f=b"1")
    looks: list[str] = []

    def status(path: str) -> Any:
        if path == TARGET:
            looks.append(path)
            if len(looks) == 2:
                trees.put_there("theirs")
        return trees.target.status(path)

    with pytest.raises(ChangedMeanwhile):
        trees.sync(target=Changed(trees.target, status=status))
    trees.sync()
    assert trees.at_target() == {"f": b"1", "theirs": b"x"}


def test_a_large_file_is_copied_in_parts_and_put_together() -> None:
    trees = Trees()
    content = bytes(range(256)) * 40
    trees.put("large", content, block_size=1024)
    trees.put("d/large", content, block_size=1024)
    trees.put_there("large", b"old")
    outcome = trees.sync(split_above=2048, preserve="b", threads=3)
    assert trees.target.calls["create_from"] == 10
    assert (outcome.copied.files, outcome.copied.bytes) == (2, 2 * len(content))
    trees.assert_twin()


def test_progress_and_bandwidth_are_of_the_whole_job() -> None:
    trees = Trees(**{f"f{number}": b"x" * 1000 for number in range(20)})
    outcome = trees.sync(bandwidth_mb=0.1, execute=in_this_process(trees.source, trees.target), threads=8)
    assert outcome.copied.bytes == 20_000
    assert outcome.seconds < 5, "20 kB at 100 kB/s fit the first second"


class TestSnapshots:
    """A copy reads from a snapshot of the source, and from the second run on only what changed."""

    def test_both_sides_have_one_and_the_same_snapshot_after_each_run(self) -> None:
        trees = Trees(f=b"1")
        names = []
        for number in range(3):
            trees.put(f"new{number}")
            outcome = trees.sync(snapshots=True)
            trees.assert_twin()
            (name,) = trees.source.snapshots(SOURCE) or []
            assert trees.target.snapshots(TARGET) == [name]
            names.append(name)
            assert ("since" in outcome.snapshots) is (number > 0)
        assert len(set(names)) == 3

    def test_the_copy_is_of_the_moment_of_the_snapshot(self) -> None:
        trees = Trees(f=b"then")

        def open_file(path: str, **named: Any) -> Any:
            trees.put("f", b"now!")
            return trees.source.open(path, **named)

        trees.sync(snapshots=True, source=Changed(trees.source, open=open_file))
        assert trees.at_target()["f"] == b"then"
        trees.sync(snapshots=True)
        assert trees.at_target()["f"] == b"now!"

    def test_what_a_run_costs_depends_on_the_changes_only(self) -> None:
        spent = []
        for files in (5, 200):
            trees = Trees(**{f"d{number % 5}__f{number}": b"x" for number in range(files)})
            trees.sync(snapshots=True, delete="trash")
            trees.source.delete(f"{SOURCE}/d0/f0")
            trees.source.rename(f"{SOURCE}/d1/f1", f"{SOURCE}/d1/renamed")
            trees.put("d2/new", b"new")
            calls(trees)
            outcome = trees.sync(snapshots=True, delete="trash")
            spent.append(calls(trees))
            assert counted(outcome)[0] == 1
            assert counted(outcome)[2:] == (1, 0)
            trees.assert_twin()
        assert spent[0] == spent[1]

    def test_renames_are_renames_also_in_a_circle(self) -> None:
        trees = Trees(a__f=b"a", b__g=b"b")
        trees.sync(snapshots=True, delete="permanently")
        for before, after in (("a", "x"), ("b", "a"), ("x", "b")):
            trees.source.rename(f"{SOURCE}/{before}", f"{SOURCE}/{after}")
        calls(trees)
        assert counted(trees.sync(snapshots=True, delete="permanently"))[0] == 0
        assert trees.target.calls["create_from"] == 0
        trees.assert_twin()

    @pytest.mark.parametrize("delete", ["trash", "permanently"])
    def test_what_was_deleted_is_counted_and_kept_as_asked(self, delete: str) -> None:
        trees = Trees(f=b"1", d__g=b"22", d__h=b"333")
        trees.sync(snapshots=True, delete=delete)
        trees.source.delete(f"{SOURCE}/d")
        outcome = trees.sync(snapshots=True, delete=delete)
        assert (outcome.deleted.files, outcome.deleted.directories, outcome.deleted.bytes) == (2, 1, 5)
        assert sorted(trees.trash().values()) == ([b"22", b"333"] if delete == "trash" else [])
        trees.assert_twin()

    def test_a_target_that_was_changed_is_compared_in_full(self) -> None:
        trees = Trees(f=b"1", g=b"2")
        trees.sync(snapshots=True, delete="trash")
        trees.put_there("g", b"changed here")
        trees.put_there("mine")
        outcome = trees.sync(snapshots=True, delete="trash")
        assert "everything was compared: the target was changed" in outcome.snapshots
        trees.assert_twin()

    def test_a_run_with_failures_leaves_no_snapshot_and_the_last_common_one_stays(self) -> None:
        trees = Trees(f=b"1")
        trees.sync(snapshots=True)
        common = trees.source.snapshots(SOURCE)
        trees.put("g")

        def create_from(*given: Any, **named: Any) -> Any:
            raise Refused("a quota is used up")

        outcome = trees.sync(snapshots=True, target=Changed(trees.target, create_from=create_from))
        assert outcome.failed.files == 1
        assert trees.source.snapshots(SOURCE) == trees.target.snapshots(TARGET) == common
        assert "since" in trees.sync(snapshots=True).snapshots
        trees.assert_twin()

    def test_what_was_left_out_as_unreadable_is_copied_later(self) -> None:
        trees = Trees(f=b"1", g=b"2")
        trees.sync(snapshots=True)
        for name in ("g", "h"):
            trees.put(name, b"new")

        def open_file(path: str, **named: Any) -> Any:
            if path.endswith("/h"):
                raise Refused(f"{path}: permission denied")
            return trees.source.open(path, **named)

        source = Changed(trees.source, open=open_file)
        outcome = trees.sync(snapshots=True, on_unreadable="skip", source=source)
        assert (outcome.copied.files, outcome.unreadable.files, outcome.exit_code) == (1, 1, ExitCode.DONE)
        assert trees.sync(snapshots=True).copied.files == 1
        trees.assert_twin()

    def test_a_source_that_cannot_have_snapshots_is_copied_as_it_is_which_is_said(self) -> None:
        trees = Trees(f=b"1")
        trees.source.forbidden.add(SOURCE)
        outcome = trees.sync(snapshots=True)
        assert "the source cannot have them" in outcome.snapshots
        trees.assert_twin()

    def test_a_target_that_cannot_have_snapshots_is_said_and_the_source_keeps_none(self) -> None:
        trees = Trees(f=b"1")

        def allow_snapshots(path: str) -> None:
            raise Refused(f"{path}: only an administrator may")

        outcome = trees.sync(snapshots=True, target=Changed(trees.target, allow_snapshots=allow_snapshots))
        assert "the target cannot have snapshots" in outcome.snapshots
        assert trees.source.snapshots(SOURCE) == []
        trees.assert_twin()

    def test_several_sources_are_copied_without_snapshots_which_is_said(self) -> None:
        trees = Trees(one__a=b"1", two__b=b"2")
        outcome = trees.sync(sources=(f"{SOURCE}/one", f"{SOURCE}/two"), snapshots=True)
        assert "one directory" in outcome.snapshots
        assert trees.at_target()["one/a"] == b"1"
