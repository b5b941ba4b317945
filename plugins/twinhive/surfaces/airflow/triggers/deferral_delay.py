"""How soon a trigger may fire: not before Airflow knows that the task has gone to wait.

Airflow notices the end of a process up to `[workers] min_heartbeat_interval` late, which is five seconds unless it is
set. A task that has gone on by then is taken for lost by the news of its own end: it fails, or a try is counted.
"""

import asyncio
import time
from datetime import timedelta

from airflow.configuration import conf

_MARGIN = 2


def noticed_within() -> float:
    """Return the seconds after which Airflow has noticed the end of a process."""
    return conf.getint("workers", "min_heartbeat_interval", fallback=5) + _MARGIN


def timeout_of(until: float) -> timedelta:
    """Return the timeout of a wait that ends at a time: a trigger that may not fire yet is not given up."""
    return timedelta(seconds=max(noticed_within() + _MARGIN, until - time.time()))


class EndOfTask:
    """The end of the process that has handed over to a trigger, which begins now."""

    def __init__(self) -> None:
        self._known = time.monotonic() + noticed_within()

    async def known(self) -> None:
        """Wait until Airflow knows it."""
        await asyncio.sleep(max(0.0, self._known - time.monotonic()))
