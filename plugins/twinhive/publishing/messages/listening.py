"""Hear messages, through losses of the broker."""

import json
import time
from collections.abc import Callable, Collection, Generator
from contextlib import closing
from typing import Any

from twinhive.core.model.errors import Unreachable
from twinhive.core.model.messages.hive_message import TableMessage
from twinhive.core.ports import MessageBroker

LISTENING = "listening"
"""The only key of what is yielded when a subscription begins: the topics that are heard from now on."""
_WAIT = 0.5
_PAUSE = 1.0


def listen_on(
    broker: MessageBroker,
    topics: Collection[str],
    kinds: Collection[str] = (),
    sleep: Callable[[float], object] = time.sleep,
) -> Generator[dict[str, Any] | None, None, None]:
    """Yield each message's body with `topic` beside it, `{"listening": [...]}` whenever it is listened anew, None
    when nothing came for a moment.

    Whoever waits for something looks at the store after each `listening`: what was sent before was not heard. Raises
    Unreachable when there is no broker at first, Refused.
    """
    has_begun = False
    while True:
        try:
            with closing(broker.subscribe(topics, kinds)) as subscription:
                has_begun = True
                yield {LISTENING: list(topics)}
                while True:
                    message = subscription.receive(_WAIT)
                    yield None if message is None else said(message)
        except Unreachable:
            if not has_begun:
                raise
            yield None
            sleep(_PAUSE)


def said(message: TableMessage) -> dict[str, Any]:
    """Return a message's body with `topic` beside it; of one that is no JSON object, its `text`."""
    try:
        body = json.loads(message.body)
    except ValueError:
        body = None
    return {"topic": message.topic, **(body if isinstance(body, dict) else {"text": message.body})}
