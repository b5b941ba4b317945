"""Keep the position of a replica: the event up to which every change in scope is on it."""

from collections.abc import Callable

from twinhive.core.model.changes.events import Position
from twinhive.core.model.marks import ReplicaState, with_position
from twinhive.core.model.objects import Parameters
from twinhive.core.ports import MetastoreWriter

_MOST_EVENTS_BETWEEN = 500


def _nothing() -> None:
    """Write nothing first."""


class Progress:
    """Write the position rarely, and always before a name is removed.

    `write_first` is called before the database's parameters are written: what the position then passes is written.
    """

    def __init__(
        self,
        replica: MetastoreWriter,
        database: str,
        parameters: Parameters,
        write_first: Callable[[], None] = _nothing,
    ) -> None:
        self._replica = replica
        self._database = database
        self._parameters = dict(parameters)
        self._write_first = write_first
        self.position = ReplicaState.read(parameters).position
        self._reached = self.position
        self._since = 0
        self.in_order = True
        """False while events are applied out of the log's order: then only `write` moves the position."""

    @property
    def parameters(self) -> Parameters:
        """The database's parameters as they were last written."""
        return self._parameters

    def passed(self, position: Position) -> None:
        """Note that everything up to a position is on the replica; write it from time to time."""
        if not self.in_order:
            return
        self._reached = position
        self._since += 1
        if self._since >= _MOST_EVENTS_BETWEEN:
            self.write(position)

    def before_removal(self) -> None:
        """Write the position before an event that removes a name: a replay then begins with that event."""
        if self._reached != self.position:
            self.write(self._reached)

    def after_removal(self, position: Position) -> None:
        """Write the position of an event that removed what bears no stamp: a replay would take a later one away."""
        if self.in_order:
            self.write(position)

    def write(self, position: Position) -> None:
        """Write a position, unless it stands there already. It never goes back."""
        if position.event_id > self.position.event_id:
            self.set_parameters(self._parameters, position)
        self._reached, self._since = self.position, 0

    def set_parameters(self, parameters: Parameters, position: Position | None = None) -> None:
        """Replace the database's parameters, and the position with them."""
        position = position or self.position
        written = with_position(parameters, position)
        self._write_first()
        self._replica.set_database_parameters(self._database, written)
        self._parameters, self.position = written, position
