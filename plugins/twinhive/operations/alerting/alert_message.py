"""What people are told of one thing, and say it as a text and as JSON; several go into one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.watching.alerts import AlertKind, Severity

_LONGEST = 3_000
_IN_FULL = 20


@dataclass(frozen=True)
class Message:
    """What people are told of one thing that is wrong with a policy, or that it is over.

    about    which of several of the same kind, as the phase whose task failed
    since    since when it is so, in seconds since 1970
    owner    whose policy it is
    what     in one line; the others are None where there is nothing to say
    is_over  it is well again
    """

    policy: str
    kind: AlertKind
    about: str
    since: float
    owner: str
    what: str
    found: str | None = None
    expected: str | None = None
    next_step: str | None = None
    is_over: bool = False

    @classmethod
    def of(cls, policy: str, kind: AlertKind, about: str, since: float, owner: str, error: TwinhiveError) -> "Message":
        """Say what an error says."""
        words = error.words
        return cls(
            policy,
            kind,
            about,
            since,
            owner,
            _cut(words.what) or "",
            _cut(words.found),
            _cut(words.expected),
            _cut(words.next_step),
        )

    @property
    def topic(self) -> str:
        """Return what it is about, as the journal remembers it beside the policy's name."""
        return f"{self.kind} {self.about}".rstrip()

    @property
    def severity(self) -> Severity:
        """Return how urgent it is."""
        return self.kind.severity

    @property
    def subject(self) -> str:
        """Return one line of which a list can be made."""
        return f"twinhive: {self.policy}: {self.topic}{' is over' if self.is_over else ''}"

    @property
    def text(self) -> str:
        """Return all of it in several lines."""
        since = datetime.fromtimestamp(self.since, UTC)
        head = f"{self.subject} (since {since:%Y-%m-%d %H:%M} UTC{', ' + self.owner if self.owner else ''})"
        said = {"found:   ": self.found, "expected:": self.expected, "next:    ": self.next_step}
        return "\n".join([head, self.what, *(f"  {label} {text}" for label, text in said.items() if text)])

    def as_json(self) -> dict[str, Any]:
        """Return it as a webhook gets it."""
        return {
            "policy": self.policy,
            "kind": self.kind.value,
            "about": self.about,
            "severity": self.severity.value,
            "state": "over" if self.is_over else "stands",
            "since": datetime.fromtimestamp(self.since, UTC).isoformat(),
            "owner": self.owner,
            "what": self.what,
            "found": self.found,
            "expected": self.expected,
            "next": self.next_step,
        }


@dataclass(frozen=True)
class Letter:
    """What is sent at once through one channel: one message, or several that came together."""

    messages: Sequence[Message]

    @property
    def subject(self) -> str:
        """Return one line."""
        if len(self.messages) == 1:
            return self.messages[0].subject
        return f"twinhive: {len(self.messages)} messages about {len({one.policy for one in self.messages})} policies"

    @property
    def text(self) -> str:
        """Return all messages, of too many the rest by their subjects."""
        if len(self.messages) == 1:
            return self.messages[0].text
        rest = "\n".join(one.subject for one in self.messages[_IN_FULL:])
        return "\n\n".join([self.subject, *(one.text for one in self.messages[:_IN_FULL]), *([rest] if rest else [])])

    def as_json(self) -> dict[str, Any]:
        """Return it as a webhook gets it."""
        return {"subject": self.subject, "text": self.text, "alerts": [one.as_json() for one in self.messages]}


def _cut(said: object) -> str | None:
    text = None if said is None else str(said)
    return text if text is None or len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
