"""Write the keys of `WITH` as tables: those that are understood, and Hive's others with why they are not."""

from twinhive.runtime.settings.hive_key_table import KEYS, HiveKey
from twinhive.runtime.settings.hive_keys_refused import REFUSED


def hive_keys_table() -> str:
    """Return the keys that statements understand."""
    head = ["| Key | Statements | Value | Default | Meaning | Where Hive 4 differs |", "|---|---|---|---|---|---|"]
    return "\n".join([*head, *map(_row, KEYS.values())])


def refused_hive_keys_table() -> str:
    """Return the keys of Hive that have no use here."""
    rows = [f"| `{one.name}` | {one.reason} | {one.instead} |" for one in REFUSED]
    return "\n".join(["| Key | Why not | Instead |", "|---|---|---|", *rows])


def _row(key: HiveKey) -> str:
    statements = ", ".join(kind.upper() for kind in key.statements)
    default = "none" if key.default is None else f"`{key.kind.written(key.default)}`"
    return f"| `{key.name}` | {statements} | {key.kind.says} | {default} | {key.meaning} | {key.differs} |"
