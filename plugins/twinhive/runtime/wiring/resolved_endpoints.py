"""Resolve the servers of a cluster's settings: connections become addresses."""

from collections.abc import Mapping

from twinhive.core.model.connections import Connection
from twinhive.core.model.endpoints import FileSystemEndpoint, MetastoreEndpoint
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.text import Again
from twinhive.runtime.settings import FileSystemSettings, MetastoreSettings, Resolve

_METASTORE_PORT = 9083
_LAST_PORT = 65_535


def metastore_endpoint(
    settings: MetastoreSettings, resolve: Resolve, cluster: str = "", file_system: str = ""
) -> MetastoreEndpoint:
    """Resolve a metastore; a connection may name several hosts, separated by commas, and its user as login."""
    if settings.connection:
        connection = resolve(settings.connection)
        port = connection.port or _METASTORE_PORT
        hosts = [host.strip() for host in connection.host.split(",") if host.strip()]
        addresses = [_of_connection(connection, host, port) for host in hosts]
        if not addresses:
            raise _unusable(connection, "no host", "the host of a metastore, or several separated by commas")
        user = settings.user or connection.login or connection.extra.get("user")
        return MetastoreEndpoint(tuple(addresses), settings.timeout_seconds, user, cluster, file_system)
    addresses = [_of_clusters_file(uri) for uri in settings.uris]
    return MetastoreEndpoint(tuple(addresses), settings.timeout_seconds, settings.user, cluster, file_system)


def host_and_port(text: str, port: int) -> tuple[str, int] | None:
    """Read `host` or `host:port`; `port` is for a host without one. None for anything else, also an IPv6 address."""
    host, colon, own = (part.strip() for part in text.partition(":"))
    if not host or any(sign in host for sign in "/[]@ ") or (colon and not own.isdecimal()):
        return None
    number = int(own) if colon else port
    return (host, number) if 1 <= number <= _LAST_PORT else None


def _of_connection(connection: Connection, host: str, port: int) -> tuple[str, int]:
    found = host_and_port(host, port)
    if found is None:
        expected = (
            f"hosts without a scheme, by name or IPv4 address, each with a port of 1 to {_LAST_PORT} if it has one: "
            "hms1, or hms1:9083,hms2:9083"
        )
        raise _unusable(connection, f"host {host}, port {port}", expected)
    return found


def _of_clusters_file(uri: str) -> tuple[str, int]:
    found = host_and_port(uri.removeprefix("thrift://"), _METASTORE_PORT)
    if found is None:
        raise InvalidSettings(
            f"{uri} is no address of a metastore",
            found=uri,
            expected=f"thrift://host:port, with a port of 1 to {_LAST_PORT}",
            next_step="correct metastore.uris in clusters.yaml, then " + Again(),
        )
    return found


def file_system_endpoint(settings: FileSystemSettings, resolve: Resolve) -> FileSystemEndpoint:
    """Resolve a file system; a connection's extra holds `uri`, `user` (before its login) and `hadoop` (properties)."""
    if not settings.connection:
        return FileSystemEndpoint(settings.uri or "", settings.hadoop, settings.user, also=settings.also)
    connection = resolve(settings.connection)
    root = connection.extra.get("uri") or _hdfs_uri(connection)
    if "://" not in root:
        raise _unusable(connection, f"extra uri {root}", "the whole address of a file system: hdfs://west")
    own = connection.extra.get("hadoop", {})
    if not isinstance(own, Mapping):
        # Not the value: properties hold keys and passwords.
        raise _unusable(
            connection, f"extra hadoop is of the kind {type(own).__name__}", "an object of Hadoop properties"
        )
    properties = {**{key: str(value) for key, value in own.items()}, **settings.hadoop}
    user = settings.user or connection.extra.get("user") or connection.login
    return FileSystemEndpoint(root.rstrip("/"), properties, user, also=settings.also)


def _unusable(connection: Connection, found: str, expected: str) -> InvalidSettings:
    return InvalidSettings(
        f"connection {connection.connection_id} cannot be used",
        found=found,
        expected=expected,
        next_step=f"correct connection {connection.connection_id}, then " + Again(),
    )


def _hdfs_uri(connection: Connection) -> str:
    # Without a port it may be the name of a nameservice.
    if "," in connection.host or host_and_port(connection.host, connection.port or 1) is None:
        raise _unusable(
            connection,
            f"host {connection.host or 'none'}, port {connection.port or 'none'}",
            "one host, or nameservice, without a scheme, or the whole address as extra `uri`: hdfs://west",
        )
    return f"hdfs://{connection.host}:{connection.port}" if connection.port else f"hdfs://{connection.host}"
