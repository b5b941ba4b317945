"""Tell people through the channels that policies name: each thing once, then as a reminder, and that it is over.

What was told through which channel is remembered in the journal, so that tasks and the monitor do not tell the same
twice. A channel that does not work turns nothing red but the monitor, and is tried again by its next run.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from airflow.sdk.log import redact  # type: ignore[attr-defined]

from twinhive.operations.alerting.alert_message import Letter, Message
from twinhive.operations.journal.records import SentMessage
from twinhive.operations.journal.time_limit import within
from twinhive.operations.journal.writing import Journal
from twinhive.runtime.settings.watch_settings import ChannelSettings, NotificationSettings
from twinhive.surfaces.airflow.monitor import metrics
from twinhive.surfaces.airflow.monitor.notifiers import sender_of

_PATIENCE_SECONDS = 15.0
_ALTOGETHER_SECONDS = 45.0
_ONE_BY_ONE = 3
"""So many messages that come together through one channel are sent one by one; more go into one letter."""


@dataclass
class Teller:
    """Gather messages, then send them.

    known    what the journal says was told; None: it does not answer, and what is news is told
    context  Airflow's, for its notifiers
    """

    journal: Journal
    known: Sequence[SentMessage] | None
    context: Mapping[str, Any]
    warn: Callable[[str], None]
    _due: dict[str, tuple[ChannelSettings, list[Message]]] = field(default_factory=dict)

    def tell(self, message: Message, to: NotificationSettings, *, is_news: bool) -> None:
        """Take a message for the channels that want it and were not told within the time of a reminder."""
        for channel in to.send:
            if _wants(channel, message) and self._is_due(message, channel, to.remind_after, is_news):
                self._due.setdefault(channel.name, (channel, []))[1].append(message)

    def tell_end(self, message: Message, to: NotificationSettings) -> None:
        """Take the message that something is over, for those who were told of it; who cannot be told stays known."""
        hearing = [channel for channel in to.send if self._hears_end(message, channel)]
        for channel in hearing:
            self._due.setdefault(channel.name, (channel, []))[1].append(message)
        self.journal.end_topic(message.policy, message.topic, keep=[channel.name for channel in hearing])

    def send(self) -> list[str]:
        """Send what was taken; return what went wrong, a line for each channel. Raises nothing."""
        until = time.monotonic() + _ALTOGETHER_SECONDS
        return [said for channel, due in self._due.values() if (said := self._send_all(channel, due, until))]

    def _send_all(self, channel: ChannelSettings, due: Sequence[Message], until: float) -> str | None:
        letters = [Letter([one]) for one in due] if len(due) <= _ONE_BY_ONE else [Letter(due)]
        trouble = None
        for letter in letters:
            # What did not work a second ago is not tried for each message.
            trouble = trouble or self._send(channel, letter, until)
            self._remember(channel, letter.messages, trouble)
        if trouble is None:
            return None
        metrics.message_failed(due[0].policy)
        said = f"nobody was told through {channel.name}: {trouble}"
        self.warn(said)
        return said

    def _send(self, channel: ChannelSettings, letter: Letter, until: float) -> str | None:
        left = min(_PATIENCE_SECONDS, until - time.monotonic())
        if left <= 0:
            return "other channels took too long; the next run of the monitor tries again"
        try:
            within(left, lambda: sender_of(channel, self.context).send(letter))
        except Exception as error:
            # Exceptions of others may hold an address with a secret in it.
            return f"{type(error).__name__}: {' '.join(str(redact(str(error))).split())[:500]}"
        return None

    def _remember(self, channel: ChannelSettings, messages: Iterable[Message], trouble: str | None) -> None:
        now = time.time()
        for message in messages:
            if message.is_over and not trouble:
                self.journal.end_message(message.policy, message.topic, channel.name)
                continue
            told = None if trouble else now
            self.journal.record_message(SentMessage(message.policy, message.topic, channel.name, now, told, trouble))

    def _hears_end(self, message: Message, channel: ChannelSettings) -> bool:
        told = self._told(message, channel)
        return _wants(channel, message) and (self.known is None or (told is not None and told.told is not None))

    def _is_due(self, message: Message, channel: ChannelSettings, remind_after: float, is_news: bool) -> bool:
        if self.known is None:
            return is_news
        told = self._told(message, channel)
        if told is None or told.told is None or told.trouble is not None:
            return True
        return time.time() - told.told >= remind_after

    def _told(self, message: Message, channel: ChannelSettings) -> SentMessage | None:
        key = message.policy, message.topic, channel.name
        return next((one for one in self.known or () if (one.policy, one.topic, one.channel) == key), None)


def _wants(channel: ChannelSettings, message: Message) -> bool:
    """Tell whether a channel takes messages of this kind; that it does not work itself nobody hears through it."""
    of_its_kind = not channel.kinds or message.kind in channel.kinds
    urgent = not channel.severities or message.severity in channel.severities
    return of_its_kind and urgent and message.about != channel.name
