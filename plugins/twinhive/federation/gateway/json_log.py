"""Write a gateway's log as one JSON object a line."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """Time, level, what happened, and what the record brings besides."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line; what is no JSON is written as text."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "what": record.getMessage(),
            **{name: value for name, value in vars(record).items() if name not in _OWN},
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = repr(record.exc_info[1])
        return json.dumps(line, default=str, ensure_ascii=False)


def log_to(stream: TextIO = sys.stderr, ours: str = "twinhive.federation.gateway") -> None:
    """Send the log of a part of ours to a stream, and nothing of the libraries below warnings."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger(ours).setLevel(logging.INFO)
