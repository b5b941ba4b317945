"""Threads that share work: no more than there is for them, and which of their errors is raised."""

import threading
import time
import weakref
from collections.abc import Iterator

import pytest

from tests.support.worlds.fake_world import a_world
from tests.unit.replication.incremental import test_incremental
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, Missing, Refused, Unreachable, raise_one
from twinhive.core.threads.parallel_map import Threads, in_threads
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.core.threads.server_queries import Question, ask_all

REFUSED, SILENT = Refused("it answered"), Unreachable("it did not")


@pytest.mark.parametrize("errors", [(REFUSED, SILENT), (SILENT, REFUSED), (None, REFUSED, None, SILENT)])
def test_an_answer_hides_no_call_without_one(errors) -> None:
    with pytest.raises(Unreachable):
        raise_one(errors)


def test_answers_alone_are_raised_and_nothing_is_without_errors() -> None:
    with pytest.raises(Refused):
        raise_one([None, REFUSED])
    raise_one([None, None])


def test_threads_end_with_the_error_that_leaves_a_call_open() -> None:
    both = threading.Barrier(2, timeout=30)
    errors = iter([REFUSED, SILENT])

    def work(items: Iterator[int]) -> None:
        next(items)
        error = next(errors)
        both.wait()
        raise error

    with pytest.raises(Unreachable):
        in_parallel(range(10), 2, work)


@pytest.mark.parametrize("items", [[], ["only"], ["one", "two"]])
def test_no_thread_is_started_that_could_have_no_item(items: list[str]) -> None:
    began = []

    def work(some: Iterator[str]) -> list[str]:
        began.append(threading.current_thread())
        return list(some)

    found = in_parallel(items, 8, work)
    assert sorted(item for each in found for item in each) == sorted(items)
    assert len(began) == max(1, len(items))
    assert (threading.current_thread() in began) == (len(items) < 2)


def test_a_load_keeps_its_lease_while_a_call_of_another_thread_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    world, both, calls = a_world(), threading.Barrier(2, timeout=30), []

    def create_table(table) -> None:
        calls.append(table)
        first = len(calls) == 1
        both.wait()
        raise (Refused("it answered") if first else Unreachable("it did not"))

    monkeypatch.setattr(test_incremental, "a_world", lambda: world)
    monkeypatch.setattr(world.replica, "create_table", create_table)
    with pytest.raises(Unreachable):
        Followed()
    policy = test_incremental.POLICY
    assert world.ports().lease.holder(f"{policy.staging}/lease") is not None


def test_a_load_that_was_answered_gives_its_lease_back(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()

    def create_table(table) -> None:
        raise Refused("it answered")

    monkeypatch.setattr(test_incremental, "a_world", lambda: world)
    monkeypatch.setattr(world.replica, "create_table", create_table)
    with pytest.raises(ActNow):
        Followed()
    assert world.ports().lease.holder(f"{test_incremental.POLICY.staging}/lease") is None


def test_a_stream_of_nothing_starts_no_thread() -> None:
    here = threading.current_thread()
    assert in_parallel(iter(()), 4, lambda items: (threading.current_thread(), list(items))) == [(here, [])]


def test_a_single_item_is_worked_on_right_here_and_results_are_in_the_order_of_items() -> None:
    here = threading.get_ident()
    assert in_threads(lambda _: threading.get_ident(), ["one"], 8) == [here]
    both = threading.Barrier(2, timeout=30)

    def after_the_other(number: int) -> int:
        both.wait()
        return number * 10

    assert in_threads(after_the_other, iter((2, 1)), 8) == [20, 10]
    assert in_threads(str, [], 8) == []


@pytest.mark.parametrize("errors", [(REFUSED, SILENT), (SILENT, REFUSED)])
def test_of_errors_of_two_items_the_one_that_leaves_a_call_open_is_raised(errors) -> None:
    both = threading.Barrier(2, timeout=30)

    def fail(error: Exception) -> None:
        both.wait()
        raise error

    with pytest.raises(Unreachable):
        in_threads(fail, errors, 2)


def test_after_an_error_nothing_is_begun_and_what_is_begun_is_waited_for() -> None:
    failed, ended, begun = threading.Event(), [], []

    def work(number: int) -> None:
        begun.append(number)
        if number == 0:
            failed.set()
            raise REFUSED
        if number == 1:
            assert failed.wait(30)
            ended.append(number)
        time.sleep(0.1)

    with Threads(2) as threads:
        with pytest.raises(Refused):
            threads.each(work, range(1_000))
        assert ended == [1]
        assert len(begun) < 1_000
        assert threads.each(str, (1, 2)) == ["1", "2"]


def test_several_are_worked_on_at_the_same_time_and_come_in_their_order() -> None:
    together = threading.Barrier(4, timeout=30)

    def read(number: int) -> int:
        if number < 4:
            together.wait()  # breaks when one is read after the other
        return -number

    assert in_threads(read, range(50), 8) == [-number for number in range(50)]


def test_what_one_of_them_raises_is_raised() -> None:
    def read(number: int) -> int:
        if number == 7:
            raise Missing("event 7 is not there")
        return number

    with pytest.raises(Missing, match="event 7"):
        in_threads(read, range(50), 8)


def test_the_first_item_of_a_stream_is_kept_by_nobody_who_has_done_with_it() -> None:
    class Item:
        """Something large."""

    seen: list[weakref.ref[Item]] = []

    def work(items: Iterator[Item]) -> None:
        for item in items:
            seen.append(weakref.ref(item))
            del item
            if len(seen) > 1:
                assert seen[0]() is None

    in_parallel((Item() for _ in range(3)), 2, work)
    assert len(seen) == 3


@pytest.mark.parametrize("at", [1, 2, 3])
def test_who_is_interrupted_while_a_thread_is_started_waits_for_what_is_begun(
    monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    begun, ended, started = threading.Semaphore(0), list[int](), list[threading.Thread]()

    def work(number: int) -> None:
        begun.release()
        time.sleep(0.05)
        ended.append(number)

    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        started.append(thread)
        if len(started) == at:
            assert all(begun.acquire(timeout=30) for _ in range(at))
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Threads(4).each(work, range(9))
    had_ended = len(ended)
    for thread in started:
        thread.join(30)
    assert len(ended) == had_ended and at <= had_ended < 9


@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), KeyboardInterrupt()])
def test_when_no_more_threads_can_be_started_all_of_them_end_with_the_item_that_they_have(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, at: int
) -> None:
    start, started = threading.Thread.start, []

    def not_any_more(thread: threading.Thread) -> None:
        started.append(thread)
        if len(started) != at or isinstance(error, KeyboardInterrupt):
            start(thread)
        if len(started) == at:
            raise error

    def work(items: Iterator[int]) -> None:
        for item in items:
            begun.append(item)
            assert stopping.wait(30)
            time.sleep(0.05)
            ended.append(item)

    begun, ended, stopping = list[int](), list[int](), threading.Event()
    monkeypatch.setattr(threading.Thread, "start", not_any_more)
    with pytest.raises(type(error)):
        in_parallel(range(1_000), 4, work, stopping=stopping)
    waited_for = list(ended)
    for thread in started:
        if thread.ident is not None:
            thread.join(30)
    assert len(begun) <= at and sorted(begun) == sorted(waited_for) == sorted(ended)


def test_who_can_be_interrupted_has_a_single_item_worked_on_elsewhere() -> None:
    stopping, here = threading.Event(), threading.current_thread()
    assert in_parallel(["one"], 8, lambda items: (threading.current_thread(), list(items)), stopping=stopping) != [
        (here, ["one"])
    ]
    assert stopping.is_set()


def test_servers_for_which_no_thread_can_be_started_are_told_as_those_that_do_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start, started = threading.Thread.start, []

    def not_any_more(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", not_any_more)
    answers = ask_all([Question(name, name, lambda: 1) for name in ("east", "west", "north")], 30)
    assert answers["east"] == 1
    assert all(isinstance(answers[name], Unreachable) for name in ("west", "north"))
