"""Addresses of the web in definitions: only what means the same to whoever allows them and to whoever connects."""

import re
from urllib.parse import urlsplit

_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")


def is_web_address(text: str) -> bool:
    """Say whether a text is `http(s)://host[:port][/path]`: no user before an @, no odd characters."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    is_plain = text.isascii() and text.isprintable() and not re.search(r"[\\\s@?#]", text)
    return is_plain and parts.scheme in ("http", "https") and bool(host and _HOST.fullmatch(host))
