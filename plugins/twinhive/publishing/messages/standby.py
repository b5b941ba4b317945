"""Stand by while another publisher sends, and say when its turn is over.

Nothing beats in the log while nothing happens: another publisher is held for dead only when something has waited to be
sent for a while, and its position has not moved since.
"""

from collections.abc import Callable

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import LogBroken
from twinhive.core.model.messages.publisher_position import NOBODY, KeptPosition
from twinhive.core.ports import MessageBroker, MetastoreReader
from twinhive.hive.events.reader import read_events
from twinhive.publishing.messages.event_announcements import AnnouncedDatabases
from twinhive.publishing.messages.positions import begin_behind


class Standby:
    """Watch the position that another publisher keeps."""

    def __init__(
        self,
        metastore: MetastoreReader,
        broker: MessageBroker,
        databases: AnnouncedDatabases,
        patience: float,
        clock: Callable[[], float],
    ) -> None:
        self._metastore, self._broker, self._databases = metastore, broker, databases
        self._patience, self._clock = patience, clock
        self._is_fenced = False
        self._token = ""
        self._looked = Position(0)
        self._due_since: float | None = None

    def was_fenced(self) -> None:
        """Note that another one has taken over: the name that is kept does not count from now on."""
        self._is_fenced = True

    def took(self) -> None:
        """Note that this publisher sends."""
        self._is_fenced, self._token, self._due_since = False, "", None

    def may_take(self, kept: KeptPosition, holder: str) -> bool:
        """True when this publisher is to send. Raises what the broker raises that is to be sent to."""
        if kept.holder == NOBODY or (kept.holder == holder and not self._is_fenced):
            self._broker.probe()
            return True
        if kept.token != self._token:
            self._token, self._looked, self._due_since = kept.token, begin_behind(self._metastore, kept), None
        if self._due_since is None and self._is_something_due():
            self._due_since = self._clock()
        if self._due_since is None or self._clock() - self._due_since < self._patience:
            return False
        # While the broker is away nobody can send, whoever holds the position.
        self._broker.probe()
        return True

    def _is_something_due(self) -> bool:
        try:
            for row in read_events(self._metastore, self._looked):
                if self._databases.concern(row):
                    return True
                self._looked = row.position
        except LogBroken:
            return True
        return False
