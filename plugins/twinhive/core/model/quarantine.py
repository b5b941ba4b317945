"""Keep which tables of a replica are frozen, and why, as parameters of its database.

A parameter's key has room for 180 characters: the name of a longer table stands in the value, under a hash.
"""

import json
from collections.abc import Collection

from twinhive.core.model.files import short_hash
from twinhive.core.model.marks import QUARANTINE, QUARANTINE_LONG
from twinhive.core.model.objects import Parameters

_LONGEST_KEY = 180


def frozen_tables(parameters: Parameters) -> dict[str, str]:
    """Return the frozen tables of a replica database, with the reasons."""
    frozen = {key.removeprefix(QUARANTINE): why for key, why in parameters.items() if key.startswith(QUARANTINE)}
    long = (json.loads(value) for key, value in parameters.items() if key.startswith(QUARANTINE_LONG))
    return frozen | dict(long)


def is_frozen(parameters: Parameters, table: str) -> bool:
    """True when a table is frozen."""
    return _key(table) in parameters


def with_frozen(parameters: Parameters, table: str, why: str) -> dict[str, str]:
    """Return the parameters with one more table frozen."""
    key = _key(table)
    return {**parameters, key: why if key.startswith(QUARANTINE) else json.dumps([table, why], ensure_ascii=False)}


def without_frozen(parameters: Parameters, tables: Collection[str]) -> dict[str, str]:
    """Return the parameters with tables released."""
    gone = {_key(table) for table in tables}
    return {key: value for key, value in parameters.items() if key not in gone}


def _key(table: str) -> str:
    key = QUARANTINE + table
    return key if len(key) <= _LONGEST_KEY else QUARANTINE_LONG + short_hash(table, 32)
