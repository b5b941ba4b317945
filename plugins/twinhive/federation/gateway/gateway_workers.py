"""Run a gateway in one process or in several that share its port, and start again what has died."""

import asyncio
import json
import logging
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from twinhive.federation.gateway.gateway_metrics import CallCounts
from twinhive.federation.gateway.status.status_pages import serve_status

_LOG = logging.getLogger(__name__)
_REPORT_SECONDS = 1.0
_PAUSE_SECONDS = 1.0
"""Before a worker that has died is started again."""
_MOST_LINE = 1 << 24

Serve = Callable[[CallCounts, asyncio.Event], Coroutine[Any, Any, None]]
"""Serve clients until the event is set, counting."""


async def run_alone(serve: Serve, status: tuple[str, int] | None) -> None:
    """Serve in this process until SIGTERM or SIGINT; `status` is where its counts can be read."""
    counts, stop = CallCounts(), _stop_by_signal()
    server = await serve_status(*status, lambda: counts) if status else None
    try:
        await serve(counts, stop)
    finally:
        if server is not None:
            server.close()


async def run_worker(serve: Serve) -> None:
    """Serve as one of several, writing counts to standard output, until SIGTERM, or until nobody reads them."""
    counts, stop = CallCounts(), _stop_by_signal()
    reporting = asyncio.create_task(_report(counts, stop))
    try:
        await serve(counts, stop)
    finally:
        reporting.cancel()


async def _report(counts: CallCounts, stop: asyncio.Event) -> None:
    try:
        while True:
            sys.stdout.write(json.dumps(counts.to_json()) + "\n")
            sys.stdout.flush()
            await asyncio.sleep(_REPORT_SECONDS)
    except OSError:
        stop.set()  # the supervisor has gone: nobody would stop this worker, or start it again


class Supervisor:
    """Keep several workers running, and add up what they count."""

    def __init__(self, command: Sequence[str], workers: int) -> None:
        self._command, self._workers = command, workers
        self._reported: dict[int, dict[str, Any]] = {}
        self._ended = CallCounts().to_json()

    async def run(self, status: tuple[str, int] | None) -> None:
        """Run until SIGTERM or SIGINT; then the workers are stopped, and waited for."""
        stop = _stop_by_signal()
        server = await serve_status(*status, self._counts) if status else None
        try:
            await asyncio.gather(*(self._keep(number, stop) for number in range(self._workers)))
        finally:
            if server is not None:
                server.close()

    def _counts(self) -> CallCounts:
        return CallCounts.added_up([self._ended, *self._reported.values()])

    async def _keep(self, number: int, stop: asyncio.Event) -> None:
        while not stop.is_set():
            worker = await asyncio.create_subprocess_exec(*self._command, stdout=PIPE, limit=_MOST_LINE)
            _LOG.info("a worker has started", extra={"worker": number, "pid": worker.pid})
            stopping = asyncio.create_task(_stop(worker, stop))
            try:
                code = await self._follow(number, worker)
            finally:
                stopping.cancel()
            if not stop.is_set():
                about = {"worker": number, "pid": worker.pid, "exit_code": code}
                _LOG.error("a worker has died, and is started again", extra=about)
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _follow(self, number: int, worker: Process) -> int:
        assert worker.stdout is not None
        while line := await worker.stdout.readline():
            if line.endswith(b"\n"):
                self._reported[number] = json.loads(line)
        code = await worker.wait()
        last = self._reported.pop(number, None)
        if last is not None:  # what it has counted stays; its connections have ended with it
            stays = {**last, "connections": 0, "breakers": [], "names": []}
            self._ended = CallCounts.added_up([self._ended, stays]).to_json()
        return code


async def _stop(worker: Process, stop: asyncio.Event) -> None:
    await stop.wait()
    if worker.returncode is None:
        worker.terminate()


def _stop_by_signal() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop
