"""Be a message broker in memory: topics, readers and publishers, and the ways in which a real one fails."""

import queue
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from twinhive.core.model.errors import Refused, Unreachable
from twinhive.core.model.messages.hive_message import TableMessage


@dataclass
class BrokerState:
    """What a broker knows; several connections share it.

    down        every call fails
    loses_after the broker dies after so many further messages, each of which it has taken
    """

    down: bool = False
    loses_after: int | None = None
    taken: list[TableMessage] = field(default_factory=list)
    subscriptions: list["MemorySubscription"] = field(default_factory=list)
    before_publish: Callable[[], None] = lambda: None

    def check(self) -> None:
        if self.down:
            raise Unreachable("broker memory does not answer", found="it is down", expected="an answer")

    def take(self, message: TableMessage) -> None:
        self.check()
        self.taken.append(message)
        for one in self.subscriptions:
            one.offer(message)
        if self.loses_after is not None:
            self.loses_after -= 1
            if self.loses_after <= 0:
                self.loses_after = None
                raise Unreachable("broker memory was lost", found="it hung up", expected="its receipt")

    def stop(self) -> None:
        """Die; those who listen hear of it."""
        self.down = True
        for one in self.subscriptions:
            one.lose()
        self.subscriptions.clear()


class MemoryBroker:
    """A connection to a broker in memory."""

    def __init__(self, state: BrokerState | None = None, *, may_write: bool = True, knows_us: bool = True) -> None:
        self.state = state or BrokerState()
        self._may_write, self._knows_us = may_write, knows_us

    def publish(self, messages: Sequence[TableMessage]) -> None:
        self.probe()
        self.state.before_publish()
        if messages and not self._may_write:
            raise Refused("broker memory refuses us", found="no right to write", expected="a publisher", next_step="-")
        for message in messages:
            self.state.take(message)

    def subscribe(self, topics: Collection[str], kinds: Collection[str] = ()) -> "MemorySubscription":
        self.probe()
        subscription = MemorySubscription(self.state, tuple(topics), frozenset(kinds))
        self.state.subscriptions.append(subscription)
        return subscription

    def probe(self) -> None:
        self.state.check()
        if not self._knows_us:
            raise Refused("broker memory refuses us", found="a wrong password", expected="another", next_step="-")

    def close(self) -> None:
        """Leave."""


class MemorySubscription:
    """What one reader receives."""

    def __init__(self, state: BrokerState, topics: tuple[str, ...], kinds: frozenset[str]) -> None:
        self._state, self._topics, self._kinds = state, topics, kinds
        self._messages: queue.SimpleQueue[TableMessage | None] = queue.SimpleQueue()

    def offer(self, message: TableMessage) -> None:
        wanted = any(message.topic == one or message.topic.startswith(f"{one}.") for one in self._topics)
        if wanted and (not self._kinds or message.kind in self._kinds):
            self._messages.put(message)

    def lose(self) -> None:
        self._messages.put(None)

    def receive(self, seconds: float) -> TableMessage | None:
        try:
            message = self._messages.get(timeout=seconds) if seconds else self._messages.get_nowait()
        except queue.Empty:
            return None
        if message is None:
            raise Unreachable("broker memory was lost", found="it hung up", expected="messages")
        return message

    def close(self) -> None:
        if self in self._state.subscriptions:
            self._state.subscriptions.remove(self)
