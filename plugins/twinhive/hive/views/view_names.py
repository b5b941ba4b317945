"""What a view's text names, each with the positions of its words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """An identifier in a text: what it says, where it begins and ends, and whether it stands in quotes."""

    name: str
    begin: int
    end: int
    quoted: bool = False

    @property
    def key(self) -> str:
        """The name as a metastore compares it."""
        return self.name.strip().lower()


@dataclass(frozen=True, slots=True)
class TableWords:
    """A table that is read; without a database it is one of the view's own.

    is_called  an alias follows: columns are called by it, never by the table's name
    takes_alias  one may be written right behind the name
    """

    database: Word | None
    table: Word
    is_called: bool = False
    takes_alias: bool = True


@dataclass(frozen=True, slots=True)
class ColumnWords:
    """`sales.orders.id`: a column under the full name of its table."""

    database: Word
    table: Word


@dataclass(frozen=True, slots=True)
class NamedInText:
    """All that a text names.

    functions  the databases of functions: `sales` of `sales.rate(a)`
    bare       functions without one that may be anybody's: `rate` of `rate(a)`
    elsewhere  parts of names in other catalogs than the metastore's own, or of what is inside a table (Iceberg's
               `sales.orders.snapshots`): only who reads the text knows which
    computed   what names a table, or a file, in a way that no text tells: `IDENTIFIER('sales' || '.orders')`
    called     in lower case: aliases, and names that a WITH gives
    """

    tables: tuple[TableWords, ...] = ()
    columns: tuple[ColumnWords, ...] = ()
    functions: tuple[Word, ...] = ()
    bare: tuple[str, ...] = ()
    elsewhere: tuple[tuple[str, ...], ...] = ()
    computed: tuple[str, ...] = ()
    called: frozenset[str] = frozenset()
