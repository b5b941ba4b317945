"""Actions on files: what they cost, what they count, and that a task elsewhere can carry them out."""

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.transfer.tree.trees import SOURCE, TARGET, Changed, Trees
from twinhive.core.model.errors import LeaseLost, Refused, Unreachable
from twinhive.transfer.engine.failure_kind import FailureKind
from twinhive.transfer.tree.executing import Executor, Recently, TreeCopyJob, confirmed, in_this_process
from twinhive.transfer.tree.file_actions import Compared
from twinhive.transfer.tree.path_rule import lay_out
from twinhive.transfer.tree.planning.make_plan import make_plan
from twinhive.transfer.tree.request import SyncOptions, SyncRequest
from twinhive.transfer.tree.tree_outcome import ExecOutcome

FILES = 20


def old_target(**files: bytes) -> Trees:
    """The target exists, and holds nothing but a file."""
    trees = Trees(**files)
    trees.put("here", b"here")
    trees.put_there("here", b"here")
    trees.target.calls.clear()
    return trees


def spent(trees: Trees, *calls: str) -> list[int]:
    """Return how often the target was called so."""
    return [trees.target.calls[call] for call in calls]


def test_a_small_file_of_a_new_directory_costs_one_creation_and_one_checksum() -> None:
    trees = Trees()
    trees.sync()
    base = dict(trees.target.calls)
    more = Trees(**{f"f{number}": b"content" for number in range(FILES)})
    more.sync(preserve="rpb")
    added = {name: count - base.get(name, 0) for name, count in more.target.calls.items()}
    # Making the directories, attributes of the base and the memory of verified pairs do not depend on the files.
    assert (added["create_from"], added["checksum"]) == (FILES, FILES)
    assert sum(added.values()) <= 2 * FILES + 6
    assert (more.source.calls["open"], more.source.calls["checksum"]) == (FILES, 0)


def test_times_cost_one_call_more() -> None:
    trees = Trees(**{f"f{number}": b"content" for number in range(FILES)})
    trees.sync(preserve="t")
    assert spent(trees, "create_from", "checksum", "set_attributes") == [FILES, FILES, FILES + 1]


def test_a_file_for_a_directory_that_exists_costs_one_rename_more() -> None:
    trees = old_target(**{f"f{number}": b"content" for number in range(FILES)})
    trees.sync()
    assert spent(trees, "create_from", "checksum", "replace", "rename") == [FILES, FILES + 1, FILES, 0]


def test_a_file_is_replaced_by_one_rename_after_it_was_compared() -> None:
    trees = old_target(f=b"new content")
    trees.put_there("f", b"old")
    trees.target.corrupt_next_copies = 1
    seen: list[bytes | None] = []

    def replace(source: str, target: str) -> None:
        seen.extend([trees.at_target().get("f"), trees.target._node(source).content])
        trees.target.replace(source, target)

    trees.sync(target=Changed(trees.target, replace=replace))
    assert seen == [b"old", b"new content"]
    trees.assert_twin()


def test_equal_files_are_recognised_by_their_checksum_and_remembered() -> None:
    trees = old_target(f=b"same")
    trees.put_there("f", b"same")
    outcome = trees.sync()
    assert (outcome.copied.files, outcome.skipped.files) == (0, 2)
    assert outcome.compared == {Compared.CHECKSUM: 2}
    trees.target.calls.clear()
    assert trees.sync().compared == {}
    assert spent(trees, "checksum") == [0]


def test_recheck_compares_what_is_remembered() -> None:
    trees = Trees(f=b"right")
    trees.sync()
    trees.target._node(f"{TARGET}/f").content = b"wrong"
    assert trees.sync().copied.files == 0
    assert trees.sync(recheck=True).copied.files == 1
    trees.assert_twin()


def test_without_comparable_checksums_files_are_compared_by_length_and_time() -> None:
    trees = old_target(older=b"aaa", newer=b"bbb")
    trees.put_there("here", b"here", modified_ms=9_000_000_000_000)
    trees.put_there("older", b"xxx", modified_ms=1)
    trees.put_there("newer", b"yyy", modified_ms=9_000_000_000_000)
    trees.target._has_checksums = False

    outcome = trees.sync()

    assert trees.at_target() == {"here": b"here", "older": b"aaa", "newer": b"yyy"}
    assert (outcome.compared[Compared.TIME], outcome.compared[Compared.LENGTH]) == (2, 1)


def test_a_file_that_has_grown_gets_its_new_bytes() -> None:
    trees = old_target(log=b"line 1\nline 2\n")
    trees.put_there("log", b"line 1\n")
    outcome = trees.sync(append=True)
    assert spent(trees, "append_from", "create_from", "replace") == [1, 0, 0]
    assert (outcome.copied.files, outcome.copied.bytes) == (1, 7)
    trees.assert_twin()
    assert trees.sync(append=True).compared == {}, "what was appended was verified and is remembered"


def test_a_shorter_file_that_is_not_the_beginning_is_replaced() -> None:
    trees = old_target(log=b"line 1\nline 2\n")
    trees.put_there("log", b"other\n")
    trees.sync(append=True)
    assert spent(trees, "append_from", "create_from", "replace") == [0, 1, 1]
    trees.assert_twin()


def test_what_a_killed_append_has_left_is_completed() -> None:
    trees = old_target(log=b"line 1\nline 2\nline 3\n")
    trees.put_there("log", b"line 1\nlin")
    trees.sync(append=True)
    assert spent(trees, "append_from", "create_from") == [1, 0]
    trees.assert_twin()


def test_where_the_target_cannot_append_the_file_is_replaced() -> None:
    trees = old_target(log=b"line 1\nline 2\n")
    trees.put_there("log", b"line 1\n")

    def append_from(*given: Any, **named: Any) -> int:
        raise Refused("no appending here")

    trees.sync(append=True, target=Changed(trees.target, append_from=append_from))
    trees.assert_twin()


def test_an_append_that_does_not_make_the_files_equal_is_replaced() -> None:
    trees = old_target(log=b"line 1\nline 2\n")
    trees.put_there("log", b"line 1\n")

    def append_from(stream: Any, path: str, **named: Any) -> int:
        done = trees.target.append_from(stream, path, **named)
        node = trees.target._node(path)
        node.content = node.content[:-1] + b"?"
        return done

    trees.sync(append=True, target=Changed(trees.target, append_from=append_from))
    trees.assert_twin()


def test_overwrite_copies_everything_again() -> None:
    trees = Trees(f=b"1", d__g=b"2")
    trees.sync()
    assert trees.sync(mode="overwrite").copied.files == 2
    trees.assert_twin()


@pytest.fixture
def planned() -> tuple[Trees, TreeCopyJob, list[str]]:
    """A job and its lines."""
    trees = old_target(**{f"f{number}": b"content" for number in range(120)})
    options = SyncOptions.of({"preserve": "t"})
    layout = lay_out(SyncRequest((SOURCE,), TARGET, options), trees.source, trees.target)
    with make_plan(layout, options, trees.source, trees.target) as plan:
        return trees, TreeCopyJob(layout.places, options), list(plan.copies())


def test_job_and_outcome_travel_to_a_task_and_back(planned: tuple[Trees, TreeCopyJob, list[str]]) -> None:
    trees, job, lines = planned
    job = pickle.loads(pickle.dumps(job))
    halves = [lines[:50], lines[50:]]
    outcomes = [Executor(job, trees.source, trees.target, 3).run(iter(half)) for half in halves]
    total = ExecOutcome.merged(pickle.loads(pickle.dumps(outcome)) for outcome in outcomes)
    assert (total.copied.files, total.skipped.files) == (120, 1)
    assert len(total.verified) == len(set(total.verified)) == 121
    assert trees.at_target() == trees.at_source()


def test_all_failures_are_counted_and_some_of_them_told(planned: tuple[Trees, TreeCopyJob, list[str]]) -> None:
    trees, job, lines = planned
    trees.target.forbidden.add(job.places.work)
    outcome = Executor(job, trees.source, trees.target, 4).run(lines)
    assert outcome.failures.tally.files == 120
    assert outcome.failures.kinds == {FailureKind.REFUSED: 120}
    assert len(outcome.failures.examples) == 100


def test_a_cluster_that_does_not_answer_is_given_up(planned: tuple[Trees, TreeCopyJob, list[str]]) -> None:
    trees, job, lines = planned
    tried: list[str] = []

    def create_from(stream: Any, path: str, **named: Any) -> None:
        tried.append(path)
        raise Unreachable("no answer")

    outcome = Executor(job, trees.source, Changed(trees.target, create_from=create_from), 1).run(lines)
    assert outcome.failures.kinds == {FailureKind.UNREACHABLE: 121}
    assert len(tried) == 100, "fifty files, twice each"


def test_a_call_without_an_answer_is_tried_again(planned: tuple[Trees, TreeCopyJob, list[str]]) -> None:
    trees, job, lines = planned
    executor = Executor(job, trees.source, trees.target, 1)
    trees.target.unanswered = 1
    assert not executor.run(lines).failures


def test_the_right_to_write_is_confirmed_from_time_to_time() -> None:
    now = [0.0]
    confirmed_at: list[float] = []
    for _ in confirmed(range(20), Recently(lambda: confirmed_at.append(now[0]), lambda: now[0])):
        now[0] += 0.5
    assert confirmed_at == [2, 4, 6, 8]


def test_who_has_lost_that_right_stops(planned: tuple[Trees, TreeCopyJob, list[str]]) -> None:
    trees, job, lines = planned

    def lost() -> Iterator[str]:
        yield from lines[:5]
        raise LeaseLost("another has it")

    with pytest.raises(LeaseLost):
        Executor(job, trees.source, trees.target, 2).run(lost())
    assert trees.target.calls["create_from"] == 5


class Counted:
    """Add up what is counted."""

    def __init__(self) -> None:
        self.moved_bytes = 0
        self.done_files: list[int] = []
        self.skipped_files: list[int] = []

    def moved(self, count: int) -> None:
        self.moved_bytes += count

    def done(self, length: int) -> None:
        self.done_files.append(length)

    def skipped(self, length: int) -> None:
        self.skipped_files.append(length)


def test_every_file_is_shown_as_done_copied_or_not(planned: tuple[Trees, TreeCopyJob, list[str]]) -> None:
    trees, job, lines = planned
    trees.source.unreadable.add(f"{SOURCE}/f1")
    shown = Counted()
    Executor(job, trees.source, trees.target, 4, progress=shown).run(lines)
    assert (shown.done_files, shown.skipped_files) == ([7] * 120, [4])


def test_bytes_are_shown_while_they_move() -> None:
    trees = old_target(log=b"line 1\nline 2\n", f=b"12345")
    trees.put_there("log", b"line 1\n")
    shown = Counted()
    begun: list[tuple[int, int]] = []

    def start(files: int, length: int) -> Counted:
        begun.append((files, length))
        return shown

    trees.sync(append=True, execute=in_this_process(trees.source, trees.target, start))
    assert begun == [(3, 4 + 14 + 5)]
    assert shown.moved_bytes == 14 + 5
