"""Change one field of a message's struct and leave all other bytes as they are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from struct import Struct as Packing
from struct import error as PackingError
from typing import Final, NamedTuple

from twinhive.hive.wire.method_table import LIST, MAP, STRING, STRUCT
from twinhive.hive.wire.thrift_message import MessageKind, WireError, WireMessage
from twinhive.hive.wire.thrift_skip import end_of_value

_SHORT: Final = Packing("!h")
_INT: Final = Packing("!i")
_FIELD: Final = Packing("!bh")
_TEXTS: Final = bytes((STRING, STRING))


class FieldPlace(NamedTuple):
    """Where a field's value stands; its type and number are the three bytes before it."""

    code: int
    begin: int
    end: int


def fields_of(raw: bytes, at: int) -> Iterator[tuple[int, FieldPlace]]:
    """Yield the fields of a struct by number. Raises WireError for bytes that are none."""
    try:
        while code := raw[at]:
            number = _SHORT.unpack_from(raw, at + 1)[0]
            end = end_of_value(raw, code, at + 3)
            yield number, FieldPlace(code, at + 3, end)
            at = end
    except (IndexError, ValueError) as error:
        raise WireError("a struct that ends in the middle") from error


def place_of(message: WireMessage, path: Sequence[int]) -> FieldPlace | None:
    """Find a field by the numbers that lead to it; None where one of them is not there."""
    raw, at = message.raw, message.at
    code = STRUCT
    try:
        for number in path:
            if code != STRUCT or not (found := _begin_of(raw, at, number)):
                return None
            at = found
            code = raw[at - 3]
        return FieldPlace(code, at, end_of_value(raw, code, at)) if path else None
    except (IndexError, ValueError, PackingError) as error:
        raise WireError("a struct that ends in the middle") from error


def _begin_of(raw: bytes, at: int, number: int) -> int:
    """Return where a field's value begins in the struct at `at`; 0 where it has no such field."""
    while code := raw[at]:
        at += 3
        if _SHORT.unpack_from(raw, at - 2)[0] == number:
            return at
        at = at + 4 + _INT.unpack_from(raw, at)[0] if code == STRING else end_of_value(raw, code, at)
    return 0


def error_text(answer: WireMessage) -> str | None:
    """Return what an exception says, whichever it is; None for an answer that is none."""
    if answer.head.kind is MessageKind.EXCEPTION:
        return text_at(answer, (1,)) or ""
    number = next((number for number, _ in fields_of(answer.raw, answer.at)), 0)
    return None if number == 0 else text_at(answer, (number, 1)) or ""


def without(message: WireMessage, path: Sequence[int]) -> WireMessage:
    """Take a field away, if it is there."""
    place = place_of(message, path)
    return message if place is None else _spliced(message, place.begin - 3, place.end, b"")


def text_at(message: WireMessage, path: Sequence[int]) -> str | None:
    """Return a text, None where there is none."""
    return text_of(message.raw, place_of(message, path))


def text_of(raw: bytes, place: FieldPlace | None) -> str | None:
    """Return a text, None where there is none."""
    if place is None or place.code != STRING:
        return None
    return raw[place.begin + 4 : place.end].decode("utf-8", "surrogateescape")


def texts_at(message: WireMessage, path: Sequence[int]) -> tuple[str, ...] | None:
    """Return a list of texts, None where there is none."""
    place = place_of(message, path)
    if place is None or place.code != LIST or message.raw[place.begin] != STRING:
        return None
    texts, at = [], place.begin + 5
    for _ in range(_INT.unpack_from(message.raw, place.begin + 1)[0]):
        end = end_of_value(message.raw, STRING, at)
        texts.append(message.raw[at + 4 : end].decode("utf-8", "surrogateescape"))
        at = end
    return tuple(texts)


def with_texts(message: WireMessage, path: Sequence[int], texts: Iterable[str]) -> WireMessage:
    """Put another list of texts in the place of one that is there. Raises WireError."""
    place = _needed(message, path, LIST)
    encoded = [_text(text) for text in texts]
    value = bytes((STRING,)) + _INT.pack(len(encoded)) + b"".join(encoded)
    return _spliced(message, place.begin, place.end, value)


def elements_at(message: WireMessage, path: Sequence[int]) -> tuple[bytes, ...]:
    """Return the encoded elements of a list; none where there is no list."""
    place = place_of(message, path)
    if place is None or place.code != LIST:
        return ()
    elements, at, code = [], place.begin + 5, message.raw[place.begin]
    for _ in range(_INT.unpack_from(message.raw, place.begin + 1)[0]):
        end = end_of_value(message.raw, code, at)
        elements.append(message.raw[at:end])
        at = end
    return tuple(elements)


def with_elements(message: WireMessage, path: Sequence[int], elements: Sequence[bytes]) -> WireMessage:
    """Put other structs into a list that is there. Raises WireError."""
    place = _needed(message, path, LIST)
    value = bytes((STRUCT,)) + _INT.pack(len(elements)) + b"".join(elements)
    return _spliced(message, place.begin, place.end, value)


def text_in(element: bytes, number: int) -> str | None:
    """Return a text of an encoded struct, None where there is none."""
    place = next((place for one, place in fields_of(element, 0) if one == number), None)
    return None if place is None else element[place.begin + 4 : place.end].decode("utf-8", "surrogateescape")


def with_texts_added(message: WireMessage, path: Sequence[int], texts: Iterable[str]) -> WireMessage:
    """Put a list of texts into a struct, in the place of one that may be there. Raises WireError without the struct."""
    encoded = [_text(text) for text in texts]
    return _with_field(message, path, LIST, bytes((STRING,)) + _INT.pack(len(encoded)) + b"".join(encoded))


def joined_lists(messages: Sequence[WireMessage], path: Sequence[int]) -> WireMessage:
    """Return the first message with the elements of all in its list. Raises WireError where one has no such list."""
    count, elements, kind = 0, [], None
    for message in messages:
        place = _needed(message, path, LIST)
        number = _INT.unpack_from(message.raw, place.begin + 1)[0]
        if number:
            kind = message.raw[place.begin]
            elements.append(message.raw[place.begin + 5 : place.end])
            count += number
    first = messages[0]
    place = _needed(first, path, LIST)
    code = first.raw[place.begin] if kind is None else kind
    return _spliced(first, place.begin, place.end, bytes((code,)) + _INT.pack(count) + b"".join(elements))


def entries_at(message: WireMessage, path: Sequence[int]) -> dict[str, str]:
    """Return a map of texts; none where there is no such map."""
    return entries_of(message.raw, place_of(message, path)) or {}


def entries_of(raw: bytes, place: FieldPlace | None) -> dict[str, str] | None:
    """Return a map of texts, None where there is none."""
    if place is None or place.code != MAP or raw[place.begin : place.begin + 2] != _TEXTS:
        return None
    texts, at = [], place.begin + 6
    while at < place.end:
        end = at + 4 + _INT.unpack_from(raw, at)[0]
        texts.append(raw[at + 4 : end].decode("utf-8", "surrogateescape"))
        at = end
    return dict(zip(texts[::2], texts[1::2], strict=True))


def with_entries(message: WireMessage, path: Sequence[int], entries: Mapping[str, str]) -> WireMessage:
    """Put entries into a map of texts, others than those with their keys; a message without a map stays as it is."""
    place = place_of(message, path)
    if place is None or place.code != MAP or not entries:
        return message
    old = message.raw[place.begin + 6 : place.end]
    count = _INT.unpack_from(message.raw, place.begin + 2)[0]
    if any(_text(key) in old for key in entries):
        kept = {key: value for key, value in entries_at(message, path).items() if key not in entries}
        old, count = _encoded(kept), len(kept)
    head = _TEXTS + _INT.pack(count + len(entries))
    return _spliced(message, place.begin, place.end, head + old + _encoded(entries))


def _encoded(entries: Mapping[str, str]) -> bytes:
    return b"".join(_text(key) + _text(value) for key, value in entries.items())


def entries_field(number: int, entries: Mapping[str, str]) -> bytes:
    """Encode a field that holds a map of texts."""
    return _FIELD.pack(MAP, number) + _TEXTS + _INT.pack(len(entries)) + _encoded(entries)


def with_text(message: WireMessage, path: Sequence[int], text: str) -> WireMessage:
    """Put a text into a struct, in the place of one that may be there. Raises WireError without the struct."""
    return _with_field(message, path, STRING, _text(text))


def with_value(message: WireMessage, path: Sequence[int], text: str) -> WireMessage:
    """Put another text in the place of one that is there. Raises WireError."""
    place = _needed(message, path, STRING)
    return _spliced(message, place.begin, place.end, _text(text))


def with_struct(message: WireMessage, path: Sequence[int], struct: bytes) -> WireMessage:
    """Put another struct in the place of one that is there. Raises WireError."""
    place = _needed(message, path, STRUCT)
    return _spliced(message, place.begin, place.end, struct)


def _with_field(message: WireMessage, path: Sequence[int], code: int, value: bytes) -> WireMessage:
    message = without(message, path)
    begin = _needed(message, path[:-1], STRUCT).begin if path[1:] else message.at
    return _spliced(message, begin, begin, _FIELD.pack(code, path[-1]) + value)


def _needed(message: WireMessage, path: Sequence[int], code: int) -> FieldPlace:
    place = place_of(message, path)
    if place is None or place.code != code:
        raise WireError(f"no field {'/'.join(map(str, path))} in {message.head.method}")
    return place


def _text(text: str) -> bytes:
    value = text.encode("utf-8", "surrogateescape")
    return _INT.pack(len(value)) + value


def _spliced(message: WireMessage, begin: int, end: int, value: bytes) -> WireMessage:
    return WireMessage(message.head, message.raw[:begin] + value + message.raw[end:], message.at)
