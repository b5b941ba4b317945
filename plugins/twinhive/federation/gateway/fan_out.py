"""Calls that concern several owners: each is asked for its part, and the answers become one."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import MARKER, Definition, Definitions
from twinhive.federation.gateway.call_outcomes import CallOutcome, Pieces
from twinhive.federation.gateway.gateway_metrics import Ending
from twinhive.federation.gateway.gateway_state import Shared
from twinhive.federation.gateway.local_calls import LocalCalls
from twinhive.federation.gateway.method_kinds import MethodKind
from twinhive.federation.gateway.remote_calls import RemoteCalls
from twinhive.federation.gateway.remote_rows import Listed, rows_of
from twinhive.federation.gateway.remote_tables.external_tables import kinds_there
from twinhive.federation.gateway.struct_edits import (
    elements_at,
    joined_lists,
    place_of,
    text_at,
    text_in,
    texts_at,
    with_elements,
    with_text,
    with_texts,
    with_texts_added,
    without,
)
from twinhive.hive.wire.name_forms import DatabaseText, key_of, split_full_name
from twinhive.hive.wire.thrift_message import WireMessage

_LOG = logging.getLogger(__name__)


class SeveralOwners:
    """One client's calls to several owners."""

    def __init__(self, shared: Shared, local: LocalCalls, remotes: RemoteCalls) -> None:
        self._shared, self._local, self._remotes = shared, local, remotes

    async def answer(self, request: WireMessage, defined: Definitions) -> CallOutcome:
        """Answer a call. Where a remote is away a list goes without it, and what was asked by name is an error."""
        match request.head.method:
            case "get_table_meta":
                return await self._matching(request, defined)
            case "get_tables_by_type":
                return await self._of_kind(request, defined)
            case "get_valid_write_ids":
                return await self._by_name(request, _of_full_names(request, defined), _WRITE_IDS)
            case "get_table_objects_by_name_req":
                return await self._tables(request, defined)
        raise AssertionError(f"{request.head.method} has one owner")

    async def _matching(self, request: WireMessage, defined: Definitions) -> CallOutcome:
        """Tables of all databases of a pattern. What a remote database has itself here is nothing that anybody sees."""
        form = DatabaseText.parse(text_at(request, (1,)) or "")
        listed = Listed(form, text_at(request, (2,)) or "", texts_at(request, (3,)) or ())
        outcome = await self._local.answer(request, MethodKind.SEVERAL)
        remotes: list[Definition] = [*listed.remote_databases(defined), *listed.remote_tables(defined)]
        if not remotes or place_of(here := await outcome.whole(), (0,)) is None:
            return outcome
        there = await rows_of(self._shared, self._remotes, listed, remotes)
        own = [row for row, name in _named(here) if name.database not in defined.databases and name not in there.tables]
        of_tables = [row for rows in there.tables.values() for row in rows]
        return CallOutcome(with_elements(here, (0,), [*own, *of_tables, *there.databases]))

    async def _of_kind(self, request: WireMessage, defined: Definitions) -> CallOutcome:
        """Names of tables of one kind, in one database: those of remotes are EXTERNAL, and views are views."""
        form = DatabaseText.parse(text_at(request, (1,)) or "")
        if (whole := defined.owner_of(form.key or "", None)) is not None:
            return await self._of_kind_there(request, whole)
        outcome = await self._local.answer(request, MethodKind.SEVERAL)
        listed = Listed(form, text_at(request, (2,)) or "", [text_at(request, (3,)) or ""])
        remotes = [one for one in listed.remote_tables(defined) if one.local.database == form.key]
        if not remotes or (names := texts_at(here := await outcome.whole(), (0,))) is None:
            return outcome
        there = (await rows_of(self._shared, self._remotes, listed, remotes)).tables
        kept = [name for name in names if TableName(form.key or "", key_of(name)) not in there]
        return CallOutcome(with_texts(here, (0,), [*kept, *(name.table for name, rows in there.items() if rows)]))

    async def _of_kind_there(self, request: WireMessage, whole: Definition) -> CallOutcome:
        """Ask a remote database; for what no table of it is here too, so that one that is away is an error."""
        wanted = text_at(request, (3,)) or ""
        kinds, names = kinds_there([wanted]), list[str]()
        for kind in kinds or [wanted]:
            outcome = await self._remotes.answer(with_text(request, (3,), kind), whole)
            found = None if outcome.ending is not Ending.ANSWERED else texts_at(await outcome.whole(), (0,))
            if found is None:
                return outcome
            names += found if kinds else ()
        return CallOutcome(
            with_texts(await outcome.whole(), (0,), sorted(names) if kinds[1:] else names), outcome.owner
        )

    async def _tables(self, request: WireMessage, defined: Definitions) -> CallOutcome:
        """Tables of one database, by names or by a pattern: those that are remotes come from where they are."""
        database = DatabaseText.parse(text_at(request, (1, 1)) or "").key or ""
        if (whole := defined.owner_of(database, None)) is not None:
            return await self._remotes.answer(_with_asked(request, _TYPE), whole)
        request = _with_names_asked(request, database, defined)
        outcome = await self._local.answer(request, MethodKind.SEVERAL)
        if isinstance(outcome.answer, Pieces) and all(name.database != database for name in defined.tables):
            return outcome
        here = await outcome.whole()
        there_are = elements_at(here, _TABLE_ROWS)
        if any(MARKER in row and not defined.owner_of(database, key_of(text_in(row, 1) or "")) for row in there_are):
            self._shared.definitions.forget()  # somebody else has just defined it
            defined = await self._shared.definitions.current()
        rows, has_remotes = [], False
        for row in there_are:
            definition = defined.owner_of(database, key_of(text_in(row, 1) or ""))
            if definition is None:
                rows.append(row)
                continue
            has_remotes = True
            part = with_texts_added(without(request, _PATTERN), _TABLES, [text_in(row, 1) or ""])
            found = await self._remotes.answer(part, definition)
            there = await found.whole()
            if found.ending is Ending.ANSWERED and place_of(there, _TABLE_ROWS) is not None:
                rows += elements_at(there, _TABLE_ROWS)
            elif texts_at(request, _TABLES):
                return found
            else:
                _left_out(definition, "it does not answer")
        return CallOutcome(with_elements(here, _TABLE_ROWS, rows)) if has_remotes else outcome

    async def _by_name(self, request: WireMessage, shares: Sequence["_Share"], lists: "_Lists") -> CallOutcome:
        if all(share.definition is None for share in shares):
            return await self._local.answer(request, MethodKind.SEVERAL)
        answers: list[WireMessage] = []
        for share in shares:
            part = with_texts(request, lists.asked, share.names)
            if share.definition is None:
                outcome = await self._local.answer(part, MethodKind.SEVERAL)
            else:
                for path in lists.only_here:
                    part = without(part, path)
                outcome = await self._remotes.answer(part, share.definition)
            answer = await outcome.whole()
            if outcome.ending is not Ending.ANSWERED or place_of(answer, lists.answered) is None:
                return outcome
            answers.append(answer)
        return CallOutcome(joined_lists(answers, lists.answered))


@dataclass(frozen=True)
class _Lists:
    """Where the names stand in a request, and the rows in its answer.

    only_here  what means nothing to another metastore: which transactions are open here
    """

    asked: tuple[int, ...]
    answered: tuple[int, ...]
    only_here: tuple[tuple[int, ...], ...] = ()


_WRITE_IDS = _Lists((1, 1), (0, 1), ((1, 2), (1, 3)))
_TABLES, _PATTERN, _TABLE_ROWS = (1, 2), (1, 8), (0, 1)


_FIELDS, _NAMING, _TYPE = (1, 7, 1), ("dbName", "tableName"), "tableType"


def _with_names_asked(request: WireMessage, database: str, defined: Definitions) -> WireMessage:
    """Ask for names too where only some fields of tables are wanted: by them remotes are told from the others."""
    if all(name.database != database for name in defined.tables):
        return request
    return _with_asked(request, *_NAMING, _TYPE)


def _with_asked(request: WireMessage, *more: str) -> WireMessage:
    """Ask for more fields where only some are wanted: by its type it is known how clients are told of a table."""
    fields = texts_at(request, _FIELDS)
    return with_texts(request, _FIELDS, dict.fromkeys((*fields, *more))) if fields else request


@dataclass(frozen=True)
class _Share:
    """The names of a request that one owner has, the local metastore for None."""

    definition: Definition | None
    names: list[str]


def _shared_out(owned: Iterable[tuple[Definition | None, str]]) -> list[_Share]:
    shares: dict[object, _Share] = {}
    for definition, name in owned:
        key = None if definition is None else definition.local
        shares.setdefault(key, _Share(definition, [])).names.append(name)
    return list(shares.values())


def _of_full_names(request: WireMessage, defined: Definitions) -> list[_Share]:
    return _shared_out((_owner(name, defined), name) for name in texts_at(request, _WRITE_IDS.asked) or ())


def _owner(full_name: str, defined: Definitions) -> Definition | None:
    split = split_full_name(full_name)
    return None if split is None else defined.owner_of(key_of(split[1]), key_of(split[2]))


def _named(answer: WireMessage) -> Iterator[tuple[bytes, TableName]]:
    """Yield the rows of a list of tables, each with the table's name."""
    for row in elements_at(answer, (0,)):
        yield row, TableName(key_of(text_in(row, 1) or ""), key_of(text_in(row, 2) or ""))


def _left_out(definition: Definition, text: str) -> None:
    _LOG.warning("a list goes without a remote", extra={"local": str(definition.local), "failure": text})
