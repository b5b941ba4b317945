"""Metastores that are reached by TCP: bytes are handed on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from twinhive.core.model.errors import InvalidSettings
from twinhive.federation.connector_api.byte_links import ByteLink, connected
from twinhive.federation.connector_api.catalogs import ConnectorPlace
from twinhive.federation.connectors.address_failover import first_of
from twinhive.federation.connectors.connector_context import ConnectorContext

URIS: Final = "hive.metastore.uris"
_PORT: Final = 9083
_USER: Final = re.compile(r"//[^/@]*@")
"""A name, and perhaps a password, that has no place there and is not to be shown."""


@dataclass(frozen=True)
class MetastoreAddress:
    """One address of a metastore."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"thrift://{host}:{self.port}"


@dataclass(frozen=True)
class ThriftConnector:
    """Connect to the first address that takes a connection in time.

    connect_seconds   for all addresses, as long as their caller waits
    """

    connect_seconds: float = 2.0

    def place(self, properties: Mapping[str, str]) -> ConnectorPlace:
        """Say which addresses a definition names."""
        addresses = tuple(str(one) for one in metastore_addresses(properties))
        return ConnectorPlace(key=",".join(addresses), name=",".join(addresses), addresses=addresses)

    async def open(self, properties: Mapping[str, str]) -> ByteLink:
        """Open a connection. Raises ConnectionError that says of each address why it took none."""
        return await self.open_to(metastore_addresses(properties))

    async def open_to(self, addresses: Sequence[MetastoreAddress]) -> ByteLink:
        """Open a connection to the first of these that takes one."""
        return await first_of(
            {str(one): partial(connected, one.host, one.port) for one in addresses}, self.connect_seconds
        )

    async def close(self) -> None:
        """Nothing is shared."""


def connector(context: ConnectorContext) -> ThriftConnector:
    """Make the connector."""
    return ThriftConnector(context.connect_seconds)


def metastore_addresses(properties: Mapping[str, str]) -> tuple[MetastoreAddress, ...]:
    """Read `hive.metastore.uris`, in its order. Raises InvalidSettings."""
    texts = [text.strip() for text in properties.get(URIS, "").split(",") if text.strip()]
    if not texts:
        raise InvalidSettings(
            f"a remote's {URIS} names no metastore",
            found=properties.get(URIS, "nothing"),
            expected="thrift://host:9083, several separated by commas",
            next_step=f"add it to the remote's properties: '{URIS}' = 'thrift://host:9083'",
        )
    return tuple(_address(text) for text in texts)


def _address(text: str) -> MetastoreAddress:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme != "thrift" or not host or not host.isprintable() or parts.username or parts.path not in ("", "/"):
        raise InvalidSettings(
            f"an address in a remote's {URIS} cannot be read",
            found=_USER.sub("//***@", text),
            expected="thrift://host:port",
            next_step="create the remote again with another address",
        )
    return MetastoreAddress(host, port or _PORT)
