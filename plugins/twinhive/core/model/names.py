"""Name tables, partitions and their directories as Hive does."""

import re
from dataclasses import dataclass
from unicodedata import category

from twinhive.core.model.errors import InvalidSettings

# The characters that Hive escapes in a directory name (FileUtils.charToEscape): all control
# characters and these. Everything else, blanks and non-ASCII letters included, stays as it is.
_ESCAPED = frozenset("\"#%'*/:=?\\\x7f{[]^") | {chr(code) for code in range(1, 32)}
_ESCAPE_SEQUENCE = re.compile(r"%([0-9A-Fa-f]{2})")

DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, order=True)
class TableName:
    """One table or view: `database.table`, both in lower case as the metastore keeps them."""

    database: str
    table: str

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"

    @classmethod
    def parse(cls, text: str) -> "TableName":
        """Read `database.table`; raises ValueError for anything else.

        A table's name may hold dots, a database's cannot: Hive allows letters, digits and `_` there.
        """
        database, dot, table = text.partition(".")
        if not (database and dot and table):
            raise ValueError(f"{text!r} is not a table name: expected database.table")
        return cls(database.lower(), table.lower())

    @classmethod
    def given(cls, text: str, mend: str = "name the table with its database") -> "TableName":
        """Read what a person has written. Raises InvalidSettings; `mend` says what to do then."""
        try:
            return cls.parse(text)
        except ValueError as error:
            raise InvalidSettings(
                f"{text!r} is no table", found=text, expected="database.table", next_step=mend
            ) from error


def escape_path_name(value: str) -> str:
    """Escape one partition key or value as Hive's FileUtils.escapePathName does."""
    if not value:
        return DEFAULT_PARTITION
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in value)


def unescape_path_name(name: str) -> str:
    """Undo `escape_path_name`."""
    return _ESCAPE_SEQUENCE.sub(lambda match: chr(int(match[1], 16)), name)


def default_directory(table: str) -> str:
    """Name the directory in which Hive's metastore puts a managed table (MetaStoreUtils.encodeTableName)."""
    units = table.lower().encode("utf-16-be", "surrogatepass")
    chars = (chr(int.from_bytes(units[at : at + 2], "big")) for at in range(0, len(units), 2))
    return "".join(char if _stays(char) else f"-{ord(char)}-" for char in chars)


def _stays(char: str) -> bool:
    # As Character.isLetterOrDigit judges: halves of pairs are neither.
    return char == "_" or category(char)[0] == "L" or category(char) == "Nd"


def partition_name(keys: tuple[str, ...], values: tuple[str, ...]) -> str:
    """Build the name that is also the default directory: `month=1/day=2`, escaped."""
    return "/".join(
        f"{escape_path_name(key.lower())}={escape_path_name(value)}" for key, value in zip(keys, values, strict=True)
    )


def partition_values(name: str) -> tuple[str, ...]:
    """Return the values that a partition's name tells; an empty one hides behind the default name."""
    return tuple(unescape_path_name(part.partition("=")[2]) for part in name.split("/"))
