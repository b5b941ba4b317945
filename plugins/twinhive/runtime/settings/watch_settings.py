"""What a policy file says of watching it: which limits there are, and who is told."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from twinhive.core.model.files import short_hash
from twinhive.core.model.watching.alerts import AlertKind, Severity
from twinhive.runtime.settings.value_kinds import ImportPath, Strict, Unit


def _off(given: Any) -> Any:
    """Read `off`, which YAML reads as false."""
    return None if given is False or given == "off" else given


Limit = Annotated[Annotated[float, Field(gt=0), Unit("seconds or `off`")] | None, BeforeValidator(_off)]
Room = Annotated[Annotated[int, Field(gt=0), Unit("bytes or `off`")] | None, BeforeValidator(_off)]


class CopyWatchSettings(Strict):
    """From when on `twinhive.monitor` is red for what only copies."""

    failed_for: Annotated[float, Field(ge=0), Unit("seconds")] = 900.0
    """a failure that may pass by itself is told when nothing has made up for it for so long; one that a person must act
    on is told at once"""
    stalled_for: Limit = 3_600.0
    """a task that copies may run for so long without moving anything; a copy that goes on says so every five minutes"""


class WatchSettings(CopyWatchSettings):
    """From when on `twinhive.monitor` is red, beside `max_lag`."""

    held_for: Limit = 3_600.0
    """a [set](sets.md) that is done at the source may be held on the replica for so long"""
    external_age: Limit = 86_400.0
    """the oldest external table or partition that waits for its data, and the last complete pass over external data,
    may be so old"""
    free_bytes: Room = 10 * 2**30
    """what the replica's file system must have left below `staging_root`, counted after replication"""


class ChannelSettings(Strict):
    """One way to tell people: exactly one of `slack`, `email`, `webhook` and `notifier`."""

    slack: str | None = None
    """id of a connection: an incoming webhook of Slack, its secret path as the password"""
    email: tuple[str, ...] = ()
    """addresses"""
    smtp: str = "smtp_default"
    """for `email`: id of the connection of the mail server; its extra may hold `from_email`, `disable_ssl`,
    `disable_tls`"""
    webhook: str | None = None
    """id of a connection: the message is posted to it as JSON; its extra `headers` are sent along"""
    notifier: ImportPath | None = None
    """import path of a notifier of Airflow, or of any class whose instances are called with a context; the message is
    `twinhive` in it"""
    arguments: Mapping[str, Any] = {}
    """for `notifier`: what it is made with; templates may say `{{ twinhive.text }}`"""
    kinds: tuple[AlertKind, ...] = ()
    """only alerts of these kinds; none: of all"""
    severities: tuple[Severity, ...] = ()
    """only alerts that are so urgent; none: all"""

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if sum(map(bool, (self.slack, self.email, self.webhook, self.notifier))) != 1:
            raise ValueError("give exactly one of slack, email, webhook, notifier")
        if self.arguments and not self.notifier:
            raise ValueError("arguments are for a notifier")
        return self

    @property
    def name(self) -> str:
        """Return what people call it."""
        if self.email:
            return f"email to {', '.join(self.email)}"
        if self.notifier:
            # The same class may be named twice, for different people.
            return f"{self.notifier} {short_hash(json.dumps(self.arguments, sort_keys=True, default=str), 6)}"
        return f"slack {self.slack}" if self.slack else f"webhook {self.webhook}"


class NotificationSettings(Strict):
    """Who is told of what is wrong with the policy, and that it is well again."""

    owner: str = ""
    """whose policy it is; stands in each message"""
    remind_after: Annotated[float, Field(ge=60), Unit("seconds")] = 3_600.0
    """what lasts is told again after this time"""
    send: tuple[ChannelSettings, ...] = ()
    """the ways; each gets what its `kinds` and `severities` let pass"""
