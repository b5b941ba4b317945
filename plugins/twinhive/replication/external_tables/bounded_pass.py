"""Share the tasks of one pass between the copies of external tables and the events (seed 001)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BoundedPass:
    """What one pass takes on: tasks that copy external data, and events."""

    copies: int
    events: int


def bounded_pass(entries: int, events: int, max_tasks: int | None, parallelism: int) -> BoundedPass:
    """Return what a pass takes of so many waiting copies and events; None: all of both.

    Copies leave one of the tasks that run at the same time to the events, and events get what is left of the bound.
    Neither ever waits for the other: at least one of each is taken where there is one.
    """
    if max_tasks is None:
        return BoundedPass(entries, events)
    copies = min(entries, max(parallelism - 1, 1), max(max_tasks - 1, 1))
    return BoundedPass(copies, min(events, max(max_tasks - copies, 1)))
