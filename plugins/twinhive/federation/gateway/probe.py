"""Ask a remote once, whether it answers and has what a definition names."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from twinhive.core.model.remotes.definitions import Definition, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.client_identity import set_user
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.metastore_links import Link, LinkLimits, NoAnswerError, RefusedGreetingError
from twinhive.federation.gateway.remote_pool import ReachedRemote
from twinhive.federation.gateway.request_names import DEFAULT_CATALOG
from twinhive.federation.gateway.struct_edits import elements_at, error_text, place_of, text_at, texts_at
from twinhive.hive.wire.stream_reader import LongAnswer
from twinhive.hive.wire.thrift_message import (
    STOP,
    Head,
    MessageKind,
    WireMessage,
    call,
    struct_field,
    text_field,
    texts_field,
)

_Answer = WireMessage | LongAnswer
_TABLES_A_CALL: Final = 100
_NO_HEAD: Final = Head(MessageKind.REPLY, "", 0)


class RemoteState(StrEnum):
    """What came of asking."""

    THERE = "there"
    MISSING = "missing"
    """The remote answers, and has nothing of that name, or refuses to tell."""
    AWAY = "away"


@dataclass(frozen=True)
class Probed:
    """The state, in words what is wrong, and the remote's own answer."""

    state: RemoteState
    text: str = ""
    answer: WireMessage | None = None
    identity: str | None = None
    """The id of the metastore's database, where the remote is one that has it: it is the same at each address."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Where the tables are that have files, by their names at the remote."""

    def itself(self, definition: Definition) -> tuple[str | None, str | None]:
        """Return what the remote says it is: its kind (`EXTERNAL_TABLE`), None for a database; and its location."""
        if self.answer is None:
            return None, None
        if isinstance(definition, RemoteDatabase):
            return None, text_at(self.answer, (0, 3))
        return text_at(self.answer, (0, 1, 12)), text_at(self.answer, (0, 1, 7, 2))


async def probe(
    reached: ReachedRemote, definition: Definition, limits: RemoteLimits, user: str | None, *, identify: bool = False
) -> Probed:
    """Ask, as a user or as whom the remote is always asked; with `identify` also which metastore it is.

    Then a database is asked for its tables, and where they are, too: a gateway answers by itself for a database that is
    a remote there, so that a circle of gateways shows only so.
    """
    chosen = reached.user or user
    link = Link(
        reached.open,
        LinkLimits(limits.connect, limits.call),
        lambda: () if chosen is None else (set_user(chosen),),
    )
    identity, places = None, dict[str, str]()
    try:
        answer = await link.call(_question(definition), repeatable=True)
        if identify:
            identity = await _identity(link)
            answer, places = await _with_places(link, definition, answer)
    except (NoAnswerError, RefusedGreetingError) as error:
        return Probed(RemoteState.AWAY, str(error))
    finally:
        link.close()
    if isinstance(answer, LongAnswer):
        return Probed(RemoteState.AWAY, "it answers with more than a table's description can be")
    text = error_text(answer)
    if text is not None:
        return Probed(RemoteState.MISSING, text, identity=identity)
    return Probed(RemoteState.THERE, "", answer, identity, places)


async def _identity(link: Link) -> str | None:
    """Return which metastore answers; what stands for no metastore refuses to say."""
    answer = await link.call(call("get_metastore_db_uuid", 2, STOP), repeatable=True)
    return None if isinstance(answer, LongAnswer) or error_text(answer) is not None else text_at(answer, (0,))


async def _with_places(link: Link, definition: Definition, answer: _Answer) -> tuple[_Answer, dict[str, str]]:
    """Return the answer, or the error that a database's tables are answered with, and where tables are."""
    if isinstance(answer, LongAnswer) or error_text(answer) is not None:
        return answer, {}
    if isinstance(definition, RemoteTable):
        place = place_of(answer, (0, 1))
        return answer, {} if place is None else _places([answer.raw[place.begin : place.end]])
    tables = await link.call(call("get_all_tables", 3, text_field(1, definition.remote) + STOP), repeatable=True)
    if isinstance(tables, LongAnswer):
        return answer, {}
    if error_text(tables) is not None:
        return tables, {}
    names, found = texts_at(tables, (0,)) or (), dict[str, str]()
    for at in range(0, len(names), _TABLES_A_CALL):
        some = text_field(1, definition.remote) + texts_field(2, names[at : at + _TABLES_A_CALL]) + STOP
        asked = call("get_table_objects_by_name_req", 4, struct_field(1, some) + STOP)
        rows = await link.call(asked, repeatable=True)
        if not isinstance(rows, LongAnswer):  # a list that nobody can hold says nothing of rights
            found |= _places(elements_at(rows, (0, 1)))
    return answer, found


def _places(tables: Iterable[bytes]) -> dict[str, str]:
    """Return where tables are, views left out."""
    found = {}
    for one in (WireMessage(_NO_HEAD, table, 0) for table in tables):
        name, place = text_at(one, (1,)), text_at(one, (7, 2))
        if name and place and text_at(one, (12,)) != "VIRTUAL_VIEW":
            found[name] = place
    return found


def probe_now(reached: ReachedRemote, definition: Definition, limits: RemoteLimits, user: str | None) -> Probed:
    """The same, for who has no event loop."""
    return asyncio.run(probe(reached, definition, limits, user))


def _question(definition: Definition) -> WireMessage:
    match definition:
        case RemoteDatabase(remote=remote):
            body = text_field(1, remote) + text_field(2, DEFAULT_CATALOG) + STOP
            return call("get_database_req", 1, struct_field(1, body) + STOP)
        case RemoteTable(remote=remote):
            body = text_field(1, remote.database) + text_field(2, remote.table) + STOP
            return call("get_table_req", 1, struct_field(1, body) + STOP)
