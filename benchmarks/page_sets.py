"""Make up sets of the first policy, and publishers of two clusters, for the page's benchmark."""

from collections.abc import Iterator
from typing import Any

from twinhive.operations.journal.records import HeldSets

_SHOWN = 120


def held_sets(policy: str, now: float) -> str:
    """Return the sets that a policy's replica holds back."""
    frozen = f"table orders is frozen: the disks of west were full; next: twinhive resync {policy} orders"
    missing = f"2 files of datestamp=20301225 differ; next: the DAG {policy}.scan brings over what no event tells of"
    named = [("orders datestamp=20301224", frozen, now - 5_400), ("returns datestamp=20301225", missing, now - 140)]
    return HeldSets(2, named).as_json()


def sets(policy: str, now: float) -> Iterator[dict[str, Any]]:
    """Yield sets that the policy's replica shows, one an hour."""
    for number in range(_SHOWN):
        marked = now - 3_600 * number - 700
        spec = f"datestamp=203012{1 + number % 28:02}" + ("/region=us" if number > 27 else "")
        yield {
            "policy": policy,
            "table": ("orders", "returns", "visits", "stock", "prices")[number // 28],
            "spec": spec,
            "marked": marked,
            "shown": marked + 8 + number % 7,
            "count": 1 + number % 9 // 8,
            "by": "airflow: load_orders",
        }


def publishers(now: float) -> Iterator[dict[str, Any]]:
    """Yield a publisher that is well, and one whose broker is down."""
    well = {"cluster": "east", "standing": "all is told", "is_silent": False, "holder": "host-1", "position": 918_230}
    yield {**well, "at": now - 20, "newest": 918_233, "events": 0, "seconds": 0.0, "gap": None, "gap_at": None}
    trouble = "broker bus does not answer: 10.0.0.7:61613: Connection refused"
    bad = {"cluster": "west", "standing": f"nothing can be sent: {trouble}", "is_silent": True, "holder": "host-2"}
    place = {"position": 411_002, "newest": 411_096, "events": 31, "seconds": 460.0, "broker_trouble": trouble}
    yield {**bad, **place, "at": now - 20, "gap": "events 398200 to 398412", "gap_at": now - 40_000.0}
