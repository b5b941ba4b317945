"""What executors touch is heard by the driver of their job."""

import threading

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.runtime.spark.executor_progress import Listener, Pulse, listening

PATH = "hdfs://west/staging/results/d/b1.json.moves"


def test_a_touch_is_heard_once_whatever_the_clock_of_the_executor_says() -> None:
    target = InMemoryFiles("hdfs://west")
    target.write(PATH, b"")
    listener = Listener(target, lambda: [PATH])
    assert not listener.heard()
    Pulse(target, PATH, clock=lambda: 5.0)()
    assert listener.heard()
    assert not listener.heard()


def test_what_is_not_there_is_neither_touched_nor_heard() -> None:
    target = InMemoryFiles("hdfs://west")
    listener = Listener(target, lambda: [PATH])
    Pulse(target, PATH)("a line")
    assert not listener.heard()
    target.write(PATH, b"")
    assert not listener.heard(), "the first look knows of nothing before it"


def test_who_listens_is_told_until_the_job_ends() -> None:
    target = InMemoryFiles("hdfs://west")
    target.write(PATH, b"")
    told = threading.Event()
    clock = iter(range(1, 10**9))
    with listening(Listener(target, lambda: [PATH]), told.set, every=0.001):
        while not told.wait(0.001):
            Pulse(target, PATH, clock=lambda: float(next(clock)))()
    told.clear()
    Pulse(target, PATH, clock=lambda: float(next(clock)))()
    assert not told.is_set()
