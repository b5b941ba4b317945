"""Who reads a log reads it through `read_events`, which finds gaps and other logs; who does not says why."""

from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "plugins" / "twinhive"

_PROBE = "asks for one row: whether it is there, and of what time"

ALLOWED = {
    "federation/placement/mark_renewal.py": _PROBE,
    "federation/placement/placement_events.py": "`Reading.take` finds the gap; the first row proves the log",
    "hive/events/one_file_system.py": "is itself a log that is read through it",
    "hive/events/reader.py": "is it",
    "operations/actions/skip_event.py": "asks for the one event that a person names",
    "operations/failover/divergence/diverged_tables.py": "asks for the events that people have passed over",
    "publishing/messages/positions.py": _PROBE,
    "publishing/messages/publisher_lag.py": _PROBE,
    "publishing/messages/publishing_messages.py": _PROBE,
    "replication/incremental/event_view.py": "shows people what is there, with each gap",
    "replication/notification_log/log_pages.py": "is itself a log that is read through it",
    "replication/notification_log/log_tail.py": "finds where the log goes on behind a gap",
    "surfaces/airflow/triggers/log_watch.py": "wakes who reads it; where it does not tell, it wakes everybody",
}


def test_whoever_asks_a_metastore_for_rows_itself_says_why() -> None:
    asking = (path for path in PACKAGE.rglob("*.py") if ".events_after(" in path.read_text(encoding="utf-8"))
    found = {str(path.relative_to(PACKAGE)) for path in asking}
    assert found == ALLOWED.keys()
