"""Make of what a policy file says of a channel something that letters can be sent through, by Airflow's connections."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from airflow.sdk import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException

from twinhive.operations.alerting.alert_message import Letter
from twinhive.operations.alerting.channels import Email, NotSent, Slack, Webhook
from twinhive.runtime.settings.watch_settings import ChannelSettings

_SLACK = "https://hooks.slack.com/services"
_SCHEMES = ("http", "https")


class Sender(Protocol):
    """What letters are sent through."""

    def send(self, letter: Letter) -> None:
        """Send a letter. Raises NotSent, or whatever a foreign notifier raises."""


@dataclass(frozen=True)
class Notifier:
    """A notifier of Airflow, or any class whose instances are called with a context; `twinhive` in it is the letter."""

    path: str
    arguments: Mapping[str, Any]
    context: Mapping[str, Any]

    def send(self, letter: Letter) -> None:
        """Make a notifier, and call it."""
        module, _, name = self.path.rpartition(".")
        try:
            kind = getattr(import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise NotSent(f"{self.path} cannot be imported: {error}") from None
        kind(**self.arguments)({**self.context, "twinhive": letter})


def sender_of(channel: ChannelSettings, context: Mapping[str, Any]) -> Sender:
    """Return what a channel sends through. Raises NotSent when Airflow does not give its connection."""
    if channel.notifier:
        return Notifier(channel.notifier, channel.arguments, context)
    if channel.email:
        return _mail(channel, _connection(channel.smtp))
    if channel.slack:
        found = _connection(channel.slack)
        secret = (found.password or "").strip("/")
        return Slack("/".join([_address(found, _SLACK).rstrip("/"), *([secret] if secret else [])]))
    found = _connection(channel.webhook or "")
    headers = {str(name): str(value) for name, value in (found.extra_dejson.get("headers") or {}).items()}
    return Webhook(_address(found, ""), headers, found.login, found.password)


def _connection(connection_id: str) -> Any:
    try:
        return BaseHook.get_connection(connection_id)
    except AirflowNotFoundException:
        raise NotSent(f"Airflow knows no connection {connection_id}, or its secrets backend does not answer") from None


def _address(connection: Any, usual: str) -> str:
    """Return the URL that a connection means, in the ways in which Airflow's own hooks and URIs write it."""
    host, port, schema = connection.host or "", connection.port, connection.schema or ""
    if not host:
        return usual
    if "://" in host:
        return str(host)
    scheme = next((one for one in (schema, connection.conn_type) if one in _SCHEMES), "https")
    path = "" if schema in _SCHEMES or not schema else "/" + schema.lstrip("/")
    place, slash, rest = host.partition("/")
    return f"{scheme}://{place}{f':{port}' if port else ''}{slash}{rest}{path}"


def _mail(channel: ChannelSettings, connection: Any) -> Email:
    extra = connection.extra_dejson
    over_tls = not extra.get("disable_ssl", False)
    sender = extra.get("from_email") or connection.login or ""
    if "@" not in sender:
        raise NotSent(f"connection {channel.smtp} says no sender: give its extra a from_email")
    return Email(
        channel.email,
        sender,
        connection.host or "localhost",
        connection.port or (465 if over_tls else 25),
        connection.login or None,
        connection.password,
        over_tls=over_tls,
        start_tls=not over_tls and not extra.get("disable_tls", False),
    )
