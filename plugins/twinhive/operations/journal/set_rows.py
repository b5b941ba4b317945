"""Write which sets replicas show, and how what happens on clusters is told."""

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import Connection, delete, insert

from twinhive.operations.journal.records import RecordedPublisher, RecordedSet
from twinhive.operations.journal.schema import PUBLISHERS, SETS
from twinhive.operations.journal.stored_texts import plain


def replace_sets(connection: Connection, policy: str, sets: Sequence[RecordedSet]) -> None:
    """Write the sets that a replica shows in the place of what was known."""
    connection.execute(delete(SETS).where(SETS.c.policy == policy))
    if rows := [plain(asdict(one)) for one in sets]:
        connection.execute(insert(SETS), rows)


def replace_publishers(connection: Connection, publishers: Sequence[RecordedPublisher]) -> None:
    """Write how all publishers are."""
    connection.execute(delete(PUBLISHERS))
    if rows := [plain(asdict(one)) for one in publishers]:
        connection.execute(insert(PUBLISHERS), rows)
