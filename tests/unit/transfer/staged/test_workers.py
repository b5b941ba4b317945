"""Threads that share work: no more than there is for them, and which of their errors is raised."""

import threading
from collections.abc import Iterator

import pytest

from tests.support.worlds.fake_world import a_world
from tests.unit.incremental import test_incremental
from tests.unit.incremental.test_incremental import Followed
from twinhive.model.errors import ActNow, Refused, Unreachable, raise_one
from twinhive.transfer.staged.workers import in_parallel

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
