"""A source that somebody writes to all the time: what is found is copied, what is not finished is not looked at."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.hdfs import planned_trees
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.planned_trees import Nested, content
from tests.unit.transfer.tree.test_snapshots import TREE, Replicated, at, change_anything, grow, rename
from tests.unit.transfer.tree.trees import SOURCE, TARGET, Changed, Content, Trees
from twinhive.core.model.errors import Refused
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.files import Attributes, is_unfinished, join
from twinhive.transfer.engine.failure_kind import FailureKind
from twinhive.transfer.tree.request import SyncOptions, SyncRequest
from twinhive.transfer.tree.tree_dry_run import dry_run

UNFINISHED = [
    "_temporary",
    ".hive-staging_hive_2030-05-17_1-1",
    ".spark-staging-abc",
    "f._COPYING_",
    ".distcp.tmp.attempt_1",
]


def at_open(trees: Trees, relative: str, event: Callable[[], object]) -> Changed:
    """Return the source, where something happens before a file is opened for the first time."""
    waiting = [event]

    def open_file(path: str, **named: Any) -> Any:
        if path == join(SOURCE, relative) and waiting:
            waiting.pop()()
        return trees.source.open(path, **named)

    return Changed(trees.source, open=open_file)


class TestGone:
    @pytest.mark.parametrize("there", [False, True], ids=["in a new directory", "in one that exists"])
    def test_a_file_that_is_gone_keeps_nothing_from_being_placed_or_deleted(self, there: bool) -> None:
        trees = Trees(p__good=b"1", p__moving=b"22", old=b"3")
        trees.put_there("gone", b"4")
        if there:
            trees.put_there("p/before")
        source = at_open(trees, "p/moving", lambda: trees.source.rename(f"{SOURCE}/p/moving", f"{SOURCE}/p/moved"))
        outcome = trees.sync(source=source, delete="trash", busy=True)

        assert (outcome.exit_code, outcome.not_deleted, outcome.failed.files) == (ExitCode.DONE, "", 0)
        assert (outcome.vanished.files, outcome.vanished.bytes) == (1, 2)
        assert trees.at_target() == {"p": None, "p/good": b"1", "old": b"3"}
        trees.assert_clean()
        trees.sync(delete="trash", busy=True)
        trees.assert_twin()

    def test_a_file_that_the_target_has_goes_with_the_next_copy(self) -> None:
        trees = Trees(a=b"new", b=b"1")
        trees.put_there("a", b"old!")
        source = at_open(trees, "a", lambda: trees.source.delete(f"{SOURCE}/a"))
        outcome = trees.sync(source=source, delete="permanently", busy=True)

        assert (outcome.exit_code, outcome.vanished.files) == (ExitCode.DONE, 1)
        assert trees.at_target() == {"a": b"old!", "b": b"1"}
        trees.sync(delete="permanently", busy=True)
        trees.assert_twin()

    def test_a_source_that_is_not_busy_has_failed_and_says_that_it_was_gone(self) -> None:
        trees = Trees(a=b"1", b=b"2")
        source = at_open(trees, "a", lambda: trees.source.delete(f"{SOURCE}/a"))
        outcome = trees.sync(source=source)
        assert (outcome.exit_code, dict(outcome.kinds)) == (ExitCode.TRY_AGAIN, {FailureKind.GONE: 1})

    def test_what_is_missing_at_the_target_is_a_failure(self) -> None:
        trees = Trees(a=b"1")
        trees.put_there("b")

        def replace(path: str, final: str) -> None:
            trees.target.delete(path)
            trees.target.replace(path, final)

        outcome = trees.sync(target=Changed(trees.target, replace=replace), busy=True)
        assert dict(outcome.kinds) == {FailureKind.MISSING: 1}

    def test_what_was_written_of_it_and_cannot_be_deleted_is_a_failure(self) -> None:
        """Else it would be placed with its directory, with the permission of nobody's choice."""
        trees = Trees(a=b"1")
        trees.source.set_attributes(f"{SOURCE}/a", Attributes(acl=("user:ann:r--",)))

        def acl(path: str) -> Any:
            trees.source.delete(f"{SOURCE}/a")
            return trees.source.acl(path)

        def delete(path: str) -> bool:
            if path.endswith("/tree/a"):
                raise Refused(f"{path}: permission denied")
            return trees.target.delete(path)

        outcome = trees.sync(
            source=Changed(trees.source, acl=acl), target=Changed(trees.target, delete=delete), busy=True, preserve="pa"
        )
        assert dict(outcome.kinds) == {FailureKind.REFUSED: 1}
        assert trees.target.status(TARGET) is None

    @pytest.mark.parametrize("nested", [False, True])
    def test_a_directory_that_is_gone_before_it_has_its_attributes_is_not_placed(self, nested: bool) -> None:
        trees = Trees(d__sub__f=b"1", keep=b"2")
        trees.put_there("keep", b"2")
        gone = "d/sub" if nested else "d"
        trees.source.set_attributes(f"{SOURCE}/{gone}", Attributes(acl=("user:ann:r-x",)))

        def acl(path: str) -> Any:
            if path == f"{SOURCE}/{gone}":
                trees.source.delete(path)
            return trees.source.acl(path)

        outcome = trees.sync(source=Changed(trees.source, acl=acl), preserve="pa", busy=True)
        assert (outcome.exit_code, outcome.vanished.directories) == (ExitCode.DONE, 1)
        assert trees.at_target() == ({"d": None, "keep": b"2"} if nested else {"keep": b"2"})
        trees.assert_clean()

    def test_a_directory_that_the_target_has_and_the_source_no_more_needs_no_attributes(self) -> None:
        trees = Trees(d__f=b"1")
        trees.sync()
        trees.source.set_attributes(f"{SOURCE}/d", Attributes(acl=("user:ann:r-x",)))

        def acl(path: str) -> Any:
            trees.source.delete(path)
            return trees.source.acl(path)

        outcome = trees.sync(source=Changed(trees.source, acl=acl), preserve="pa", busy=True)
        assert (outcome.exit_code, outcome.vanished.directories) == (ExitCode.DONE, 1)
        assert trees.at_target() == {"d": None, "d/f": b"1"}


class TestReplaced:
    @pytest.mark.parametrize("there", [None, b"before", b"12345"], ids=["new", "other", "of the same length"])
    def test_a_file_that_was_replaced_is_copied_as_it_is_now(self, there: bytes | None) -> None:
        trees = Trees(a=b"12345", b=b"1")
        if there is not None:
            trees.put_there("a", there)
        source = at_open(trees, "a", lambda: trees.put("a", b"another content"))
        outcome = trees.sync(source=source, busy=True, mode="overwrite")

        assert (outcome.exit_code, outcome.copied.files) == (ExitCode.DONE, 2)
        trees.assert_twin()

    def test_one_that_is_replaced_again_and_again_is_a_failure_in_the_end(self) -> None:
        trees = Trees(a=b"1", b=b"1")
        count = iter(range(2, 99))

        def open_file(path: str, **named: Any) -> Any:
            if path == f"{SOURCE}/a":
                trees.put("a", b"x" * next(count))
            return trees.source.open(path, **named)

        outcome = trees.sync(source=Changed(trees.source, open=open_file), busy=True)
        assert dict(outcome.kinds) == {FailureKind.CHANGED: 1}
        assert trees.target.status(TARGET) is None

    def test_one_that_is_a_directory_now_is_a_failure(self) -> None:
        trees = Trees(a=b"1", b=b"1")

        def become_a_directory() -> None:
            trees.source.delete(f"{SOURCE}/a")
            trees.put("a/f")

        outcome = trees.sync(source=at_open(trees, "a", become_a_directory), busy=True)
        assert dict(outcome.kinds) == {FailureKind.CHANGED: 1}


class TestUnfinished:
    @pytest.mark.parametrize("name", UNFINISHED)
    def test_what_is_not_finished_is_not_copied_and_what_the_target_has_of_it_is_deleted(self, name: str) -> None:
        trees = Trees(a=b"1", d__b=b"2")
        finished = trees.at_source()
        for path in (name, f"d/{name}/0/part-0", f"d/deep/{name}"):
            trees.put(path)
        trees.put_there("d/b", b"2")
        trees.put_there(f"d/{name}/0/part-9", b"2")
        outcome = trees.sync(skip_unfinished=True, delete="trash")

        assert outcome.exit_code is ExitCode.DONE
        assert trees.at_target() == {**finished, "d/deep": None}

    def test_a_name_that_only_looks_alike_is_content(self) -> None:
        trees = Trees(_SUCCESS=b"", temporary__f=b"1")
        trees.put("d/_metadata")
        trees.put("d/.hidden")
        trees.sync(skip_unfinished=True)
        trees.assert_twin()

    def test_a_source_that_has_nothing_else_is_empty(self) -> None:
        """Who overwrites a directory deletes it first: what the target has must not go meanwhile."""
        trees = Trees(_temporary__f=b"1")
        trees.put_there("f")
        with pytest.raises(Refused, match="the source is empty"):
            trees.sync(skip_unfinished=True, delete="trash")
        assert trees.at_target() == {"f": b"x"}

    def test_a_dry_run_leaves_it_out_as_well(self) -> None:
        trees = Trees(_temporary__f=b"1", a=b"1")
        request = SyncRequest((SOURCE,), TARGET, SyncOptions(skip_unfinished=True))
        assert [row.tally.files for row in dry_run(request, trees.source, trees.target) if "copy" in row.what] == [1]


def finished(east: InMemoryFiles) -> Content:
    """Return what is at the source of a pair without what is not finished."""
    held = content(east, planned_trees.SOURCE)
    return {path: each for path, each in held.items() if not any(map(is_unfinished, path.split("/")))}


class TestSnapshots:
    def test_what_a_job_has_finished_since_the_last_snapshot_is_new(self) -> None:
        job: Nested = {"0": {"t": {"part-0": b"1"}, "k=1": {"f": b"2"}}}
        pair = Replicated({**TREE, "_temporary": job}, skip_unfinished=True)
        pair.east.rename(at("_temporary/0/t/part-0"), at("a/part-0"))
        pair.east.rename(at("_temporary/0/k=1"), at("k=1"))
        pair.east.rename(at("b"), at("_temporary/b"))
        grow(pair.east, "_temporary/b/f")
        pair.east.put(at("_temporary/b/g"))
        pair.follow()
        there = content(pair.west, planned_trees.TARGET)
        assert there == finished(pair.east)
        assert (there["a/part-0"], there["k=1/f"], "b" in there) == (b"1", b"2", False)

    def test_what_was_taken_back_by_a_job_and_made_anew_is_new(self) -> None:
        pair = Replicated(TREE, skip_unfinished=True)
        rename(pair.east, "b", "_temporary/b")
        pair.east.put(at("b/new"))
        rename(pair.east, "top", "_temporary/top")
        pair.east.put(at("top"), b"5")
        pair.follow()
        assert content(pair.west, planned_trees.TARGET) == finished(pair.east)

    @pytest.mark.thorough
    @pytest.mark.parametrize("seed", range(150))
    def test_any_history_of_jobs_is_followed(self, seed: int) -> None:
        dice = random.Random(seed)
        pair = Replicated(TREE, skip_unfinished=True, preserve=dice.choice(["", "t"]))
        for _ in range(3):
            for _ in range(dice.randrange(1, 6)):
                change_anything(pair.east, dice, ["a", "b", "f", "x", "_temporary", ".spark-staging-1"])
            name = pair.choose().name
            pair.follow()
            assert content(pair.west, planned_trees.TARGET) == finished(pair.east)
            pair.west.delete(pair.layout.places.work)
            pair.west.create_snapshot(planned_trees.TARGET, name)
