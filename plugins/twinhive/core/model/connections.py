"""Read a connection as Airflow writes it in an environment variable, without Airflow."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from twinhive.core.model.errors import InvalidSettings

SOURCE_VARIABLE, AIRFLOW = "TWINHIVE_CONNECTIONS", "airflow"
"""The variable that says where a terminal gets connections from, and the value that means Airflow."""


_TEXTS = ("uri", "user")
"""The keys of an extra whose values are texts."""


@dataclass(frozen=True)
class Connection:
    """One connection: what Airflow keeps, as far as we use it."""

    connection_id: str
    host: str
    port: int | None = None
    login: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    password: str | None = field(default=None, repr=False)
    kind: str = field(default="", compare=False)
    """Airflow's `conn_type`: `stomp`."""


def environment_name(connection_id: str) -> str:
    """Return the name of the variable that holds a connection."""
    return f"AIRFLOW_CONN_{connection_id.upper()}"


def parse_connection(connection_id: str, text: str) -> Connection:
    """Read Airflow's JSON form or its URI form. Raises InvalidSettings."""
    try:
        found = _from_json(connection_id, text) if text.lstrip().startswith("{") else _from_uri(connection_id, text)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidSettings(
            f"connection {connection_id} cannot be read",
            found=f"{environment_name(connection_id)}: {error}",
            expected='JSON such as {"conn_type": "hive_metastore", "host": "m1", "port": 9083}, or a URI',
            next_step=f"correct {environment_name(connection_id)}",
        ) from error
    return in_texts(found, environment_name(connection_id))


def in_texts(connection: Connection, place: str) -> Connection:
    """Return a connection whose parts are of the kinds that whoever uses it reckons with. Raises InvalidSettings.

    `place` is what a person corrects.
    """
    extra: object = connection.extra
    if isinstance(extra, Mapping):
        texts = {
            "host": connection.host,
            "login": connection.login,
            **{f"extra {key}": extra.get(key) for key in _TEXTS},
        }
        wrong = next((name for name, value in texts.items() if not isinstance(value, str | None)), None)
        if wrong is None:
            return connection
        kind, expected = type(texts[wrong]).__name__, "a text"
    else:
        wrong, kind, expected = "extra", type(extra).__name__, 'an object, such as {"uri": "hdfs://west"}'
    raise InvalidSettings(
        f"connection {connection.connection_id} cannot be used",
        # Not the value: extras hold passwords.
        found=f"{wrong} is of the kind {kind}",
        expected=expected,
        next_step=f"correct {place}",
    )


def _from_json(connection_id: str, text: str) -> Connection:
    fields = json.loads(text)
    extra = fields.get("extra") or {}
    extra = (json.loads(extra) or {}) if isinstance(extra, str) else extra
    port = fields.get("port")
    return Connection(
        connection_id,
        fields.get("host") or "",
        int(port) if port else None,
        fields.get("login"),
        extra,
        fields.get("password"),
        fields.get("conn_type") or "",
    )


def _from_uri(connection_id: str, text: str) -> Connection:
    parts = urlsplit(text)
    extra: dict[str, Any] = dict(parse_qsl(parts.query))
    if "__extra__" in extra:
        extra = json.loads(extra["__extra__"])
    login = unquote(parts.username) if parts.username else None
    password = unquote(parts.password) if parts.password else None
    kind = parts.scheme.replace("-", "_")
    return Connection(connection_id, unquote(parts.hostname or ""), parts.port, login, extra, password, kind)
