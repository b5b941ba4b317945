"""Start DAGs by messages of a broker: what `MessageQueueTrigger(scheme="stomp")` becomes (docs/consumers.md)."""

from collections.abc import AsyncIterator, Hashable, Sequence
from functools import partial
from typing import Any

from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from twinhive.publishing.messages.listening import LISTENING
from twinhive.runtime.wiring.message_wiring import open_broker
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.triggers.broker_listener import heard
from twinhive.surfaces.airflow.triggers.stored_trigger import stored


class StompTrigger(BaseEventTrigger):
    """Fire for each message: its payload is the message's body, with `topic` beside it.

    connection  id of a connection of type `stomp`, whose user may read
    topics      topics to hear, each with those below it (`a.b` and `a.b.c`)
    kinds       values of the header `HCAT_EVENT`, as `SET_DONE`; none: all messages
    greets      fire also, with `{"listening": [...]}`, when it begins to listen and after each loss of the broker: what
                was sent before was not heard, so that it is time to look at the store

    Triggers of one connection with the same topics and kinds share one subscription.
    """

    def __init__(
        self, connection: str, topics: Sequence[str] | str, kinds: Sequence[str] = (), *, greets: bool = True
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Airflow's triggers have no types
        self.connection = connection
        self.topics = [topics] if isinstance(topics, str) else list(topics)
        self.kinds = list(kinds)
        self.greets = greets

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return what Airflow stores of the trigger."""
        return stored(self, "connection", "topics", "kinds", "greets")

    def shared_stream_key(self) -> Hashable:
        """Return what is equal for all that hear the same."""
        return "twinhive-messages", self.connection, tuple(self.topics), tuple(self.kinds)

    @classmethod
    async def open_shared_stream(cls, kwargs: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Yield what is heard, for ever; losses of the broker are waited out."""
        opened = partial(open_broker, kwargs["connection"], resolve_from_airflow)
        async for one in heard(opened, kwargs["topics"], kwargs["kinds"]):
            yield one

    async def filter_shared_stream(self, shared_stream: AsyncIterator[dict[str, Any]]) -> AsyncIterator[TriggerEvent]:
        """Yield an event for each message."""
        async for one in shared_stream:
            if self.greets or LISTENING not in one:
                yield TriggerEvent(one)

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Do the same without sharing."""
        _, kwargs = self.serialize()
        async for event in self.filter_shared_stream(self.open_shared_stream(kwargs)):
            yield event
