"""State what publishers and listeners need of a message broker."""

from collections.abc import Collection, Sequence
from typing import Protocol

from twinhive.core.model.messages.hive_message import TableMessage


class Subscription(Protocol):
    """Messages that come in."""

    def receive(self, seconds: float) -> TableMessage | None:
        """Return the next message, None when there is none for so long.

        Raises Unreachable when the broker is lost: what was sent since is lost too, so look at the store, and
        subscribe again.
        """
        ...

    def close(self) -> None:
        """End it."""
        ...


class MessageBroker(Protocol):
    """Publish and subscribe. Each call connects where there is no connection, to whichever address answers."""

    def publish(self, messages: Sequence[TableMessage]) -> None:
        """Send messages in their order; returns when the broker has them all.

        Raises Unreachable when it does not say so in time: some may have been sent, the same ones are to be sent
        again. Raises Refused for what we may not do.
        """
        ...

    def subscribe(self, topics: Collection[str], kinds: Collection[str] = ()) -> Subscription:
        """Return what receives from these topics and those below them (`a.b` and `a.b.c`), of some kinds or all.

        What is sent after this call returns is received. Raises Unreachable, Refused.
        """
        ...

    def probe(self) -> None:
        """See that it answers, and lets us in. Raises Unreachable, Refused."""
        ...

    def close(self) -> None:
        """Leave; a later call connects again."""
        ...
