"""The properties of a tunnel: `ssh.tunnel.route` and what belongs to it, as seed users know them from Waggle Dance."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from twinhive.core.model.errors import InvalidSettings

ROUTE: Final = "ssh.tunnel.route"
KEYS: Final = "ssh.tunnel.private.keys"
KNOWN_HOSTS: Final = "ssh.tunnel.known.hosts"
PORT: Final = "ssh.tunnel.port"
TIMEOUT: Final = "ssh.tunnel.timeout"
STRICT: Final = "ssh.tunnel.strict.host.key.checking"
MOST_HOPS: Final = 16
_LONGEST: Final = 600.0
_HOP: Final = re.compile(
    r"(?P<user>[^\s@:]+)@(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^\s@:\[\]]+))(?::(?P<port>\d{1,5}))?"
)


@dataclass(frozen=True)
class Hop:
    """One server of a route, and the name of the file with the private key for it."""

    user: str
    host: str
    port: int
    key: str

    def __str__(self) -> str:
        return f"{self.user}@{self.host}:{self.port}"

    @property
    def address(self) -> str:
        """The address without the user."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ssh://{host}:{self.port}"


@dataclass(frozen=True)
class Route:
    """The hops of a tunnel in their order, the name of the file of known hosts, and seconds for all hops together."""

    hops: tuple[Hop, ...]
    known_hosts: str
    seconds: float

    def __str__(self) -> str:
        return " -> ".join(map(str, self.hops))

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that are read."""
        return (*dict.fromkeys(hop.key for hop in self.hops), self.known_hosts)


def route_of(properties: Mapping[str, str], seconds: float) -> Route:
    """Read a definition's route. Raises InvalidSettings."""
    if properties.get(STRICT, "yes").strip().lower() not in ("", "yes", "true"):
        raise InvalidSettings(
            f"{STRICT} is off: a tunnel to servers that nobody knows is not opened",
            found=properties[STRICT],
            expected=f"yes, and a file of known hosts in {KNOWN_HOSTS}",
            next_step=f"put the servers' keys into the file of {KNOWN_HOSTS}",
        )
    known_hosts = properties.get(KNOWN_HOSTS, "").strip()
    if not known_hosts:
        raise InvalidSettings(
            f"a remote through SSH has no {KNOWN_HOSTS}",
            found="nothing",
            expected="the name of a file with the keys of all servers of the route",
            next_step=f"add '{KNOWN_HOSTS}' = 'known_hosts' to the remote's properties",
        )
    return Route(_hops(properties), known_hosts, _seconds(properties, seconds))


def _hops(properties: Mapping[str, str]) -> tuple[Hop, ...]:
    texts = [text.strip() for text in properties.get(ROUTE, "").split("->")]
    keys = [text.strip() for text in properties.get(KEYS, "").split(",") if text.strip()]
    matches = [_HOP.fullmatch(text) for text in texts]
    ports = [_port(properties, match["port"] if match else None) for match in matches]
    if len(texts) > MOST_HOPS or not all(match and port for match, port in zip(matches, ports, strict=True)):
        raise InvalidSettings(
            f"a remote's {ROUTE} cannot be read",
            found=properties.get(ROUTE, "nothing"),
            expected=f"user@host -> user@host, a port behind a colon where it is not 22, at most {MOST_HOPS}",
            next_step="create the remote again with another route",
        )
    if len(keys) != len(texts):
        raise InvalidSettings(
            f"a remote's {KEYS} has not one key for each hop of its route",
            found=f"{len(keys)} keys, {len(texts)} hops",
            expected="the names of files with private keys, in the order of the hops, separated by commas",
            next_step="create the remote again; a key that opens several hops is named for each of them",
        )
    found = zip(matches, ports, keys, strict=True)
    return tuple(Hop(one["user"], one["six"] or one["host"], port, key) for one, port, key in found if one)


def _port(properties: Mapping[str, str], text: str | None) -> int:
    """Return a port, 0 for one that is none."""
    text = text or properties.get(PORT, "22").strip()
    return int(text) if re.fullmatch(r"\d{1,5}", text) and int(text) < 65_536 else 0


def _seconds(properties: Mapping[str, str], usual: float) -> float:
    """Return the seconds for opening; the property is in milliseconds, 0 or nothing means as usual."""
    text = properties.get(TIMEOUT, "").strip() or "0"
    if not re.fullmatch(r"\d{1,9}", text):
        raise InvalidSettings(
            f"a remote's {TIMEOUT} cannot be read",
            found=text,
            expected="milliseconds, as a whole number",
            next_step="create the remote again with a number",
        )
    return min(int(text) / 1000, _LONGEST) or usual
