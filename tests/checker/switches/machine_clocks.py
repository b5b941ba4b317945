"""Keep the time of a history, and let each machine have a clock that is wrong in its own way."""

from random import Random

START = 1_795_000_000.0
_SKEWS = (0.0, 0.0, 600.0, -600.0, 3_600.0, -3_600.0)
_ONCE = 300 * 86_400.0


class Time:
    """What time it really is: every look takes a second."""

    def __init__(self) -> None:
        self.seconds = START

    def now(self) -> float:
        """Return it."""
        self.seconds += 1.0
        return self.seconds

    def passes(self, seconds: float) -> None:
        """Let nothing happen for a while."""
        self.seconds += seconds


class MachineClock:
    """The clock of one machine, so many seconds ahead. A NameNode's never goes back, for it does not jump."""

    def __init__(self, time: Time, ahead: float = 0.0) -> None:
        self._time, self.ahead = time, ahead

    def __call__(self) -> float:
        """Return what it shows."""
        return self._time.now() + self.ahead

    def __next__(self) -> int:
        """Return it in milliseconds: what a NameNode writes at a change."""
        return int(self() * 1_000)

    def __iter__(self) -> "MachineClock":
        return self


def a_worker(time: Time, chance: Random, *, differs: bool) -> MachineClock:
    """Return the clock of whichever worker runs the next task; now and then one that is far ahead this once."""
    if not differs:
        return MachineClock(time)
    return MachineClock(time, _ONCE if chance.random() < 0.05 else chance.choice(_SKEWS))


def a_name_node(time: Time, chance: Random, *, differs: bool) -> MachineClock:
    """Return the clock of a NameNode."""
    return MachineClock(time, chance.choice(_SKEWS) if differs else 0.0)
