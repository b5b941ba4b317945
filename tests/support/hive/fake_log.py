"""Keep a notification log in memory."""

import json
import threading
from collections.abc import Mapping
from typing import Any

from twinhive.core.model.changes.events import EventRow

START_OF_TIME = 1_700_000_000


class NotificationLog:
    """Hold the rows; one second passes with each of them, so that a clock is never needed."""

    def __init__(self) -> None:
        self.rows: list[EventRow] = []
        self.last_event_id = 0
        self.passed = 0
        """Seconds in which nothing happened."""
        self._lock = threading.Lock()

    def now(self) -> int:
        """Return the time in seconds since 1970, as far as this log knows it."""
        return START_OF_TIME + self.last_event_id + self.passed

    def emit(self, event_type: str, database: str | None, table: str | None, message: Mapping[str, Any]) -> EventRow:
        """Append a row."""
        with self._lock:
            self.last_event_id += 1
            now = self.now()
            text = json.dumps({"server": "", "servicePrincipal": "", "timestamp": now, **message}, ensure_ascii=False)
            row = EventRow(self.last_event_id, now, event_type, "hive", database, table, text, "json-0.2")
            self.rows.append(row)
            return row

    def expire(self, up_to: int) -> None:
        """Delete the rows up to an id; ids go on where they were."""
        with self._lock:
            self.rows = [row for row in self.rows if row.event_id > up_to]
