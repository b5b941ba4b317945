"""What remotes have for a list of tables: rows of `get_table_meta`, under local names, all under one deadline.

Of a remote table the row says that it is EXTERNAL, or which kind of view; what keeps it here is a view. Each remote is
asked once for all of its databases, and once for its tables of each database, for a client has one connection to it.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definition, Definitions, RemoteDatabase, RemoteTable
from twinhive.core.model.remotes.wildcards import hive_pattern
from twinhive.federation.gateway.call_outcomes import CallOutcome
from twinhive.federation.gateway.gateway_state import Shared
from twinhive.federation.gateway.remote_calls import RemoteCalls, RemoteError
from twinhive.federation.gateway.remote_tables.external_tables import external_row, kinds_there
from twinhive.federation.gateway.request_names import DEFAULT_CATALOG
from twinhive.federation.gateway.struct_edits import elements_at, place_of, text_in, with_value
from twinhive.hive.wire.name_forms import DatabaseText, key_of
from twinhive.hive.wire.thrift_message import STOP, WireError, WireMessage, call, text_field, texts_field

_LOG = logging.getLogger(__name__)
_METHOD = "get_table_meta"
_ROWS = (0,)
_DATABASE, _TABLE = 1, 2


@dataclass(frozen=True)
class Listed:
    """What a list is about: databases by a pattern in a form, tables by one, and their kinds, all of them for none."""

    databases: DatabaseText
    tables: str
    kinds: Sequence[str] = ()

    def remote_databases(self, defined: Definitions) -> list[RemoteDatabase]:
        """Return the remote databases that it is about."""
        return [one for one in defined.databases.values() if self._has(one.local)]

    def remote_tables(self, defined: Definitions) -> list[RemoteTable]:
        """Return the remote tables that it is about."""
        tables = [one for one in defined.tables.values() if hive_pattern(self.tables, one.local.table)]
        return [one for one in tables if self._has(one.local.database)]

    def call(self, databases: str, tables: str) -> WireMessage:
        """Return the call for other patterns, in the same form."""
        body = text_field(1, self.databases.only(databases)) + text_field(2, tables)
        kinds = kinds_there(self.kinds)
        return call(_METHOD, 0, body + (texts_field(3, kinds) if kinds else b"") + STOP)

    @property
    def is_of_remotes(self) -> bool:
        """True where tables of remotes may be of these kinds."""
        return not self.kinds or bool(kinds_there(self.kinds))

    def _has(self, database: str) -> bool:
        """True for a database of Hive's own catalog that the pattern describes."""
        wanted, catalog = self.databases.database, self.databases.catalog or DEFAULT_CATALOG
        return catalog.lower() == DEFAULT_CATALOG and hive_pattern("*" if wanted is None else wanted, database)


@dataclass
class RemoteRows:
    """Encoded rows under local names.

    tables     of each remote table whose metastore has answered; none where it is of another kind, or not there
    databases  of all remote databases
    """

    tables: dict[TableName, list[bytes]] = field(default_factory=dict)
    databases: list[bytes] = field(default_factory=list)


async def rows_of(
    shared: Shared, remotes: RemoteCalls, listed: Listed, definitions: Iterable[Definition]
) -> RemoteRows:
    """Ask remotes. Those that do not answer in time are left out, and the log says so."""
    found = RemoteRows()
    if not listed.is_of_remotes:
        return found
    ends = asyncio.get_running_loop().time() + shared.remotes.limits.several
    groups: dict[object, list[Definition]] = {}
    for one in definitions:
        groups.setdefault(shared.remotes.key_of(one) or one.local, []).append(one)
    await asyncio.gather(*(_Asking(remotes, listed, ends, found).ask(group) for group in groups.values()))
    return found


class _Asking:
    """One remote, asked for one list."""

    def __init__(self, remotes: RemoteCalls, listed: Listed, ends: float, found: RemoteRows) -> None:
        self._remotes, self._listed, self._ends, self._found = remotes, listed, ends, found

    async def ask(self, definitions: Sequence[Definition]) -> None:
        by_database: dict[str, list[RemoteTable]] = {}
        whole: dict[str, list[RemoteDatabase]] = {}
        for one in definitions:
            if isinstance(one, RemoteTable):
                by_database.setdefault(one.remote.database, []).append(one)
            else:
                whole.setdefault(one.remote, []).append(one)
        for database, tables in by_database.items():
            self._take_tables(tables, await self._rows(database, _any(one.remote.table for one in tables), tables))
        if whole:
            every = [one for some in whole.values() for one in some]
            self._take_databases(whole, await self._rows(_any(whole), self._listed.tables, every))

    async def _rows(self, databases: str, tables: str, about: Sequence[Definition]) -> WireMessage | None:
        try:
            async with asyncio.timeout_at(self._ends):
                answer = await self._remotes.ask_as_it_is(self._listed.call(databases, tables), about[0])
                whole = await CallOutcome(answer).whole()
        except (RemoteError, WireError, TwinhiveError, TimeoutError) as error:
            _left_out(about, str(error) or "no answer in time")
            return None
        return whole if place_of(whole, _ROWS) is not None else None

    def _take_tables(self, tables: Sequence[RemoteTable], answer: WireMessage | None) -> None:
        if answer is None:
            return
        self._found.tables |= {one.local: [] for one in tables}
        for row, there in _named_rows(answer):
            for one in tables:
                if one.remote == there:
                    self._found.tables[one.local].append(_under(row, one.local.database, one.local.table))

    def _take_databases(self, whole: Mapping[str, Sequence[RemoteDatabase]], answer: WireMessage | None) -> None:
        rows = [] if answer is None else list(_named_rows(answer))
        for database, definitions in whole.items():
            for one in definitions:
                mine = [row for row, there in rows if there.database == database]
                self._found.databases += [_under(row, one.local) for row in mine]


def _any(names: Iterable[str]) -> str:
    """Return the pattern of some names; of all, where one of them would be a pattern itself. Rows are told by name."""
    wanted = dict.fromkeys(names)
    return "*" if any("|" in name or "*" in name for name in wanted) else "|".join(wanted)


def _named_rows(answer: WireMessage) -> Iterable[tuple[WireMessage, TableName]]:
    for row in elements_at(answer, _ROWS):
        name = TableName(key_of(text_in(row, _DATABASE) or ""), key_of(text_in(row, _TABLE) or ""))
        yield WireMessage(answer.head, row, 0), name


def _under(row: WireMessage, database: str, table: str | None = None) -> bytes:
    row = with_value(external_row(row), (_DATABASE,), database)
    return (row if table is None else with_value(row, (_TABLE,), table)).raw


def _left_out(definitions: Sequence[Definition], text: str) -> None:
    about = {"local": [str(one.local) for one in definitions], "failure": text}
    _LOG.warning("a list goes without a remote", extra=about)
