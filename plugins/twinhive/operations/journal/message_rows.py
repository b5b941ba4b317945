"""Write who was told of what, and when the monitor was last there."""

from collections.abc import Collection
from dataclasses import asdict

from sqlalchemy import Connection, delete

from twinhive.operations.journal.records import SentMessage
from twinhive.operations.journal.schema import MESSAGES, NOTES
from twinhive.operations.journal.stored_texts import plain
from twinhive.operations.journal.upsert import upsert

MONITOR = "monitor"


def write_message(connection: Connection, message: SentMessage) -> None:
    """Write what came of telling people; when they were last told well stays."""
    upsert(connection, MESSAGES, [plain(asdict(message))], fill=("told",))


def end_topic(connection: Connection, policy: str, topic: str, keep: Collection[str] = ()) -> None:
    """Remove what was told of something that is over, but through the channels that are still to tell so."""
    mine = MESSAGES.c
    which = [mine.policy == policy, mine.topic == topic, mine.channel.not_in(keep)]
    connection.execute(delete(MESSAGES).where(*which))


def end_message(connection: Connection, policy: str, topic: str, channel: str) -> None:
    """Remove what was told through a channel of something, which has told that it is over."""
    mine = MESSAGES.c
    which = [mine.policy == policy, mine.topic == topic, mine.channel == channel]
    connection.execute(delete(MESSAGES).where(*which))


def note_monitor(connection: Connection, at: float) -> None:
    """Write when the monitor has looked at all policies."""
    upsert(connection, NOTES, [{"key": MONITOR, "value": str(at)}])
