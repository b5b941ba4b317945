"""A signal ends a loop at whatever moment it comes."""

import subprocess
import sys
import textwrap

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
    """With a `threading.Event` this hangs within some hundred rounds: the handler waits for its own thread's lock."""
    assert subprocess.run([sys.executable, "-c", LOOP], timeout=300, check=False).returncode == 0
