"""How soon a trigger may fire: not before Airflow knows that the task has gone to wait.

Airflow notices the end of a process up to `[workers] min_heartbeat_interval` late, which is five seconds unless it is
set. A task that has gone on by then is taken for lost by the news of its own end: it fails, or a try is counted.
"""

import asyncio
import time

NOTICED_WITHIN = 6.0
"""Seconds."""


class EndOfTask:
    """The end of the process that has handed over to a trigger, which begins now."""

    def __init__(self) -> None:
        self._known = time.monotonic() + NOTICED_WITHIN

    async def known(self) -> None:
        """Wait until Airflow knows it."""
        await asyncio.sleep(max(0.0, self._known - time.monotonic()))
