"""A task on another machine may outlive its run, or have been begun twice: it never spoils what readers see."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.unit.transfer.tree.trees import SOURCE, TARGET, Changed, Trees
from twinhive.core.model.errors import LeaseLost
from twinhive.core.model.files import join
from twinhive.transfer.tree.executing import Executor, TreeCopyJob
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.tree_batches import StillWanted, write_batches
from twinhive.transfer.tree.tree_outcome import ExecOutcome


def on_executors(trees: Trees, meanwhile: Callable[[TreeCopyJob, list[str]], object], target: Any = None) -> Any:
    """Return what carries out plans as Spark's tasks do: by batches; `meanwhile` happens before them."""

    def execute(job: TreeCopyJob, plan: Plan, confirm: Callable[[], None]) -> ExecOutcome:
        directory = join(job.places.plan, "run-1")
        [batch] = write_batches(plan.copies(), trees.target, directory, most_files=99, aim_bytes=10**9)
        lines = list(plan.copies())
        meanwhile(job, lines)
        wanted = StillWanted(trees.target, batch.path)
        return Executor(job, trees.source, target or trees.target, 1, confirm=wanted).run(lines)

    return execute


def an_old_target() -> Trees:
    trees = Trees(f=b"older")
    trees.sync()
    trees.put("f", b"newer content")
    return trees


def test_a_task_whose_run_was_overtaken_puts_nothing_in_place() -> None:
    trees = an_old_target()

    def another_run(job: TreeCopyJob, lines: list[str]) -> None:
        trees.put("f", b"the newest of all")
        trees.leases.holder = None
        trees.sync()

    with pytest.raises(LeaseLost):
        trees.sync(execute=on_executors(trees, another_run))
    assert trees.at_target()["f"] == b"the newest of all"
    assert len(trees.settled) == 1, "the new run waits for calls that may be under way"


def test_a_run_after_one_that_came_to_its_end_does_not_wait() -> None:
    trees = an_old_target()
    trees.sync()
    trees.put("f", b"again")
    trees.sync()
    assert trees.settled == []


def test_a_batch_is_looked_for_once_a_second() -> None:
    files = InMemoryFiles("hdfs://west")
    files.write("hdfs://west/b", b"")
    now = [0.0]
    wanted = StillWanted(files, "hdfs://west/b", clock=lambda: now[0])
    for _ in range(10):
        wanted()
    assert files.calls["status"] == 1
    files.delete("hdfs://west/b")
    now[0] = 1.0
    with pytest.raises(LeaseLost, match="this batch is gone"):
        wanted()


def write_halves(trees: Trees, job: TreeCopyJob, lines: list[str]) -> None:
    """Let another task have begun to write the files of new directories."""
    for path in map(job.places.built, ("f", "d/g")):
        if trees.target.status(path.rpartition("/")[0]):
            trees.target.put(path, b"half a f")


@pytest.mark.parametrize("is_new", [True, False], ids=["a new target", "a target that exists"])
def test_two_tasks_with_the_same_batch_never_delete_what_the_other_has_written(is_new: bool) -> None:
    """Spark repeats a task whose executor it has lost, and which may still be at work."""
    trees = Trees(f=b"content", d__g=b"more")
    if not is_new:
        trees.put_there("f", b"before")
    seen: list[bytes] = []

    def delete(path: str) -> bool:
        assert not path.endswith(("/tree/f", "/tree/d/g")), path
        return trees.target.delete(path)

    def replace(source: str, target: str) -> None:
        seen.append(trees.target.read(source))
        trees.target.replace(source, target)

    def rename(source: str, target: str) -> bool:
        if target == TARGET:
            seen.extend(trees.target.read(f"{source}/{name}") for name in ("f", "d/g"))
        return trees.target.rename(source, target)

    target = Changed(trees.target, delete=delete, replace=replace, rename=rename)
    trees.sync(target=target, execute=on_executors(trees, partial(write_halves, trees), target))
    assert set(seen) == {b"content", b"more"}
    trees.assert_twin()


def test_what_another_task_has_written_whole_is_used() -> None:
    trees = an_old_target()

    def twin(job: TreeCopyJob, lines: list[str]) -> None:
        target = Changed(trees.target, replace=lambda source, final: None)
        Executor(job, trees.source, target, 1).run(lines)
        trees.target.calls.clear()

    trees.sync(execute=on_executors(trees, twin))
    assert trees.target.calls["create_from"] == 0
    assert trees.target.status(f"{SOURCE}/f") is None
    trees.assert_twin()
