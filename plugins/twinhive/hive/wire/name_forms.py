"""The forms in which clients write names of databases and tables: with a catalog, in any case, with blanks around.

As Hive's `MetaStoreUtils.parseDbName` reads them: `@hive#sales`, `@hive#` for no database, `@hive#!` for an empty name.
"""

from dataclasses import dataclass

_BLANKS = "".join(map(chr, range(33)))
_MARKER, _SEPARATOR, _EMPTY = "@", "#", "!"


def key_of(name: str) -> str:
    """Return a name as the metastore compares it. Java takes fewer characters than Python for blanks."""
    return name.strip(_BLANKS).lower()


@dataclass(frozen=True, slots=True)
class DatabaseText:
    """A database as a client wrote it; `catalog` is None where none was said, `database` where all are meant."""

    text: str
    catalog: str | None
    database: str | None

    @staticmethod
    def parse(text: str) -> "DatabaseText":
        """Read a form; one that Hive refuses stays as it stands: the metastore says what is wrong with it."""
        if not text.startswith(_MARKER) or _SEPARATOR not in text:
            return DatabaseText(text, None, text)
        if text.endswith(_SEPARATOR):
            return DatabaseText(text, text[1:-1], None)
        if text.endswith(_EMPTY):
            return DatabaseText(text, text[1:-2], "")
        catalog, _, database = text[1:].partition(_SEPARATOR)
        return DatabaseText(text, catalog, database)

    @property
    def key(self) -> str | None:
        """The database as the metastore compares it; None where all are meant."""
        return None if self.database is None else key_of(self.database)

    def only(self, database: str) -> str:
        """Return the same form for one database, also where all are meant."""
        return database if self.catalog is None else f"{_MARKER}{self.catalog}{_SEPARATOR}{database}"

    def renamed(self, database: str) -> str:
        """Return the same form with another database."""
        if not self.database or self.catalog is None:
            return database if self.catalog is None else self.text
        return f"{_MARKER}{self.catalog}{_SEPARATOR}{database}"


def split_full_name(text: str) -> tuple[str, str, str] | None:
    """Split `sales.orders` or `hive.sales.orders` into what stands before (`hive.` or nothing), database and table."""
    catalog, dot, rest = text.partition(".")
    database, second, table = rest.partition(".")
    if not dot or "." in table:
        return None
    return (f"{catalog}.", database, table) if second else ("", catalog, rest)
