import threading

import pytest

from twinhive.transfer.engine.meter import Meter


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_bytes_are_held_to_the_rate() -> None:
    time = Time()
    meter = Meter(100.0, clock=time.clock, sleep=time.sleep)
    for _ in range(60):
        meter(50)
    assert time.now - 1000.0 == pytest.approx(60 * 50 / 100 - 1), "a second's worth goes at once"


def test_a_pause_is_not_made_up_for() -> None:
    time = Time()
    meter = Meter(100.0, clock=time.clock, sleep=time.sleep)
    time.now += 3600
    for _ in range(10):
        meter(100)
    assert sum(time.slept) == pytest.approx(9)


def test_a_piece_larger_than_a_second_waits_as_long_as_it_takes() -> None:
    time = Time()
    Meter(100.0, clock=time.clock, sleep=time.sleep)(1000)
    assert time.slept == [pytest.approx(9)]


def test_threads_share_one_rate() -> None:
    time = Time()
    slept: list[float] = []
    meter = Meter(100.0, clock=time.clock, sleep=slept.append)
    threads = [threading.Thread(target=meter, args=(100,)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(slept) == [1.0, 2.0, 3.0, 4.0], "each waits for those before it"


def test_without_a_rate_bytes_are_only_told() -> None:
    time, told = Time(), list[int]()
    meter = Meter(None, told.append, clock=time.clock, sleep=time.sleep)
    meter(7)
    meter(8)
    assert told == [7, 8] and not time.slept


def test_what_is_told_may_end_the_copy() -> None:
    def stop(count: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        Meter(None, stop)(1)
