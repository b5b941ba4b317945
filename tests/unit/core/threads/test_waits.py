"""Who waits for threads looks up from time to time: an interruption that came just before a wait does not end it."""

import threading
import time
from concurrent.futures import FIRST_EXCEPTION, Future, wait

import pytest

from twinhive.core.threads import running_calls
from twinhive.core.threads.running_calls import RunningCalls, wait_for


class Looks:
    """Count how often a thread looks up, and let it go on at the third time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ended: Future[int]) -> None:
        self.count = 0

        def looking(*given: object) -> object:
            self.count += 1
            if self.count == 3:
                ended.set_result(1)
            return wait(*given)  # type: ignore[arg-type]

        monkeypatch.setattr("twinhive.core.threads.running_calls.wait", looking)
        monkeypatch.setattr(running_calls, "_NOTICED_SECONDS", 0.01)


@pytest.mark.parametrize("until", ["ALL_COMPLETED", FIRST_EXCEPTION])
def test_a_wait_is_one_of_many_short_ones(monkeypatch: pytest.MonkeyPatch, until: str) -> None:
    ended: Future[int] = Future()
    looks = Looks(monkeypatch, ended)
    wait_for([ended], until)
    assert looks.count == 3


def test_the_first_failure_ends_a_wait_for_it() -> None:
    failed, running = Future[int](), Future[int]()
    failed.set_exception(ValueError())
    wait_for([failed, running], FIRST_EXCEPTION)
    assert not running.done()


def test_the_end_of_what_runs_is_waited_for_in_short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_calls, "_NOTICED_SECONDS", 0.01)
    begun, ended = threading.Event(), list[float]()

    def work() -> None:
        begun.set()
        time.sleep(0.1)
        ended.append(time.monotonic())

    with RunningCalls() as calls:
        thread = threading.Thread(target=calls.run, args=(work,))
        thread.start()
        assert begun.wait(30)
    assert ended
    thread.join()
