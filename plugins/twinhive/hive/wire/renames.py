"""Which databases and tables are called differently, and what becomes of a name."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from twinhive.hive.wire.field_roles import FoundText
from twinhive.hive.wire.name_forms import DatabaseText, key_of, split_full_name
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.thrift_message import WireError


@dataclass(frozen=True)
class Renames:
    """What to call databases and tables instead; keys as the metastore compares names (`forms.key_of`).

    A table that has an entry of its own takes its database with it. Every other table keeps its name, and has its
    database renamed if that has an entry.
    """

    databases: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    @property
    def nothing(self) -> bool:
        """Say that every name stays, because it is the same on both sides."""
        same_tables = all(pair == new for pair, new in self.tables.items())
        return same_tables and all(name == new for name, new in self.databases.items())

    @property
    def back(self) -> "Renames":
        """The way back, for the answer. Raises WireError when two names would become one."""
        databases = {key_of(new): old for old, new in self.databases.items()}
        tables = {(key_of(new[0]), key_of(new[1])): old for old, new in self.tables.items()}
        if len(databases) < len(self.databases) or len(tables) < len(self.tables):
            raise WireError("two local names stand for the same remote one in one call")
        return Renames(databases, tables)

    def change(self, one: FoundText) -> bytes | None:
        """Return what a text becomes, None where it stays. Raises WireError where it would become two things."""
        text = one.text.decode("utf-8", "surrogateescape")
        match one.field.role:
            case Role.DATABASE | Role.DATABASE_PATTERN:  # a pattern may be a name
                new = self._database(text, one.tables)
            case Role.TABLE:
                new = self._table(text, one.database)
            case Role.FULL_NAME:
                new = self._full_name(text)
            case Role.SNAPSHOT:
                new = self._snapshot(text)
            case _:
                new = None
        return None if new is None or new == text else new.encode("utf-8", "surrogateescape")

    def _database(self, text: str, tables: tuple[bytes, ...]) -> str | None:
        form = DatabaseText.parse(text)
        if not form.key:
            return None
        pairs = [self.tables.get((form.key, key_of(table.decode("utf-8", "replace")))) for table in tables]
        new = {pair[0] if pair else self.databases.get(form.key) for pair in pairs} or {self.databases.get(form.key)}
        if len({one or form.key for one in new}) > 1:
            raise WireError(f"one call names tables of {text} that stand for tables of several databases")
        # A table that goes by another name in the same database leaves this text as it is, as its neighbours do.
        database = None if None in new else new.pop()
        return None if database is None else form.renamed(database)

    def _table(self, text: str, database: bytes | None) -> str | None:
        if not self.tables or database is None:
            return None
        form = DatabaseText.parse(database.decode("utf-8", "surrogateescape"))
        pair = self.tables.get((form.key or "", key_of(text)))
        return pair[1] if pair else None

    def _full_name(self, text: str) -> str | None:
        if (parts := split_full_name(text)) is None:
            return None
        catalog, database, table = parts
        if pair := self.tables.get((key_of(database), key_of(table))):
            return f"{catalog}{pair[0]}.{pair[1]}"
        new = self.databases.get(key_of(database))
        return None if new is None else f"{catalog}{new}.{table}"

    def _snapshot(self, text: str) -> str | None:
        """Rename `sales.orders:7:9:…` in each part between `$`; a part of transactions only has no name."""
        parts = []
        for part in text.split("$"):
            name, colon, rest = part.partition(":")
            parts.append((self._full_name(name) or name) + colon + rest)
        return "$".join(parts)
