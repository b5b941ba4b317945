"""Several addresses, of which the first that answers is taken: one that is silent keeps no other from being tried."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from twinhive.federation.connector_api.byte_links import ByteLink

_HEAD_START = 0.5
"""Seconds after which the next address is tried beside those that have not answered, fewer where there are many."""


async def first_of(tries: Mapping[str, Callable[[], Awaitable[ByteLink]]], seconds: float) -> ByteLink:
    """Return the connection of the first that has one, tried in their order.

    Each has until the end of the `seconds`. Raises ConnectionError that says of each by its name why it had none.
    """
    start = min(_HEAD_START, seconds / len(tries))
    tasks: dict[asyncio.Future[ByteLink], str] = {}
    problems: dict[str, str] = {}
    try:
        async with asyncio.timeout(seconds):
            for name, try_ in tries.items():
                tasks[asyncio.ensure_future(try_())] = name
                if link := await _settled(tasks, problems, start):
                    return link
            while tasks:
                if link := await _settled(tasks, problems, None):
                    return link
    except TimeoutError:
        problems |= {name: f"{name}: no connection within {seconds:g} s" for name in tasks.values()}
    finally:
        for task in tasks:
            task.add_done_callback(_give_up)
            task.cancel()
    raise ConnectionError("; ".join(problems[name] for name in tries if name in problems))


async def _settled(
    tasks: dict[asyncio.Future[ByteLink], str], problems: dict[str, str], seconds: float | None
) -> ByteLink | None:
    """Wait for one that ends; return its connection, or note its problem and return None."""
    done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    found = None
    for task in done:
        name = tasks.pop(task)
        try:
            link = task.result()
        except Exception as error:
            problems[name] = f"{name}: {error}"
            continue
        if found is None:
            found = link
        else:
            link.abort()
    return found


def _give_up(task: asyncio.Future[ByteLink]) -> None:
    """Hang up where a connection came too late."""
    with suppress(asyncio.CancelledError, Exception):
        task.result().abort()
