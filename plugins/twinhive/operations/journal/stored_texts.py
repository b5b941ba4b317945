"""Make values fit for every database: no text is too long, or holds what cannot be stored."""

from collections.abc import Mapping
from typing import Any

_LONGEST = 4_000


def plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row's values with texts cut to 4,000 characters, without NUL and halves of surrogate pairs."""
    return {name: _text(value) if isinstance(value, str) else value for name, value in fields.items()}


def _text(value: str) -> str:
    whole = str(value).replace("\0", "").encode("utf-8", "replace").decode()
    return whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 1]}…"
