"""How long to pause where the triggerer alone cannot look: each look of a worker costs two starts of the task."""

import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from twinhive.surfaces.airflow.triggers.unexplained_errors import trouble_of

LOOK_AGAIN = timedelta(minutes=1)
_MOST = timedelta(minutes=10)
_DOUBLED = 4


def alone_now(event: Any, before: int) -> int:
    """Return how often in a row the triggerer was in trouble, `before` this event; the end of a pause is no news."""
    if trouble_of(event) is not None:
        return before + 1
    return 0 if isinstance(event, Mapping) else before


def kept_alone(alone: int) -> dict[str, int]:
    """Return what the next look is told of it."""
    return {"alone": alone} if alone else {}


def pause_of(alone: int, until: float) -> timedelta:
    """Return a pause that doubles up to ten minutes, and takes no more than half of the time that is left."""
    pause = min(_MOST, LOOK_AGAIN * (1 << min(max(alone - 1, 0), _DOUBLED)))
    return max(LOOK_AGAIN, min(pause, timedelta(seconds=(until - time.time()) / 2)))
