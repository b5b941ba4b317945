"""New directories appear as a whole, and only when all of them is there; the newest run has the say."""

import time
from collections.abc import Callable

import pytest

from tests.support.worlds.fake_world import Killable, Killed, KillSwitch
from tests.unit.transfer.tree.trees import SOURCE, TARGET, Changed, Trees
from twinhive.core.model.errors import AlreadyThere, LeaseLost, Refused
from twinhive.core.model.files import Attributes, base_name, is_below, parent
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.transfer.engine.failure_kind import FailureKind
from twinhive.transfer.tree.executing import ExecutePlan, TreeCopyJob, in_this_process
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.tree_outcome import ExecOutcome
from twinhive.transfer.tree.work_directories import Places


def during(trees: Trees, event: Callable[[], object], *, after: bool = True) -> ExecutePlan:
    """Return what executes plans, and lets something happen right after (or before) it."""
    execute = in_this_process(trees.source, trees.target)

    def executed(job: TreeCopyJob, plan: Plan, confirm: Callable[[], None]) -> ExecOutcome:
        if not after:
            event()
        outcome = execute(job, plan, confirm)
        if after:
            event()
        return outcome

    return executed


def test_a_new_target_is_not_there_until_everything_is_copied() -> None:
    trees = Trees(a=b"1", d__b=b"2")
    seen = []
    trees.sync(execute=during(trees, lambda: seen.append(trees.target.status(TARGET))))
    assert seen == [None]
    trees.assert_twin()


def test_a_new_directory_of_an_old_target_appears_by_one_rename() -> None:
    trees = Trees(a=b"1")
    trees.sync()
    for name in ("new/x", "new/deep/y", "other/z"):
        trees.put(name)
    trees.target.calls.clear()
    seen = []
    trees.sync(execute=during(trees, lambda: seen.append(trees.at_target())))
    assert seen == [{"a": b"1"}]
    assert trees.target.calls["rename"] == 2
    assert trees.target.calls["replace"] == 0
    trees.assert_twin()


def test_when_a_file_of_a_new_target_fails_nothing_appears_and_nothing_is_copied_again() -> None:
    trees = Trees(a=b"1", d__b=b"22", d__bad=b"333")
    trees.source.unreadable.add(f"{SOURCE}/d/bad")

    outcome = trees.sync()

    assert trees.target.status(TARGET) is None
    assert (outcome.copied.files, outcome.failed.files, outcome.failed.bytes) == (2, 1, 3)
    trees.source.unreadable.clear()
    again = trees.sync()
    assert (again.copied.files, again.skipped.files) == (1, 2)
    assert trees.target.calls["create_from"] == 3
    trees.assert_twin()


def test_new_directories_without_a_failure_are_put_in_place_others_wait() -> None:
    trees = Trees(a=b"1")
    trees.sync()
    for name in ("bad/f", "bad/deep/g", "good/h"):
        trees.put(name)
    trees.source.unreadable.add(f"{SOURCE}/bad/deep/g")

    trees.sync()

    assert trees.at_target() == {"a": b"1", "good": None, "good/h": b"x"}
    trees.source.unreadable.clear()
    assert trees.sync().copied.files == 1
    trees.assert_twin()


def test_with_skip_an_unreadable_file_does_not_keep_the_rest_from_its_place() -> None:
    trees = Trees(d__a=b"1", d__bad=b"22")
    trees.source.unreadable.add(f"{SOURCE}/d/bad")

    outcome = trees.sync(on_unreadable="skip")

    assert trees.at_target() == {"d": None, "d/a": b"1"}
    assert (outcome.unreadable.files, outcome.unreadable.bytes, outcome.failed.files) == (1, 2, 0)
    assert [failure.path for failure in outcome.failures] == [f"{SOURCE}/d/bad"]


def test_new_directories_have_their_attributes_before_they_have_their_name() -> None:
    trees = Trees(d__f=b"1")
    trees.source.set_attributes(f"{SOURCE}/d", Attributes(owner="ann", modified_ms=5))
    trees.source.set_attributes(SOURCE, Attributes(owner="bob", modified_ms=6))
    order: list[str] = []

    def rename(source: str, target: str) -> bool:
        order.extend(
            f"{path.rpartition('/')[2]} {node.status.owner}"
            for path, node in trees.target._nodes.items()
            if path in (source, f"{source}/d")
        )
        return trees.target.rename(source, target)

    trees.sync(preserve="ut", target=Changed(trees.target, rename=rename))
    assert order == ["tree bob", "d ann"]


def test_a_directory_gets_its_permission_after_all_below_it() -> None:
    trees = Trees()
    for number in range(30):
        trees.put(f"a/b{number % 3}/c{number}/f")
        trees.source.set_attributes(f"{SOURCE}/a/b{number % 3}/c{number}", Attributes(permission=0o700))
    trees.source.set_attributes(f"{SOURCE}/a", Attributes(permission=0o500))
    for number in range(3):
        trees.source.set_attributes(f"{SOURCE}/a/b{number}", Attributes(permission=0))
    closed: list[str] = []

    def set_attributes(path: str, attributes: Attributes) -> None:
        if base_name(path).startswith("c"):
            time.sleep(0.002)  # what lies deeper is still under way when its parents could have their turn
        if any(is_below(path, directory) for directory in closed):
            raise Refused(f"{path}: permission denied")
        trees.target.set_attributes(path, attributes)
        if attributes.permission in (0, 0o500):
            closed.append(path)

    outcome = trees.sync(preserve="p", target=Changed(trees.target, set_attributes=set_attributes), threads=8)
    assert not outcome.kinds
    assert len(closed) == 4


def test_a_directory_that_appears_while_it_is_copied_is_not_touched_and_the_next_run_merges() -> None:
    trees = Trees(a=b"1")
    trees.sync()
    trees.put("new/f", b"ours")

    outcome = trees.sync(execute=during(trees, lambda: trees.put_there("new/g", b"theirs")))

    assert [failure.path for failure in outcome.failures] == [f"{TARGET}/new"]
    assert trees.at_target()["new/g"] == b"theirs"
    trees.sync()
    assert trees.at_target() == {"a": b"1", "new": None, "new/f": b"ours", "new/g": b"theirs"}


def test_a_lost_answer_of_the_rename_is_no_failure() -> None:
    trees = Trees(d__f=b"1")
    lost: list[str] = []

    def rename(source: str, target: str) -> bool:
        done = trees.target.rename(source, target)
        if not lost:
            lost.append(target)
            trees.target.unanswered = 1
            trees.target.in_safe_mode()
        return done

    outcome = trees.sync(target=Changed(trees.target, rename=rename))
    assert lost == [TARGET]
    assert not outcome.kinds
    trees.assert_twin()


@pytest.mark.parametrize("exists", [False, True])
def test_a_run_that_lost_its_lease_puts_nothing_in_place_and_deletes_nothing(exists: bool) -> None:
    trees = Trees(f=b"1")
    if exists:
        trees.sync()
        trees.put_there("gone")
    trees.put("new/g")
    before = trees.at_target()
    place = f"{TARGET}/.twinhive" if exists else f"{parent(TARGET)}/{_work_name(trees)}"

    def taken_over() -> None:
        with trees.leases.hold(f"{place}/lease", {"run": "another"}, LeaseKind.COPY):
            pass

    with pytest.raises(LeaseLost):
        trees.sync(delete="trash", execute=during(trees, taken_over))
    assert trees.at_target() == before
    trees.sync(delete="trash")
    trees.assert_twin()


def test_an_atomic_copy_appears_only_as_a_whole() -> None:
    trees = Trees(a=b"1", b=b"2")
    trees.target.forbidden.add(f"{parent(TARGET)}/{_work_name(trees)}/tree/b")
    outcome = trees.sync(atomic=True)
    assert outcome.kinds == {FailureKind.REFUSED: 1}
    assert trees.target.status(TARGET) is None
    trees.target.forbidden.clear()
    trees.sync(atomic=True)
    trees.assert_twin()


def test_an_atomic_copy_that_was_killed_after_its_rename_is_whole_and_another_copy_cleans_up() -> None:
    trees = Trees(a=b"1", d__b=b"2")
    kills = 0
    while trees.target.status(TARGET) is None:
        kills += 1
        with pytest.raises(Killed):
            trees.sync(atomic=True, target=Killable(trees.target, KillSwitch(kills, after_effect=True)))
    assert trees.at_target() == trees.at_source()
    with pytest.raises(AlreadyThere, match="an atomic copy has to make its target"):
        trees.sync(atomic=True)
    assert trees.target.status(f"{parent(TARGET)}/{_work_name(trees)}")

    assert trees.sync().copied.files == 0
    trees.assert_twin()


def test_work_is_done_in_the_staging_directory_and_nothing_is_left_there() -> None:
    trees = Trees(d__a=b"1")
    staging = "hdfs://west/tmp/staging"
    seen: list[str] = []
    trees.sync(staging=staging, execute=during(trees, lambda: seen.extend(trees.target.paths())))
    assert [path.startswith(staging) for path in seen] == [True]
    trees.assert_twin()
    assert trees.target.paths() and not [path for path in trees.target.paths() if path.startswith(staging)]


def test_a_target_made_by_someone_else_between_two_looks_is_said() -> None:
    trees = Trees(a=b"1")
    execute = during(trees, lambda: trees.put_there("theirs"), after=False)
    outcome = trees.sync(execute=execute)
    assert [failure.path for failure in outcome.failures] == [TARGET]
    assert trees.at_target() == {"theirs": b"x"}


def _work_name(trees: Trees) -> str:
    return Places(TARGET, True).work.rpartition("/")[2]
