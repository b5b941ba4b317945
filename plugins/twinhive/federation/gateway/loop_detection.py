"""Find out that gateways ask each other in a circle, before the first call goes round for ever.

A gateway says on each new connection to a remote which metastores' gateways the call came through, as the name of a
setting that is asked for: `get_config_value`, which a metastore answers with the default for a name it does not know.
"""

from dataclasses import dataclass
from struct import Struct as Packing
from typing import Final

from twinhive.hive.wire.thrift_message import STOP, WireMessage, call, declared_error, reply, text_field

METHOD: Final = "get_config_value"
_PREFIX: Final = "hive.twinhive.gateways/"
MOST_GATEWAYS: Final = 4
"""One after the other; more are taken for a circle that nobody sees."""
_MOST_BYTES: Final = 4_096
"""What says more is no chain: what a gateway knows of a client is small."""
_CIRCLE: Final = "a circle of gateways"
_FIELD: Final = Packing("!bhi")


@dataclass(frozen=True)
class Chain:
    """The gateways that a client's calls came through, each by the id of its local metastore; none for a client."""

    gateways: tuple[str, ...] = ()

    def through(self, gateway: str) -> "Chain":
        """Return the chain as the next one sees it."""
        return Chain((*self.gateways, gateway))

    def is_circle(self, gateway: str) -> bool:
        """True where the calls have been at this gateway before, or at too many."""
        return gateway in self.gateways or len(self.gateways) >= MOST_GATEWAYS


def chain_call(chain: Chain) -> WireMessage:
    """Build the call that says a chain to the next one."""
    body = text_field(1, _PREFIX + ",".join(chain.gateways)) + text_field(2, "") + STOP
    return call(METHOD, 0, body)


def chain_of(request: WireMessage) -> Chain | None:
    """Read a chain; None for a call that says none."""
    if request.head.method != METHOD or len(request.raw) > _MOST_BYTES or _PREFIX.encode() not in request.raw:
        return None
    kind, number, length = _FIELD.unpack_from(request.raw, request.at)
    text = request.raw[request.at + _FIELD.size :][:length].decode("utf-8", "replace")
    if (kind, number) != (11, 1) or not text.startswith(_PREFIX):
        return None
    return Chain(tuple(name for name in text.removeprefix(_PREFIX).split(",") if name))


def is_refusal(answer: WireMessage, text: str) -> bool:
    """True for a greeting that was refused; who does not know settings by name has said nothing of a circle."""
    return answer.head.method != METHOD or _CIRCLE in text


def chain_answer(request: WireMessage, chain: Chain, gateway: str) -> WireMessage:
    """Answer it: with an error for a circle."""
    method, sequence = request.head.method, request.head.sequence
    if chain.is_circle(gateway):
        text = f"{_CIRCLE}: the call came through {', '.join(chain.gateways)}, and this is {gateway}"
        return declared_error(method, sequence, text)
    return reply(method, sequence, text_field(0, "") + STOP)
