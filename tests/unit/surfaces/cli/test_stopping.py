"""A signal ends a loop at whatever moment it comes."""

import subprocess
import sys
import textwrap

import pytest

from twinhive.surfaces.cli.messages.loop_signals import StopBySignal

LOOP = textwrap.dedent(
    """
    import signal
    from twinhive.surfaces.cli.messages.loop_signals import StopBySignal

    for number in range(3_000):
        stop = StopBySignal()
        stop.listen()
        signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGTERM))
        signal.setitimer(signal.ITIMER_REAL, 0.000_05 + number % 7 / 100_000)
        while not stop.is_set():
            stop.wait(0.000_01)
    assert stop.wait(60.0)
    """
)


def test_a_signal_amid_a_wait_ends_it_and_waits_for_nobody() -> None:
    """With a `threading.Event` or a queue this hangs within some hundred rounds on a busy machine."""
    assert subprocess.run([sys.executable, "-c", LOOP], timeout=300, check=False).returncode == 0


def test_a_signal_of_somebody_else_ends_one_wait_and_no_later_one() -> None:
    stop = StopBySignal()
    stop._told.send(b"\0")  # as Python does for any signal that has a handler
    assert not stop.wait(60.0)
    with pytest.raises(BlockingIOError):
        stop._heard.recv(1)
    stop.set()
    assert stop.wait(60.0) and stop.wait(60.0)
