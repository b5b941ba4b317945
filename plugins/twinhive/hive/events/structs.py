"""Parse the Thrift structs that event messages hold as TJSON text."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from twinhive.core.model.tjson import AS_HIVE_WRITES, Tree

# Half of a surrogate pair: JSON can spell it, no file and no metastore can store it.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

# TJSON puts a list where JSON wants a string when a map has lists as keys, as the locations of
# skewed values have: {["str",1,"a"]:"hdfs://..."}. Strings are matched first, to step over them.
_STRING = r'"(?:[^"\\]|\\.)*+"'
_LIST_AS_KEY = re.compile(rf"{_STRING}|(?P<key>\[(?:{_STRING}|[^\[\]\"])*+\])(?=\s*:)", re.DOTALL)


def parse_json(text: str) -> Any:
    """Parse JSON as Hive writes it, with control characters unescaped in strings. Raises ValueError."""
    try:
        value = AS_HIVE_WRITES.decode(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def parse_struct(text: str) -> tuple[Tree, str]:
    """Return the tree of a struct and its text, in which every map key is a string.

    Raises ValueError when the text is no TJSON of a struct.
    """
    try:
        tree = parse_json(text)
    except ValueError:
        text = _with_keys_as_strings(text)
        tree = parse_json(text)
    _check(tree)
    return tree, text


def _with_keys_as_strings(text: str) -> str:
    """Write lists that are keys as strings, in the form that `adapters.hive.thrift_json` reads back."""
    return _LIST_AS_KEY.sub(lambda match: _quoted(match["key"]) if match["key"] else match[0], text)


def _quoted(key: str) -> str:
    return json.dumps(json.dumps(parse_json(key), ensure_ascii=False), ensure_ascii=False)


def _check(struct: Any) -> None:
    """Raise ValueError unless every value has the shape that its type name says."""
    unchecked = [("rec", struct)]
    while unchecked:
        kind, value = unchecked.pop()
        if kind in _PARTS:
            unchecked += _PARTS[kind](value)
        elif type(value) not in _SCALARS.get(kind, (type(value),)):
            raise ValueError(f"{value!r:.80} is no value of type {kind}")


def _of_record(value: Any) -> Iterator[tuple[str, Any]]:
    if type(value) is not dict:
        raise ValueError(f"{value!r:.80} is not a struct")
    for field_id, typed in value.items():
        if type(typed) is not dict or len(typed) != 1:
            raise ValueError(f"field {field_id} of a struct is {typed!r:.80}, not one value with its type")
        yield from typed.items()


def _of_list(value: Any) -> Iterator[tuple[str, Any]]:
    if type(value) is not list or len(value) < 2 or type(value[0]) is not str:
        raise ValueError(f"{value!r:.80} is not a list with its type and length")
    kind = value[0]
    return ((kind, item) for item in value[2:])


def _of_map(value: Any) -> Iterator[tuple[str, Any]]:
    if type(value) is not list or len(value) != 4 or type(value[1]) is not str or type(value[3]) is not dict:
        raise ValueError(f"{value!r:.80} is not a map with its types and length")
    kind = value[1]
    return ((kind, item) for item in value[3].values())


_WHOLE = (int,)
_SCALARS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "tf": (int, bool),
    "i8": _WHOLE,
    "i16": _WHOLE,
    "i32": _WHOLE,
    "i64": _WHOLE,
    "dbl": (int, float, str),  # Thrift writes NaN and the infinities as strings
}
_PARTS: dict[str, Callable[[Any], Iterator[tuple[str, Any]]]] = {
    "rec": _of_record,
    "lst": _of_list,
    "set": _of_list,
    "map": _of_map,
}
