"""Take typed fields out of an opened message; a field of another type makes it unreadable."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.tjson import Tree
from twinhive.hive.events.event_errors import unreadable
from twinhive.hive.events.structs import parse_struct

_FLAGS = {"true": True, "false": False}
_STRUCT = "the TJSON text of a Thrift struct of Hive"
Read = TypeVar("Read")


@dataclass(frozen=True)
class MessageFields:
    """The fields of one event's message. Every method raises ActNow when the field is not as it says."""

    row: EventRow
    values: dict[str, Any] = field(repr=False)

    def text(self, key: str) -> str:
        """Return a text that must be there and not be empty."""
        value = self.optional_text(key)
        if not value:
            raise unreadable(self.row, f"{key}: {value!r}", "a text")
        return value

    def optional_text(self, key: str) -> str | None:
        """Return a text, or None for one that is absent or null."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise unreadable(self.row, f"{key}: {value!r:.80}", "a text")
        return value

    def flag(self, key: str) -> bool:
        """Return a flag, which Hive writes as text; absent is false, as for Hive itself."""
        value = self.values.get(key)
        if value is None:
            return False
        if isinstance(value, str):
            value = _FLAGS.get(value.lower())
        if not isinstance(value, bool):
            raise unreadable(self.row, f"{key}: {self.values[key]!r:.80}", "true or false")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts that must be there."""
        texts = self._items(key)
        if not all(isinstance(text, str) for text in texts):
            raise unreadable(self.row, f"{key}: {texts!r:.80}", "a list of texts")
        return tuple(texts)

    def optional_texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; absent is empty, as for Hive itself."""
        return self.texts(key) if self.values.get(key) is not None else ()

    def records(self, key: str) -> list["MessageFields"]:
        """Return a list of JSON objects that must be there."""
        records = self._items(key)
        if not all(isinstance(record, dict) for record in records):
            raise unreadable(self.row, f"{key}: {records!r:.80}", "a list of objects")
        return [MessageFields(self.row, record) for record in records]

    def optional_records(self, key: str) -> list["MessageFields"]:
        """Return a list of JSON objects; absent is empty."""
        return self.records(key) if self.values.get(key) is not None else []

    def struct(self, key: str, read: Callable[[Tree, str], Read]) -> Read:
        """Read the Thrift struct whose TJSON text is in a field that must be there."""
        return self._read(key, self.text(key), read)

    def structs(self, key: str, read: Callable[[Tree, str], Read]) -> tuple[Read, ...]:
        """Read the Thrift structs whose TJSON texts are in a list that must be there."""
        return tuple(self._read(key, text, read) for text in self.texts(key))

    def _items(self, key: str) -> list[Any]:
        value = self.values.get(key)
        if not isinstance(value, list):
            raise unreadable(self.row, f"{key}: {value!r:.80}", "a list")
        return value

    def _read(self, key: str, text: str, read: Callable[[Tree, str], Read]) -> Read:
        try:
            return read(*parse_struct(text))
        except ValueError as error:
            raise unreadable(self.row, f"{key}: {error}", _STRUCT) from error
        except (TypeError, AttributeError) as error:
            raise unreadable(self.row, f"{key}: a field is not of its type", _STRUCT) from error
