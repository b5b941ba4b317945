"""Take the time and the memory of a piece of work, and say what machine it was done on."""

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_SELF = Path("/proc/self")


@dataclass
class Measured:
    """Seconds of work, the most memory (MiB, Java included) that the process held, the load average at the end."""

    seconds: float = 0.0
    peak_mib: int = 0
    load: float = 0.0

    def rate(self, things: int) -> str:
        """Return so many things a second, as text."""
        return rate(things, self.seconds)


@contextmanager
def measured() -> Iterator[Measured]:
    """Measure what is done inside; the result is complete afterwards."""
    taken = Measured()
    # Forgets the highest mark so far: proc(5), clear_refs.
    (_SELF / "clear_refs").write_text("5")
    began = time.monotonic()
    try:
        yield taken
    finally:
        taken.seconds = time.monotonic() - began
        taken.peak_mib = _peak_mib()
        taken.load = load_average()


def rate(things: int, seconds: float) -> str:
    """Return so many things a second, as text."""
    return f"{things / seconds:,.0f}" if seconds else "-"


def ratio(theirs: float, ours: float) -> str:
    """Return how many times as long they took, as text."""
    return f"{theirs / ours:.1f}x" if ours else "-"


def machine() -> str:
    """Name cores, memory and system."""
    memory = int(_field(Path("/proc/meminfo"), "MemTotal")) // 2**20
    return (
        f"{os.cpu_count()} cores, {memory} GiB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}; load average {load_average():.1f}"
    )


def load_average() -> float:
    """Return how many processes wanted to run, on average of the last minute; others' work is in it."""
    return os.getloadavg()[0]


def _peak_mib() -> int:
    return int(_field(_SELF / "status", "VmHWM")) // 1024


def _field(path: Path, name: str) -> str:
    lines = (line.partition(":") for line in path.read_text().splitlines())
    return next(value.split()[0] for key, _, value in lines if key == name)
