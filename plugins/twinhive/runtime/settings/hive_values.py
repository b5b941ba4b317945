"""Read the values of Hive's keys, which are all text: each kind with what it allows and how it is written."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from twinhive.core.model.external.modes import COPY, METADATA_ONLY
from twinhive.runtime.settings.allowed_values import allowed, kind_of
from twinhive.runtime.settings.options import OptionsSettings

_DURATION = re.compile(r"(\d{1,9})\s*([a-z]*)")
_SECONDS: Mapping[str, int] = {
    **dict.fromkeys(("d", "day", "days"), 86_400),
    **dict.fromkeys(("h", "hour", "hours"), 3_600),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
}
_DIRECTORY = re.compile(r"(?:[a-z][a-z0-9+.-]*://[^/]*)?/.*")


class ValueKind(Protocol):
    """A kind of values."""

    @property
    def says(self) -> str:
        """What a value may be."""

    def read(self, text: str) -> object:
        """Return the value of a text. Raises ValueError."""

    def written(self, value: object) -> str:
        """Return a text that `read` reads as this value."""


@dataclass(frozen=True)
class Flag:
    """true or false, in any case."""

    says: str = "true, false"

    def read(self, text: str) -> bool:
        """Return the value of a text. Raises ValueError."""
        return {"true": True, "false": False}[_one_of(text.lower(), "true", "false")]

    def written(self, value: object) -> str:
        """Return the text of a value."""
        return str(value).lower()


@dataclass(frozen=True)
class ExternalData:
    """true: of external tables only metadata is replicated; the word of `external_tables.data` for it."""

    says: str = "true, false"

    def read(self, text: str) -> str:
        """Return the value of a text. Raises ValueError."""
        return METADATA_ONLY if Flag().read(text) else COPY

    def written(self, value: object) -> str:
        """Return the text of a value."""
        return Flag().written(value == METADATA_ONLY)


@dataclass(frozen=True)
class Choice:
    """One of several words."""

    words: tuple[str, ...]

    @property
    def says(self) -> str:
        """What a value may be."""
        return ", ".join(f"`{word}`" for word in self.words)

    def read(self, text: str) -> str:
        """Return the value of a text. Raises ValueError."""
        return _one_of(text, *self.words)

    def written(self, value: object) -> str:
        """Return the text of a value."""
        return str(value)


@dataclass(frozen=True)
class Duration:
    """A time with a unit, in seconds; without a unit it counts in `unit`, as Hive says of the key."""

    unit: str

    @property
    def says(self) -> str:
        """What a value may be."""
        return f"duration: a number with d, h, m or s, such as 12h; without one, {self.unit}"

    def read(self, text: str) -> int:
        """Return the value of a text. Raises ValueError."""
        match = _DURATION.fullmatch(text.lower())
        if not match or (match[2] or self.unit) not in _SECONDS:
            raise ValueError(text)
        return int(match[1]) * _SECONDS[match[2] or self.unit]

    def written(self, value: object) -> str:
        """Return the text of a value."""
        seconds = int(str(value))
        unit = next(unit for unit in "dhms" if seconds % _SECONDS[unit] == 0)
        return f"{seconds // _SECONDS[unit]}{unit}"


@dataclass(frozen=True)
class Directory:
    """An absolute path or a URI; a slash at the end does not count."""

    says: str = "path: absolute, or a URI"

    def read(self, text: str) -> str:
        """Return the value of a text. Raises ValueError."""
        if not _DIRECTORY.fullmatch(text):
            raise ValueError(text)
        inner = text.rstrip("/")
        return inner if _DIRECTORY.fullmatch(inner) else f"{inner}/"

    def written(self, value: object) -> str:
        """Return the text of a value."""
        return str(value)


@dataclass(frozen=True)
class Option:
    """A value of a key of a policy's `options`, with the same rules."""

    name: str

    @property
    def says(self) -> str:
        """What a value may be."""
        return allowed(kind_of(OptionsSettings.model_fields[self.name]))

    def read(self, text: str) -> object:
        """Return the value of a text. Raises ValueError."""
        return getattr(OptionsSettings.model_validate({self.name: text}), self.name)

    def written(self, value: object) -> str:
        """Return the text of a value."""
        return str(value)


def _one_of(text: str, *words: str) -> str:
    if text not in words:
        raise ValueError(text)
    return text
