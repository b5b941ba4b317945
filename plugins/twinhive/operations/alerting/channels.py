"""Send letters: to Slack's incoming webhooks, to any webhook, by e-mail. What cannot be sent raises NotSent."""

import json
import smtplib
import ssl
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from urllib.parse import urlsplit

from twinhive.operations.alerting.alert_message import Letter

_SECONDS = 10.0
_SLACKS_LIMIT = 39_000


class NotSent(Exception):
    """A letter was not taken; the text says by whom, and holds no secret."""


@dataclass(frozen=True)
class Webhook:
    """An address that letters are posted to as JSON; with a password alone it is a bearer's token."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    login: str | None = None
    password: str | None = field(default=None, repr=False)

    def send(self, letter: Letter) -> None:
        """Post it. Raises NotSent."""
        _post(self.url, letter.as_json(), {**self._authorization(), **self.headers})

    def _authorization(self) -> dict[str, str]:
        if not self.password:
            return {}
        if self.login:
            return {"Authorization": "Basic " + b64encode(f"{self.login}:{self.password}".encode()).decode()}
        return {"Authorization": f"Bearer {self.password}"}


@dataclass(frozen=True)
class Slack:
    """An incoming webhook of Slack, or of what understands the same (Mattermost, Rocket.Chat)."""

    url: str = field(repr=False)

    def send(self, letter: Letter) -> None:
        """Post the text; names from a source must not call anybody. Raises NotSent."""
        text = letter.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        _post(self.url, {"text": text[:_SLACKS_LIMIT]}, {})


@dataclass(frozen=True)
class Email:
    """Addresses, and the mail server that takes letters for them."""

    to: tuple[str, ...]
    sender: str
    host: str
    port: int
    login: str | None = None
    password: str | None = field(default=None, repr=False)
    over_tls: bool = False
    start_tls: bool = False

    def send(self, letter: Letter) -> None:
        """Hand it to the server. Raises NotSent."""
        mail = EmailMessage()
        mail["Subject"], mail["From"], mail["To"] = letter.subject, self.sender, ", ".join(self.to)
        mail.set_content(letter.text)
        with _said(f"the mail server {self.host}:{self.port}"), self._connection() as server:
            if self.start_tls:
                server.starttls(context=ssl.create_default_context())
            if self.login:
                server.login(self.login, self.password or "")
            server.send_message(mail)

    def _connection(self) -> smtplib.SMTP:
        if self.over_tls:
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(self.host, self.port, timeout=_SECONDS, context=context)
        return smtplib.SMTP(self.host, self.port, timeout=_SECONDS)


def _post(url: str, content: object, headers: Mapping[str, str]) -> None:
    place = urlsplit(url)
    if place.scheme not in ("http", "https"):
        raise NotSent(f"the address begins with {place.scheme or 'nothing'}: expected https:// or http://")
    request = urllib.request.Request(  # noqa: S310 (the scheme was looked at)
        url,
        json.dumps(content, ensure_ascii=False).encode(),
        {"Content-Type": "application/json", "User-Agent": "twinhive", **headers},
        method="POST",
    )
    with _said(f"{place.scheme}://{place.hostname}"), urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
        answer.read(1)


@contextmanager
def _said(where: str) -> Iterator[None]:
    """Raise what goes wrong inside as NotSent, without the path of an address: it may be a secret."""
    try:
        yield
    except urllib.error.HTTPError as error:
        raise NotSent(f"{where} answered {error.code} {error.reason}") from None
    except (OSError, smtplib.SMTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise NotSent(f"{where}: {type(error).__name__}: {' '.join(str(reason).split())[:300]}") from None
