"""What all copies share: one signal ends them, with what has begun and with what waits."""

import time
from collections.abc import Iterator

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.errors import Unreachable
from twinhive.transfer.engine.copy_engine import CopyEngine


def engine(told: list[int], is_over: list[bool], rate: float | None = None) -> CopyEngine:
    sides = InMemoryFiles("hdfs://east"), InMemoryFiles("hdfs://west")
    return CopyEngine(*sides, 2, told.append, rate, is_ending=lambda: bool(is_over))


def test_nothing_is_begun_after_the_signal_to_end() -> None:
    is_over, begun = list[bool](), list[int]()

    def work(items: Iterator[int]) -> None:
        for item in items:
            begun.append(item)
            is_over.append(True)

    with pytest.raises(Unreachable, match="not copied to its end"):
        engine([], is_over).run(range(1000), work)
    assert len(begun) <= 2, "one in each thread"


def test_what_has_begun_ends_before_it_waits_for_the_rate() -> None:
    told, is_over = list[int](), list[bool]()
    slow = engine(told, is_over, rate=1.0)
    slow.meter(1)
    is_over.append(True)
    began = time.monotonic()
    with pytest.raises(Unreachable, match="not copied to its end"):
        slow.meter(1_000_000)
    assert time.monotonic() - began < 10
    assert told == [1]


def test_what_has_waited_for_the_rate_is_not_written_when_the_end_came_meanwhile() -> None:
    told, answers = list[int](), iter([False, True])
    sides = InMemoryFiles("hdfs://east"), InMemoryFiles("hdfs://west")
    with pytest.raises(Unreachable, match="not copied to its end"):
        CopyEngine(*sides, 2, told.append, is_ending=lambda: next(answers)).meter(1)
    assert told == []


def test_each_thread_says_what_came_of_its_items_and_no_item_is_handed_out_twice() -> None:
    parts = engine([], []).run(range(100), list)
    assert sorted(item for part in parts for item in part) == list(range(100))
