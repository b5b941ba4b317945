"""Write who was told of what, and when the monitor was last there."""

from dataclasses import asdict

from sqlalchemy import Connection, delete

from twinhive.journal.records import SentMessage
from twinhive.journal.schema import MESSAGES, NOTES
from twinhive.journal.texts import plain
from twinhive.journal.upsert import upsert

MONITOR = "monitor"


def write_message(connection: Connection, message: SentMessage) -> None:
    """Write what came of telling people; when they were last told well stays."""
    upsert(connection, MESSAGES, [plain(asdict(message))], fill=("told",))


def end_topic(connection: Connection, policy: str, topic: str) -> None:
    """Remove what was told of something that is over."""
    connection.execute(delete(MESSAGES).where(MESSAGES.c.policy == policy, MESSAGES.c.topic == topic))


def note_monitor(connection: Connection, at: float) -> None:
    """Write when the monitor has looked at all policies."""
    upsert(connection, NOTES, [{"key": MONITOR, "value": str(at)}])
