"""Ask a remote once, whether it answers and has what a definition names."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from twinhive.core.model.remotes.definitions import Definition, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.client_identity import set_user
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.metastore_links import Link, LinkLimits, NoAnswerError, RefusedGreetingError
from twinhive.federation.gateway.remote_pool import ReachedRemote
from twinhive.federation.gateway.request_names import DEFAULT_CATALOG
from twinhive.federation.gateway.struct_edits import error_text, text_at
from twinhive.hive.wire.stream_reader import LongAnswer
from twinhive.hive.wire.thrift_message import STOP, WireMessage, call, struct_field, text_field

_Answer = WireMessage | LongAnswer


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

    Then a database is asked for its tables, too: a gateway answers by itself for a database that is a remote there, so
    that a circle of gateways shows only so.
    """
    chosen = reached.user or user
    link = Link(
        reached.open,
        LinkLimits(limits.connect, limits.call),
        lambda: () if chosen is None else (set_user(chosen),),
    )
    identity = None
    try:
        answer = await link.call(_question(definition), repeatable=True)
        if identify:
            identity = await _identity(link)
            answer = await _tables_answer(link, definition, answer)
    except (NoAnswerError, RefusedGreetingError) as error:
        return Probed(RemoteState.AWAY, str(error))
    finally:
        link.close()
    if isinstance(answer, LongAnswer):
        return Probed(RemoteState.AWAY, "it answers with more than a table's description can be")
    text = error_text(answer)
    if text is not None:
        return Probed(RemoteState.MISSING, text, identity=identity)
    return Probed(RemoteState.THERE, "", answer, identity)


async def _identity(link: Link) -> str | None:
    """Return which metastore answers; what stands for no metastore refuses to say."""
    answer = await link.call(call("get_metastore_db_uuid", 2, STOP), repeatable=True)
    return None if isinstance(answer, LongAnswer) or error_text(answer) is not None else text_at(answer, (0,))


async def _tables_answer(link: Link, definition: Definition, answer: _Answer) -> _Answer:
    """Return the answer, or the error that a database's tables are answered with."""
    if isinstance(definition, RemoteTable) or isinstance(answer, LongAnswer) or error_text(answer) is not None:
        return answer
    tables = await link.call(call("get_all_tables", 3, text_field(1, definition.remote) + STOP), repeatable=True)
    return answer if isinstance(tables, LongAnswer) or error_text(tables) is None else tables


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
