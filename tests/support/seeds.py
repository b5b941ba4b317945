"""Choose the seeds of random histories: others each day, so that each day's runs meet histories that none has met.

`TWINHIVE_DAY=20780` runs the histories of that day again; a run prints its day. `TWINHIVE_SEED` runs one history alone.
"""

import os
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import hypothesis
import pytest

DAY = int(os.environ.get("TWINHIVE_DAY") or time.time() // 86_400)
"""Days since 1970-01-01, UTC."""
PER_DAY = 1_000_000
KILL_POINTS = int(os.environ.get("TWINHIVE_KILL_POINTS") or 7)
"""Every how many changes a run is killed at, others each day: a week meets all. 1, at night: at each."""
ONE = os.environ.get("TWINHIVE_SEED")
"""The one seed to run, if somebody asks for one."""


def seeds(count: int, *, kind: int = 0) -> range:
    """Return `count` seeds of today; kinds of histories whose seeds shall not be the same have a number each."""
    first = int(ONE) if ONE else DAY * PER_DAY + kind * 10_000
    return range(first, first + (1 if ONE else count))


def cases(count: int, *, few: int, kind: int = 0) -> list[Any]:
    """Return the same as cases of a test: `few` of them for each run, the others for `make thorough`."""
    chosen = seeds(count, kind=kind)
    return [*chosen[:few], *(pytest.param(seed, marks=pytest.mark.thorough) for seed in chosen[few:])]


def kill_points(step: int = 1) -> slice:
    """Return which of some changes to kill at today, where every `step`th is enough for all days together."""
    return slice(DAY % KILL_POINTS * step, None, KILL_POINTS * step)


def breaking_points() -> Iterator[int]:
    """Return after how many answers a server breaks off today, until the caller has seen enough."""
    return count(DAY % KILL_POINTS, KILL_POINTS)


def of_the_day(test: Callable[..., Any]) -> Callable[..., Any]:
    """Let hypothesis choose other examples each day, the same ones all day."""
    return hypothesis.seed(DAY)(test)


def said() -> str:
    """Return what the head of a run says of its seeds."""
    return f"random histories: those of day {DAY} (TWINHIVE_DAY={DAY} runs them again)"
