"""What a client has said of itself, as each metastore is told before its first call."""

from dataclasses import dataclass, field

from twinhive.federation.gateway.loop_detection import Chain
from twinhive.hive.wire.thrift_message import STOP, WireMessage, call, text_field

SET_USER = "set_ugi"
MOST_SAID_BYTES = 1 << 16
"""Of one call that says something of a client: it is kept while the client is connected, and said to each remote."""
_NO_GROUPS = bytes((15, 0, 2, 11, 0, 0, 0, 0))
"""Field 2, an empty list of texts."""


@dataclass
class Client:
    """Its user, its settings, and the gateways that it came through."""

    user: WireMessage | None = None
    settings: dict[bytes, WireMessage] = field(default_factory=dict)
    chain: Chain = field(default_factory=Chain)

    def note(self, request: WireMessage) -> None:
        """Remember what was said with success; of a setting the last value."""
        if request.head.method == SET_USER:
            self.user = request
        else:
            self.settings[_key(request)] = request

    def greeting(self, user: str | None = None) -> tuple[WireMessage, ...]:
        """Return the calls that say it; `user` instead of the client's own."""
        said = self.user if user is None else set_user(user)
        return (*(() if said is None else (said,)), *self.settings.values())


def too_much_said(method: str, count: int) -> str:
    """Say why a call is refused that says more."""
    return (
        f"{method} of {count} bytes, where {MOST_SAID_BYTES} are allowed: the gateway keeps it for as long as the "
        "client is connected; nothing was sent. Name fewer groups, or a shorter value"
    )


def set_user(user: str) -> WireMessage:
    """Build the call that says a user without groups."""
    return call(SET_USER, 0, text_field(1, user) + _NO_GROUPS + STOP)


def _key(request: WireMessage) -> bytes:
    at = request.at
    length = int.from_bytes(request.raw[at + 3 : at + 7], "big")
    return request.raw[at + 7 : at + 7 + length]
