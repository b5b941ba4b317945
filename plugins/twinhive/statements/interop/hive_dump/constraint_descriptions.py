"""Write and read `_constraints/c_<table>` and `f_<table>`: what Hive's dump of a database says of constraints.

JSON that holds the messages of the events that would add them (Hive: `ConstraintsSerializer`). The foreign keys of a
table have a file of their own, so that they are loaded after what they refer to.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from twinhive.core.model.constraints import FOREIGN_KEY, Constraint, constraints_of
from twinhive.hive.events.constraint_messages import LISTS
from twinhive.statements.interop.hive_dump.hive_dump_errors import unreadable
from twinhive.statements.interop.hive_dump.object_descriptions import VERSION, read_description

_KEYS = {"primary_key": "pks", "unique": "uks", "not_null": "nns", FOREIGN_KEY: "fks", "default": "dks", "check": "cks"}


def encode_constraints(constraints: Iterable[Constraint]) -> bytes:
    """Describe constraints of one table."""
    lists = {kind: [text for one in constraints if one.kind == kind for text in one.structs] for kind in _KEYS}
    fields = {key: _message(kind, lists[kind]) if lists[kind] else "" for kind, key in _KEYS.items()}
    return json.dumps({"version": VERSION, **fields}, separators=(",", ":")).encode("ascii")


def decode_constraints(content: bytes, path: str) -> tuple[Constraint, ...]:
    """Read the constraints of one table. Raises ActNow."""
    fields = read_description(content, path)
    found: list[Constraint] = []
    for kind, key in _KEYS.items():
        try:
            found += constraints_of(kind, _structs(kind, fields.get(key) or ""))
        except (ValueError, TypeError, KeyError) as error:
            raise unreadable(path, f"{key}: {error!r}", "the message of the event that adds constraints") from error
    return tuple(found)


def _message(kind: str, structs: list[str]) -> str:
    said = {"server": "", "servicePrincipal": "", "timestamp": 0, LISTS[kind]: structs}
    return json.dumps(said, separators=(",", ":"))


def _structs(kind: str, message: str) -> Iterator[str]:
    if not message:
        return
    said: Any = json.loads(message, strict=False)
    yield from said[LISTS[kind]]
