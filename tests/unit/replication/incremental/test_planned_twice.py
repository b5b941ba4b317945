"""A run whose window another one cuts anew before all is copied: nobody has to act, and nothing is lost."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.support.worlds.fake_world import tuned
from tests.unit.replication.incremental.test_incremental import Followed, insert_into_table
from twinhive.core.model.errors import DumpReplaced, Missing, Refused, TryAgain, Unreachable
from twinhive.core.model.files import base_name
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap import copy_batch, small_copies
from twinhive.replication.dump import dump_store
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_ownership import discard_dump
from twinhive.replication.dump.dump_store import dumps_of
from twinhive.replication.incremental import window
from twinhive.replication.incremental.kept_windows import DIRECTORY, kept_windows
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import RunOptions, run_phase, step_of

BY_TASKS = tuned(spark_above_files=0)


def remove_window(followed: Followed) -> None:
    files = followed.world.ports().dump_files
    [cut] = dumps_of(files, followed.policy, DumpKind.INCREMENTAL)
    assert discard_dump(files, cut.directory)


def cut_anew(followed: Followed) -> None:
    remove_window(followed)
    insert_into_table(followed.users)
    followed.run_with(followed.world.ports(), INCREMENTAL[:1])


def test_a_run_is_tried_again_and_a_task_whose_plan_is_gone_is_not() -> None:
    followed = Followed(BY_TASKS)
    insert_into_table(followed.users)
    ports, tasks = followed.world.ports(), []

    def replaced(stage: str, batches: Sequence[Any]) -> Iterator[Any]:
        for batch in batches:
            cut_anew(followed)
            tasks.append(batch)
            yield batch

    with pytest.raises(TryAgain, match="has replaced or removed the dump") as told:
        run_phase(INCREMENTAL, BY_TASKS, ports, {"run": "late"}, followed.say, watch=replaced)
    work = Work(BY_TASKS, tasks[0].name, str(told.value.expected), {"run": "late"}, followed.say)
    with pytest.raises(DumpReplaced, match="clear the task window with all tasks after it"):
        step_of(INCREMENTAL[1], work, RunOptions()).run(ports)
    followed.follow()
    followed.assert_twin()


@pytest.mark.parametrize("others_do", [cut_anew, remove_window])
def test_the_task_that_has_planned_is_tried_again(others_do: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    insert_into_table(followed.users)
    read = small_copies.listed_batch  # type: ignore[attr-defined]

    def late(*args: Any) -> Any:
        monkeypatch.setattr(small_copies, "listed_batch", read)
        found = read(*args)
        others_do(followed)
        return found

    monkeypatch.setattr(small_copies, "listed_batch", late)
    with pytest.raises(TryAgain, match="has replaced or removed the dump"):
        followed.run_with(followed.world.ports(), INCREMENTAL[:1])
    followed.follow()
    followed.assert_twin()


@pytest.mark.parametrize("others_do", [cut_anew, remove_window])
@pytest.mark.parametrize("before", [(window, "keep_window"), (window, "left_for_spark")], ids=lambda one: one[1])
def test_so_it_is_when_its_plan_goes_before_anything_is_read_of_it(
    before: tuple[Any, str], others_do: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed = Followed()
    insert_into_table(followed.users)
    act = getattr(*before)

    def late(*args: Any) -> Any:
        monkeypatch.setattr(*before, act)
        others_do(followed)
        return act(*args)

    monkeypatch.setattr(*before, late)
    with pytest.raises(TryAgain, match="has replaced or removed the dump"):
        followed.run_with(followed.world.ports(), INCREMENTAL[:1])
    followed.follow()
    followed.assert_twin()


@pytest.mark.parametrize("name", ["listed_batch", "unpack_lines"])
def test_a_run_whose_plan_goes_while_a_batch_is_read_is_tried_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(BY_TASKS)
    insert_into_table(followed.users)
    read = getattr(copy_batch, name)

    def late(*args: Any) -> Any:
        monkeypatch.setattr(copy_batch, name, read)
        remove_window(followed)
        if name == "listed_batch":
            return read(*args)
        raise Missing("its list is not there")

    monkeypatch.setattr(copy_batch, name, late)
    with pytest.raises(TryAgain, match="has replaced or removed the dump"):
        followed.follow()
    followed.follow()
    followed.assert_twin()


def test_a_dump_that_goes_while_it_is_opened_has_been_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    insert_into_table(followed.users)
    key = followed.run_with(followed.world.ports(), INCREMENTAL[:1])["window"].dump

    def gone(*args: Any) -> None:
        raise Missing("it is not there any more")

    monkeypatch.setattr(dump_store, "open_dump", gone)
    with pytest.raises(DumpReplaced):
        dump_store.dump_of_key(followed.world.ports().dump_files, followed.policy, key)


def test_what_is_wrong_with_a_window_that_stands_is_said_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    insert_into_table(followed.users)

    def gone(*args: Any, **kwargs: Any) -> None:
        raise Missing("something else is not there")

    monkeypatch.setattr(small_copies.CopyBatch, "run", gone)  # type: ignore[attr-defined]
    with pytest.raises(Missing, match="something else"):
        followed.run_with(followed.world.ports(), INCREMENTAL[:1])


def test_what_has_failed_is_said_when_nobody_can_tell_whether_the_dump_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()

    def silent(*args: Any) -> None:
        raise Unreachable("no NameNode answers")

    monkeypatch.setattr(dump_store, "dump_of_key", silent)
    with (
        pytest.raises(Refused, match="a quota"),
        dump_store.while_it_stands(followed.world.ports().dump_files, followed.policy, "incremental-1"),
    ):
        raise Refused("a quota")


def test_a_window_that_is_planned_again_while_it_is_kept_is_not_kept_as_half_of_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed, again = Followed(), []
    insert_into_table(followed.users)
    files = followed.world.replica_files
    write = files.write

    def written(path: str, content: bytes) -> None:
        write(path, content)
        if f"/{DIRECTORY}/" in path and not again:
            again.append(path)
            remove_window(followed)
            followed.run_with(followed.world.ports(), INCREMENTAL[:1])

    monkeypatch.setattr(files, "write", written)
    with pytest.raises(TryAgain, match="has replaced or removed the dump"):
        followed.run_with(followed.world.ports(), INCREMENTAL[:1])
    kept = [
        (base_name(str(policy.dump_directory)), dump.manifest.token[:8])
        for policy, dump in kept_windows(files, followed.policy)
    ]
    assert [place == token for place, token in kept] == [True]
    followed.follow()
    followed.assert_twin()
