"""Make up placements with their copies, and a gateway with its remotes, for the pictures of the page."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from twinhive.federation.gateway.gateway_metrics import CallCounts, CallTally, Ending
from twinhive.federation.gateway.isolation import BreakerState

PLACEMENT = "near_spark"
_WEST, _PARTNER, _LAKE = "thrift://west-hms:9083", "thrift://hms.partner.example:9083", "glue:eu-central-1"


def copies(now: float) -> Iterator[dict[str, Any]]:
    """Yield the copies of a placement: one table that is fresh, one that is behind, one that is being copied."""
    of_all = {"policy": PLACEMENT, "source": "east", "cluster": "north", "place": "hdfs://north/twinhive/copies"}
    found = (
        ("flights", 365, 0, 0, 41_800_000_000, None),
        ("delays", 360, 5, 0, 6_700_000_000, "files have changed since event 918198"),
        ("bookings", 12, 0, 78, 3_100_000_000, None),
        ("airlines", 1, 0, 0, 410_000, None),
    )
    for table, fresh, stale, missing, size, since in found:
        of_one = {"table": f"flights.{table}", "fresh": fresh, "stale": stale, "missing": missing, "bytes": size}
        yield {**of_all, **of_one, "at": now - 70, "since": since, "left_out": None}


def counts(now: float) -> CallCounts:
    """Return what a gateway has counted: a remote that answers, one that does not, and one that nobody has called."""
    made = CallCounts(connections=23)
    made.names = {
        "west_flights": ("flights", _WEST, ""),
        "default.west_airlines": ("flights.airlines", _WEST, ""),
        "partner": ("sales", _PARTNER, ""),
        "lake": ("raw", _LAKE, ""),
    }
    made.tallies = {
        (_WEST, "get_table_req"): CallTally({Ending.ANSWERED: 18_204, Ending.REFUSED: 3, Ending.FAILED: 0}, 71.2, 0.31),
        (_PARTNER, "get_table_req"): CallTally({Ending.ANSWERED: 411, Ending.REFUSED: 0, Ending.FAILED: 9}, 24.4, 2.0),
    }
    trouble = f"{_PARTNER} takes no connection within 2 s"
    made.breakers = {_WEST: (BreakerState.CLOSED, None, ""), _PARTNER: (BreakerState.OPEN, now - 340, trouble)}
    return made


def serve_status(now: float) -> int:
    """Answer as a gateway's status port does, on a port of loopback until the process ends; return the port."""
    said = json.dumps(counts(now).to_json()).encode()

    class Status(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Status)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return int(server.server_address[1])
