"""Resolve the servers of a cluster's settings: connections become addresses."""

from collections.abc import Mapping

from twinhive.model.connections import Connection
from twinhive.model.endpoints import FileSystemEndpoint, MetastoreEndpoint
from twinhive.model.errors import InvalidSettings
from twinhive.model.text import Clear
from twinhive.settings import FileSystemSettings, MetastoreSettings, Resolve

_METASTORE_PORT = 9083


def metastore_endpoint(
    settings: MetastoreSettings, resolve: Resolve, cluster: str = "", file_system: str = ""
) -> MetastoreEndpoint:
    """Resolve a metastore; a connection may name several hosts, separated by commas."""
    if settings.connection:
        connection = resolve(settings.connection)
        port = connection.port or _METASTORE_PORT
        addresses = [_address(host.strip(), port) for host in connection.host.split(",") if host.strip()]
        if not addresses:
            raise _unusable(connection, "no host", "the host of a metastore, or several separated by commas")
        user = settings.user or _user(connection)
        return MetastoreEndpoint(tuple(addresses), settings.timeout_seconds, user, cluster, file_system)
    addresses = [_address(uri.removeprefix("thrift://"), _METASTORE_PORT) for uri in settings.uris]
    return MetastoreEndpoint(tuple(addresses), settings.timeout_seconds, settings.user, cluster, file_system)


def _address(text: str, port: int) -> tuple[str, int]:
    host, colon, own_port = text.partition(":")
    return host, int(own_port) if colon else port


def file_system_endpoint(settings: FileSystemSettings, resolve: Resolve) -> FileSystemEndpoint:
    """Resolve a file system; a connection's extra holds `uri`, `user` and `hadoop` (properties)."""
    if not settings.connection:
        return FileSystemEndpoint(settings.uri or "", settings.hadoop, settings.user)
    connection = resolve(settings.connection)
    root = connection.extra.get("uri") or _hdfs_uri(connection)
    own = connection.extra.get("hadoop", {})
    if not isinstance(own, Mapping):
        # Not the value: properties hold keys and passwords.
        raise _unusable(
            connection, f"extra hadoop is of the kind {type(own).__name__}", "an object of Hadoop properties"
        )
    properties = {**{key: str(value) for key, value in own.items()}, **settings.hadoop}
    return FileSystemEndpoint(root.rstrip("/"), properties, settings.user or _user(connection))


def _user(connection: Connection) -> str | None:
    user: str | None = connection.extra.get("user") or connection.login
    return user


def _unusable(connection: Connection, found: str, expected: str) -> InvalidSettings:
    return InvalidSettings(
        f"connection {connection.connection_id} cannot be used",
        found=found,
        expected=expected,
        next_step=f"correct connection {connection.connection_id}, then " + Clear("this task"),
    )


def _hdfs_uri(connection: Connection) -> str:
    return f"hdfs://{connection.host}:{connection.port}" if connection.port else f"hdfs://{connection.host}"
