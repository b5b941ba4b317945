"""A view's text with other names, word by word: comments, strings, columns and aliases stay as they are.

Names are those of the metastore that has the view; `known` says what they are called where the text is to be read. What
is not known there keeps its name, unless something else has that name there: a wrong table is never read.
"""

import re
from base64 import b64decode
from binascii import Error as NoBase64
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from twinhive.hive.views.view_names import NamedInText, TableWords, Word

AskName = Callable[[str, str | None], tuple[str, str | None] | None]
"""What a database is called, or a table of it; None for one that has no name. All names in lower case."""
_IDENTIFIER: Final = re.compile(r"\w+")
_FORMATS: Final = (
    *("avro", "binaryfile", "csv", "delta", "hudi", "iceberg", "image", "json", "lance", "libsvm", "orc", "paimon"),
    *("parquet", "text", "xml"),
)
"""Spark reads files where such a word stands for a database: parquet.`/data/x`."""
_CLASS: Final = re.compile(r"[a-z]+(?:\.\w+){2,}")
"""A format may be named by its class."""
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^/]+/.*")
_FILES: Final = re.compile(rf"\b(?:{'|'.join(_FORMATS)})`?\s*\.\s*`|`{_CLASS.pattern}`\s*\.\s*`|\bidentifier\s*\(")
"""The same, and a computed name, in a text that nobody here can read."""
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
"""Presto and Trino keep a view's text so, in a comment."""


class WrongTableError(Exception):
    """The text would read something else than at its own metastore; `name` is the word that means it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True)
class ViewNames:
    """What a view's text is renamed by.

    own       the database that names without one are in; None where they stay without: a setting says where they are
    taken     databases that are something where the text is to be read, in lower case
    """

    known: AskName
    own: str | None
    taken: Collection[str]
    is_said: bool = False
    """A setting of the view says `own`, and is renamed as well: names without a database may stay so."""

    @property
    def new_own(self) -> str | None:
        """What `own` is called where the text is to be read; as it is where it is not known there."""
        found = None if self.own is None else self.known(self.own, None)
        return self.own if found is None else found[0]


@dataclass(frozen=True)
class RenamedText:
    """A text with other names; `left` are those that nothing is known of, None for a text that could not be read."""

    text: str
    left: tuple[str, ...] | None


@dataclass
class _Edits:
    """Pieces of a text to replace, by where they begin and end."""

    changes: dict[tuple[int, int], str] = field(default_factory=dict)
    meant: list[tuple[str | None, str]] = field(default_factory=list)
    """Database, if one is written, and name of each table in the new text."""

    def word(self, word: Word, name: str) -> None:
        """Write another name, in quotes where the old one had some or the new one needs them."""
        if word.key != name:
            self.changes[word.begin, word.end] = quoted(name) if word.quoted else _written(name)

    def made_in(self, text: str) -> str:
        """Return the text with all of them."""
        parts, last = [], 0
        for (begin, end), new in sorted(self.changes.items()):
            parts += [text[last:begin], new]
            last = end
        return "".join([*parts, text[last:]])


def renamed_text(text: str, names: ViewNames) -> RenamedText:
    """Return a view's text with other names. Raises WrongTableError."""
    from twinhive.hive.views.view_reading import named_in_text  # takes 17 MB: only who has met a view pays

    if (found := named_in_text(text)) is None:
        _refuse_if_named(text, names)
        return RenamedText(text, None)
    _refuse_unclear(found, names)
    edits, left = _Edits(), dict.fromkeys(".".join(parts) for parts in found.elsewhere)
    for one in found.tables:
        left |= dict.fromkeys(_table(edits, one, names))
    _columns(edits, found, names)
    for word in found.functions:
        left |= dict.fromkeys(_function(edits, word, names))
    new = edits.made_in(text)
    if edits.changes and _tables_in(named_in_text(new)) != edits.meant:
        raise WrongTableError("a name that cannot be replaced")
    return RenamedText(new, tuple(left))


def _refuse_unclear(found: NamedInText, names: ViewNames) -> None:
    """Refuse what may mean something else here though no name in it is one that is known. Raises WrongTableError."""
    for said in found.computed:
        raise WrongTableError(said)
    for parts in found.elsewhere:  # of another catalog, or of a table: sales.orders.snapshots
        first, second = parts[0].lower(), parts[1].lower()
        if first in names.taken or names.known(first, None) or names.known(first, second):
            raise WrongTableError(".".join(parts))
    if names.is_said and names.own in names.taken and names.new_own == names.own:
        for function in found.bare:  # of the engine, or of the database that is called so here
            raise WrongTableError(f"{function}(...)")


def _is_file(database: str, table: str) -> bool:
    """True where Spark reads a file that is another one for every file system."""
    is_format = database in _FORMATS or bool(_CLASS.fullmatch(database))
    return (is_format or "/" in table) and not (is_format and _ADDRESS.fullmatch(table.lower()))


def quoted(name: str) -> str:
    """Return a name in quotes of Hive and Spark."""
    return f"`{name.replace('`', '``')}`"


def _written(name: str) -> str:
    from twinhive.hive.views.view_reading import is_plain

    return name if is_plain(name) else quoted(name)


def _new_name(one: TableWords, names: ViewNames) -> tuple[str, str] | None:
    """Return what a table is called; None for one that is not known, or in no known database."""
    database = names.own if one.database is None else one.database.key
    if database is None or (found := names.known(database, one.table.key)) is None:
        return None
    return found[0], one.table.key if found[1] is None else found[1]


def _table(edits: _Edits, one: TableWords, names: ViewNames) -> Iterator[str]:
    """Rename a table, or yield it where it is left."""
    database, table = names.own if one.database is None else one.database.key, one.table
    if database is None:
        edits.meant.append((None, table.key))
        return
    if (new := _new_name(one, names)) is None:
        if database in names.taken or _is_file(database, table.name):
            raise WrongTableError(f"{database}.{table.name}")
        yield f"{database}.{table.name}"
        new = (database, table.key)
    if one.database is not None:
        edits.word(one.database, new[0])
    is_bare = one.database is None and _is_found(new[0], names)
    edits.meant.append((None if is_bare else new[0], new[1]))
    needs_alias = new[1] != table.key and not one.is_called
    if needs_alias and not one.takes_alias:
        raise WrongTableError(f"{database}.{table.name}")
    in_front = "" if is_bare or one.database is not None else f"{_written(new[0])}."
    behind = f" AS {quoted(table.name)}" if needs_alias else ""
    if in_front or new[1] != table.key:
        edits.changes[table.begin, table.end] = f"{in_front}{_again(table, new[1])}{behind}"


def _again(word: Word, name: str) -> str:
    """Write a word again, or another name in its place."""
    text = word.name if word.key == name else name
    return quoted(text) if word.quoted or (word.key != name and _written(name) != name) else text


def _is_found(database: str, names: ViewNames) -> bool:
    """True where a name without a database is found by the setting that says the view's own, once that is renamed."""
    return names.is_said and database == names.new_own


def _columns(edits: _Edits, found: NamedInText, names: ViewNames) -> None:
    """Rename what stands before columns, as far as it is a table that is read under its full name."""
    read = {
        (one.database.key, one.table.key): one for one in found.tables if one.database is not None and not one.is_called
    }
    called = found.called | {one.table.key for one in found.tables if not one.is_called}
    for column in found.columns:
        table = read.get((column.database.key, column.table.key))
        new = None if table is None else _new_name(table, names)
        if table is None or new is None or new == (column.database.key, column.table.key):
            continue
        if column.database.key in called:
            raise WrongTableError(column.database.name)  # the alias, or the database?
        if new[1] == column.table.key:
            edits.word(column.database, new[0])
        else:  # the table has got its old name as an alias
            edits.changes[column.database.begin, column.table.begin] = ""


def _function(edits: _Edits, word: Word, names: ViewNames) -> Iterator[str]:
    new = names.known(word.key, None)
    if new is not None:
        edits.word(word, new[0])
    elif word.key in names.taken:
        raise WrongTableError(word.name)
    else:
        yield word.name


def _refuse_if_named(text: str, names: ViewNames) -> None:
    """Refuse a text that nobody here can read and that has a word in it that means something else here."""
    searched = " ".join([text, *map(_decoded, _ENCODED.findall(text))]).lower()
    if (found := _FILES.search(searched)) is not None:
        raise WrongTableError(found.group())
    words = set(_IDENTIFIER.findall(searched))
    for name in sorted(names.taken):
        in_it = name in words if _IDENTIFIER.fullmatch(name) else name in searched
        if in_it or (names.is_said and name == names.new_own == names.own):
            raise WrongTableError(name)


def _decoded(text: str) -> str:
    try:
        return b64decode(text + "=" * (-len(text) % 4)).decode("utf-8", "replace")
    except (NoBase64, ValueError):
        return ""


def _tables_in(found: NamedInText | None) -> list[tuple[str | None, str]]:
    """List the tables of a text, as `_Edits.meant`."""
    tables = () if found is None else found.tables
    return [(None if one.database is None else one.database.key, one.table.key) for one in tables]
